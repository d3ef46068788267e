// MultiHeadAttention::limit: what infinite/attention/limit.h needs to know of a layer.

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"
#include "ladon/layers/attention.h"
#include "ladon/layers/infinite/attention/limit.h"
#include "ladon/layers/infinite/kernel/roots.h"

namespace ladon {
namespace {

constexpr const char* where_from = "MultiHeadAttention";

/// Trained tensors that the formulas below account for. A layer that has others has no limit.
constexpr std::array<std::string_view, 9> accounted = {
    "query",    "key",        "value",       "output",          "query_bias",
    "key_bias", "value_bias", "output_bias", "positions.weight"};

void check_has_limit(const MultiHeadAttention& layer) {
  for (const auto& [name, x] : layer.named_parameters())
    LADON_CHECK(name.starts_with("hook.") ||  // the hook's own, whose limit it gives
                    std::find(accounted.begin(), accounted.end(), name) != accounted.end(),
                where_from, "no limit is known of attention with `", name, "`");
  LADON_CHECK(layer.window == 0, where_from,
              "no limit is known of attention in a window, got window = ", layer.window);
  LADON_CHECK(layer.dropout == 0 || !layer.training(), where_from,
              "has no limit with dropout of the attention weights; call eval()");
}

void check_has_all_pairs(const infinite::Kernel& k) {
  LADON_CHECK(k.entries == infinite::Entries::full, where_from,
              "its limit needs all pairs of positions (Entries::full), and is given each position "
              "with the same of the other input alone");
}

void check_sees_one_input(const MultiHeadAttention& layer) {
  const std::int64_t seen = layer.query.size(2);
  const std::int64_t tokens = layer.positions ? layer.positions->in : seen;
  LADON_CHECK((layer.form.tied || layer.key.size(2) == seen) &&
                  layer.value.size(2) == (layer.values_see_positions ? seen : tokens),
              where_from,
              "this limit is of self-attention: queries, keys and values see one input; the ",
              "weights are ", layer.query.shape(), ", ",
              (layer.form.tied ? layer.query : layer.key).shape(), " and ", layer.value.shape());
}

infinite::AttentionLimit limit_of(const MultiHeadAttention& a) {
  infinite::AttentionLimit y{.form = a.form,
                             .causal = a.causal,
                             .query_key = {},
                             .value_output = {},
                             .bias_variance = scalar(0, f64),
                             .query_key_trained = 2,
                             .value_output_trained = 2,
                             .bias_trained = scalar(0, f64),
                             .samples = a.limit_draws.samples};
  if (a.parameterization() == Parameterization::ntk) {
    y.query_key = a.query_key_std;
    y.value_output = a.value_output_std;
    if (a.output_bias.defined()) y.bias_variance = y.bias_trained = square(a.bias_std);
    return y;
  }
  LADON_CHECK(a.init != Init::ones, where_from, "weights that are all one have no Gaussian limit");
  const auto variance = [&](const Tensor& weight, bool sums_rows = false) {
    const Shape shape{weight.size(0) * weight.size(1), weight.size(2)};
    const double std = init_stddev(a.init, sums_rows ? Shape{shape[1], shape[0]} : shape);
    return std * std;
  };
  const Tensor& key = a.form.tied ? a.query : a.key;
  const double q = variance(a.query), k = variance(key), v = variance(a.value),
               o = variance(a.output, true);
  // In ntk form σ² of a group is its fan_in times its variance.
  const auto deviation = [](double var1, std::int64_t fan1, double var2, std::int64_t fan2) {
    return scalar(std::sqrt(var1 * static_cast<double>(fan1) * var2 * static_cast<double>(fan2)),
                  f64);
  };
  y.query_key = deviation(q, a.query.size(2), k, key.size(2));
  y.value_output = deviation(v, a.value.size(2), o, a.heads() * a.value_head_dim());
  y.query_key_trained = q > 0 && k > 0 ? 1 / q + 1 / k : 0;
  y.value_output_trained = v > 0 && o > 0 ? 1 / v + 1 / o : 0;
  // A bias is a weight of an input of its own, whose kernel is 1 / σ² in the units of the others.
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

infinite::PairKernels AttentionHook::limit(const infinite::AttentionLimit&, const infinite::Pairs&,
                                           const infinite::Pairs&) const {
  detail::fail(where_from, "no limit is known of attention with the hook `", describe(),
               "`, which gives none (AttentionHook::limit); estimate it: monte_carlo_kernel");
}

infinite::Kernel MultiHeadAttention::limit(const infinite::Kernel& k) const {
  k.need_positions(where_from);
  check_has_all_pairs(k);
  check_has_limit(*this);
  check_sees_one_input(*this);
  k.law.need_channels(where_from, positions ? positions->in : query.size(2));
  infinite::AttentionLimit layer = limit_of(*this);
  infinite::Kernel inputs = k;
  // Scaled by the width of keys, wide heads are all alike.
  const bool finitely_many =
      k.call && k.call->heads && form.scaling == AttentionScaling::sqrt && !form.tied;
  LADON_CHECK(!finitely_many || !hook, where_from,
              "no law is known of finitely many heads with the hook `", hook->describe(), "`");
  LADON_CHECK(!finitely_many || kv_heads() == heads(), where_from,
              "no law is known of finitely many heads that share keys and values; this is ",
              describe());
  if (finitely_many || infinite::draws(form, k.position_count())) {
    const infinite::Kernel seen = positions ? positions->limit(k) : k;
    if (!seen.root1.common.defined()) {
      const infinite::Roots roots = infinite::common_roots(
          where_from, seen, finitely_many ? infinite::all_coordinates : limit_draws.coordinates);
      inputs.root1 = roots.one;
      inputs.root2 = roots.two;
    }
    const infinite::Call& call = *k.call;
    if (finitely_many) {
      const Tensor& tokens = inputs.root1.common;
      layer.heads = std::make_shared<infinite::HeadLatents>(call.heads(tokens.size(-1)));
      if (call.maps) call.maps->push_back(infinite::head_map(layer, tokens, k.mask1));
    }
    layer.rng = Generator(limit_draws.seed).split(call.drawn).split(call.replicate);
    if (call.found()) inputs = inputs.alone();
  }
  const infinite::Law makes = infinite::Law::random_linear();
  return infinite::map_pairs(inputs, makes, [&](const infinite::Pairs& tokens) {
    const infinite::Pairs seen = positions ? positions->limit(tokens) : tokens;
    const infinite::Pairs& valued = values_see_positions ? seen : tokens;
    return hook ? hook->limit(layer, seen, valued)
                : infinite::attention_kernels(layer, seen, valued);
  });
}

infinite::Kernel MultiHeadAttention::limit(const infinite::Kernel& queries,
                                           const infinite::Kernel& keys) const {
  for (const infinite::Kernel* k : {&queries, &keys}) {
    k->need_positions(where_from);
    check_has_all_pairs(*k);
  }
  check_has_limit(*this);
  LADON_CHECK(!form.tied && !positions && !hook && !causal, where_from,
              "no limit is known of cross-attention with tied queries and keys, positional "
              "encodings, a causal mask or a hook");
  const infinite::Call* call = keys.call.get();
  LADON_CHECK(!call || !call->heads || form.scaling == AttentionScaling::linear, where_from,
              "no law is known of finitely many heads of cross-attention");
  queries.law.need_channels(where_from, query.size(2));
  keys.law.need_channels(where_from, key.size(2));
  infinite::AttentionLimit layer = limit_of(*this);
  infinite::Kernel q = queries, k = keys;
  if (infinite::draws(form, k.position_count())) {
    for (infinite::Kernel* of : {&q, &k}) {
      const infinite::Roots roots =
          infinite::common_roots(where_from, *of, limit_draws.coordinates);
      of->root1 = roots.one;
      of->root2 = roots.two;
    }
    layer.rng = Generator(limit_draws.seed).split(call->drawn).split(call->replicate);
    if (call->found()) {
      q = q.alone();
      k = k.alone();
    }
  }
  return infinite::map_pairs(
      q, k, infinite::Law::random_linear(),
      [&](const infinite::Pairs& of_queries, const infinite::Pairs& of_keys) {
        return infinite::attention_kernels(layer, {of_queries, of_keys}, of_keys);
      });
}

bool MultiHeadAttention::draws() const { return infinite::draws(form, 3); }

}  // namespace ladon
