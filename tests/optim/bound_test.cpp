// Particles that are nearly equal, or equal in part: the bound of the repulsion, and the case in
// which no bandwidth is defined.

#include <cmath>
#include <limits>

#include "ladon/tests/optim/helpers.h"

namespace ladon::test::bound_test {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

Tensor random_rows(std::int64_t m, std::int64_t d, std::uint64_t seed, DType dtype = f64) {
  Generator rng(seed);
  return normal({m, d}, rng, 0, 1, dtype);
}

/// Rows about `distance` apart, around a common point.
Tensor cluster(std::int64_t m, std::int64_t d, double distance, DType dtype = f64) {
  const Tensor centre = random_rows(1, d, 1), apart = random_rows(m, d, 2);
  return cast(centre + apart * (distance / std::sqrt(2.0 * double(d))), dtype);
}

struct Applied {
  Tensor gradient;
  BlockReport report;
};
template <class Method, class Options>
Applied applied(const Tensor& theta, const Tensor& g, const Options& options) {
  Tensor x = leaf(theta);
  x.set_grad(clone(g));
  Method method(particles_of_rows(x), options);
  method.apply();
  return {x.grad(), method.report()[0]};
}
Applied svgd(const Tensor& theta, const Tensor& g, double max_ratio = 100, double alpha = 0.01) {
  return applied<Svgd>(theta, g, SvgdOptions{.alpha = alpha, .max_ratio = max_ratio});
}

// The case that was found: f32, distances of 1e-7·√D, α = 0.01.
TEST(Bound, NearlyEqualParticlesFeelAtMostMaxRatioTimesTheDrive) {
  const std::int64_t m = 4, d = 64;
  const Tensor theta = cluster(m, d, 1e-7 * std::sqrt(double(d)), f32);
  const Tensor g = random_rows(m, d, 3, f32);
  EXPECT_GT(svgd(theta, g, unbounded).report.ratio, 1e3);
  const Applied bounded = svgd(theta, g);
  EXPECT_NEAR(bounded.report.ratio, 100, 1e-10);
  EXPECT_LT(bounded.report.damping, 0.1);
  const Applied wgd = applied<Wgd>(theta, g, WgdOptions{.alpha = 0.01});
  EXPECT_NEAR(wgd.report.ratio, 100, 1e-10);
}

TEST(Bound, HealthyParticlesKeepEveryBit) {
  for (const DType dtype : {f32, f64}) {
    const Tensor theta = random_rows(5, 33, 4, dtype), g = random_rows(5, 33, 5, dtype);
    const Applied bounded = svgd(theta, g, 1, 1);
    EXPECT_EQ(bounded.report.damping, 1);
    EXPECT_LT(bounded.report.ratio, 1);
    EXPECT_TRUE(same_bits(bounded.gradient, svgd(theta, g, unbounded, 1).gradient));
  }
}

// The ratio is min(max_ratio, what it was): continuous in the distance. The bounded force is the
// unbounded one times a factor, so that it points the same way and still sums to zero.
TEST(Bound, IsContinuousAndKeepsTheDirection) {
  const std::int64_t m = 5, d = 16;
  const Tensor g = random_rows(m, d, 3);
  for (double distance = 1e-9; distance < 100; distance *= 3) {
    const Tensor theta = cluster(m, d, distance);
    const Applied free = svgd(theta, g, unbounded), bounded = svgd(theta, g);
    const Applied none = svgd(theta, g, unbounded, 0);
    EXPECT_NEAR(bounded.report.ratio, std::min(100.0, free.report.ratio), 1e-9);
    const Tensor repulsive = none.gradient - bounded.gradient;
    const Tensor scaled = (none.gradient - free.gradient) * bounded.report.damping;
    EXPECT_TRUE(all_close(repulsive, scaled, 1e-8, 1e-9)) << distance;
    EXPECT_LT(amax(abs(sum(repulsive, 0))).item(), 1e-9 * amax(abs(repulsive)).item() + 1e-13);
  }
}

TEST(Bound, DoesNotDependOnOrderPlaceOrScale) {
  const Tensor theta = cluster(4, 6, 1e-6), g = random_rows(4, 6, 3);
  const Applied base = svgd(theta, g);
  ASSERT_LT(base.report.damping, 1);
  const Tensor order = tensor({2, 0, 3, 1}, i64);
  const auto permuted = [&](const Tensor& x) { return index_select(x, 0, order); };
  EXPECT_TRUE(all_close(svgd(permuted(theta), permuted(g)).gradient, permuted(base.gradient), 1e-12,
                        1e-13));
  const Tensor exact =
      cluster(4, 6, 1e-6) - random_rows(1, 6, 1);  // the shift back is exact enough
  EXPECT_TRUE(all_close(svgd(exact, g).gradient, base.gradient, 1e-8, 1e-9));
  // Particles sixteen times as far apart in a landscape as much wider: the forces are a sixteenth.
  EXPECT_TRUE(all_close(svgd(theta * 16.0, g / 16.0).gradient, base.gradient / 16.0, 1e-12, 1e-13));
}

// From 1e-9 apart the pair goes where it would rest without a bound (sampling_test.cpp), and is not
// thrown beyond first: unbounded, its first step is as large as 1/distance.
TEST(Bound, MovesNoPointOfRest) {
  const double rest = std::sqrt(std::log(3) / 2);
  const auto farthest = [&](double max_ratio) {
    Tensor x = leaf(tensor({1e-9, -1e-9}, {2, 1}, f64));
    Svgd method(particles_of_rows(x), {.max_ratio = max_ratio});
    double far = 0;
    for (int t = 0; t < 300; ++t) {
      descend(x, method, standard_normal, 0.3, 1);
      far = std::max(far, std::abs(x.to_vector()[0]));
    }
    EXPECT_NEAR(x.to_vector()[0], rest, 1e-9);
    return far;
  };
  EXPECT_LT(farthest(100), 10 * rest);
  EXPECT_GT(farthest(unbounded), 1e6 * rest);
}

TEST(Bound, ThereIsNoneWithoutADrivingForce) {
  const Tensor theta = cluster(3, 4, 1e-6), none = zeros({3, 4}, f64);
  const Applied free = svgd(theta, none);
  EXPECT_EQ(free.report.damping, 1);
  EXPECT_EQ(free.report.ratio, unbounded);
  EXPECT_TRUE(same_bits(free.gradient, svgd(theta, none, unbounded).gradient));
  EXPECT_EQ(SvgdOptions::paper(1).max_ratio, unbounded);
}

// --- no scale at all ---

SvgdOptions with(Bandwidth rule, double alpha = 1) {
  return {.kernel = rbf({.bandwidth = rule}), .alpha = alpha};
}

TEST(Scale, IsMissingWhereParticlesDifferAndWouldNotRepel) {
  const auto refuse = [](const Tensor& theta, Bandwidth rule) {
    Tensor x = leaf(theta);
    const Tensor g = random_rows(theta.size(0), theta.size(1), 1);
    x.set_grad(clone(g));
    Svgd svgd(particles_of_rows(x), with(rule));
    expect_error([&] { svgd.apply(); }, "`rbf` on block \"rows\" has bandwidth h² = 0");
    Wgd wgd(particles_of_rows(x), {.kernel = imq({.bandwidth = rule})});
    expect_error([&] { wgd.apply(); }, "`imq` on block \"rows\" has bandwidth h² = 0");
    EXPECT_TRUE(same_bits(x.grad(), g));
  };
  const Tensor pair = tensor({1, 2}, {2, 1}, f64);
  const Tensor pairs = tensor({1, 1, 2, 2}, {4, 1}, f64);
  const Tensor most = tensor({1, 1, 2, 1, 1}, {5, 1}, f64);
  refuse(pair, Bandwidth::paper);
  refuse(pairs, Bandwidth::paper);
  refuse(tensor({1, 1, 2}, {3, 1}, f64), Bandwidth::liu);
  for (const Bandwidth rule :
       {Bandwidth::median, Bandwidth::liu, Bandwidth::paper, Bandwidth::nips})
    refuse(most, rule);
  refuse(tensor({0, 1e-158, 3e-158}, {3, 1}, f64), Bandwidth::median);  // 1/h² is no number
  // These have a scale, or want none.
  const auto accept = [](const Tensor& theta, const SvgdOptions& options) {
    return applied<Svgd>(theta, ones_like(theta), options).report.h2;
  };
  EXPECT_GT(accept(pair, with(Bandwidth::median)), 0);
  EXPECT_GT(accept(pair, with(Bandwidth::liu)), 0);
  EXPECT_GT(accept(pairs, with(Bandwidth::median)), 0);
  EXPECT_EQ(accept(most, with(Bandwidth::fixed)), 1);
  EXPECT_EQ(accept(pair, with(Bandwidth::paper, 0)), 0);
  const SteinKernel outward{"outward", [](const Tensor& theta) {
                              return of_matrix(
                                  ones({2, 2}, f64), [=] { return theta * 1.0; }, 0);
                            }};
  EXPECT_EQ(accept(pair, {.kernel = outward}), 0);
}

TEST(Scale, ZeroIsReportedOfEqualParticlesAndNanOfKernelsWithoutBandwidth) {
  const Tensor equal = full({3, 2}, 0.5, f64), g = random_rows(3, 2, 1);
  for (const Bandwidth rule :
       {Bandwidth::median, Bandwidth::liu, Bandwidth::paper, Bandwidth::nips}) {
    const BlockReport report = applied<Svgd>(equal, g, with(rule)).report;
    EXPECT_EQ(report.h2, 0);
    EXPECT_EQ(report.repulsive, 0);
  }
  const SvgdOptions linear{.kernel = linear_kernel()};
  EXPECT_TRUE(std::isnan(applied<Svgd>(random_rows(3, 2, 2), g, linear).report.h2));
}

}  // namespace
}  // namespace ladon::test::bound_test
