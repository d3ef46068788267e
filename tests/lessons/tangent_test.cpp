#include "ladon/examples/lessons/14_tangent/exercises/exercises.h"
#include "ladon/tests/lessons/lesson.h"

namespace hole {
#include "ladon/examples/lessons/14_tangent/exercises/flow_mean.cpp"
#include "ladon/examples/lessons/14_tangent/exercises/tangent_kernel.cpp"
#include "ladon/examples/lessons/14_tangent/exercises/trained_covariance.cpp"
}  // namespace hole
namespace solution {
#include "ladon/examples/lessons/14_tangent/exercises/solutions/flow_mean.cpp"
#include "ladon/examples/lessons/14_tangent/exercises/solutions/tangent_kernel.cpp"
#include "ladon/examples/lessons/14_tangent/exercises/solutions/trained_covariance.cpp"
}  // namespace solution

namespace ladon::test {
namespace {

TEST(LessonTangent, TangentKernel) {
  const Exercise exercise(check_tangent_kernel);
  exercise.is_open(hole::tangent_kernel);
  exercise.accepts(solution::tangent_kernel);
  exercise.refuses(
      [](Layer& model, const Tensor& x) {
        return solution::tangent_kernel(model, x) /
               static_cast<double>(model.named_parameters().count());
      },
      "the mean over parameters");
  exercise.refuses(
      [](Layer& model, const Tensor& x) {
        std::vector<Tensor> rows;
        model.zero_grad();
        for (int i = 0; i < x.size(0); ++i) {
          backward(sum(model(slice(x, 0, {i, i + 1}))));
          std::vector<Tensor> gradients;
          for (const Tensor& p : model.named_parameters().tensors()) gradients.push_back(p.grad());
          rows.push_back(model.named_parameters().to_row(gradients));
        }
        return matmul(stack(rows, 0), transpose(stack(rows, 0)));
      },
      "they add up");
  exercise.refuses(
      [](Layer& model, const Tensor& x) {
        const Tensor f = model(x).detach();
        return matmul(f, transpose(f));
      },
      "the NNGP kernel");
  exercise.refuses(
      [](Layer& model, const Tensor& x) {
        std::vector<Tensor> rows;
        for (int i = 0; i < x.size(0); ++i) {
          const Tensor loss = sum(square(model(slice(x, 0, {i, i + 1})))) / 2.0;
          const ParameterSet all = model.named_parameters();
          rows.push_back(all.to_row(grad({loss}, all.tensors())));
        }
        return matmul(stack(rows, 0), transpose(stack(rows, 0)));
      },
      "those of the output f");
}

TEST(LessonTangent, FlowMean) {
  const Exercise exercise(check_flow_mean);
  exercise.is_open(hole::flow_mean);
  exercise.accepts(solution::flow_mean);
  exercise.refuses(
      [](const TangentBlocks& theta, const Tensor& y, double rate, double t) {
        return solution::flow_mean(theta, y, rate * static_cast<double>(y.count()), t);
      },
      "its gradient has 1/N");
  exercise.refuses([](const TangentBlocks& theta, const Tensor& y, double rate,
                      double t) { return solution::flow_mean(theta, y, 2 * rate, t); },
                   "its gradient has no 2");
  exercise.refuses([](const TangentBlocks& theta, const Tensor& y, double,
                      double) { return matmul(theta.cross, solve(theta.train, y)); },
                   "the end of training");
  exercise.refuses(
      [](const TangentBlocks& theta, const Tensor& y, double rate, double t) {
        return solution::flow_mean({theta.train, matmul(theta.cross, theta.train)}, y, rate, t);
      },
      "is not divided by λ");
  exercise.refuses(
      [](const TangentBlocks& theta, const Tensor& y, double rate, double t) {
        const auto [values, vectors] = lapack::eigh(theta.train);
        const double tau = rate * t / static_cast<double>(y.count());
        const Tensor scale = unsqueeze((1 - exp(-tau * values)) / values, 1);
        return matmul(theta.cross, matmul(transpose(vectors), scale * matmul(vectors, y)));
      },
      "the columns of V");
  exercise.refuses(
      [](const TangentBlocks& theta, const Tensor& y, double rate, double t) {
        const auto [values, vectors] = lapack::eigh(theta.train);
        const double tau = rate * t / static_cast<double>(y.count());
        const Tensor scale = unsqueeze((1 - exp(-tau * values)) / values, 1);
        return matmul(theta.cross, matmul(vectors, scale * matmul(transpose(vectors), y)));
      },
      "has the limit τ");
}

TEST(LessonTangent, TrainedCovariance) {
  const Exercise exercise(check_trained_covariance);
  exercise.is_open(hole::trained_covariance);
  exercise.accepts(solution::trained_covariance);
  exercise.refuses(
      [](const TangentBlocks&, const NngpBlocks& nngp) {
        return solution::trained_covariance({nngp.train, nngp.cross}, nngp);
      },
      "the Bayesian posterior's");
  exercise.refuses(
      [](const TangentBlocks& theta, const NngpBlocks& nngp) {
        return nngp.test - matmul(theta.cross, solve(theta.train, transpose(theta.cross)));
      },
      "with Θ for K");
  exercise.refuses(
      [](const TangentBlocks& theta, const NngpBlocks& nngp) {
        return solution::trained_covariance(theta, {nngp.train, zeros_like(nngp.cross), nngp.test});
      },
      "are not independent");
  exercise.refuses(
      [](const TangentBlocks& theta, const NngpBlocks& nngp) {
        return solution::trained_covariance(theta, {zeros_like(nngp.train), nngp.cross, nngp.test});
      },
      "+ S·K·Sᵀ");
}

}  // namespace
}  // namespace ladon::test
