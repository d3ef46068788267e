// Layers: made with random options, run on random inputs, and trained a step.

#include "ladon/autograd/graph.h"
#include "ladon/layers/layers.h"
#include "table.h"

namespace ladon::test {
namespace {

/// A call of the layer, in any mode and dtype.
Tensors run(Draw& d, Layer& layer, const Tensor& x, const Tensor& mask = {}) {
  if (d.chance(0.3)) layer.eval();
  if (d.chance(0.2)) layer.to(d.dtype());
  d.adopt(layer.parameters());
  const Tensor y = mask.defined() ? layer(x, mask) : layer(x);
  if (d.chance(0.5) && y.requires_grad()) {
    d.say("backward of its sum");
    backward(sum(y), {.retain_graph = true});
    layer.zero_grad();
  }
  if (d.chance(0.05)) layer.summary(x);
  return {y};
}

/// Runs it on inputs [2, T, width] mostly, where asked for with a mask.
Tensors run_on_tokens(Draw& d, Layer& layer, std::int64_t width) {
  const std::int64_t batch = d.below(3), positions = d.below(5);
  const Tensor x = d.near({batch, positions, width});
  return run(d, layer, x, d.chance(0.4) ? d.mask({batch, positions}) : Tensor());
}

Tensors run_on_images(Draw& d, Layer& layer, std::int64_t width) {
  const Shape shape{d.below(3), d.below(5), d.below(4), width};
  return run(d, layer, d.near(shape),
             d.chance(0.3) ? d.mask({shape[0], shape[1] * shape[2]}) : Tensor());
}

Init init(Draw& d) { return static_cast<Init>(d.say(d.below(10))); }
Parameterization parameterization(Draw& d) {
  return d.chance(0.7) ? Parameterization::standard : Parameterization::ntk;
}
Padding padding(Draw& d) { return static_cast<Padding>(d.say(d.below(3))); }
std::int64_t width(Draw& d) { return d.around(1, 4); }

Shape window(Draw& d, int axes) {
  if (d.chance(0.05)) axes = static_cast<int>(d.below(4));
  Shape shape;
  for (int i = 0; i < axes; ++i) shape.append(d.around(1, 3));
  return shape;
}

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
  options.init = init(d);
  options.parameterization = parameterization(d);
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
  options.padding = padding(d);
  surround(d, options, axes);
  return options;
}

Owned<AttentionHook> hook(Draw& d, std::int64_t heads) {
  Generator rng(d.seed());
  switch (d.say(d.below(3))) {
    case 0:
      return RotaryPositions({.dim = d.around(0, 4), .base = d.number(), .interleaved = d.flag()});
    case 1:
      return AlibiBias(d.chance(0.8) ? heads : d.below(4));
    default:
      return RelativeBias({.heads = d.chance(0.8) ? heads : d.below(4),
                           .buckets = 4 * d.below(4),
                           .max_distance = d.around(0, 20),
                           .bidirectional = d.flag()},
                          rng);
  }
}

MultiHeadAttentionOptions attention_options(Draw& d) {
  MultiHeadAttentionOptions options{.dim = d.around(1, 4), .heads = d.around(1, 3)};
  if (d.chance(0.6)) options.head_dim = d.around(0, 3);
  if (d.chance(0.2)) options.key_dim = d.around(0, 3);
  if (d.chance(0.2)) options.value_dim = d.around(0, 3);
  if (d.chance(0.2)) options.value_head_dim = d.around(0, 3);
  if (d.chance(0.2)) options.out = d.around(0, 3);
  options.bias = d.flag();
  options.causal = d.flag();
  if (d.chance(0.2)) options.dropout = d.fraction();
  options.prior.init = init(d);
  options.form.scaling = d.flag() ? AttentionScaling::sqrt : AttentionScaling::linear;
  options.form.weighting =
      d.chance(0.6) ? Weighting::softmax : static_cast<Weighting>(d.say(d.below(4)));
  options.form.tied = d.chance(0.2);
  options.projection_bias = d.flag();
  if (d.chance(0.3)) options.kv_heads = d.around(0, 3);
  if (d.chance(0.2)) options.window = d.around(0, 3);
  if (d.chance(0.3)) options.hook = hook(d, options.heads);
  options.prior.parameterization = parameterization(d);
  if (d.chance(0.2)) options.positions = AttentionPositions{.encoding = {.grid = {d.around(1, 5)}}};
  return options;
}

void add_simple_layers(CallTable& table) {
  table.add("Linear", [](Draw& d) {
    Generator rng(d.seed());
    LinearOptions options{.in = width(d), .out = width(d), .bias = d.flag(), .init = init(d)};
    options.parameterization = parameterization(d);
    if (d.chance(0.2)) options.gain = d.number();
    if (d.chance(0.2)) options.weight_std = d.number();
    if (d.chance(0.2)) options.bias_std = d.number();
    Linear layer(options, rng);
    return run_on_tokens(d, layer, options.in);
  });
  table.add("Embedding", [](Draw& d) {
    Generator rng(d.seed());
    EmbeddingLayerOptions options{.count = d.around(1, 5), .dim = width(d)};
    if (d.chance(0.4)) options.padding_index = d.around(-1, 4);
    if (d.chance(0.2)) options.stddev = d.number();
    Embedding layer(options, rng);
    return run(d, layer, d.indices({d.below(3), d.below(4)}, options.count));
  });
  table.add("RMSNorm", [](Draw& d) {
    const std::int64_t dim = width(d);
    RMSNorm layer({.dim = dim, .eps = d.fraction(), .affine = d.flag()});
    return run_on_tokens(d, layer, dim);
  });
  table.add("LayerNorm", [](Draw& d) {
    LayerNorm layer({.dim = width(d), .eps = d.fraction(), .affine = d.flag()});
    return run_on_tokens(d, layer, layer.dim);
  });
  table.add("BatchNorm", [](Draw& d) {
    BatchNormOptions options{.dim = width(d), .eps = d.fraction()};
    if (d.chance(0.3)) options.momentum = d.fraction();
    if (d.chance(0.2)) options.momentum.reset();
    options.affine = d.flag();
    options.track_running_stats = d.chance(0.8);
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
}

RecurrentCell cell(Draw& d) { return static_cast<RecurrentCell>(d.say(d.below(4))); }

void add_recurrent_layers(CallTable& table) {
  table.add("Recurrent", [](Draw& d) {
    Generator rng(d.seed());
    RecurrentOptions options{.in = width(d), .hidden = width(d)};
    if (d.chance(0.4)) options.layers = d.say(d.below(4));
    options.bidirectional = d.flag();
    options.bias = d.flag();
    if (d.chance(0.3)) options.dropout = d.fraction();
    Recurrent layer(cell(d), options, rng);
    if (d.chance(0.5)) return run_on_tokens(d, layer, options.in);
    d.adopt(layer.parameters());
    const std::int64_t batch = d.below(3), count = d.below(5);
    const Shape state{static_cast<std::int64_t>(layer.directions.size()), batch, options.hidden};
    RecurrentInputs inputs{.state = {.h = d.near(state)}};
    if (layer.cell == RecurrentCell::lstm || d.chance(0.1)) inputs.state.c = d.near(state);
    if (d.chance(0.5)) inputs.mask = d.mask({batch, count});
    const auto [y, last] = layer.forward_with_state(d.near({batch, count, options.in}), inputs);
    return Tensors{y, last.h, last.c};
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
  table.add("MeanPool", [](Draw& d) {
    MeanPool layer;
    return d.flag() ? run_on_tokens(d, layer, 2) : run_on_images(d, layer, 2);
  });
  table.add("SumPool", [](Draw& d) {
    SumPool layer;
    return d.flag() ? run_on_tokens(d, layer, 2) : run_on_images(d, layer, 2);
  });
  table.add("Flatten", [](Draw& d) {
    Flatten layer;
    return d.flag() ? run_on_tokens(d, layer, 2) : run_on_images(d, layer, 2);
  });
  table.add("pool", [](Draw& d) {
    const auto kind = static_cast<Pooling>(d.say(d.below(3)));
    const Tensor x = d.floating();
    const Shape mask_shape = x.defined() && x.rank() > 1 ? x.shape().sub(0, 2) : Shape{2};
    return pool(kind, x, d.chance(0.6) ? d.mask(mask_shape) : Tensor());
  });
}

void add_attention_layers(CallTable& table) {
  table.add("MultiHeadAttention", [](Draw& d) {
    Generator rng(d.seed());
    const MultiHeadAttentionOptions options = attention_options(d);
    MultiHeadAttention layer(options, rng);
    return run_on_tokens(d, layer, options.dim);
  });
  table.add("MultiHeadAttention::forward", [](Draw& d) {
    Generator rng(d.seed());
    const MultiHeadAttentionOptions options = attention_options(d);
    MultiHeadAttention layer(options, rng);
    d.adopt(layer.parameters());
    const std::int64_t n = d.below(3), tq = d.below(4), tk = d.below(4);
    const std::int64_t key_dim = options.key_dim > 0 ? options.key_dim : options.dim;
    const Tensor q = d.near({n, tq, options.dim}), k = d.near({n, tk, key_dim});
    const Tensor v = d.near({n, tk, options.value_dim > 0 ? options.value_dim : key_dim});
    AttentionMask mask;
    if (d.chance(0.4))
      mask = d.flag() ? allowed(d.mask({tq, tk})) : mask + d.near({n, options.heads, tq, tk});
    if (d.chance(0.4)) mask = mask & padding(d.mask({n, tk}));
    if (d.chance(0.2)) mask = mask & causal();
    const auto details = layer.forward_with_weights(q, k, v, mask);
    return Tensors{details.output, details.weights, details.contexts, layer(q, k, v, mask)};
  });
  table.add(
      "TransformerEncoder",
      [](Draw& d) {
        Generator rng(d.seed());
        TransformerEncoderLayerOptions options{.dim = d.around(1, 4), .heads = d.around(1, 2)};
        if (d.chance(0.5)) options.hidden = d.around(0, 5);
        options.dropout = d.fraction();
        if (d.chance(0.2)) options.attention_dropout = d.fraction();
        options.norm = d.flag() ? NormPlacement::pre : NormPlacement::post;
        options.causal = d.flag();
        options.normalization = d.flag() ? Normalization::layer : Normalization::rms;
        options.gated = d.flag();
        options.bias = d.flag();
        if (d.chance(0.3)) options.hook = hook(d, options.heads);
        TransformerEncoder layer({.layer = options, .layers = d.below(3)}, rng);
        return run_on_tokens(d, layer, options.dim);
      },
      0.5);
  table.add(
      "TransformerDecoder",
      [](Draw& d) {
        Generator rng(d.seed());
        TransformerEncoderLayerOptions options{.dim = 4, .heads = d.around(1, 2), .dropout = 0};
        options.norm = d.flag() ? NormPlacement::pre : NormPlacement::post;
        options.kv_heads = d.below(3);
        TransformerDecoder layer({.layer = options, .layers = d.below(3)}, rng);
        d.adopt(layer.parameters());
        const std::int64_t n = d.below(3), t = d.below(4), s = d.below(4);
        const Tensor x = d.near({n, t, 4}), memory = d.near({n, s, 4});
        const AttentionMask seen = d.flag() ? padding(d.mask({n, s})) : AttentionMask{};
        DecodingCache cache = layer.remember(memory, seen.tokens);
        const Tensor first = layer(x, cache, d.flag() ? d.mask({n, t}) : Tensor());
        cache.select(d.indices({d.below(3)}, n));
        return Tensors{layer(x, memory, AttentionMask{}, seen), first,
                       layer(d.near({n, d.below(3), 4}), cache)};
      },
      0.5);
  table.add("KeyValueCache", [](Draw& d) {
    KeyValueCache cache;
    Tensors seen;
    for (std::int64_t i = d.below(4); i > 0; --i) {
      const std::int64_t n = d.below(3), t = d.below(70);
      const AttentionHeads h{{}, d.near({n, 2, t, 3}), d.near({n, 2, t, 2})};
      const auto now = cache.append(h, d.flag() ? d.mask({n, t}) : Tensor(), d.around(0, 40));
      seen.push_back(now.heads.k);
      seen.push_back(now.heads.k_positions);
    }
    cache.select(d.indices({d.below(3)}, d.below(3)));
    return seen;
  });
  table.add(
      "generate",
      [](Draw& d) {
        Generator rng(d.seed());
        const std::int64_t vocabulary = d.below(5);
        GenerateOptions options{.length = d.around(0, 4)};
        if (d.chance(0.4)) options.temperature = d.number();
        if (d.chance(0.4)) options.top_k = d.around(0, 6);
        if (d.chance(0.4)) options.top_p = d.fraction();
        if (d.chance(0.4)) options.stop = {d.below(5)};
        if (d.chance(0.4)) options.beams = d.around(0, 4);
        if (d.chance(0.2)) options.length_penalty = d.number();
        options.cached = d.flag();
        const NextToken next = [&](const Tensor& tokens, DecodingCache&, const Tensor&) {
          return d.near({tokens.size(0), tokens.size(1), vocabulary});
        };
        const std::int64_t n = d.below(3), t = d.below(4);
        const auto texts = generate(next, d.indices({n, t}, 5), options, rng,
                                    d.flag() ? d.mask({n, t}) : Tensor());
        Tensors found;
        for (const Generated& text : texts)
          found.push_back(
              from_vector(text.tokens, {static_cast<std::int64_t>(text.tokens.size())}));
        return found;
      },
      0.5);
  table.add("SinusoidalPositions", [](Draw& d) {
    SinusoidalPositions layer;
    return run_on_tokens(d, layer, d.below(4));
  });
  table.add("sinusoidal_table", sinusoidal_table, size, size, dtype);
  table.add("LearnedPositions", [](Draw& d) {
    Generator rng(d.seed());
    const std::int64_t dim = width(d);
    LearnedPositions layer({.max_length = d.around(1, 5), .dim = dim}, rng);
    return run_on_tokens(d, layer, dim);
  });
  table.add("RandomPositions", [](Draw& d) {
    Generator rng(d.seed());
    RandomPositionsOptions options{.grid = window(d, 1), .in = width(d)};
    if (d.chance(0.3)) options.merge = PositionMerge::concat;
    if (d.chance(0.3)) options.channels = d.around(0, 3);
    if (d.chance(0.3)) options.stddev = d.number();
    if (d.chance(0.3)) options.correlation = decaying_correlation(d.number());
    RandomPositions layer(options, rng);
    return run_on_tokens(d, layer, options.in);
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
  table.add("Concatenate", [](Draw& d) {
    Generator rng(d.seed());
    Concatenate layer({d.around(2, 2), 3}, Identity(), Linear({.in = 2, .out = 3}, rng));
    return run_on_tokens(d, layer, 2);
  });
  table.add("Product", [](Draw& d) {
    Product layer{Identity(), Activation(Nonlinearity::sigmoid)};
    return run_on_tokens(d, layer, 2);
  });
  table.add("Sum", [](Draw& d) {
    Sum layer{Identity(), MeanPool()};
    return run_on_tokens(d, layer, 2);
  });
  table.add("initialize", [](Draw& d) {
    Generator rng(d.seed());
    const Shape shape = d.shape();
    const Init kind = init(d);
    return initialize(kind, shape, rng, {.gain = d.number(), .dtype = d.dtype()}).detach();
  });
}

}  // namespace

void add_layer_calls(CallTable& table) {
  add_simple_layers(table);
  add_recurrent_layers(table);
  add_windowed_layers(table);
  add_attention_layers(table);
  add_containers(table);
}

}  // namespace ladon::test
