#include "ladon/examples/lessons/09_particles/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/09_particles/exercises/pair_distance.cpp"
#include "ladon/examples/lessons/09_particles/exercises/rbf_forces.cpp"
#include "ladon/examples/lessons/09_particles/exercises/stein_gradient.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/09_particles/exercises/solutions/pair_distance.cpp"
#include "ladon/examples/lessons/09_particles/exercises/solutions/rbf_forces.cpp"
#include "ladon/examples/lessons/09_particles/exercises/solutions/stein_gradient.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

/// The kernel and the repulsion of a given h².
RbfForces forces_with(const Tensor& theta, double h2) {
  const KernelAt at = rbf({.bandwidth = Bandwidth::fixed, .h2 = h2}).at(theta);
  return {h2, at.share(eye(theta.size(0), f64)), at.repel()};
}

Tensor squared_distances_of(const Tensor& theta) {
  return sum(square(unsqueeze(theta, 1) - unsqueeze(theta, 0)), 2);
}

TEST(LessonParticles, RbfForces) {
  const Exercise exercise(check_rbf_forces);
  exercise.is_open(hole::rbf_forces);
  exercise.accepts(solution::rbf_forces);
  exercise.refuses(
      [](const Tensor& theta) {
        return forces_with(theta, bandwidth(Bandwidth::median, sqrt(squared_distances_of(theta))));
      },
      "should be of squared distances");
  exercise.refuses(
      [](const Tensor& theta) {
        return forces_with(theta, bandwidth(Bandwidth::liu, squared_distances_of(theta)));
      },
      "zeros of the diagonal");
  exercise.refuses(
      [](const Tensor& theta) {
        const RbfForces right = solution::rbf_forces(theta);
        return RbfForces{right.h2, right.kernel, -right.repulsion};
      },
      "R attracts");
  exercise.refuses(
      [](const Tensor& theta) {
        const RbfForces right = solution::rbf_forces(theta);
        return RbfForces{right.h2, right.kernel, right.repulsion * std::sqrt(right.h2)};
      },
      "divided by h;");
  exercise.refuses(
      [](const Tensor& theta) {
        const RbfForces right = solution::rbf_forces(theta);
        return RbfForces{right.h2, square(right.kernel), right.repulsion};
      },
      "it is exp(-d²/(2h²))");
  exercise.refuses(
      [](const Tensor& theta) {
        const RbfForces right = solution::rbf_forces(theta);
        const Tensor k = exp(squared_distances_of(theta) / (-2 * right.h2));  // 0/0
        return RbfForces{right.h2, k, right.repulsion};
      },
      "where all particles are equal");
}

TEST(LessonParticles, SteinGradient) {
  const Exercise exercise(check_stein_gradient);
  exercise.is_open(hole::stein_gradient);
  exercise.accepts(solution::stein_gradient);
  exercise.refuses([](const Tensor& theta, const Tensor& g, const PairKernel& kernel,
                      double alpha) { return solution::stein_gradient(theta, g, kernel, -alpha); },
                   "the repulsion attracts");
  exercise.refuses(
      [](const Tensor& theta, const Tensor& g, const PairKernel& kernel, double alpha) {
        return 4 * solution::stein_gradient(theta, g, kernel, alpha);
      },
      "φ is their mean");
  exercise.refuses(
      [](const Tensor& theta, const Tensor& g, const PairKernel& kernel, double alpha) {
        const PairKernel exchanged = [&](const Tensor& x, const Tensor& y) {
          // the value stays, and the gradient is that of the second argument
          const Tensor at_x = x.detach();
          const Tensor at_y = clone(y.detach()).set_requires_grad();
          const Tensor slope = grad(kernel(at_x, at_y), at_y).detach();
          return kernel(at_x, y).detach() + sum(slope * (x - at_x));
        };
        return solution::stein_gradient(theta, g, exchanged, alpha);
      },
      "differentiated with respect to θ_i");
  exercise.refuses([](const Tensor& theta, const Tensor& g, const PairKernel& kernel,
                      double alpha) { return solution::stein_gradient(theta, -g, kernel, alpha); },
                   "driven up the loss");
  exercise.refuses([](const Tensor& theta, const Tensor& g, const PairKernel& kernel,
                      double alpha) { return -solution::stein_gradient(theta, g, kernel, alpha); },
                   "this is φ, which ascends");
  exercise.refuses(
      [](const Tensor& theta, const Tensor& g, const PairKernel& kernel, double alpha) {
        return g / 4.0 + solution::stein_gradient(theta, zeros_like(g), kernel, alpha);
      },
      "do not share their gradients");
}

using Score = std::function<double(double)>;

TEST(LessonParticles, PairDistance) {
  const Exercise exercise(check_pair_distance);
  exercise.is_open(hole::pair_distance);
  exercise.accepts(solution::pair_distance);
  exercise.refuses([](const Score& score, double alpha,
                      double h2) { return solution::pair_distance(score, alpha, h2) / 2; },
                   "the particles are 2a apart");
  exercise.refuses(
      [](const Score& score, double alpha, double h2) {
        return solution::pair_distance(score, alpha * std::sqrt(h2), h2);
      },
      "divided by h, not by h²");
  exercise.refuses([](const Score& score, double alpha,
                      double h2) { return solution::pair_distance(score, alpha / 2, h2 / 2); },
                   "it should be exp(-d²/(2h²))");
  exercise.refuses(
      [](const Score& score, double, double h2) { return solution::pair_distance(score, 1, h2); },
      "α is left out");
  exercise.refuses([](const Score&, double alpha,
                      double h2) { return std::sqrt(2 * h2 * std::log(1 + 2 * alpha / h2)); },
                   "on p ∝ exp(-x⁴/4)");
}

}  // namespace
}  // namespace ladon::test
