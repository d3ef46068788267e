#include "ladon/examples/common/classifiers.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/schedule.h"

namespace ladon::example {
namespace {

using infinite::Inputs;

constexpr double bias_variance = 0.1;  // σ_b² of every linear layer
constexpr double kept = 0.25;          // weight of the input in residual attention
constexpr std::int64_t batch_size = 64;

/// Options of a layer in which every token attends to all tokens, which are vectors of length `in`.
MultiHeadAttentionOptions attention(std::int64_t in, std::int64_t width, const ClassifierTask& task,
                                    double sharpness) {
  MultiHeadAttentionOptions options{
      .dim = in,
      .heads = 2,  // under linear scaling the limit does not depend on this number
      .head_dim = width,
      .form = {.scaling = AttentionScaling::linear, .tied = true},
      .prior = {.parameterization = Parameterization::ntk, .query_key_std = sharpness}};
  // The patches of an image get positions in two dimensions, so that near patches attend more to
  // each other. The words of a review get no positions: they are treated as a set.
  constexpr double decay = 3;  // decay of the correlation exp(−decay·|a − b|²)
  if (task.images())
    options.positions = {.encoding = {.grid = {task.rows, task.columns},
                                      .in = in,
                                      .correlation = decaying_correlation(decay)}};
  return options;
}

/// The inputs at the given indices, in f32, the precision of the weights.
Inputs rows_at(const Inputs& inputs, const Tensor& index) {
  return {cast(index_select(inputs.x, 0, index), f32),
          inputs.mask.defined() ? index_select(inputs.mask, 0, index) : Tensor()};
}

}  // namespace

void add_classifier_options(Program& program, ClassifierSettings& s) {
  const Check count = whole_number(1, 1'000'000);
  program.option(
      "--sharpness", s.sharpness, "Factor of attention's logits",
      "At 0 attention is the mean of all tokens; with large values each token attends to itself "
      "alone",
      number(0));
  program.option("--width", s.width, "Width of the finite networks' layers",
                 "Wider networks should come nearer to their infinite-width limits", count);
  program.option("--epochs", s.epochs, "Number of epochs of training of the finite networks",
                 "With too few, a network predicts worse than its infinite-width limit", count);
  program.option("--lr", s.learning_rate, "Initial learning rate of Adam for the finite networks",
                 "Lower it if a network diverges", number_above(0));
}

// Token models apply two hidden layers to each token, and one after the readout of tokens.
Sequential network(const ClassifierModel& model, const ClassifierTask& task, double sharpness,
                   std::int64_t width, Generator& rng) {
  Sequential net;
  std::int64_t in = model.inputs(task.train).x.size(-1);
  const auto linear = [&](std::int64_t out) {
    net.append(Linear({.in = in,
                       .out = out,
                       .parameterization = Parameterization::ntk,
                       .weight_std = std::sqrt(2.0),  // keeps the scale of signals through ReLUs
                       .bias_std = std::sqrt(bias_variance)},
                      rng));
    in = out;
  };
  const auto hidden = [&](int layers) {
    for (int layer = 0; model.hidden && layer < layers; ++layer) {
      linear(width);
      net.append(Activation(Nonlinearity::relu));
    }
  };
  hidden(2);
  if (model.attends) {
    MultiHeadAttention layer(attention(in, width, task, sharpness), rng);
    if (model.residual)
      net.append(Residual(kept, std::move(layer)));
    else
      net.append(std::move(layer));
  }
  if (model.flattens(task)) {
    net.append(Flatten());
    in *= task.rows * task.columns;
  } else if (model.tokens) {
    net.append(MeanPositions());
  }
  hidden(1);
  linear(task.classes);
  return net;
}

bool fit(Sequential& net, const ClassifierModel& model, const ClassifierTask& task,
         const ClassifierSettings& s, Generator& rng, Progress& progress) {
  constexpr double diverged = 1e6;  // nats; step() would refuse gradients of much larger losses
  const std::int64_t n = trained_rows(task), batches = (n + batch_size - 1) / batch_size;
  Adam adam(net.parameters(), {.lr = s.learning_rate});
  const Schedule factor = schedule::cosine({.steps = s.epochs * batches});
  for (int epoch = 0; epoch < s.epochs; ++epoch) {
    for (const Tensor& index : split(permutation(n, rng), batch_size)) {
      stop_if_interrupted();
      adam.set_lr(s.learning_rate * factor(adam.steps()));
      const Inputs batch = rows_at(model.inputs(task.train), index);
      adam.zero_grad();
      const Tensor loss =
          cross_entropy(net(batch.x, batch.mask), index_select(task.train.labels, 0, index));
      if (!(loss.item() < diverged)) return false;  // also if it is NaN
      backward(loss);
      adam.step();
    }
    progress.step(join(model.name, ", finite network"), 1.0 / s.epochs);
  }
  return true;
}

Tensor logits(const Sequential& net, const Inputs& inputs) {
  const NoGrad no_grad;
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < inputs.count(); i += batch_size) {
    const Inputs batch = inputs.rows(i, std::min(inputs.count(), i + batch_size));
    parts.push_back(cast(net(cast(batch.x, f32), batch.mask), f64));
  }
  return concat(parts, 0);
}

}  // namespace ladon::example
