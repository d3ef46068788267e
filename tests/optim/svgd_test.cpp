#include "ladon/optim/particles/svgd.h"

#include <cmath>
#include <type_traits>

#include "ladon/autograd/graph.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::svgd_test {
namespace {

Tensor random_rows(std::int64_t m, std::int64_t d, std::uint64_t seed, DType dtype = f64) {
  Generator rng(seed);
  return normal({m, d}, rng, 0, 1, dtype);
}

// Independent float64 values of −φ at the four points for the target N(0, 1): g = θ.
TEST(Svgd, HasTheReferenceDirection) {
  const Tensor p = four_points();
  expect_values(rewritten<Svgd>(p, p.detach()),
                {1.0670703434115678, 0.4929282479059277, 3.4941774836508106, 1.6691177098814902,
                 3.348698710312422, 1.5480214794248217, 1.0360848298078456, 0.29739185175601357},
                1e-14);
  expect_values(rewritten<Svgd>(p, p.detach(), SvgdOptions{.kernel = imq()}),
                {2.381518295801368, 1.0979896304946006, 3.931753170634092, 1.8402029746390183,
                 3.8436814237658736, 1.749431471302368, 2.351421574661941, 0.9276927327037567},
                1e-14);
}

// Distances, kernel and weights are f64 in any case; sums over particles are rounded to f32, in
// blocks of 64, so that the error does not grow with their number: 2e-7 of the norm was measured at
// most, of 2 to 1000 particles. Also where particles are nearly equal, or in two clusters of nearly
// equal ones: sums of small differences, never differences of large sums.
TEST(Svgd, SinglePrecisionIsRightToItsRounding) {
  for (const std::int64_t m : {2, 8, 64, 200}) {
    const Tensor x = random_rows(m, 300, 1, f32), g = random_rows(m, 300, 2, f32);
    const Tensor near = 3.0 + 1e-4 * x;
    const Tensor sides = 5 - 10 * cast(less(reshape(arange(0, m), {m, 1}), double(m / 2)), f32);
    for (const Tensor& theta : {x, near, 1e-3 * x + sides})
      for (const SteinKernel& kernel : {rbf(), imq(), matern(0.5)})
        for (const Tensor& gradient : {g, 0.01 * g + 1.0, zeros_like(g)}) {
          const SvgdOptions options{.kernel = kernel, .alpha = 0.5};
          const Tensor exact = rewritten<Svgd>(cast(theta, f64), cast(gradient, f64), options);
          const Tensor single = rewritten<Svgd>(theta, gradient, options);
          EXPECT_EQ(single.dtype(), f32);
          EXPECT_LT(norm(cast(single, f64) - exact).item(), 1e-6 * norm(exact).item());
        }
  }
}

/// Particles of which two may be nearly equal.
struct HardCase {
  const char* what;
  std::int64_t count;
  double mean, deviation, apart;
};
Tensor particles_of(const HardCase& c) {
  const Tensor x = c.mean + c.deviation * random_rows(c.count, 4096, 3, f32);
  if (c.apart == 0) return x;
  const Tensor first = slice(x, 0, {.stop = 1}), rest = slice(x, 0, {.start = 2});
  return concat({first, first + c.apart * random_rows(1, 4096, 4, f32), rest}, 0);
}

// The largest error of a component, in units of the largest component: forces formed in one pass
// over memory err no more than sums of differences do (2.7e-7 for 256 particles).
TEST(Svgd, InOnePassIsAsExactAsTermByTerm) {
  for (const HardCase& c :
       {HardCase{"normal", 16, 0, 1, 0}, HardCase{"many", 256, 0, 1, 0},
        HardCase{"a far cluster", 16, 100, 1e-2, 0},
        HardCase{"a very far cluster", 16, 1000, 1e-2, 0},
        HardCase{"two 1e-4 apart", 16, 0, 1, 1e-4}, HardCase{"two 1e-6 apart", 16, 0, 1, 1e-6},
        HardCase{"all equal", 16, 0.3, 0, 0}, HardCase{"one", 1, 0, 1, 0}}) {
    const Tensor x = particles_of(c), g = 1e-4 * random_rows(c.count, 4096, 5, f32);
    const SvgdOptions options{.max_ratio = std::numeric_limits<double>::infinity()};
    const Tensor exact = rewritten<Svgd>(cast(x, f64), cast(g, f64), options);
    const auto error = [&](const Tensor& y) {
      return (amax(abs(cast(y, f64) - exact)) / amax(abs(exact))).item();
    };
    EXPECT_LE(error(rewritten<Svgd>(x, g, options)), 2.5e-7) << c.what;
    const LookThrough term_by_term;
    EXPECT_LE(error(rewritten<Svgd>(x, g, options)), 4e-7) << c.what;
  }
}

/// Whether a kernel offers its matrices at the particles.
bool offers_matrices(const SteinKernel& kernel, const Tensor& theta) {
  return kernel.at(theta).k.defined();
}

// Two clusters far apart that repel only within: sums around the common mean would lose digits.
TEST(Svgd, FormsForcesTermByTermWhereSumsWouldLoseDigits) {
  const Tensor x = random_rows(8, 100, 1, f32);
  EXPECT_TRUE(offers_matrices(rbf(), x));
  EXPECT_TRUE(offers_matrices(imq(), x));
  const Tensor sides = 5 - 10 * cast(less(reshape(arange(0, 8), {8, 1}), 4.0), f32);
  const SteinKernel narrow = rbf({.bandwidth = Bandwidth::fixed, .h2 = 1e-4});
  EXPECT_FALSE(offers_matrices(narrow, 1e-3 * x + sides));
  const Tensor twice = concat({x, slice(x, 0, {.stop = 1})}, 0);
  EXPECT_FALSE(offers_matrices(rbf(), twice));  // equal particles are looked for, and told
  EXPECT_FALSE(offers_matrices(rbf(), slice(x, 0, {.stop = 1})));
  EXPECT_FALSE(offers_matrices(linear_kernel(), x));
}

TEST(ParticleMethod, FormsTheSameForcesInOnePassAndTermByTerm) {
  const Tensor x = random_rows(9, 500, 1), g = random_rows(9, 500, 2);
  const auto agree = [](const std::function<Tensor()>& direction) {
    const Tensor at_once = direction();
    const LookThrough term_by_term;
    EXPECT_TRUE(all_close(at_once, direction(), 1e-12, 1e-13));
  };
  for (const SteinKernel& kernel : {rbf(), imq(), matern(1.5)}) {
    for (const bool smoothing : {true, false})
      agree([&] {
        return rewritten<Svgd>(x, g,
                               SvgdOptions{.kernel = kernel, .alpha = 0.3, .smoothing = smoothing});
      });
    agree([&] {
      return rewritten<Spos>(x, g, SposOptions{.svgd = {.kernel = kernel}, .diffusion = 0.7},
                             Generator(1));
    });
    agree([&] { return rewritten<Wgd>(x, g, WgdOptions{.kernel = kernel}); });
  }
}

TEST(Svgd, RefusesOneOfTwoMatrices) {
  const Tensor x = random_rows(3, 4, 1);
  const SteinKernel half{"mine", [](const Tensor& theta) {
                           KernelAt at = rbf().at(theta);
                           at.w = Tensor();
                           return at;
                         }};
  expect_error([&] { rewritten<Svgd>(x, x, SvgdOptions{.kernel = half}); },
               "`mine` on block \"rows\" sets only k of the matrices k and w; set both or neither");
}

// Against the definition, from the kernel's own K and R, with and without smoothing.
TEST(Svgd, SumsItsTwoForces) {
  const Tensor x = random_rows(5, 7, 1), g = random_rows(5, 7, 2);
  const KernelValues v = values_at(rbf(), x);
  const double alpha = 0.3;
  const Tensor repulsion = v.repulsion * alpha;
  EXPECT_TRUE(all_close(rewritten<Svgd>(x, g, SvgdOptions{.alpha = alpha}),
                        (matmul(v.k, g) - repulsion) / 5.0, 1e-14, 1e-15));
  EXPECT_TRUE(all_close(rewritten<Svgd>(x, g, SvgdOptions{.alpha = alpha, .smoothing = false}),
                        (g - repulsion) / 5.0, 1e-14, 1e-15));
  EXPECT_TRUE(all_close(rewritten<Wgd>(x, g, WgdOptions{.alpha = alpha}),
                        g - repulsion / sum(v.k, 1, keep_dims), 1e-14, 1e-15));
  Generator rng(1);
  EXPECT_TRUE(all_close(
      rewritten<Spos>(x, g, SposOptions{.svgd = {.alpha = alpha}, .diffusion = 0.25}, rng),
      (matmul(v.k, g) - repulsion) / 5.0 + g * 0.25, 1e-14, 1e-15));
}

TEST(Svgd, PaperPreset) {
  Tensor p = four_points();
  p.set_grad(zeros_like(p.detach()));
  const SvgdOptions options = SvgdOptions::paper(0.01);
  EXPECT_EQ(options.alpha.value(), 0.01);
  EXPECT_EQ(options.target.count, 1);
  EXPECT_EQ(options.target.prior_precision, 0);
  EXPECT_EQ(options.target.temperature, 1);
  EXPECT_TRUE(options.smoothing);
  Svgd svgd(particles_of_rows(p), options);
  svgd.apply();
  EXPECT_NEAR(svgd.report()[0].h2, 4.038677074637477, 1e-14);
}

TEST(Svgd, OneParticleKeepsEveryBitOfItsGradient) {
  for (const DType dtype : {f32, f64}) {
    const Tensor x = random_rows(1, 501, 3, dtype), g = random_rows(1, 501, 4, dtype);
    fill_(slice(g, 1, {.stop = 2}), -0.0);
    for (const Bandwidth rule :
         {Bandwidth::median, Bandwidth::liu, Bandwidth::paper, Bandwidth::nips, Bandwidth::fixed})
      for (const bool smoothing : {true, false}) {
        const SteinKernel kernel = rbf({.bandwidth = rule});
        EXPECT_TRUE(same_bits(
            rewritten<Svgd>(x, g, SvgdOptions{.kernel = kernel, .smoothing = smoothing}), g));
        EXPECT_TRUE(same_bits(rewritten<Wgd>(x, g, WgdOptions{.kernel = kernel}), g));
      }
  }
}

TEST(Svgd, EqualParticlesShareTheirMeanGradient) {
  for (const std::int64_t m : {2, 4}) {
    const Tensor x = full({m, 3}, 0.7, f64), g = random_rows(m, 3, 5);
    const Tensor expected = expand(mean(g, 0, keep_dims), {m, 3});
    EXPECT_TRUE(all_close(rewritten<Svgd>(x, g), expected, 1e-15, 1e-15));
    EXPECT_TRUE(same_bits(rewritten<Wgd>(x, g), g));
  }
}

// Two equal particles with equal gradients are one particle for ever, and nobody would see it.
TEST(Svgd, TellsOfEqualParticlesOnce) {
  const auto told = [](const std::string& name, bool equal, bool same_gradients, double alpha) {
    Tensor x = clone(random_rows(6, 3, 5)), g = clone(random_rows(6, 3, 6));
    if (equal) copy_(select(x, 0, 4), select(x, 0, 1));
    if (same_gradients) copy_(select(g, 0, 4), select(g, 0, 1));
    Tensor theta = leaf(x);
    Svgd svgd(particles_of_rows(theta, name), {.alpha = alpha});
    std::string text;
    for (int step = 0; step < 2; ++step) {
      theta.set_grad({});
      theta.set_grad(clone(g));
      testing::internal::CaptureStderr();
      svgd.apply();
      text += testing::internal::GetCapturedStderr();
    }
    return text;
  };
  EXPECT_EQ(told("apart", false, false, 1), "");
  EXPECT_EQ(told("gradients alone", false, true, 1), "");
  EXPECT_EQ(told("values alone", true, false, 1), "") << "other gradients part them";
  EXPECT_EQ(told("no repulsion", true, true, 0), "");
  EXPECT_EQ(told("equal", true, true, 1),
            "ladon: [svgd] block \"equal\": particles 1 and 4 are equal, and so are their "
            "gradients: they stay equal for ever, and act as a single particle; initialize each "
            "with a different seed\n");
  EXPECT_EQ(told("equal", true, true, 1), "") << "said before";
}

// Also where others of the same norm stand between them.
TEST(Svgd, TellsOfEqualParticlesAmongThoseOfOneNorm) {
  Tensor theta = leaf(tensor({1, 2, 2, 1, -1, 2, 3, 3, 1, 2}, {5, 2}, f64));
  theta.set_grad(clone(theta.detach()));
  testing::internal::CaptureStderr();
  Svgd(particles_of_rows(theta, "of one norm"), {.alpha = 1}).apply();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("particles 0 and 4 are equal"), std::string::npos) << text;
}

TEST(Svgd, PermutingParticlesPermutesTheDirection) {
  const Tensor x = random_rows(6, 40, 6), g = random_rows(6, 40, 7);
  const Tensor order = tensor({3, 0, 5, 1, 4, 2}, i64);
  const auto permuted = [&](const Tensor& t) { return index_select(t, 0, order); };
  for (const SteinKernel& kernel : {rbf(), imq(), linear_kernel()}) {
    const SvgdOptions options{.kernel = kernel};
    EXPECT_TRUE(all_close(rewritten<Svgd>(permuted(x), permuted(g), options),
                          permuted(rewritten<Svgd>(x, g, options)), 1e-13, 1e-14))
        << kernel.name;
  }
}

// Heads that the loss does not touch at all still move apart, in each of q, k and v.
TEST(Svgd, SeparatesHeadsWithoutLossGradient) {
  Generator rng(8);
  MultiHeadAttention attention({.dim = 8, .heads = 2}, rng);
  const Particles heads = particles(attention);
  Svgd svgd(heads);
  Sgd sgd({attention.query, attention.key, attention.value}, {.lr = 0.1});
  std::vector<double> before;
  for (const auto& block : heads) {
    before.push_back(pairwise_distance(block.values()).min);
    block.set_gradients(zeros({block.count(), block.dim()}));
  }
  svgd.apply();
  sgd.step();
  for (std::size_t b = 0; b < heads.size(); ++b)
    EXPECT_GT(pairwise_distance(heads[b].values()).min, before[b] * 1.001) << heads[b].name();
}

// Both namespaces together: the targets of particles and of Gaussian processes have two names.
namespace both {
using namespace ladon;
using namespace ladon::infinite;
static_assert(!std::is_same_v<TargetDensity, GpPrediction>);
}  // namespace both

TEST(TargetDensity, ScalesLossPriorAndTemperature) {
  const Tensor x = tensor({2, -1}, {1, 2}, f64), g = tensor({0.5, 3}, {1, 2}, f64);
  const TargetDensity target{.count = 100, .prior_precision = 4, .temperature = 2};
  // g + (λ/N)·θ: in units of the mean loss, whatever the temperature
  const std::vector<double> expected = {0.5 + 0.08, 3 - 0.04};
  expect_values(rewritten<Svgd>(x, g, SvgdOptions{.target = target}), expected, 1e-13);
  expect_values(rewritten<Wgd>(x, g, WgdOptions{.target = target}), expected, 1e-13);
  expect_error([&] { rewritten<Svgd>(x, g, SvgdOptions{.target = {.count = 0}}); }, "N is 0");
  expect_error([&] { rewritten<Svgd>(x, g, SvgdOptions{.target = {.prior_precision = -1}}); },
               "precision is -1");
  expect_error([&] { rewritten<Svgd>(x, g, SvgdOptions{.target = {.temperature = 0}}); },
               "temperature is 0");
}

TEST(ParticleMethod, RefusesToApplyItsForceTwice) {
  Tensor x = leaf(random_rows(3, 4, 9));
  Svgd svgd(particles_of_rows(x));
  const auto loss = [&] { return sum(square(x)); };
  backward(loss());
  svgd.apply();
  const Tensor once = clone(x.grad());
  expect_error([&] { svgd.apply(); }, "block \"rows\" still has the gradients");
  clip_grad_norm({x}, 1e-3);
  expect_error([&] { svgd.apply(); }, "still has the gradients");
  x.set_grad(Tensor());
  backward(loss());
  svgd.apply();
  EXPECT_TRUE(same_bits(x.grad(), once));
}

TEST(ParticleMethod, ChangesNothingWhenParticlesAreNotFinite) {
  Tensor good = leaf(random_rows(2, 2, 10)), bad = leaf(tensor({1, NAN}, {2, 1}, f64));
  good.set_grad(ones({2, 2}, f64));
  bad.set_grad(ones({2, 1}, f64));
  Svgd svgd(
      Particles({ParticleBlock::stacked("good", {good}), ParticleBlock::stacked("bad", {bad})}));
  expect_error([&] { svgd.apply(); }, "nan");
  expect_values(good.grad(), {1, 1, 1, 1}, 0);
}

// Two particles ±1 in one dimension, fixed h² = 1, g = θ: k = e^−2, forces by hand.
TEST(ParticleMethod, ReportsItsForces) {
  Tensor x = leaf(tensor({1, -1}, {2, 1}, f64));
  Svgd svgd(particles_of_rows(x, "pair"),
            {.kernel = rbf({.bandwidth = Bandwidth::fixed}), .alpha = 3});
  expect_error([&] { svgd.report(); }, "before the first apply");
  x.set_grad(tensor({1, -1}, {2, 1}, f64));
  svgd.apply();
  const BlockReport report = svgd.report()[0];
  const double k = std::exp(-2), driving = (1 - k) / 2, repulsive = 3 * 2 * k / 2;
  EXPECT_EQ(report.name, "pair");
  EXPECT_EQ(report.count, 2);
  EXPECT_EQ(report.dim, 1);
  EXPECT_EQ(report.h2, 1);
  EXPECT_NEAR(report.driving, driving, 1e-15);
  EXPECT_NEAR(report.repulsive, repulsive, 1e-15);
  EXPECT_NEAR(report.ratio, repulsive / driving, 1e-15);
  EXPECT_EQ(report.distance.mean, 2);
  EXPECT_EQ(report.cosine.mean, -1);
  EXPECT_EQ(report.norms, (std::vector<double>{1, 1}));
  EXPECT_NEAR(x.grad().to_vector()[0], driving - repulsive, 1e-15);
}

TEST(ParticleMethod, RefusesBadSettings) {
  const Tensor x = leaf(random_rows(2, 2, 11));
  const Particles rows = particles_of_rows(x);
  expect_error([&] { Svgd svgd(rows, {.alpha = -1}); }, "alpha is -1");
  expect_error([&] { Wgd wgd(rows, {.alpha = NAN}); }, "alpha is nan");
  Generator rng(1);
  expect_error([&] { Spos spos(rows, {.diffusion = -1}, rng); }, "diffusion is -1");
  Spos spos(rows, {}, rng);
  expect_error([&] { spos.diffuse(-1); }, "the rate is -1");
  expect_error([&] { spos.diffuse(NAN); }, "the rate is nan");
  expect_error([&] { Svgd svgd(rows, {.max_ratio = 0.5}); }, "max_ratio is 0.5");
  expect_error([&] { Wgd wgd(rows, {.max_ratio = NAN}); }, "max_ratio is nan");
  Tensor opposite = leaf(tensor({2, -3}, {2, 1}, f64));
  opposite.set_grad(zeros({2, 1}, f64));
  Wgd negative(particles_of_rows(opposite), {.kernel = linear_kernel()});
  expect_error([&] { negative.apply(); }, "the kernel linear sums to 0 at particle 0");
}

}  // namespace
}  // namespace ladon::test::svgd_test
