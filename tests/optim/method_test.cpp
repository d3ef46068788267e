// Particle methods: calls in a wrong order, values that are not finite, and invalid results of
// user-defined kernels and methods.

#include "ladon/optim/particles/method.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::method_test {
namespace {

Tensor random_rows(std::int64_t m, std::int64_t d, std::uint64_t seed, DType dtype = f64) {
  Generator rng(seed);
  return normal({m, d}, rng, 0, 1, dtype);
}

/// Two blocks of three rows, f32 and f64, with gradients.
struct TwoBlocks {
  Tensor first = leaf(random_rows(3, 5, 1, f32)), second = leaf(random_rows(3, 4, 2, f64));
  Particles both{
      {ParticleBlock::stacked("first", {first}), ParticleBlock::stacked("second", {second})}};

  TwoBlocks() {
    first.set_grad(random_rows(3, 5, 3, f32));
    second.set_grad(random_rows(3, 4, 4, f64));
  }
  /// The method refuses with that message, and no gradient and no value is changed.
  void expect_refusal(ParticleMethod& method, const std::string& message) {
    const std::vector<Tensor> before = state();
    expect_error([&] { method.apply(); }, message);
    const std::vector<Tensor> after = state();
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(same_bits(before[i], after[i]));
  }

 private:
  std::vector<Tensor> state() const {
    std::vector<Tensor> all;
    for (const Tensor& x : {first, second}) {
      all.push_back(clone(x.detach()));
      if (x.grad().defined()) all.push_back(clone(x.grad()));
    }
    return all;
  }
};

// --- calls in a wrong order ---

TEST(ParticleMethod, ForgottenZeroGradIsAnError) {
  Tensor x = leaf(random_rows(3, 4, 1));
  Svgd svgd(particles_of_rows(x));
  Sgd sgd({x});
  const auto loss = [&] { return sum(square(x)); };
  backward(loss());
  svgd.apply();
  sgd.step();
  const Tensor rewritten = clone(x.grad());
  expect_error([&] { backward(loss()); }, "was rewritten by svgd");
  EXPECT_TRUE(same_bits(x.grad(), rewritten));
  sgd.zero_grad();
  backward(loss());
  EXPECT_TRUE(same_bits(x.grad(), x.detach() * 2.0));
  svgd.apply();
}

TEST(ParticleMethod, AStepBeforeItIsAnError) {
  Tensor x = leaf(random_rows(3, 4, 1)), rest = leaf(random_rows(2, 2, 2));
  Svgd svgd(particles_of_rows(x));
  Sgd sgd({x}), other({rest});
  const auto loss = [&] { return sum(square(x)) + sum(square(rest)); };
  backward(loss());
  other.step();
  svgd.apply();  // a step of what are no particles may come first
  sgd.step();
  for (Sgd* each : {&sgd, &other}) each->zero_grad();
  backward(loss());
  sgd.step();
  const Tensor before = clone(x.grad());
  expect_error([&] { svgd.apply(); }, "a step() has used the gradients of block \"rows\" already");
  EXPECT_TRUE(same_bits(x.grad(), before));
  sgd.zero_grad();
  backward(loss());
  svgd.apply();
}

TEST(ParticleMethod, TwoMethodsOnTheSameParticlesAreAnError) {
  TwoBlocks blocks;
  Wgd wgd(particles_of_rows(blocks.second));
  wgd.apply();
  Svgd svgd(blocks.both);
  blocks.expect_refusal(svgd, "block \"second\" still has the gradients that wgd wrote");
  Generator rng(1);
  Spos spos(blocks.both, {}, rng);
  blocks.expect_refusal(spos, "block \"second\" still has the gradients that wgd wrote");
  EXPECT_EQ(spos.generator().position(), 0U);
}

TEST(ParticleMethod, RefusesToMoveWhatIsFrozen) {
  TwoBlocks blocks;
  Svgd svgd(blocks.both);
  blocks.second.set_requires_grad(false);
  blocks.expect_refusal(svgd, "block \"second\" is frozen, but a force would move it");
  expect_error([&] { particles_of_rows(blocks.second); }, "does not require a gradient");
}

TEST(ParticleMethod, HeadsOfAnEnsembleMemberMoveOnce) {
  Generator rng(1);
  MultiHeadAttention a({.dim = 4, .heads = 2}, rng), b({.dim = 4, .heads = 2}, rng);
  const Tensor x = normal({2, 3, 4}, rng);
  Svgd heads(particles(a));
  Wgd ensemble(particles({&a, &b}));
  backward(sum(square(a(x))) + sum(square(b(x))));
  heads.apply();
  const Tensor once = clone(a.query.grad()), other = clone(b.query.grad());
  expect_error([&] { ensemble.apply(); }, "block \"models\" still has the gradients that svgd");
  EXPECT_TRUE(same_bits(a.query.grad(), once));
  EXPECT_TRUE(same_bits(b.query.grad(), other));
}

TEST(ParticleMethod, NeedsAGradientInEachBlock) {
  TwoBlocks blocks;
  Svgd svgd(blocks.both);
  blocks.second.set_grad(Tensor());
  blocks.expect_refusal(svgd, "no parameter of block \"second\" has a gradient; call backward()");
  Tensor fresh = leaf(random_rows(2, 2, 1));
  Wgd wgd(particles_of_rows(fresh));
  expect_error([&] { wgd.apply(); }, "no parameter of block \"rows\" has a gradient");
  EXPECT_FALSE(fresh.grad().defined());
  expect_error([&] { wgd.report(); }, "before the first apply");
}

TEST(ParticleMethod, CountsOneMissingGradientAmongSeveralAsZero) {
  Tensor a = leaf(random_rows(3, 2, 1)), b = leaf(random_rows(3, 3, 2));
  const Particles joint({ParticleBlock::stacked("joint", {a, b})});
  a.set_grad(random_rows(3, 2, 3));
  Wgd wgd(joint, {.alpha = 0});
  wgd.apply();
  EXPECT_TRUE(same_bits(b.grad(), zeros({3, 3}, f64)));
}

TEST(ParticleMethod, KnowsThatItsParticlesWereReplaced) {
  Generator rng(1);
  MultiHeadAttention attention({.dim = 4, .heads = 2}, rng);
  Svgd svgd(particles(attention));
  attention.to(f64);
  backward(sum(square(attention(normal({2, 3, 4}, rng, 0, 1, f64)))));
  expect_error([&] { svgd.apply(); }, "was replaced by Module::to(f64)");
  Svgd anew(particles(attention));
  anew.apply();
}

// --- values that are not finite ---

TEST(ParticleMethod, RefusesGradientsThatAreNotFinite) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
    for (const bool smoothing : {true, false}) {
      TwoBlocks blocks;
      fill_(slice(select(blocks.second.grad(), 0, 1), 0, {.start = 2, .stop = 3}), bad);
      Svgd svgd(blocks.both, {.smoothing = smoothing});
      blocks.expect_refusal(svgd, "block \"second\", particle 1: its gradient has norm");
      Wgd wgd(blocks.both);
      blocks.expect_refusal(wgd, "block \"second\", particle 1: its gradient has norm");
      Spos spos(blocks.both, {.svgd = {.smoothing = smoothing}}, Generator(1));
      blocks.expect_refusal(spos, "block \"second\", particle 1: its gradient has norm");
      EXPECT_EQ(spos.generator().position(), 0U);
    }
}

TEST(ParticleMethod, RefusesValuesThatAreNotFinite) {
  TwoBlocks blocks;
  fill_(select(blocks.second.detach(), 0, 2), NAN);
  Svgd svgd(blocks.both);
  blocks.expect_refusal(svgd, "block \"second\", particle 2: its value has norm nan");
}

TEST(ParticleMethod, RefusesForcesThatAreNotFinite) {
  TwoBlocks blocks;
  Svgd strong(blocks.both, {.alpha = 1e300});
  blocks.expect_refusal(strong, "block \"first\", particle 0: its repulsive force has norm inf");
  Svgd cold(blocks.both, {.target = {.temperature = 1e-320}});
  blocks.expect_refusal(cold, "block \"first\", particle 0: its gradient of U/T has norm inf");
  Wgd many(blocks.both, {.alpha = 1e41, .max_ratio = INFINITY});  // finite until rounded to f32
  blocks.expect_refusal(many, "block \"first\", particle 0: its force has norm inf");
}

/// Svgd's forces as they are, before any check.
class OpenSvgd : public Svgd {
 public:
  using Svgd::Svgd;
  std::vector<Tensor> both(const Tensor& theta, const Tensor& gradient) const {
    const Forces f = forces("rows", theta, gradient);
    return {f.driving, f.repulsive};
  }
};

TEST(Svgd, WithoutSmoothingNoParticleSeesAnothersGradient) {
  const Tensor x = leaf(random_rows(3, 4, 1));
  const OpenSvgd svgd(particles_of_rows(x), {.smoothing = false});
  const Tensor g = random_rows(3, 4, 2);
  const Tensor healthy = svgd.both(x.detach(), g)[0];
  fill_(select(g, 0, 0), NAN);
  const Tensor driving = svgd.both(x.detach(), g)[0];
  EXPECT_TRUE(same_bits(slice(driving, 0, {.start = 1}), slice(healthy, 0, {.start = 1})));
}

// --- what a user's method may return ---

/// Returns what it was given, or fails in one block.
class Borrowing : public ParticleMethod {
 public:
  explicit Borrowing(Particles particles) : ParticleMethod(std::move(particles)) {}
  std::string name() const override { return "borrowing"; }
  std::string failing_block;
  std::function<Tensor(const Tensor&)> driving = [](const Tensor& gradient) { return gradient; };
  std::function<Tensor(const Tensor&)> repulsive = [](const Tensor& theta) { return theta; };

 protected:
  Forces forces(const std::string& block, const Tensor& theta,
                const Tensor& gradient) const override {
    LADON_CHECK(block != failing_block, "borrowing", "fails on purpose");
    return {driving(gradient), repulsive(theta)};
  }
};

TEST(ParticleMethod, OnlyReadsTheForcesItIsGiven) {
  Tensor x = leaf(random_rows(3, 4, 1)), y = leaf(random_rows(3, 4, 2));
  x.set_grad(random_rows(3, 4, 3));
  y.set_grad(random_rows(3, 4, 4));
  const Tensor values = clone(x.detach()), g = clone(x.grad());
  Borrowing method(Particles({ParticleBlock::stacked("x", {x}), ParticleBlock::stacked("y", {y})}));
  method.failing_block = "y";
  expect_error([&] { method.apply(); }, "fails on purpose");
  EXPECT_TRUE(same_bits(x.grad(), g));
  method.failing_block = "";
  method.apply();
  EXPECT_TRUE(same_bits(x.detach(), values));
  EXPECT_TRUE(same_bits(x.grad(), g - values));
  EXPECT_TRUE(std::isnan(method.report()[0].h2));
}

TEST(ParticleMethod, NeedNotRepel) {
  Tensor x = leaf(random_rows(3, 4, 1));
  const Tensor g = random_rows(3, 4, 3);
  x.set_grad(clone(g));
  Borrowing method(particles_of_rows(x));
  method.repulsive = [](const Tensor&) { return Tensor(); };
  method.apply();
  EXPECT_TRUE(same_bits(x.grad(), g));
  EXPECT_EQ(method.report()[0].repulsive, 0);
  EXPECT_EQ(method.report()[0].ratio, 0);
}

TEST(ParticleMethod, NamesTheMethodWhoseForcesDoNotFit) {
  Tensor x = leaf(random_rows(3, 4, 1));
  x.set_grad(random_rows(3, 4, 3));
  Borrowing method(particles_of_rows(x));
  const auto refuse = [&](const Tensor& force, const std::string& message) {
    method.repulsive = [=](const Tensor&) { return force; };
    expect_error([&] { method.apply(); }, message);
  };
  refuse(zeros({3, 1}, f64),
         "repulsive force that borrowing returns for block \"rows\" is f64 [3, 1]");
  refuse(zeros({3, 4}, f32), "is f32 [3, 4]; it must be f64 [3, 4]");
  refuse(full({3, 4}, NAN, f64), "particle 0: its repulsive force has norm nan");
  method.driving = [](const Tensor&) { return Tensor(); };
  refuse(zeros({3, 4}, f64), "borrowing returns no driving force for block \"rows\"");
}

/// The method refuses the kernel with that message, and no gradient is changed.
template <class Method, class Options>
void expect_refusal(const SteinKernel& kernel, const std::string& message) {
  Tensor x = leaf(random_rows(3, 4, 1));
  const Tensor g = random_rows(3, 4, 3);
  x.set_grad(clone(g));
  Method method(particles_of_rows(x), Options{.kernel = kernel});
  expect_error([&] { method.apply(); }, message);
  EXPECT_TRUE(same_bits(x.grad(), g));
}
constexpr auto svgd_refuses = expect_refusal<Svgd, SvgdOptions>;
constexpr auto wgd_refuses = expect_refusal<Wgd, WgdOptions>;

TEST(SteinKernel, AUsersKernelIsCheckedInItsName) {
  const auto gives = [](const Tensor& share, const Tensor& repulsion, const Tensor& density) {
    return SteinKernel{"mine", [=](const Tensor&) {
                         return KernelAt{.share = [=](const Tensor&) { return share; },
                                         .repel = [=] { return repulsion; },
                                         .density = [=] { return density; }};
                       }};
  };
  const Tensor s = ones({3, 4}, f64), r = zeros({3, 4}, f64), k = ones({3, 1}, f64);
  svgd_refuses(gives(ones({3, 1}, f64), r, k),
               "`mine` on block \"rows\" returns share as f64 [3, 1]; it must be f64 [3, 4]");
  svgd_refuses(gives(cast(s, f32), r, k), "returns share as f32 [3, 4]; it must be f64 [3, 4]");
  svgd_refuses(gives(Tensor(), r, k), "`mine` on block \"rows\" returns no share; it must be f64");
  svgd_refuses(gives(full({3, 4}, NAN, f64), r, k), "returns row 0 of share with norm nan");
  wgd_refuses(gives(s, r, ones({3}, f64)), "returns density as f64 [3]; it must be f64 [3, 1]");
  wgd_refuses(gives(s, r, tensor({1, NAN, 1}, {3, 1}, f64)),
              "returns row 1 of density with norm nan");
  wgd_refuses(gives(s, r, k - 1.0), "the kernel mine sums to 0 at particle 0");
  for (const auto refuse : {svgd_refuses, wgd_refuses}) {
    refuse(gives(s, zeros({3, 1}, f64), k),
           "returns repulsion as f64 [3, 1]; it must be f64 [3, 4]");
    refuse(gives(s, Tensor(), k), "returns no repulsion");
    refuse(gives(s, full({3, 4}, NAN, f64), k), "returns row 0 of repulsion with norm nan");
  }
}

TEST(SteinKernel, AUsersKernelLacksNothing) {
  const SteinKernel empty{"mine", {}};
  const SteinKernel silent{"mine", [](const Tensor&) { return KernelAt{}; }};
  const SteinKernel still{
      "mine", [](const Tensor&) { return KernelAt{.share = [](const Tensor& s) { return s; }}; }};
  const SteinKernel own{"mine", [](const Tensor& theta) {
                          return KernelAt{.share = [](const Tensor& s) { return s; },
                                          .repel = [=] { return theta - theta; }};
                        }};
  for (const auto refuse : {svgd_refuses, wgd_refuses}) {
    refuse(empty, "`mine` on block \"rows\" has no function `at`");
    refuse(silent, "`mine` on block \"rows\" has no function `share`");
    refuse(still, "`mine` on block \"rows\" has no function `repel`");
  }
  wgd_refuses(own, "`mine` on block \"rows\" has no density");
}

TEST(SteinKernel, AUsersMatrixIsCheckedInItsName) {
  const auto of = [](const Tensor& k) {
    return SteinKernel{
        "mine", [=](const Tensor& theta) { return of_matrix(k, [=] { return theta - theta; }); }};
  };
  for (const auto refuse : {svgd_refuses, wgd_refuses}) {
    refuse(of(ones({3, 1}, f64)),
           "`mine` on block \"rows\": [of_matrix] k must be f64 [M, M], got");
    refuse(of(ones({3, 3}, f32)),
           "`mine` on block \"rows\": [of_matrix] k must be f64 [M, M], got");
    refuse(of(Tensor()), "[of_matrix] k must be f64 [M, M]");
  }
  const Tensor nan = tensor({1, 0, 0, 0, 1, NAN, 0, 0, 1}, {3, 3}, f64);
  svgd_refuses(of(nan), "returns row 1 of share with norm nan");
  wgd_refuses(of(nan), "returns row 1 of density with norm nan");
  svgd_refuses(of(ones({2, 2}, f64)),
               "the matrix of weights between 3 particles must be f64 [3, 3], got f64 [2, 2]");
  wgd_refuses(of(ones({2, 2}, f64)), "returns density as f64 [2, 1]; it must be f64 [3, 1]");
  // One that fits, though it is a view.
  const Tensor x = random_rows(3, 4, 1), g = random_rows(3, 4, 3);
  EXPECT_TRUE(
      all_close(rewritten<Svgd>(x, g, SvgdOptions{.kernel = of(transpose(ones({3, 3}, f64)))}),
                expand(mean(g, 0, keep_dims), {3, 4}), 1e-14, 1e-15));
}

TEST(SteinKernel, AUsersProfileIsCheckedInItsName) {
  using Profile = std::function<Tensor(const Tensor&)>;
  const auto of = [](const Profile& profile) { return radial("mine", {}, profile); };
  for (const auto refuse : {svgd_refuses, wgd_refuses}) {
    refuse(of([](const Tensor& t) { return sum(t); }),
           "`mine` on block \"rows\": [radial] for f64");
    refuse(of([](const Tensor& t) { return cast(exp(-t), f32); }), "[radial] for f64 [3, 3]");
    refuse(of([](const Tensor& t) { return ones_like(t); }), "the profile records no gradient");
    refuse(of([](const Tensor& t) { return log(t - 1000.0); }), "with norm nan");
  }
  expect_error([&] { of(Profile()); }, "the profile of `mine` is an empty function");
}

/// A method whose sums have weights between two particles, however many there are.
class OfTwo : public ParticleMethod {
 public:
  explicit OfTwo(Particles particles) : ParticleMethod(std::move(particles)) {}
  std::string name() const override { return "of two"; }

 protected:
  Forces forces(const std::string&, const Tensor& theta, const Tensor& gradient) const override {
    const Tensor weights = ones({2, 2}, f64);
    return {Force::mixed(weights, gradient), Force::spread(weights, theta), 0.5};
  }
};

TEST(ParticleMethod, RefusesSumsWithWeightsOfAnotherSize) {
  const Tensor x = leaf(tensor({0, 1, 3}, {3, 1}, f64));
  expect_error(
      [&] {
        rewritten<OfTwo>(x, ones({3, 1}, f64));
      },
      "the matrix of weights between 3 particles must be f64 [3, 3]");
}

TEST(SteinKernel, NamesWhoseDistancesOverflow) {
  const Tensor theta = tensor({1e200, -1e200}, {2, 1}, f64);
  expect_error([&] { checked_at(rbf(), "query", theta, 1); },
               "[kernel] `rbf` on block \"query\": [bandwidth] every pair of particles must give a "
               "finite value, but the squared distance of particles 0 and 1 is inf");
  expect_error(
      [&] { checked_at(linear_kernel(), "query", theta, 1); },
      "`linear` on block \"query\": [linear_kernel] every pair of particles must give a finite "
      "value, but the inner product of particles 0 and 0");
}

}  // namespace
}  // namespace ladon::test::method_test
