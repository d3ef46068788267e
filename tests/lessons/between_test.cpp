#include "ladon/examples/lessons/05_between/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/05_between/exercises/covariance_given_heads.cpp"
#include "ladon/examples/lessons/05_between/exercises/density_of_heads.cpp"
#include "ladon/examples/lessons/05_between/exercises/divergence_of_laws.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/05_between/exercises/solutions/covariance_given_heads.cpp"
#include "ladon/examples/lessons/05_between/exercises/solutions/density_of_heads.cpp"
#include "ladon/examples/lessons/05_between/exercises/solutions/divergence_of_laws.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

using infinite::ScaleMixture;

double normal_density(double y, double variance) {
  return std::exp(-0.5 * y * y / variance) / std::sqrt(2 * std::numbers::pi * variance);
}

TEST(LessonBetween, DensityOfHeads) {
  const Exercise exercise(check_density_of_heads);
  exercise.is_open(hole::density_of_heads);
  exercise.accepts(solution::density_of_heads);
  exercise.refuses([](double y, const Tensor& v) { return normal_density(y, mean(v).item()); },
                   "Gaussian of the mean variance");
  exercise.refuses(
      [](double y, const Tensor& v) {
        return normal_density(y, std::pow(mean(sqrt(mean(v, 1))).item(), 2));
      },
      "Gaussian of the mean standard deviation");
  exercise.refuses(
      [](double y, const Tensor& v) {
        return std::sqrt(2 * std::numbers::pi) * solution::density_of_heads(y, v);
      },
      "1/√2π is forgotten");
  exercise.refuses(
      [](double y, const Tensor& v) {
        return solution::density_of_heads(y, square(mean(v, 1, keep_dims)));
      },
      "variance is taken for a standard deviation");
  exercise.refuses(
      [](double y, const Tensor& v) {
        return solution::density_of_heads(y, reshape(v, {-1, 1}));
      },
      "one head chosen at random");
}

TEST(LessonBetween, DivergenceOfLaws) {
  const Exercise exercise(check_divergence_of_laws);
  exercise.is_open(hole::divergence_of_laws);
  exercise.accepts(solution::divergence_of_laws);
  exercise.refuses([](const ScaleMixture& p,
                      const ScaleMixture& q) { return solution::divergence_of_laws(q, p); },
                   "p and q are exchanged");
  exercise.refuses([](const ScaleMixture& p,
                      const ScaleMixture& q) { return solution::divergence_of_laws(p, q) / 2; },
                   "only one sign of y");
  exercise.refuses(
      [](const ScaleMixture& p, const ScaleMixture& q) {
        double sum = 0;
        for (double y = -30; y < 30; y += 0.02)
          sum += 0.02 * p.density(y) * std::log(p.density(y) / q.density(y));
        return sum;
      },
      "not finite");
}

TEST(LessonBetween, CovarianceGivenHeads) {
  const Exercise exercise(check_covariance_given_heads);
  exercise.is_open(hole::covariance_given_heads);
  exercise.accepts(solution::covariance_given_heads);
  exercise.refuses([](const Tensor& x, const Tensor& forms,
                      double qk) { return 3.0 * solution::covariance_given_heads(x, forms, qk); },
                   "1/H is forgotten");
  exercise.refuses([](const Tensor& x, const Tensor& forms,
                      double) { return solution::covariance_given_heads(x, forms, 1); },
                   "QK, the scale of the logits");
  exercise.refuses(
      [](const Tensor& x, const Tensor& forms, double qk) {
        return solution::covariance_given_heads(x, mean(forms, 0, keep_dims), qk);
      },
      "forms are averaged");
  exercise.refuses(
      [](const Tensor& x, const Tensor& forms, double qk) {
        return solution::covariance_given_heads(x, transpose(forms), qk);
      },
      "B is transposed");
  exercise.refuses(
      [](const Tensor& x, const Tensor& forms, double qk) {
        const Tensor tokens = x / std::sqrt(double(x.size(2)));
        const Tensor logits = matmul(matmul(tokens, unsqueeze(forms, 1)), transpose(tokens));
        const Tensor a = mean(softmax(qk * logits, -1), 0);  // [N, T, T]
        const Tensor k = matmul(unsqueeze(tokens, 1), transpose(unsqueeze(tokens, 0)));
        return matmul(matmul(unsqueeze(a, 1), k), transpose(unsqueeze(a, 0)));
      },
      "averaged over heads before the product");
}

}  // namespace
}  // namespace ladon::test
