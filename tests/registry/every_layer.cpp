#include "ladon/tests/registry/every_layer.h"

#include <cmath>

#include "ladon/layers/extra/infinite/linearized.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon::test {
namespace {

/// The rows, as they are added.
class Table {
 public:
  /// A layer that is called with one tensor. `make` gives an L, from a Generator where it draws;
  /// `formula` takes an L.
  template <class L, class Make, class... Formula>
  void add(const char* name, const Tensor& x, Ends limit, Make make, Formula... formula) {
    add_row<L>({.name = name,
                .make = {},
                .input = x,
                .limit = limit,
                .call = of<L>([x](const L& layer) { return layer(x); }),
                .forward = of<L>([x](const L& layer) { return layer.forward(x); }),
                .copy = {},
                .move_from = {},
                .formula = of<L>(formula...)},
               make);
  }
  /// One that is called with two, and has no limit.
  template <class L, class Make, class... Formula>
  void add(const char* name, const Tensor& x, const Tensor& y, Make make, Formula... formula) {
    add_row<L>({.name = name,
                .make = {},
                .input = x,
                .limit = Ends::in_a_refusal,
                .call = of<L>([x, y](const L& layer) { return layer(x, y); }),
                .forward = of<L>([x, y](const L& layer) { return layer.forward(x, y); }),
                .copy = {},
                .move_from = {},
                .formula = of<L>(formula...)},
               make);
  }
  const std::vector<LayerRow>& rows() const { return rows_; }

 private:
  template <class L>
  static std::function<Tensor(const Layer&)> of() {
    return {};
  }
  template <class L, class F>
  static std::function<Tensor(const Layer&)> of(F f) {
    return [f](const Layer& layer) { return f(static_cast<const L&>(layer)); };
  }
  template <class L, class Make>
  void add_row(LayerRow row, Make make) {
    row.make = [make](Generator& rng) -> std::unique_ptr<Layer> {
      if constexpr (std::is_invocable_v<Make, Generator&>)
        return std::make_unique<L>(make(rng));
      else
        return std::make_unique<L>(make());
    };
    if constexpr (std::is_copy_constructible_v<L>)
      row.copy = [](const Layer& layer) -> std::unique_ptr<Layer> {
        return std::make_unique<L>(clone(static_cast<const L&>(layer)));
      };
    row.move_from = [](Layer& layer) { const L taken(std::move(static_cast<L&>(layer))); };
    rows_.push_back(std::move(row));
  }

  std::vector<LayerRow> rows_;
};

Tensor numbers(const Shape& shape, std::uint64_t seed = 1) {
  return cast(gaussian(shape, seed), f32);
}
const Tensor sequences = numbers({2, 4, 4}), images = numbers({2, 4, 4, 4}),
             memory = numbers({2, 3, 4}, 2), tokens = tensor({0, 3, 1, 4, 2, 2}, {2, 3}, i64),
             targets = tensor({1, 1, 0, 2}, {2, 2}, i64);

constexpr auto ntk = Parameterization::ntk;
constexpr Ends limit = Ends::in_a_limit, behind_linear = Ends::behind_linear,
               refusal = Ends::in_a_refusal;

Linear dense(Generator& rng) {
  return Linear({.in = 4, .out = 4, .parameterization = ntk, .bias_std = 0.3}, rng);
}
Activation relu() { return Activation(Nonlinearity::relu); }

void add_maps(Table& t) {
  t.add<Linear>("Linear", sequences, limit, dense);
  t.add<Embedding>("Embedding", tokens, limit,
                   [](Generator& rng) { return Embedding({.count = 5, .dim = 4}, rng); });
  t.add<Activation>("Activation", sequences, behind_linear, relu);
  t.add<Polynomial>("Polynomial", sequences, behind_linear, [] { return Polynomial::hermite(2); });
  t.add<Elementwise>("Elementwise", sequences, behind_linear,
                     [] { return Elementwise([](const Tensor& x) { return tanh(x); }, "tanh"); });
  t.add<Dropout>("Dropout", sequences, limit, [](Generator& rng) { return Dropout(0.3, rng); });
}

void add_norms(Table& t) {
  const auto over = [](const Tensor& x, const Axes& axes) {
    return (x - mean(x, axes, keep_dims)) / sqrt(var(x, axes, keep_dims, 0) + 1e-5);
  };
  t.add<LayerNorm>("LayerNorm", sequences, behind_linear, [] { return LayerNorm({.dim = 4}); });
  t.add<RmsNorm>(
      "RmsNorm", sequences, behind_linear, [] { return RmsNorm({.dim = 4}); },
      [](const RmsNorm& l) {
        return sequences / sqrt(mean(square(sequences), -1, keep_dims) + 1e-5) * l.weight;
      });
  t.add<BatchNorm>("BatchNorm", sequences, refusal, [] { return BatchNorm({.dim = 4}); });
  t.add<GroupNorm>("GroupNorm", images, refusal, [] { return GroupNorm({.groups = 2, .dim = 4}); });
  t.add<InstanceNorm>(
      "InstanceNorm", images, refusal, [] { return InstanceNorm({.dim = 4, .affine = true}); },
      [over](const InstanceNorm& l) {
        return over(images, {1, 2}) * l.weight + l.bias;
      });
}

void add_containers(Table& t) {
  const Tensor& x = sequences;
  t.add<Identity>(
      "Identity", x, limit, [] { return Identity(); }, [x](const Identity&) { return x; });
  t.add<Sequential>(
      "Sequential", x, limit, [](Generator& rng) { return Sequential(dense(rng), relu()); },
      [x](const Sequential& l) { return (*l.layers[1])((*l.layers[0])(x)); });
  t.add<SumBranches>(
      "SumBranches", x, limit, [](Generator& rng) { return SumBranches(Identity(), dense(rng)); },
      [x](const SumBranches& l) { return x + (*l.layers[1])(x); });
  t.add<MultiplyBranches>(
      "MultiplyBranches", x, limit,
      [](Generator& rng) { return MultiplyBranches(dense(rng), dense(rng)); },
      [x](const MultiplyBranches& l) { return (*l.layers[0])(x) * (*l.layers[1])(x); });
  t.add<ConcatenateBranches>(
      "ConcatenateBranches", x, limit,
      [](Generator& rng) {
        return ConcatenateBranches({4, 4}, dense(rng), dense(rng));
      },
      [x](const ConcatenateBranches& l) {
        return concat({(*l.layers[0])(x), (*l.layers[1])(x)}, -1);
      });
  t.add<Residual>(
      "Residual", x, limit, [](Generator& rng) { return Residual(0.3, dense(rng)); },
      [x](const Residual& l) { return std::sqrt(0.3) * x + std::sqrt(0.7) * (*l.branch)(x); });
  t.add<LowRank>(
      "LowRank", x, limit,
      [](Generator& rng) { return LowRank(dense(rng), {.rank = 2, .alpha = 3}, rng); },
      [x](const LowRank& l) {
        return l.base(x) + 1.5 * matmul(matmul(x, transpose(l.lora_A)), transpose(l.lora_B));
      });
}

void add_windows(Table& t) {
  const auto sides = [](Shape window) {
    return ConvOptions{.in = 4, .out = 3, .window = window, .parameterization = ntk};
  };
  const auto spread = [](Shape window) {
    return ConvTransposeOptions{.in = 4, .out = 3, .window = window};
  };
  t.add<Conv1d>("Conv1d", sequences, limit,
                [sides](Generator& rng) { return Conv1d(sides({3}), rng); });
  t.add<Conv2d>("Conv2d", images, limit, [sides](Generator& rng) {
    return Conv2d(sides({3, 2}), rng);
  });
  t.add<ConvTranspose1d>("ConvTranspose1d", sequences, limit,
                         [spread](Generator& rng) { return ConvTranspose1d(spread({3}), rng); });
  t.add<ConvTranspose2d>("ConvTranspose2d", images, limit, [spread](Generator& rng) {
    return ConvTranspose2d(spread({3, 2}), rng);
  });
  t.add<AveragePool>("AveragePool", images, limit, [] { return AveragePool({.window = {2, 1}}); });
  t.add<MaxPool>("MaxPool", images, refusal, [] { return MaxPool({.window = {2, 1}}); });
  t.add<AdaptiveAveragePool>("AdaptiveAveragePool", images, limit, [] {
    return AdaptiveAveragePool({3, 2});
  });
}

void add_pools(Table& t) {
  const Tensor& x = sequences;
  t.add<MeanPositions>(
      "MeanPositions", x, limit, [] { return MeanPositions(); },
      [x](const MeanPositions&) { return mean(x, 1); });
  t.add<SumPositions>(
      "SumPositions", x, limit, [] { return SumPositions(); },
      [x](const SumPositions&) { return sum(x, 1); });
  t.add<MaxPositions>(
      "MaxPositions", x, refusal, [] { return MaxPositions(); },
      [x](const MaxPositions&) { return amax(x, 1); });
  t.add<Flatten>(
      "Flatten", x, limit, [] { return Flatten(); },
      [x](const Flatten&) {
        return reshape(x, {2, 16});
      });
  t.add<FirstToken>(
      "FirstToken", x, limit, [] { return FirstToken(); },
      [x](const FirstToken&) { return select(x, 1, 0); });
  t.add<FlattenPositions>(
      "FlattenPositions", images, limit, [] { return FlattenPositions(); },
      [](const FlattenPositions&) {
        return reshape(images, {2, 16, 4});
      });
}

void add_positions(Table& t) {
  t.add<SinusoidalPositions>(
      "SinusoidalPositions", sequences, behind_linear, [] { return SinusoidalPositions(); },
      [](const SinusoidalPositions&) { return sequences + sinusoidal_table(4, 4); });
  t.add<LearnedPositions>("LearnedPositions", sequences, limit, [](Generator& rng) {
    return LearnedPositions({.max_length = 6, .dim = 4}, rng);
  });
  t.add<RandomPositions>("RandomPositions", sequences, limit, [](Generator& rng) {
    return RandomPositions({.grid = {4}, .in = 4, .correlation = decaying_correlation(2)}, rng);
  });
}

/// h of each token, one after the other: next(W_ih·x + b_ih, W_hh·h + b_hh, h).
template <class Next>
Tensor recurrence(const Recurrent& l, Next next) {
  const Recurrent::Direction& d = l.directions[0];
  Tensor h = zeros({2, 3});
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < 4; ++i)
    all.push_back(h = next(linear(select(sequences, 1, i), d.weight_ih, d.bias_ih),
                           linear(h, d.weight_hh, d.bias_hh), h));
  return stack(all, 1);
}

void add_recurrent(Table& t) {
  const RecurrentOptions o{.in = 4, .hidden = 3};
  t.add<Recurrent>("Recurrent", sequences, refusal, [](Generator& rng) {
    return Recurrent(RecurrentCell::relu, {.in = 4, .hidden = 3, .layers = 2, .dropout = 0.2}, rng);
  });
  t.add<Lstm>("Lstm", sequences, refusal, [o](Generator& rng) { return Lstm(o, rng); });
  t.add<Gru>(
      "Gru", sequences, refusal, [o](Generator& rng) { return Gru(o, rng); },
      [](const Gru& l) {
        return recurrence(l, [](const Tensor& of_x, const Tensor& of_h, const Tensor& h) {
          const auto x = split(of_x, {3, 3, 3}, 1), s = split(of_h, {3, 3, 3}, 1);
          const Tensor reset = sigmoid(x[0] + s[0]), keep = sigmoid(x[1] + s[1]);
          return (1 - keep) * tanh(x[2] + reset * s[2]) + keep * h;
        });
      });
  t.add<Rnn>(
      "Rnn", sequences, refusal, [o](Generator& rng) { return Rnn(o, rng); },
      [](const Rnn& l) {
        return recurrence(
            l, [](const Tensor& of_x, const Tensor& of_h, auto&&) { return tanh(of_x + of_h); });
      });
}

/// Attention whose limit is a formula, with a hook or without.
MultiHeadAttention attention(Generator& rng, Owned<AttentionHook> hook = {}) {
  return MultiHeadAttention({.dim = 4,
                             .heads = 2,
                             .form = {.weighting = Weighting::identity},
                             .hook = std::move(hook),
                             .prior = {.parameterization = ntk}},
                            rng);
}

void add_attention(Table& t) {
  const Tensor& x = sequences;
  t.add<MultiHeadAttention>("MultiHeadAttention", x, limit,
                            [](Generator& rng) { return attention(rng); });
  t.add<MultiHeadAttention>("RotaryPositions", x, refusal,
                            [](Generator& rng) { return attention(rng, RotaryPositions()); });
  t.add<MultiHeadAttention>("AlibiBias", x, refusal,
                            [](Generator& rng) { return attention(rng, AlibiBias(2)); });
  t.add<MultiHeadAttention>("RelativeBias", x, refusal, [](Generator& rng) {
    return attention(rng, RelativeBias({.heads = 2, .buckets = 8, .max_distance = 9}, rng));
  });
  t.add<WideHeads>("WideHeads", x, refusal,
                   [](Generator& rng) { return WideHeads({.dim = 4, .heads = 2, .out = 3}, rng); });
  t.add<StructuredAttention>("StructuredAttention", x, refusal, [](Generator& rng) {
    return StructuredAttention({.dim = 4, .hidden = 3, .hops = 2}, rng);
  });
}

const TransformerEncoderLayerOptions narrow{
    .dim = 4,
    .heads = 2,
    .attention = {.form = {.weighting = Weighting::identity}, .prior = {.parameterization = ntk}}};

/// The layer's feed-forward block behind its norm, and what it is added to.
template <class L>
Tensor with_feedforward(const L& l, const Tensor& x) {
  const Tensor expanded = l.feedforward.expand((*l.feedforward_norm)(x));
  return x + l.feedforward.contract(activate(l.feedforward.activation, expanded));
}

/// The last of the calls of a stack of two layers, and its norm.
template <class L, class Call>
Tensor stacked(const L& l, const Tensor& x, Call call) {
  return (*l.final_norm)(call(l.layers[1], call(l.layers[0], x)));
}

void add_transformers(Table& t) {
  using EncoderLayer = TransformerEncoderLayer;
  using DecoderLayer = TransformerDecoderLayer;
  const Tensor &x = sequences, &y = memory;
  t.add<EncoderLayer>(
      "TransformerEncoderLayer", x, limit, [](Generator& rng) { return EncoderLayer(narrow, rng); },
      [x](const EncoderLayer& l) {
        return with_feedforward(l, x + l.attention((*l.attention_norm)(x)));
      });
  t.add<TransformerEncoder>(
      "TransformerEncoder", x, limit,
      [](Generator& rng) { return TransformerEncoder({.layer = narrow, .layers = 2}, rng); },
      [x](const TransformerEncoder& l) {
        return stacked(l, x, [](const EncoderLayer& each, const Tensor& h) { return each(h); });
      });
  t.add<DecoderLayer>(
      "TransformerDecoderLayer", x, y, [](Generator& rng) { return DecoderLayer(narrow, rng); },
      [x, y](const DecoderLayer& l) {
        const Tensor h = x + l.attention((*l.attention_norm)(x), causal());
        return with_feedforward(l, h + l.cross_attention((*l.cross_attention_norm)(h), y, y));
      });
  t.add<TransformerDecoder>(
      "TransformerDecoder", x, y,
      [](Generator& rng) { return TransformerDecoder({.layer = narrow, .layers = 2}, rng); },
      [x, y](const TransformerDecoder& l) {
        return stacked(l, x, [y](const DecoderLayer& each, const Tensor& h) { return each(h, y); });
      });
  t.add<Transformer>(
      "Transformer", x, y,
      [](Generator& rng) {
        return Transformer({.layer = narrow, .encoder_layers = 1, .decoder_layers = 1}, rng);
      },
      [x, y](const Transformer& l) { return l.decoder(y, l.encoder(x)); });
  t.add<LanguageModel>("LanguageModel", tokens, refusal,
                       [](Generator& rng) { return LanguageModel(gpt2(5, 1, 4, 2, 6), rng); });
  t.add<TranslationModel>("TranslationModel", tokens, targets, [](Generator& rng) {
    return TranslationModel(
        {.vocabulary = 5, .body = {.layer = narrow, .encoder_layers = 1, .decoder_layers = 1}},
        rng);
  });
}

void add_expansions(Table& t) {
  const auto network = [](Generator& rng) {
    return std::make_unique<Sequential>(dense(rng), relu(), dense(rng));
  };
  t.add<infinite::TaylorExpansion>("TaylorExpansion", sequences, limit, [network](Generator& rng) {
    return infinite::TaylorExpansion(network(rng), 2);
  });
  t.add<infinite::Linearized>("Linearized", sequences, limit, [network](Generator& rng) {
    return infinite::Linearized(network(rng));
  });
}

}  // namespace

const std::vector<LayerRow>& every_layer() {
  static const std::vector<LayerRow> all = [] {
    Table table;
    add_maps(table);
    add_norms(table);
    add_containers(table);
    add_windows(table);
    add_pools(table);
    add_positions(table);
    add_recurrent(table);
    add_attention(table);
    add_transformers(table);
    add_expansions(table);
    return table.rows();
  }();
  return all;
}

}  // namespace ladon::test
