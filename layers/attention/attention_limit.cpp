// MultiHeadAttention::limit(): translates the layer into the description (AttentionLimit) from
// which infinite/attention/limit.h computes its kernels.

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/infinite/attention/limit.h"
#include "ladon/layers/infinite/kernel/graph.h"
#include "ladon/layers/infinite/kernel/roots.h"

namespace ladon {
namespace {

constexpr const char* where_from = "MultiHeadAttention";
constexpr const char* by_draws =
    "estimate its kernel from finite networks with infinite::monte_carlo_kernel";

/// Trained tensors that the formulas below account for. A layer with any other trained tensor has
/// no limit.
constexpr std::array<std::string_view, 9> accounted = {
    "query",    "key",        "value",       "output",          "query_bias",
    "key_bias", "value_bias", "output_bias", "positions.weight"};

void check_has_limit(const MultiHeadAttention& layer) {
  for (const auto& [name, x] : layer.named_parameters())
    LADON_CHECK(name.starts_with("hook.") ||  // the hook's limit accounts for them
                    std::find(accounted.begin(), accounted.end(), name) != accounted.end(),
                where_from, "no limit is known for attention with the trained tensor `", name,
                "`; ", by_draws);
  LADON_CHECK(layer.dropout == 0 || !layer.training(), where_from,
              "has no limit of infinite width with dropout of the attention weights, which is ",
              layer.dropout, " in training; call eval()");
}

void check_sees_one_input(const MultiHeadAttention& layer) {
  const std::int64_t seen = layer.query.size(2);
  const std::int64_t tokens = layer.positions ? layer.positions->in : seen;
  LADON_CHECK(
      (layer.form.tied || layer.key.size(2) == seen) &&
          layer.value.size(2) == (layer.values_see_positions ? seen : tokens),
      where_from,
      "limit(k) is that of self-attention, where queries, keys and values see one input; the "
      "weights of this layer take different widths: ",
      layer.query.shape(), ", ", (layer.form.tied ? layer.query : layer.key).shape(), " and ",
      layer.value.shape());
}

infinite::AttentionLimit limit_of(const MultiHeadAttention& a) {
  infinite::AttentionLimit y{.form = a.form,
                             .causal = a.causal,
                             .window = a.window,
                             .query_key = {},
                             .value_output = {},
                             .bias_variance = scalar(0, f64),
                             .query_key_trained = 2,
                             .value_output_trained = 2,
                             .bias_trained = scalar(0, f64),
                             .samples = a.limit_draws.per_estimate()};
  if (a.parameterization() == Parameterization::ntk) {
    y.query_key = a.query_key_std;
    y.value_output = a.value_output_std;
    if (a.output_bias.defined()) y.bias_variance = y.bias_trained = square(a.bias_std);
    return y;
  }
  LADON_CHECK(
      a.init != Init::ones, where_from,
      "weights that are all one have no Gaussian limit of infinite width; draw them at random "
      "(init)");
  const auto variance = [&](const Tensor& weight, bool sums_rows = false) {
    const Shape shape{weight.size(0) * weight.size(1), weight.size(2)};
    const double std = init_stddev(a.init, sums_rows ? Shape{shape[1], shape[0]} : shape);
    return std * std;
  };
  const Tensor& key = a.form.tied ? a.query : a.key;
  const double q = variance(a.query), k = variance(key), v = variance(a.value),
               o = variance(a.output, true);
  // Product σ_1·σ_2 of the standard deviations of two weights in ntk parameterization, where
  // σ² = fan_in·Var W.
  const auto deviation = [](double var1, std::int64_t fan1, double var2, std::int64_t fan2) {
    return scalar(std::sqrt(var1 * static_cast<double>(fan1) * var2 * static_cast<double>(fan2)),
                  f64);
  };
  y.query_key = deviation(q, a.query.size(2), k, key.size(2));
  y.value_output = deviation(v, a.value.size(2), o, a.heads() * a.value_head_dim());
  y.query_key_trained = q > 0 && k > 0 ? 1 / q + 1 / k : 0;
  y.value_output_trained = v > 0 && o > 0 ? 1 / v + 1 / o : 0;
  // The constant that a trained bias adds to the tangent kernel of its projection's input: 1/σ² of
  // the projection's weights (infinite/attention/limit.h), 0 without a bias.
  const auto bias = [](const Tensor& b, double var, std::int64_t fan_in) {
    return b.defined() && var > 0 ? 1 / (var * static_cast<double>(fan_in)) : 0;
  };
  y.query_bias_trained = bias(a.query_bias, q, a.query.size(2));
  y.key_bias_trained = bias(a.key_bias, k, key.size(2));
  y.value_bias_trained = bias(a.value_bias, v, a.value.size(2));
  if (a.output_bias.defined()) y.bias_trained = scalar(1, f64);
  return y;
}

}  // namespace

infinite::AttentionMap AttentionHook::limit(const infinite::AttentionLimit&) const {
  detail::fail(where_from, "no limit is known for attention with the hook `", describe(),
               "`, which gives none: override AttentionHook::limit, or estimate the kernel with "
               "monte_carlo_kernel");
}

namespace {

/// The description of a layer, with the generator of one evaluation and, for finitely many heads,
/// their latents.
infinite::AttentionLimit with(infinite::AttentionLimit layer, const infinite::Drawn& drawn,
                              std::uint64_t seed) {
  layer.rng = Generator(seed).split(drawn.number).split(drawn.replicate);
  layer.heads = drawn.heads;
  return layer;
}

/// Suffixes that distinguish the kernels of the inputs of queries, keys and values in a formula: $k
/// or $k2.
struct Symbols {
  std::string q, k, v;
  static Symbols of_self(bool one_input) { return {"", "", one_input ? "" : "2"}; }
  static Symbols of_cross() { return {"", "2", "2"}; }
};

/// The formulas of infinite/attention/limit.h for this layer, as text.
infinite::Formula formula_of(const MultiHeadAttention& a, const Symbols& of, bool draws) {
  using infinite::plus, infinite::times;
  const infinite::AttentionLimit layer = limit_of(a);
  const std::string zeta(to_string(a.form.weighting)),
      v = "$k" + of.v,
      causal = a.window > 0 ? detail::join(", of the last ", a.window, " keys up to the query")
               : a.causal   ? ", of keys up to the query"
                            : "",
      bias = plus(number_of("MultiHeadAttention", layer.bias_variance.detach()));
  const auto moved = [](const std::string& t, const std::string& index, double constant) {
    const std::string entry = t + index;
    return constant == 0 ? entry : "(" + entry + plus(constant) + ")";
  };
  const double ov = number_of("MultiHeadAttention", square(layer.value_output).detach()),
               qk = number_of("MultiHeadAttention", square(layer.query_key).detach());
  // Contribution of O and V to the NTK: their factor times the output kernel without its bias.
  const std::string given = bias.empty() ? "$K"
                                         : "($K" +
                                               plus(-number_of("MultiHeadAttention",
                                                               layer.bias_variance.detach())) +
                                               ")",
                    trained = " + " + times(layer.value_output_trained, given) +
                              plus(number_of("MultiHeadAttention", layer.bias_trained.detach()));
  if (a.form.scaling == AttentionScaling::linear) {
    const std::string logits =
        a.form.tied ? times(number_of("MultiHeadAttention", layer.query_key.detach()),
                            "$k" + of.k + "(x, x)")
                    : std::string("0");
    return {detail::join(times(ov, "A·" + v + "·A'ᵀ"), bias, ", A = ", zeta, " of the logits ",
                         logits, causal),
            times(ov, "A·" + moved("$t" + of.v, "", layer.value_bias_trained) + "·A'ᵀ") + trained};
  }
  const std::string how =
      draws ? detail::join(", E the mean over ", layer.samples, " draws that all inputs share")
            : "";
  // A key bias shifts all logits of a query equally, which does not change softmax.
  const double key_bias = a.form.weighting == Weighting::softmax ? 0 : layer.key_bias_trained;
  const std::string keys = "$k" + of.k, q = of.q + "_ab", weights = "·E[ζ_ai·ζ'_bj]";
  const std::string logits = detail::join("(", times(layer.query_key_trained, "$k" + q), " + $t", q,
                                          plus(layer.query_bias_trained), ")·", keys, "_ce + $k", q,
                                          "·", moved("$t" + of.k, "_ce", key_bias));
  return {detail::join(times(ov, "Σ_ij " + v + "_ij" + weights), bias, ", ζ = ", zeta,
                       " of Gaussian logits G", causal,
                       ", Cov(G_ai, G'_bj) = ", times(qk, "$k" + q + "·" + keys + "_ij"), how),
          detail::join(
              times(ov, "Σ_ij " + moved("$t" + of.v, "_ij", layer.value_bias_trained) + weights),
              trained, " + ", times(ov, "Σ_ij " + v + "_ij·Σ_ce E[∂ζ_ai/∂G_ac·∂ζ'_bj/∂G'_be]·D"),
              ", D = ", qk == 1 ? logits : times(qk, "(" + logits + ")"))};
}

/// k with encodings of positions. Attention flattens images, so with a grid {T} the pixels of an
/// image count row by row as positions.
infinite::KernelNode with_positions(const RandomPositions& positions,
                                    const infinite::KernelNode& k) {
  infinite::KernelNode flat = k;
  if (positions.grid.rank() == 1) flat.positions = {k.position_count()};
  infinite::KernelNode y = positions.limit(flat);
  y.positions = k.positions;
  return y;
}

}  // namespace

infinite::KernelNode MultiHeadAttention::limit(const infinite::KernelNode& k) const {
  k.need_positions(where_from);
  check_has_limit(*this);
  check_sees_one_input(*this);
  k.law.need_channels(where_from, positions ? positions->in : query.size(2));
  // With linear scaling, logits are not random, so all wide heads have the same weights.
  const bool finitely_many =
      k.finite_heads() && form.scaling == AttentionScaling::sqrt && !form.tied;
  LADON_CHECK(!finitely_many || !hook, where_from,
              "no limit is known for finitely many wide heads with the hook `", hook->describe(),
              "`; ", by_draws);
  LADON_CHECK(!finitely_many || kv_heads() == heads(), where_from,
              "no limit is known for finitely many wide heads that share keys and values; this is ",
              describe(), "; ", by_draws);
  const infinite::AttentionLimit layer = limit_of(*this);
  const auto kernels_of = hook ? hook->limit(layer) : infinite::attention_map(layer);
  const infinite::KernelNode seen = positions ? with_positions(*positions, k) : k;
  const infinite::KernelNode valued = values_see_positions ? seen : k;
  const bool draws = finitely_many || infinite::draws(form, seen.position_count());
  infinite::Step step{.makes = infinite::Law::random_linear()};
  step.formula = [this, draws, one = seen.step == valued.step] {
    if (!hook) return formula_of(*this, Symbols::of_self(one), draws);
    return infinite::Formula{
        "attention with " + hook->describe() + ", of " + (one ? "$k" : "$k and $k2"),
        "its tangent kernel"};
  };
  if (draws)
    step.draws = {
        .of = {0},
        .coordinates = finitely_many ? infinite::all_coordinates : limit_draws.coordinates,
        .automatic = limit_draws.samples == 0,
        .head_map = [this](const infinite::Drawn& drawn, const Tensor& tokens, const Tensor& mask) {
          return infinite::head_map(with(limit_of(*this), drawn, limit_draws.seed), tokens, mask);
        }};
  const auto map = [this, kernels_of](const infinite::Pairs& of_tokens,
                                      const infinite::Pairs& of_values) {
    return kernels_of(with(limit_of(*this), of_tokens.drawn, limit_draws.seed), of_tokens,
                      of_values);
  };
  return infinite::map_pairs(seen, valued, step, map);
}

infinite::KernelNode MultiHeadAttention::limit(const infinite::KernelNode& queries,
                                               const infinite::KernelNode& keys) const {
  for (const infinite::KernelNode* k : {&queries, &keys}) k->need_positions(where_from);
  check_has_limit(*this);
  const auto refuse = [](bool has, const char* what) {
    LADON_CHECK(!has, where_from, "no limit is known for cross-attention with ", what, "; ",
                by_draws);
  };
  refuse(form.tied, "tied queries and keys");
  refuse(positions.has_value(), "positional encodings");
  refuse(static_cast<bool>(hook), "a hook");
  refuse(causal, "a causal mask");
  refuse(queries.finite_heads() && form.scaling != AttentionScaling::linear,
         "finitely many wide heads");
  queries.law.need_channels(where_from, query.size(2));
  keys.law.need_channels(where_from, key.size(2));
  infinite::attention_map(limit_of(*this));
  const bool draws = infinite::draws(form, keys.position_count());
  infinite::Step step{.makes = infinite::Law::random_linear()};
  step.formula = [this, draws] { return formula_of(*this, Symbols::of_cross(), draws); };
  if (draws)
    step.draws = {.of = {0, 1},
                  .coordinates = limit_draws.coordinates,
                  .automatic = limit_draws.samples == 0};
  const auto map = [this](const infinite::Pairs& of_queries, const infinite::Pairs& of_keys) {
    return infinite::attention_kernels(with(limit_of(*this), of_keys.drawn, limit_draws.seed),
                                       {of_queries, of_keys}, of_keys);
  };
  return infinite::map_pairs(queries, keys, step, map);
}

}  // namespace ladon
