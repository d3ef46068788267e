#include "ladon/examples/lessons/11_noise/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/11_noise/exercises/langevin_variance.cpp"
#include "ladon/examples/lessons/11_noise/exercises/mala_acceptance.cpp"
#include "ladon/examples/lessons/11_noise/exercises/preconditioned_step.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/11_noise/exercises/solutions/langevin_variance.cpp"
#include "ladon/examples/lessons/11_noise/exercises/solutions/mala_acceptance.cpp"
#include "ladon/examples/lessons/11_noise/exercises/solutions/preconditioned_step.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

TEST(LessonNoise, LangevinVariance) {
  const Exercise exercise(check_langevin_variance);
  exercise.is_open(hole::langevin_variance);
  exercise.accepts(solution::langevin_variance);
  exercise.refuses([](double precision, double, double) { return 1 / precision; },
                   "reached only as the step goes to 0");
  exercise.refuses(
      [](double precision, double step, double batch) {
        return solution::langevin_variance(precision, step, 2 * batch) / 2;
      },
      "half of the noise");
  exercise.refuses([](double precision, double step,
                      double) { return solution::langevin_variance(precision, step, 0); },
                   "left out");
  exercise.refuses(
      [](double precision, double step, double batch) {
        return solution::langevin_variance(precision, step, batch / step);
      },
      "its variance by step²");
  exercise.refuses(
      [](double precision, double step, double batch) {
        return (1 + step * batch / 2) / (precision * (1 - step * precision / 2));
      },
      "grows with each step");
}

TEST(LessonNoise, PreconditionedStep) {
  using Settings = LangevinSettings;
  const Exercise exercise(check_preconditioned_step);
  exercise.is_open(hole::preconditioned_step);
  exercise.accepts(solution::preconditioned_step);
  exercise.refuses(
      [](const Tensor& x, const Tensor& gradients, const Settings& s, const Tensor& xi) {
        const Tensor drift = solution::preconditioned_step(x, gradients, s, zeros_like(x)) - x;
        return x + drift + std::sqrt(2 * s.step) * s.preconditioner * xi;
      },
      "where P is 4, a target of variance 1 gets the stationary variance 5, and should get 1.25");
  exercise.refuses(
      [](const Tensor& x, const Tensor& gradients, const Settings& s, const Tensor& xi) {
        return solution::preconditioned_step(x, gradients, s, xi / std::sqrt(2));
      },
      "√ε for √(2ε)");
  exercise.refuses(
      [](const Tensor& x, const Tensor& gradients, const Settings& s, const Tensor& xi) {
        const Tensor drift = solution::preconditioned_step(x, gradients, s, zeros_like(x)) - x;
        return x + drift + std::sqrt(2 * s.step) * xi;
      },
      "lacks the preconditioner");
  exercise.refuses(
      [](const Tensor& x, const Tensor& gradients, const Settings& s, const Tensor& xi) {
        return 2 * x - solution::preconditioned_step(x, gradients, s, -xi);
      },
      "gradients of the loss");
  exercise.refuses(
      [](const Tensor& x, const Tensor& gradients, const Settings& s, const Tensor& xi) {
        Settings batch = s;
        batch.items = static_cast<double>(gradients.size(0));
        return solution::preconditioned_step(x, gradients, batch, xi);
      },
      "not scaled by N/n");
  exercise.refuses(
      [](const Tensor& x, const Tensor& gradients, const Settings& s, const Tensor& xi) {
        Settings flat = s;
        flat.prior_precision = 0;
        return solution::preconditioned_step(x, gradients, flat, xi);
      },
      "the prior is left out");
}

/// Acceptance by the two logarithms of its ratio: of p, and of q.
template <class Of>
Tensor acceptance_by(const LogDensity& density, const Tensor& x, const Tensor& to, double step,
                     Of of) {
  const DensityScore here = density.score(x), there = density.score(to);
  const Tensor forward = sum(square(to - x - step * here.gradient), 1) / (-4 * step);
  const Tensor back = sum(square(x - to - step * there.gradient), 1) / (-4 * step);
  return of(there.value - here.value, back - forward);
}

TEST(LessonNoise, MalaAcceptance) {
  const Exercise exercise(check_mala_acceptance);
  exercise.is_open(hole::mala_acceptance);
  exercise.accepts(solution::mala_acceptance);
  exercise.refuses(
      [](const LogDensity& density, const Tensor& x, const Tensor& to, double step) {
        return acceptance_by(density, x, to, step,
                             [](const Tensor& p, const Tensor&) { return exp(minimum(p, 0.0)); });
      },
      "the proposal's ratio is left out");
  exercise.refuses(
      [](const LogDensity& density, const Tensor& x, const Tensor& to, double step) {
        return acceptance_by(density, x, to, step, [](const Tensor& p, const Tensor& q) {
          return exp(minimum(p - q, 0.0));
        });
      },
      "the proposal's ratio is inverted");
  exercise.refuses(
      [](const LogDensity& density, const Tensor& x, const Tensor& to, double step) {
        return acceptance_by(density, x, to, step,
                             [](const Tensor& p, const Tensor& q) { return exp(p + q); });
      },
      "may be above 1");
  exercise.refuses(
      [](const LogDensity& density, const Tensor& x, const Tensor& to, double step) {
        return acceptance_by(density, x, to, step, [](const Tensor& p, const Tensor& q) {
          return exp(minimum(p + 2 * q, 0.0));
        });
      },
      "q has the variance 2·step");
}

}  // namespace
}  // namespace ladon::test
