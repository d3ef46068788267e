// Random calls of layers: with random options, on random inputs, and a training step.

#include "ladon/layers/layers.h"
#include "ladon/optim/extra/extra.h"
#include "layer_runs.h"
#include "table.h"

namespace ladon::test {
namespace {

Tensors run_on_images(Draw& d, Layer& layer, std::int64_t width) {
  const Shape shape{d.below(3), d.below(5), d.below(4), width};
  return run(d, layer, d.near(shape),
             d.chance(0.3) ? d.mask({shape[0], shape[1] * shape[2]}) : Tensor());
}

Padding padding(Draw& d) { return static_cast<Padding>(d.say(d.below(3))); }

Shape numbers(Draw& d, int axes, std::int64_t low, std::int64_t high) {
  Shape list;
  for (int i = 0; i < axes; ++i) list.append(d.around(low, high));
  return list;
}

/// Zeros around, and dilation, sometimes.
template <class Options>
void surround(Draw& d, Options& options, int axes) {
  if (d.chance(0.2)) options.before = numbers(d, axes, 0, 2);
  if (d.chance(0.1)) options.after = numbers(d, axes, 0, 2);
  if (d.chance(0.2)) options.dilation = numbers(d, axes, 1, 2);
}

ConvOptions conv_options(Draw& d, int axes) {
  ConvOptions options{.in = width(d), .out = width(d), .window = window(d, axes)};
  if (d.chance(0.4)) options.stride = window(d, axes);
  options.padding = padding(d);
  if (d.chance(0.2)) options.groups = d.around(1, 3);
  surround(d, options, axes);
  options.bias = d.flag();
  options.parameterization = parameterization(d);
  if (d.chance(0.9) == (options.parameterization == Parameterization::standard))
    options.init = init(d);
  return options;
}

ConvTransposeOptions transpose_options(Draw& d, int axes) {
  ConvTransposeOptions options{.in = width(d), .out = width(d), .window = window(d, axes)};
  if (d.chance(0.4)) options.stride = window(d, axes);
  if (d.chance(0.2)) options.groups = d.around(1, 3);
  if (d.chance(0.2)) options.output_padding = numbers(d, axes, 0, 1);
  surround(d, options, axes);
  options.bias = d.flag();
  options.init = init(d);
  return options;
}

PoolOptions pool_options(Draw& d, int axes) {
  PoolOptions options{.window = window(d, axes)};
  if (d.chance(0.4)) options.stride = window(d, axes);
  surround(d, options, axes);
  const bool read = options.before.rank() + options.after.rank() == 0;
  if (d.chance(read ? 1 : 0.1)) options.padding = padding(d);
  return options;
}

void add_simple_layers(CallTable& table) {
  table.add("Linear", [](Draw& d) {
    Generator rng(d.seed());
    LinearOptions options{.in = width(d), .out = width(d), .bias = d.flag()};
    options.parameterization = parameterization(d);
    if (d.chance(0.9) == (options.parameterization == Parameterization::standard)) {
      options.init = init(d);
      if (d.chance(0.2)) options.gain = d.number();
    } else {
      if (d.chance(0.2)) options.weight_std = d.number();
      if (d.chance(0.2)) options.bias_std = d.number();
    }
    Linear layer(options, rng);
    return run_on_tokens(d, layer, options.in);
  });
  table.add("Embedding", [](Draw& d) {
    Generator rng(d.seed());
    EmbeddingOptions options{.count = d.around(1, 5), .dim = width(d)};
    if (d.chance(0.4)) options.padding_index = d.around(-1, 4);
    if (d.chance(0.2)) options.stddev = d.number();
    Embedding layer(options, rng);
    return run(d, layer, d.indices({d.below(3), d.below(4)}, options.count));
  });
  table.add("RmsNorm", [](Draw& d) {
    const std::int64_t dim = width(d);
    RmsNorm layer({.dim = dim, .eps = d.fraction(), .affine = d.flag()});
    return run_on_tokens(d, layer, dim);
  });
  table.add("LayerNorm", [](Draw& d) {
    LayerNorm layer({.dim = width(d), .eps = d.fraction(), .affine = d.flag()});
    return run_on_tokens(d, layer, layer.dim);
  });
  table.add("BatchNorm", [](Draw& d) {
    BatchNormOptions options{.dim = width(d), .eps = d.fraction()};
    options.affine = d.flag();
    options.track_running_stats = d.chance(0.8);
    const bool read = options.track_running_stats;
    if (d.chance(read ? 0.3 : 0.03)) options.momentum = d.fraction();
    if (d.chance(read ? 0.2 : 0.02)) options.momentum.reset();
    BatchNorm layer(options);
    return run_on_tokens(d, layer, layer.dim);
  });
  table.add("GroupNorm", [](Draw& d) {
    GroupNorm layer(
        {.groups = d.around(1, 2), .dim = width(d), .eps = d.fraction(), .affine = d.flag()});
    return run_on_images(d, layer, layer.dim);
  });
  table.add("InstanceNorm", [](Draw& d) {
    InstanceNorm layer({.dim = width(d), .eps = d.fraction(), .affine = d.flag()});
    return run_on_images(d, layer, layer.dim);
  });
  table.add("Dropout", [](Draw& d) {
    Generator rng(d.seed());
    Dropout layer(d.fraction(), rng);
    return run(d, layer, d.floating());
  });
  table.add("Activation", [](Draw& d) {
    const auto f = static_cast<Nonlinearity>(d.say(d.below(19)));
    Activation layer(f, d.chance(0.2) ? std::optional(d.number()) : std::nullopt);
    return run(d, layer, d.floating());
  });
  table.add("Polynomial", [](Draw& d) {
    Polynomial layer = d.flag() ? Polynomial::monomial(d.axis()) : Polynomial::hermite(d.axis());
    return run(d, layer, d.floating());
  });
  table.add("Elementwise", [](Draw& d) {
    const double power = d.number();
    Elementwise layer([=](const Tensor& x) { return tanh(power * x); }, "mine", 16);
    return run(d, layer, d.floating());
  });
}

RecurrentCell cell(Draw& d) { return static_cast<RecurrentCell>(d.say(d.below(4))); }

RecurrentOptions recurrent_options(Draw& d) {
  RecurrentOptions options{.in = width(d), .hidden = width(d)};
  if (d.chance(0.4)) options.layers = d.say(d.below(4));
  options.bidirectional = d.flag();
  options.bias = d.flag();
  if (d.chance(options.layers > 1 ? 0.3 : 0.03)) options.dropout = d.fraction();
  return options;
}

void add_recurrent_layers(CallTable& table) {
  table.add("Recurrent", [](Draw& d) {
    Generator rng(d.seed());
    const RecurrentOptions options = recurrent_options(d);
    Recurrent layer(cell(d), options, rng);
    if (d.chance(0.5)) return run_on_tokens(d, layer, options.in);
    const std::int64_t batch = d.below(3), count = d.below(5);
    const Shape state{static_cast<std::int64_t>(layer.directions.size()), batch, options.hidden};
    RecurrentInputs inputs{.state = {.h = d.near(state)}};
    if (layer.cell == RecurrentCell::lstm || d.chance(0.1)) inputs.state.c = d.near(state);
    if (d.chance(0.5)) inputs.mask = d.mask({batch, count});
    const auto [y, last] = layer.forward_with_state(d.near({batch, count, options.in}), inputs);
    return Tensors{y, last.h, last.c};
  });
  table.add("Lstm", [](Draw& d) {
    Generator rng(d.seed());
    Lstm layer(recurrent_options(d), rng);
    return run_on_tokens(d, layer, layer.options.in);
  });
  table.add("Gru", [](Draw& d) {
    Generator rng(d.seed());
    Gru layer(recurrent_options(d), rng);
    return run_on_tokens(d, layer, layer.options.in);
  });
  table.add("Rnn", [](Draw& d) {
    Generator rng(d.seed());
    const RecurrentOptions options = recurrent_options(d);
    Rnn layer(options, rng, cell(d));
    return run_on_tokens(d, layer, options.in);
  });
  table.add("StructuredAttention", [](Draw& d) {
    Generator rng(d.seed());
    const StructuredAttentionOptions options{
        .dim = width(d), .hidden = width(d), .hops = width(d), .init = init(d)};
    StructuredAttention layer(options, rng);
    return run_on_tokens(d, layer, options.dim);
  });
}

void add_windowed_layers(CallTable& table) {
  table.add("Conv1d", [](Draw& d) {
    Generator rng(d.seed());
    const ConvOptions options = conv_options(d, 1);
    Conv1d layer(options, rng);
    return run_on_tokens(d, layer, options.in);
  });
  table.add("Conv2d", [](Draw& d) {
    Generator rng(d.seed());
    const ConvOptions options = conv_options(d, 2);
    Conv2d layer(options, rng);
    return run_on_images(d, layer, options.in);
  });
  table.add("AveragePool", [](Draw& d) {
    const int axes = d.flag() ? 1 : 2;
    AveragePool layer(pool_options(d, axes));
    return axes == 1 ? run_on_tokens(d, layer, 2) : run_on_images(d, layer, 2);
  });
  table.add("ConvTranspose1d", [](Draw& d) {
    Generator rng(d.seed());
    ConvTranspose1d layer(transpose_options(d, 1), rng);
    return run_on_tokens(d, layer, layer.options.in);
  });
  table.add("ConvTranspose2d", [](Draw& d) {
    Generator rng(d.seed());
    ConvTranspose2d layer(transpose_options(d, 2), rng);
    return run_on_images(d, layer, layer.options.in);
  });
  table.add("MaxPool", [](Draw& d) {
    const int axes = d.flag() ? 1 : 2;
    MaxPool layer(pool_options(d, axes));
    return axes == 1 ? run_on_tokens(d, layer, 2) : run_on_images(d, layer, 2);
  });
  table.add("AdaptiveAveragePool", [](Draw& d) {
    const int axes = d.flag() ? 1 : 2;
    AdaptiveAveragePool layer(window(d, axes));
    return axes == 1 ? run_on_tokens(d, layer, 2) : run_on_images(d, layer, 2);
  });
  table.add("MeanPositions", [](Draw& d) {
    MeanPositions layer;
    return d.flag() ? run_on_tokens(d, layer, 2) : run_on_images(d, layer, 2);
  });
  table.add("MaxPositions", [](Draw& d) {
    MaxPositions layer;
    return d.flag() ? run_on_tokens(d, layer, 2) : run_on_images(d, layer, 2);
  });
  table.add("SumPositions", [](Draw& d) {
    SumPositions layer;
    return d.flag() ? run_on_tokens(d, layer, 2) : run_on_images(d, layer, 2);
  });
  table.add("Flatten", [](Draw& d) {
    Flatten layer;
    return d.flag() ? run_on_tokens(d, layer, 2) : run_on_images(d, layer, 2);
  });
  table.add("FirstToken", [](Draw& d) {
    FirstToken layer;
    return run_on_tokens(d, layer, 2);
  });
  table.add("FlattenPositions", [](Draw& d) {
    FlattenPositions layer;
    return d.flag() ? run_on_tokens(d, layer, 2) : run_on_images(d, layer, 2);
  });
  table.add("pool", [](Draw& d) {
    const auto kind = static_cast<Pooling>(d.say(d.below(3)));
    const Tensor x = d.floating();
    const Shape mask_shape = x.defined() && x.rank() > 1 ? x.shape().sub(0, 2) : Shape{2};
    return pool(kind, x, d.chance(0.6) ? d.mask(mask_shape) : Tensor());
  });
}

void add_containers(CallTable& table) {
  table.add("Sequential", [](Draw& d) {
    Generator rng(d.seed());
    const std::int64_t n = 1 + d.below(4);
    Sequential layer(Linear({.in = n, .out = 3}, rng), Activation(Nonlinearity::gelu),
                     Residual(d.fraction(), Linear({.in = 3, .out = 3}, rng)));
    if (d.chance(0.3)) layer.append(Conv1d({.in = 3, .out = 2, .window = {2}}, rng));
    if (d.chance(0.2)) layer = clone(layer);
    return run_on_tokens(d, layer, n);
  });
  table.add("ConcatenateBranches", [](Draw& d) {
    Generator rng(d.seed());
    ConcatenateBranches layer({d.around(2, 2), 3}, Identity(), Linear({.in = 2, .out = 3}, rng));
    return run_on_tokens(d, layer, 2);
  });
  table.add("MultiplyBranches", [](Draw& d) {
    MultiplyBranches layer{Identity(), Activation(Nonlinearity::sigmoid)};
    return run_on_tokens(d, layer, 2);
  });
  table.add("SumBranches", [](Draw& d) {
    SumBranches layer{Identity(), MeanPositions()};
    return run_on_tokens(d, layer, 2);
  });
  table.add("Identity", [](Draw& d) {
    Identity layer;
    return run(d, layer, d.floating());
  });
  table.add("Residual", [](Draw& d) {
    Generator rng(d.seed());
    const double alpha = d.fraction();
    Residual layer(alpha, Linear({.in = 2, .out = d.around(2, 2)}, rng));
    return run_on_tokens(d, layer, 2);
  });
  table.add("LowRank", [](Draw& d) {
    Generator rng(d.seed());
    LowRank layer(Linear({.in = 2, .out = 1 + d.below(3)}, rng),
                  {.rank = d.below(4), .alpha = d.number(), .stabilized = d.flag()}, rng);
    return run_on_tokens(d, layer, 2);
  });
  table.add("initialize", [](Draw& d) {
    Generator rng(d.seed());
    const Shape shape = d.shape();
    const Init kind = init(d);
    return initialize(kind, shape, {.gain = d.number(), .dtype = d.dtype()}, rng).detach();
  });
}

}  // namespace

void add_layer_calls(CallTable& table) {
  add_simple_layers(table);
  add_recurrent_layers(table);
  add_windowed_layers(table);
  add_containers(table);
}

}  // namespace ladon::test
