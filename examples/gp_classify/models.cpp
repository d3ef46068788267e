#include "ladon/examples/gp_classify/models.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon::example {
namespace {

constexpr Model all_models[] = {
    {.name = "linear", .description = "no hidden layer", .hidden = false, .tokens = false},
    {.name = "dense", .description = "3 hidden layers of the whole input", .tokens = false},
    {.name = "flatten", .description = "patches side by side", .mean = false},
    {.name = "pool", .description = "the mean of the tokens", .side_by_side = false},
    {.name = "attention",
     .description = "attention, then patches side by side (or the mean of the words)",
     .attends = true},
    {.name = "residual",
     .description = "the same with part of the tokens kept as they were",
     .attends = true,
     .residual = true}};

/// Whether tokens are read out side by side: those of an image.
bool flattens(const Model& model, const Task& task) {
  return model.tokens && model.side_by_side && task.images();
}

bool suits(const Model& model, const Task& task) {
  return !model.tokens || model.mean || flattens(model, task);
}

/// Attention of every token to all, which are `in` wide.
MultiHeadAttentionOptions attention(std::int64_t in, std::int64_t width, const Task& task,
                                    const Settings& s) {
  MultiHeadAttentionOptions options{
      .dim = in,
      .heads = 2,  // under linear scaling the limit is the same for any number of heads
      .head_dim = width,
      .form = {.scaling = AttentionScaling::linear, .tied = true},
      .prior = {.parameterization = Parameterization::ntk, .query_key_std = s.sharpness}};
  // An image's patches get positions in two dimensions: near ones attend to each other more. The
  // words of a review are a set.
  constexpr double decay = 3;  // of their correlation exp(−decay·|a − b|²)
  if (task.images())
    options.positions = {.encoding = {.grid = {task.rows, task.columns},
                                      .in = in,
                                      .correlation = decaying_correlation(decay)}};
  return options;
}

/// The attention that a layer is, or wraps; else null.
const MultiHeadAttention* attention_in(const Layer& layer) {
  if (const auto* residual = dynamic_cast<const Residual*>(&layer))
    return attention_in(*residual->branch);
  return dynamic_cast<const MultiHeadAttention*>(&layer);
}

}  // namespace

// Token models share two hidden layers of each token by itself and one of what is read out.
Sequential network(const Model& model, const Task& task, const Settings& s, std::int64_t width,
                   Generator& rng) {
  Sequential net;
  std::int64_t in = model.inputs(task.train).x.size(-1);
  const auto linear = [&](std::int64_t out) {
    net.append(Linear({.in = in,
                       .out = out,
                       .parameterization = Parameterization::ntk,
                       .weight_std = std::sqrt(2.0),  // keeps the size of signals through ReLUs
                       .bias_std = std::sqrt(s.bias_variance)},
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
    MultiHeadAttention layer(attention(in, width, task, s), rng);
    if (model.residual && s.kept > 0)
      net.append(Residual(s.kept, std::move(layer)));
    else
      net.append(std::move(layer));
  }
  if (flattens(model, task)) {
    net.append(Flatten());
    in *= task.rows * task.columns;
  } else if (model.tokens) {
    net.append(MeanPositions());
  }
  hidden(1);
  linear(task.classes());
  return net;
}

Tensor attention_on_patches(const Sequential& net, const Tensor& images) {
  const NoGrad no_grad;
  Tensor x = images;
  for (const auto& layer : net.layers) {
    if (const auto* attention = attention_in(*layer)) {
      const Tensor tokens = flatten(x, 1, 2);
      const auto seen = attention->forward_with_weights(tokens, tokens, tokens);
      // [N, heads, patches that attend, patches] → [N, patches]
      const Tensor shares = mean(mean(cast(seen.weights, f64), 1), 1);
      return reshape(shares, {x.size(0), x.size(1), x.size(2)});
    }
    x = (*layer)(x);
  }
  return {};
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Model& model : all_models) names.emplace_back(model.name);
  return names;
}

std::vector<Model> choose_models(const Task& task, const Settings& s) {
  std::vector<Model> models;
  for (const Model& model : all_models) {
    const bool named = std::find(s.models.begin(), s.models.end(), model.name) != s.models.end();
    LADON_CHECK(!named || suits(model, task), "gp_classify", "the model ", model.name,
                " does not suit the task ", task.name);
    if (named || (s.models.empty() && suits(model, task))) models.push_back(model);
  }
  return models;
}

}  // namespace ladon::example
