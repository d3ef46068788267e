#include "ladon/examples/lessons/10_collapse/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/10_collapse/exercises/coordinate_variance.cpp"
#include "ladon/examples/lessons/10_collapse/exercises/simplex_variance.cpp"
#include "ladon/examples/lessons/10_collapse/exercises/spos_step.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/10_collapse/exercises/solutions/coordinate_variance.cpp"
#include "ladon/examples/lessons/10_collapse/exercises/solutions/simplex_variance.cpp"
#include "ladon/examples/lessons/10_collapse/exercises/solutions/spos_step.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

TEST(LessonCollapse, CoordinateVariance) {
  const Exercise exercise(check_coordinate_variance);
  exercise.is_open(hole::coordinate_variance);
  exercise.accepts(solution::coordinate_variance);
  exercise.refuses([](const Tensor& x) { return mean(var(x, 0, Dims::drop, 0)).item(); },
                   "divide by M - 1");
  exercise.refuses([](const Tensor& x) { return mean(square(x)).item(); }, "a mean square");
  exercise.refuses([](const Tensor& x) { return sum(var(x, 0)).item(); }, "the total variance");
  exercise.refuses([](const Tensor& x) { return mean(var(x, 1)).item(); }, "it is over particles");
  exercise.refuses([](const Tensor& x) { return var(x).item(); }, "one mean for all coordinates");
}

TEST(LessonCollapse, SimplexVariance) {
  const Exercise exercise(check_simplex_variance);
  exercise.is_open(hole::simplex_variance);
  exercise.accepts(solution::simplex_variance);
  exercise.refuses([](const RadialProfile&, int m, int d,
                      double alpha) { return alpha * std::log(m + 1.0) / d; },
                   "the inverse multiquadric");
  exercise.refuses([](const RadialProfile& k, int m, int d,
                      double alpha) { return solution::simplex_variance(k, m, d, alpha) * d; },
                   "it is per coordinate");
  exercise.refuses(
      [](const RadialProfile& k, int m, int d, double alpha) {
        return solution::simplex_variance(k, m, d, alpha) * (m - 1) / m;
      },
      "the divisor M - 1");
  exercise.refuses(
      [](const RadialProfile& k, int m, int d, double alpha) {
        const double t = 2 * std::log(m + 1.0);
        return -k.slope(t) * alpha * m * t / d;
      },
      "driven by its own score alone");
  exercise.refuses([](const RadialProfile& k, int m, int d,
                      double) { return solution::simplex_variance(k, m, d, 1); },
                   "α is left out");
}

TEST(LessonCollapse, SposStep) {
  const Exercise exercise(check_spos_step);
  exercise.is_open(hole::spos_step);
  exercise.accepts(solution::spos_step);
  exercise.refuses(
      [](const Tensor& x, const Tensor& g, const Tensor& xi, const SposSettings& s) {
        return solution::spos_step(x, g, xi / std::sqrt(2.0), s);
      },
      "half of the target's variance");
  exercise.refuses(
      [](const Tensor& x, const Tensor& g, const Tensor& xi, const SposSettings& s) {
        return solution::spos_step(x, g, std::sqrt(s.step) * xi, s);
      },
      "proportional to ε²");
  exercise.refuses(
      [](const Tensor& x, const Tensor& g, const Tensor& xi, const SposSettings& s) {
        const Tensor k = rbf({.bandwidth = Bandwidth::fixed, .h2 = s.h2}).at(x).share(xi);
        return solution::spos_step(x, g, k, s);
      },
      "multiplied by the kernel");
  exercise.refuses(
      [](const Tensor& x, const Tensor& g, const Tensor& xi, const SposSettings& s) {
        return solution::spos_step(x, g, xi, s) + s.step * s.diffusion * g;
      },
      "drift b·s that balances the noise is missing");
  exercise.refuses([](const Tensor& x, const Tensor& g, const Tensor& xi,
                      const SposSettings& s) { return solution::spos_step(x, -g, xi, s); },
                   "driven up the loss");
  exercise.refuses(
      [](const Tensor& x, const Tensor& g, const Tensor& xi, const SposSettings& s) {
        return solution::spos_step(x, g, xi, {s.h2, -s.alpha, s.diffusion, s.step});
      },
      "the repulsion attracts");
}

}  // namespace
}  // namespace ladon::test
