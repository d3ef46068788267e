#include <cmath>
#include <numbers>

#include "ladon/examples/lessons/06_prior/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/06_prior/exercises/prior_functions.cpp"
#include "ladon/examples/lessons/06_prior/exercises/prior_kernel_of.cpp"
#include "ladon/examples/lessons/06_prior/exercises/prior_probability.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/06_prior/exercises/solutions/prior_functions.cpp"
#include "ladon/examples/lessons/06_prior/exercises/solutions/prior_kernel_of.cpp"
#include "ladon/examples/lessons/06_prior/exercises/solutions/prior_probability.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

Tensor root_of(const Tensor& kernel, double jitter) {
  return lapack::cholesky(kernel + jitter * eye(kernel.size(0), f64));
}

TEST(LessonPrior, PriorFunctions) {
  const Exercise exercise(check_prior_functions);
  exercise.is_open(hole::prior_functions);
  exercise.accepts(solution::prior_functions);
  exercise.accepts([](const Tensor& kernel, const Tensor& normals) {
    const auto [values, vectors] = lapack::eigh(kernel);  // another root
    return matmul(normals * sqrt(maximum(values, scalar(0, f64))), transpose(vectors));
  });
  exercise.refuses([](const Tensor& kernel,
                      const Tensor& normals) { return matmul(normals, root_of(kernel, 1e-12)); },
                   "the triangle is transposed");
  exercise.refuses(
      [](const Tensor& kernel, const Tensor& normals) { return matmul(normals, kernel); },
      "instead of a root of it");
  exercise.refuses(
      [](const Tensor& kernel, const Tensor& normals) { return normals * sqrt(diagonal(kernel)); },
      "different inputs are independent");
  exercise.refuses(
      [](const Tensor& kernel, const Tensor& normals) {
        return matmul(normals, transpose(root_of(kernel, 0)));
      },
      "has no Cholesky factor");
  exercise.refuses(
      [](const Tensor& kernel, const Tensor& normals) {
        return matmul(normals, transpose(root_of(kernel, 1e-6)));
      },
      "the jitter is too large for this kernel");
}

/// Mean of a function of P(y = 1) over networks.
template <class F>
double mean_of(double mean, double scale, const F& of) {
  double sum = 0;
  for (int i = -1000; i <= 1000; ++i) {
    const double z = 0.01 * i;
    sum += 0.01 * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) *
           of(1 / (1 + std::exp(-mean - scale * z)));
  }
  return sum;
}

TEST(LessonPrior, PriorProbability) {
  const Exercise exercise(check_prior_probability);
  exercise.is_open(hole::prior_probability);
  exercise.accepts(solution::prior_probability);
  exercise.refuses(
      [](double mean, double variance) {
        return PriorProbability{1 / (1 + std::exp(-mean)),
                                solution::prior_probability(mean, variance).sd};
      },
      "is not the mean of the probabilities");
  exercise.refuses(
      [](double mean, double variance) {
        return solution::prior_probability(mean, variance * variance);
      },
      "multiplied by the variance");
  exercise.refuses(
      [](double mean, double variance) {
        const PriorProbability right = solution::prior_probability(mean, variance);
        return PriorProbability{right.mean * std::sqrt(2 * std::numbers::pi), right.sd};
      },
      "add up to 1");
  exercise.refuses(
      [](double mean, double variance) {
        const PriorProbability right = solution::prior_probability(mean, variance);
        return PriorProbability{right.mean, right.sd * right.sd};
      },
      "its root");
  exercise.refuses(
      [](double mean, double variance) {
        const double scale = std::sqrt(variance);
        return PriorProbability{mean_of(mean, scale, [](double p) { return p; }),
                                std::sqrt(mean_of(mean, scale, [](double p) { return p * p; }))};
      },
      "square of the mean is not subtracted");
  exercise.refuses(
      [](double mean, double variance) {
        const double p = 1 / (1 + std::exp(-mean));
        return PriorProbability{solution::prior_probability(mean, variance).mean,
                                p * (1 - p) * std::sqrt(variance)};
      },
      "linearized");
}

TEST(LessonPrior, PriorKernelOf) {
  const Exercise exercise(check_prior_kernel_of);
  exercise.is_open(hole::prior_kernel_of);
  exercise.accepts(solution::prior_kernel_of);
  exercise.refuses(
      [](const Tensor& x, double qk, double vo) {
        return solution::prior_kernel_of(x, std::sqrt(qk), std::sqrt(vo));
      },
      "each standard deviation occurs once");
  exercise.refuses([](const Tensor& x, double qk,
                      double vo) { return solution::prior_kernel_of(x, std::sqrt(qk), vo); },
                   "σ_qk occurs once");
  exercise.refuses(
      [](const Tensor& x, double qk, double vo) {
        return solution::prior_kernel_of(x * std::sqrt(static_cast<double>(x.size(2))), qk, vo);
      },
      "without its 1/d");
  exercise.refuses(
      [](const Tensor& x, double qk, double vo) {
        const Tensor k =
            mean(einsum("nad,mbd->namb", {x, x}), {1, 3}) / static_cast<double>(x.size(2));
        return square(qk * vo * k) * static_cast<double>(x.size(1) * x.size(1));
      },
      "Σ k_ij instead of Σ k_ij²");
  exercise.refuses(
      [](const Tensor& x, double qk, double vo) {
        const auto t = static_cast<double>(x.size(1));
        return solution::prior_kernel_of(x, qk, vo / t);
      },
      "do not add up to 1");
}

}  // namespace
}  // namespace ladon::test
