// The weight α of the repulsion at which particles have the energy of the target, which
// particles/alpha.h derives.

#include "ladon/optim/particles/alpha.h"

#include <cmath>

#include "ladon/tests/optim/helpers.h"

namespace ladon::test::alpha_test {
namespace {

double collapse(std::int64_t m) { return std::log(double(m) + 1) * double(m - 1) / double(m); }

/// mean_i (θ_i − θ̄)·∇U(θ_i)
double virial(const Tensor& theta, const Gradient& gradient) {
  const Tensor apart = theta - mean(theta, 0, Dims::keep);
  return sum(apart * gradient(theta)).item() / double(theta.size(0));
}

/// ∇U of N(0, 1/precisions).
Gradient normal_of(const std::vector<double>& precisions) {
  const Tensor lambda = from_vector(precisions, {std::int64_t(precisions.size())});
  return [=](const Tensor& theta) { return theta * lambda; };
}

// With M − 1 directions of least curvature λ = 1, and as many as there are of λ = 10: the particles
// end as a simplex in the wide ones, with d² = 2α·ln(M + 1)/λ, and leave the others empty. Their
// virial is α·ln(M + 1)(M − 1)/M whatever α, and their total variance the same over λ.
TEST(Alpha, OnlyTheWidestDirectionsAreOccupied) {
  const std::int64_t m = 6, wide = 7;
  std::vector<double> precisions(20, 10.0);
  std::fill_n(precisions.begin(), wide, 1.0);
  const Gradient gradient = normal_of(precisions);
  for (const double alpha : {0.3, 2.0}) {
    Generator rng(1);
    Tensor x = leaf(normal({m, 20}, rng, 0, 0.5, f64));
    Svgd svgd(particles_of_rows(x), {.alpha = alpha});
    descend(x, svgd, gradient, 0.3, 3000);
    const Tensor variances = var(x.detach(), 0, Dims::drop, 0);
    EXPECT_LT(amax(slice(variances, 0, {.start = wide})).item(), 1e-12);
    EXPECT_NEAR(sum(variances).item(), alpha * collapse(m), 1e-8);
    EXPECT_NEAR(virial(x.detach(), gradient), alpha * collapse(m), 1e-8);
    EXPECT_NEAR(svgd.report()[0].distance.max, std::sqrt(2 * alpha * std::log(double(m) + 1)),
                1e-8);
  }
}

// The virial law needs equal distances, not a normal target: U = Σ θ⁴/4 in many dimensions, where
// the particles' distances concentrate. Their spread is reported, and bounds the error.
TEST(Alpha, VirialLawHoldsForATargetThatIsNotNormal) {
  const std::int64_t m = 8, d = 400;
  const Gradient gradient = [](const Tensor& t) { return t * square(t); };
  Generator rng(2);
  Tensor x = leaf(normal({m, d}, rng, 0, 0.5, f64));
  Svgd svgd(particles_of_rows(x), {.alpha = 20});
  descend(x, svgd, gradient, 0.3, 4000);
  const PairSpread distance = svgd.report()[0].distance;
  const double unequal = distance.max / distance.min - 1;
  EXPECT_LT(unequal, 0.1);
  EXPECT_NEAR(virial(x.detach(), gradient) / (20 * collapse(m)), 1, unequal);
}

// Automatic: the virial is D, on a sphere's normal law for every kernel, with and without
// smoothing, and under kde-WGD. Derived for c of a common curvature, so exact there.
TEST(Alpha, AutomaticGivesTheTargetsEnergy) {
  const std::int64_t m = 5, d = 30;
  const auto settled = [&](const auto& make) {
    Generator rng(3);
    Tensor x = leaf(normal({m, d}, rng, 0, 1, f64));
    auto method = make(particles_of_rows(x));
    descend(x, method, standard_normal, 0.2, 3000);
    EXPECT_NEAR(virial(x.detach(), standard_normal) / double(d), 1, 1e-9);
    const BlockReport report = method.report()[0];
    EXPECT_NEAR(report.alpha / report.fair_alpha, 1, 1e-9);
    return report;
  };
  const auto svgd = [&](const SteinKernel& kernel, bool smoothing) {
    return settled([&](Particles p) {
      return Svgd(std::move(p), {.kernel = kernel, .alpha = automatic, .smoothing = smoothing});
    });
  };
  const BlockReport standard = svgd(rbf(), true);
  EXPECT_NEAR(standard.alpha, double(d) / collapse(m), 1e-9);
  EXPECT_NEAR(svgd(rbf(), false).alpha, double(d) / collapse(m) * double(m + 1) / double(m), 1e-9);
  svgd(imq(), true);
  svgd(imq(), false);
  svgd(matern(1.5), true);
  settled([&](Particles p) { return Wgd(std::move(p), {.alpha = automatic}); });
}

// Many particles in the plane: at the target the balance is Stein's identity, which has α = 1.
TEST(Alpha, AutomaticIsOneWhereParticlesAreDense) {
  Generator rng(4);
  Tensor x = leaf(normal({1500, 2}, rng, 0, 1, f64));
  x.set_grad(clone(x.detach()));
  Svgd svgd(particles_of_rows(x), {.alpha = automatic});
  svgd.apply();
  // Σ θ·(S − R) is a mean over 1,500 draws of a quantity of order 1 to 2: its error is about .04.
  EXPECT_NEAR(svgd.report()[0].alpha, 1, 0.15);
}

TEST(Alpha, IsNothingWithoutAPairOrAScale) {
  for (const Tensor& start : {ones({1, 3}, f64), ones({4, 3}, f64)}) {
    Tensor x = leaf(start);
    x.set_grad(ones(start.shape(), f64));
    Svgd svgd(particles_of_rows(x), {.alpha = automatic});
    svgd.apply();
    EXPECT_EQ(svgd.report()[0].alpha, 0);
    EXPECT_TRUE(std::isnan(svgd.report()[0].fair_alpha));
    EXPECT_TRUE(all_equal(x.grad(), ones(start.shape(), f64)));
  }
}

// Without repulsion particles merge, and a kernel's scale with them: its repulsion would be
// infinite, and is not asked for.
TEST(Alpha, ZeroLetsParticlesMerge) {
  const Tensor theta = tensor({1, 1 + 1e-170, 1 - 1e-170, 1}, {4, 1}, f64) * 1e-160;
  for (const bool smoothing : {true, false}) {
    Tensor x = leaf(theta);
    x.set_grad(ones({4, 1}, f64));
    Svgd svgd(particles_of_rows(x), {.alpha = 0, .smoothing = smoothing});
    svgd.apply();
    EXPECT_EQ(svgd.report()[0].repulsive, 0);
  }
  Tensor x = leaf(theta);
  x.set_grad(ones({4, 1}, f64));
  Wgd wgd(particles_of_rows(x), {.alpha = 0});
  wgd.apply();
  EXPECT_TRUE(all_equal(x.grad(), ones({4, 1}, f64)));
}

// N, λ and T stay apart: automatic α knows the temperature, as scores do.
TEST(Alpha, AutomaticFollowsTheTarget) {
  const std::int64_t m = 4, d = 12;
  const TargetDensity target{.count = 50, .prior_precision = 10, .temperature = 3};
  Generator rng(5);
  Tensor x = leaf(normal({m, d}, rng, 0, 1, f64));
  Svgd svgd(particles_of_rows(x), {.alpha = automatic, .target = target});
  descend(x, svgd, standard_normal, 0.3, 4000);  // mean loss ½θ², so U = 50·½θ² + 10·½θ²
  EXPECT_NEAR(60 * virial(x.detach(), standard_normal) / 3, double(d), 1e-8);
}

TEST(Alpha, CanBeAnnealed) {
  const Tensor theta = tensor({1, 2, 10, 5, 7, 3}, {3, 2}, f64), g = ones({3, 2}, f64);
  const auto with = [&](double alpha, double temperature) {
    return rewritten<Svgd>(theta, g,
                           SvgdOptions{.alpha = alpha, .target = {.temperature = temperature}});
  };
  Tensor x = leaf(theta);
  Svgd svgd(particles_of_rows(x), {.alpha = 5});
  Wgd wgd({.alpha = 1});
  svgd.set_alpha(0.2);
  svgd.set_target({.temperature = 2});
  x.set_grad(clone(g));
  svgd.apply();
  EXPECT_TRUE(same_bits(x.grad(), with(0.2, 2)));
  expect_error([&] { svgd.set_alpha(-1); }, "alpha is -1");
  expect_error([&] { wgd.set_alpha(NAN); }, "alpha is nan");
  expect_error([&] { svgd.set_target({.count = -1}); }, "N is -1");
  EXPECT_EQ(svgd.target().temperature, 2);
}

}  // namespace
}  // namespace ladon::test::alpha_test
