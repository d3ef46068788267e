#include "ladon/examples/live/live_layer.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/examples/exact_posterior/task.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/pooling.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/particles/svgd.h"
#include "ladon/optim/particles/wgd.h"
#include "ladon/optim/posterior/compare.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon::example {

namespace {

Tensor numbers(const std::vector<double>& values) {
  return from_vector(values, {std::ssize(values)});
}

/// Square block of a kernel at the given inputs.
Tensor block(const Tensor& kernel, const Tensor& inputs) {
  return index_select(index_select(kernel, 0, inputs), 1, inputs);
}

/// Output of a random layer whose heads have `width` channels, averaged over positions: [N, 2, 3] →
/// [N, 1].
Tensor random_layer(const Tensor& x, int heads, int width, Generator& rng) {
  const WideHeadsOptions like = network({}, heads);
  MultiHeadAttention layer({.dim = like.dim,
                            .heads = heads,
                            .head_dim = width,
                            .bias = false,
                            .out = 1,
                            .prior = {.parameterization = Parameterization::ntk,
                                      .query_key_std = like.query_key_std,
                                      .value_output_std = like.value_output_std}},
                           rng);
  layer.to(f64);
  return mean_positions(layer.forward(x));
}

LiveBand band(const Tensor& mean, const Tensor& variance) {
  return {contiguous(flatten(mean)).to_vector(), sqrt(variance).to_vector()};
}

}  // namespace

/// Networks as rows of theta, with the task and the optimizer that moves them.
struct LiveLayer::Networks {
  RegressionTask task;
  Tensor theta;  // [P, D], a leaf of the graph
  Adam adam;

  Networks(const RegressionTask& of, const Tensor& start)
      : task(of), theta(parameter(start)), adam({theta}, {.lr = 0.03}) {}
};

LiveLayer::LiveLayer()
    : train_(training_places().count()), inputs_(inputs()), kernel_(limit_kernel({})) {}
LiveLayer::~LiveLayer() = default;

std::vector<double> LiveLayer::training() const { return training_places().to_vector(); }
std::vector<double> LiveLayer::places() const { return test_places().to_vector(); }
std::vector<double> LiveLayer::targets() const {
  return example::targets({}, kernel_, 0).to_vector();
}

std::vector<double> LiveLayer::limit() const {
  return contiguous(at(kernel_, {Slice{.start = train_}, Slice{.start = train_}})).to_vector();
}

std::vector<double> LiveLayer::networks(int heads, int width, int count, int first, int second,
                                        int seed) const {
  const NoGrad off;
  Generator rng(static_cast<std::uint64_t>(seed));
  const Tensor two = from_vector(std::vector<std::int64_t>{train_ + first, train_ + second}, {2});
  if (heads == 0) {
    const Tensor root = lapack::cholesky(block(kernel_, two));
    return matmul(normal({count, 2}, rng, 0, 1, f64), transpose(root)).to_vector();
  }
  const Tensor x = index_select(inputs_, 0, two);
  if (width == 0) {
    const RegressionTask task = wide_heads_task(network({}, heads), x, zeros({1}, f64), noise);
    return task.functions(normal({count, task.dim}, rng, 0, 1, f64), 2).to_vector();
  }
  std::vector<Tensor> answers;
  for (int i = 0; i < count; ++i) answers.push_back(flatten(random_layer(x, heads, width, rng)));
  return stack(answers, 0).to_vector();
}

LiveBand LiveLayer::posterior(int heads, const std::vector<double>& targets, int draws,
                              int seed) const {
  const NoGrad off;
  const Tensor y = numbers(targets);
  const Slice seen{.stop = train_}, asked{.start = train_};
  if (heads == 0) {
    const GaussianProcess gp(at(kernel_, {seen, seen}), y, {.noise = noise, .jitter = 0});
    const GpPrediction f = gp.predict(at(kernel_, {asked, seen}), at(kernel_, {asked, asked}));
    return band(f.mean, f.variance());
  }
  if (!kernels_.contains(heads))
    kernels_[heads] =
        infinite::latent_kernel(infinite::finite_heads(limit_model({}), {.heads = heads}), inputs_);
  Generator rng(static_cast<std::uint64_t>(seed));
  const LatentPosterior f = sample_posterior(
      kernels_[heads], inputs_.size(0), y,
      {.noise = noise, .smc = {.particles = draws, .sweeps = 2, .recorded = 1}, .replicates = 2},
      rng);
  return band(f.mean, f.variance());
}

void LiveLayer::begin(int heads, int count, int seed) {
  Generator rng(static_cast<std::uint64_t>(seed));
  const RegressionTask task =
      wide_heads_task(network({}, heads), inputs_, zeros({train_}, f64), noise);
  moved_ = std::make_unique<Networks>(task, normal({count, task.dim}, rng, 0, 1, f64));
}

std::vector<double> LiveLayer::step(const std::string& method, double alpha,
                                    const std::vector<double>& targets, int steps) {
  constexpr const char* operation = "LiveLayer::step";
  LADON_CHECK(moved_, operation, "needs particles, but there are none; call begin() first");
  LADON_CHECK(method == "svgd" || method == "wgd", operation,
              "the method must be svgd or wgd, but is `", method, "`");
  auto& [task, theta, adam] = *moved_;
  task.targets = numbers(targets);
  const double count = static_cast<double>(targets.size());
  const TargetDensity target{.count = count, .prior_precision = 1};
  const Alpha weight = alpha < 0 ? automatic : Alpha(alpha);
  const Particles rows = particles_of_rows(theta, "networks");
  std::unique_ptr<ParticleMethod> force;
  if (method == "svgd")
    force = std::make_unique<Svgd>(rows, SvgdOptions{.alpha = weight, .target = target});
  else
    force = std::make_unique<Wgd>(rows, WgdOptions{.alpha = weight, .target = target});
  for (int step = 0; step < steps; ++step) {
    adam.zero_grad();
    backward(sum(misfit(task, task.functions(theta, train_))) / count);
    force->apply();
    adam.step();
  }
  return test_functions(task, theta.detach()).to_vector();
}

}  // namespace ladon::example
