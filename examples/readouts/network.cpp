#include <cmath>
#include <utility>

#include "ladon/examples/readouts/study.h"
#include "ladon/layers/layers.h"

namespace ladon::example {
namespace {

MultiHeadAttention made(Attention kind, std::int64_t side, std::int64_t width, Generator& rng) {
  MultiHeadAttentionOptions options{
      .dim = width,
      .heads = 2,  // under linear scaling the limit does not depend on this number
      .head_dim = width,
      .form = {.scaling = AttentionScaling::linear, .tied = true},
      .prior = {.parameterization = Parameterization::ntk}};
  const bool beside = kind == Attention::concatenated;
  if (kind != Attention::bare)
    options.positions = {.encoding = {.grid = {side, side},
                                      .in = width,
                                      .merge = beside ? PositionMerge::concat : PositionMerge::sum,
                                      .channels = beside ? width : 0,
                                      .correlation = decaying_correlation(0.5)}};
  return MultiHeadAttention(options, rng);
}

}  // namespace

const std::vector<Readout>& readouts() {
  static const std::vector<Readout> all = {
      {.name = "flatten", .flat = true, .trained = true},
      {.name = "pool", .trained = true},
      {.name = "attention", .attention = Attention::structured, .trained = true},
      {.name = "attention flat", .attention = Attention::structured, .flat = true},
      {.name = "layer norm", .attention = Attention::structured, .norm = true},
      {.name = "residual", .attention = Attention::residual},
      {.name = "no positions", .attention = Attention::bare},
      {.name = "concatenated", .attention = Attention::concatenated}};
  return all;
}

Sequential network(const Readout& kind, const Task& task, std::int64_t width, Generator& rng) {
  Sequential convolutions, attention, rest;
  std::int64_t in = task.train.x.size(-1);
  for (int layer = 0; layer < 4; ++layer, in = width) {
    convolutions.append(Conv2d({.in = in,
                                .out = width,
                                .window = {3, 3},
                                .parameterization = Parameterization::ntk,
                                .weight_std = std::sqrt(2.0),
                                .bias_std = 0.1},
                               rng));
    convolutions.append(Activation(Nonlinearity::relu));
  }
  if (kind.attention == Attention::none)
    attention.append(Identity());
  else if (kind.attention == Attention::residual)
    attention.append(Residual(0.5, made(kind.attention, task.side(), width, rng)));
  else
    attention.append(made(kind.attention, task.side(), width, rng));
  if (kind.norm) rest.append(LayerNorm({.dim = width, .affine = false}));
  rest.append(kind.flat ? Owned<Layer>(Flatten()) : Owned<Layer>(MeanPositions()));
  rest.append(Linear({.in = kind.flat ? in * task.side() * task.side() : in,
                      .out = task.classes,
                      .parameterization = Parameterization::ntk},
                     rng));
  return Sequential(std::move(convolutions), std::move(attention), std::move(rest));
}

}  // namespace ladon::example
