#include <algorithm>
#include <cmath>

#include "ladon/examples/lessons/07_posterior/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/07_posterior/exercises/condition_second.cpp"
#include "ladon/examples/lessons/07_posterior/exercises/posterior_function.cpp"
#include "ladon/examples/lessons/07_posterior/exercises/weigh_draws.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/07_posterior/exercises/solutions/condition_second.cpp"
#include "ladon/examples/lessons/07_posterior/exercises/solutions/posterior_function.cpp"
#include "ladon/examples/lessons/07_posterior/exercises/solutions/weigh_draws.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

TEST(LessonPosterior, ConditionSecond) {
  const Exercise exercise(check_condition_second);
  exercise.is_open(hole::condition_second);
  exercise.accepts(solution::condition_second);
  exercise.refuses(
      [](const NormalPair& p, double y, double) { return solution::condition_second(p, y, 0); },
      "the noise is forgotten");
  exercise.refuses(
      [](const NormalPair& p, double y, double noise) {
        return NormalNumber{solution::condition_second(p, y + p.first_mean, noise).mean,
                            solution::condition_second(p, y, noise).variance};
      },
      "the mean of y is not subtracted");
  exercise.refuses(
      [](const NormalPair& p, double y, double noise) {
        const NormalNumber right = solution::condition_second(p, y, noise);
        return NormalNumber{right.mean, right.variance + noise};
      },
      "not of a target");
  exercise.refuses(
      [](const NormalPair& p, double y, double noise) {
        const NormalNumber right = solution::condition_second(p, y, noise);
        return NormalNumber{right.mean, 2 * p.second_variance - right.variance};
      },
      "sign of the reduction");
  exercise.refuses(
      [](const NormalPair& p, double y, double noise) {
        const NormalNumber right = solution::condition_second(p, y, noise);
        return NormalNumber{right.mean, std::sqrt(right.variance)};
      },
      "standard deviation");
}

TEST(LessonPosterior, PosteriorFunction) {
  const Exercise exercise(check_posterior_function);
  exercise.is_open(hole::posterior_function);
  exercise.accepts(solution::posterior_function);
  exercise.refuses([](const Tensor& k, const Tensor& cross, const Tensor& test, const Tensor& y,
                      double) { return solution::posterior_function(k, cross, test, y, 0); },
                   "the noise is forgotten");
  exercise.refuses(
      [](const Tensor& k, const Tensor& cross, const Tensor& test, const Tensor& y, double noise) {
        return solution::posterior_function(k, cross, test, y, std::sqrt(noise));
      },
      "its root was added");
  exercise.refuses(
      [](const Tensor& k, const Tensor& cross, const Tensor& test, const Tensor& y, double noise) {
        const NormalFunction right = solution::posterior_function(k, cross, test, y, noise);
        const Tensor root = lapack::cholesky(k + noise * eye(k.size(0), f64));
        return NormalFunction{
            flatten(matmul(cross, lapack::solve_triangular(root, unsqueeze(y, 1)))),
            right.covariance};
      },
      "L⁻¹ is applied once");
  exercise.refuses(
      [](const Tensor& k, const Tensor& cross, const Tensor& test, const Tensor& y, double noise) {
        const NormalFunction right = solution::posterior_function(k, cross, test, y, noise);
        return NormalFunction{right.mean, right.covariance + noise * eye(test.size(0), f64)};
      },
      "not of new targets");
  exercise.refuses(
      [](const Tensor& k, const Tensor& cross, const Tensor& test, const Tensor& y, double noise) {
        const NormalFunction right = solution::posterior_function(k, cross, test, y, noise);
        return NormalFunction{right.mean, 2 * test - right.covariance};
      },
      "sign of the reduction");
  exercise.refuses(
      [](const Tensor& k, const Tensor& cross, const Tensor& test, const Tensor& y, double noise) {
        const NormalFunction right = solution::posterior_function(k, cross, test, y, noise);
        return NormalFunction{right.mean, clone(diagonal(right.covariance))};
      },
      "these are only variances");
}

/// Weights without a shift of the logarithms.
WeightedPosterior by_likelihoods(const Tensor& l, const Tensor& means, const Tensor& variances) {
  WeightedPosterior result = solution::weigh_draws(l, means, variances);
  const Tensor w = exp(l) / sum(exp(l));
  result.mean = matmul(w, means);
  return result;
}

TEST(LessonPosterior, WeighDraws) {
  const Exercise exercise(check_weigh_draws);
  exercise.is_open(hole::weigh_draws);
  exercise.accepts(solution::weigh_draws);
  exercise.refuses(by_likelihoods, "subtract the largest logarithm before exp");
  exercise.refuses(
      [](const Tensor& l, const Tensor& means, const Tensor& variances) {
        WeightedPosterior result = solution::weigh_draws(l, means, variances);
        result.effective_size = 1;
        return result;
      },
      "1/Σw is 1");
  exercise.refuses(
      [](const Tensor& l, const Tensor& means, const Tensor& variances) {
        WeightedPosterior result = solution::weigh_draws(l, means, variances);
        result.variance = matmul(softmax(l, 0), variances);
        return result;
      },
      "Var E[f | z] is missing");
  exercise.refuses(
      [](const Tensor& l, const Tensor& means, const Tensor& variances) {
        WeightedPosterior result = solution::weigh_draws(l, means, variances);
        result.mean = matmul(exp(l), means) / static_cast<double>(l.count());
        return result;
      },
      "the weights do not sum to 1");
  exercise.refuses(
      [](const Tensor& l, const Tensor& means, const Tensor& variances) {
        WeightedPosterior result = solution::weigh_draws(l, means, variances);
        result.log_evidence += std::log(static_cast<double>(l.count()));
        return result;
      },
      "not their sum");
  exercise.refuses(
      [](const Tensor& l, const Tensor& means, const Tensor& variances) {
        WeightedPosterior result = solution::weigh_draws(l, means, variances);
        result.log_evidence -= amax(l).item();
        return result;
      },
      "has to be added again");
}

/// Likelihoods divided by e^m, m any number that a solution takes off the logarithms.
WeightedPosterior after(const Tensor& l, double m, const Tensor& means, const Tensor& variances) {
  const Tensor e = exp(l - m), w = e / sum(e).item(), of_each = unsqueeze(w, 1);
  const Tensor centre = sum(of_each * means, 0);
  return {centre, sum(of_each * (variances + square(means - centre)), 0), 1 / sum(square(w)).item(),
          m + std::log(mean(e).item())};
}

// Only the largest logarithm is safe to take off.
TEST(LessonPosterior, WeighDrawsRefusesAnotherShift) {
  const Exercise exercise(check_weigh_draws);
  exercise.accepts([](const Tensor& l, const Tensor& means, const Tensor& variances) {
    return after(l, amax(l).item(), means, variances);
  });
  const std::string reason = "only the largest of all logarithms";
  exercise.refuses(
      [](const Tensor& l, const Tensor& means, const Tensor& variances) {
        return after(l, at(l, {0}).item(), means, variances);
      },
      reason);
  exercise.refuses(
      [](const Tensor& l, const Tensor& means, const Tensor& variances) {
        return after(l, at(l, {-1}).item(), means, variances);
      },
      reason);
  exercise.refuses(
      [](const Tensor& l, const Tensor& means, const Tensor& variances) {
        return after(l, mean(l).item(), means, variances);
      },
      reason);
  exercise.refuses(
      [](const Tensor& l, const Tensor& means, const Tensor& variances) {
        return after(l, amin(l).item(), means, variances);
      },
      reason);
  exercise.refuses(
      [](const Tensor& l, const Tensor& means, const Tensor& variances) {
        std::vector<double> sorted = l.to_vector();
        std::sort(sorted.begin(), sorted.end());
        return after(l, sorted[sorted.size() / 2], means, variances);
      },
      reason);
}

}  // namespace
}  // namespace ladon::test
