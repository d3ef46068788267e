#include "ladon/layers/attention/attention.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/attention.h"
#include "ladon/autograd/ops/attention_values.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/dropout.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/record.h"
#include "ladon/core/error.h"
#include "ladon/core/unread.h"
#include "ladon/layers/hyperparameter.h"
#include "ladon/layers/masked.h"
#include "ladon/layers/parameter_uses.h"

namespace ladon {
namespace {

/// product(x) for x [B, T, d], a product of the rows of x with `weight`. If a mask hides keys from
/// some queries (`hides`) and the product is recorded, rows with NaN, ∞ or huge numbers ("odd"
/// rows, attention_values.h) are multiplied separately: the gradient of a row that no query sees is
/// 0, and 0·NaN would make the gradient of the weights NaN.
template <class Product>
Tensor by_rows(const Tensor& x, const Tensor& weight, bool hides, const Product& product) {
  const bool looks = hides && recorded({x, weight}) && !ParameterUses::active();
  const Tensor odd = looks ? detail::odd_rows(x) : Tensor();
  if (!odd.defined()) return product(x);
  return where(odd, detail::gated(product(x)), product(where(odd, scalar(0, x.dtype()), x)));
}

/// scale·x times the weights of all heads, plus their biases if there are any:  [.., in] → [..,
/// heads·width], in one product.
Tensor product(const Tensor& x, double scale, const Tensor& weight, const Tensor& bias) {
  const std::int64_t all = weight.size(0) * weight.size(1);
  const Tensor flat_weight = reshape(weight, {all, weight.size(2)});
  const Tensor flat_bias = bias.defined() ? reshape(bias, {all}) : bias;
  const Tensor in = scale == 1 ? x : x * scale;
  const Tensor y = linear(in, flat_weight, flat_bias);  // [B,T,in] · [H·d,in]ᵀ → [B,T,H·d]
  ParameterUses::report_product(in, y, bias.defined() ? 1 : 0);
  return y;
}

/// [B, T, heads·width] → [B, heads, T, width], a view.
Tensor heads_apart(const Tensor& y, std::int64_t heads) {
  return transpose(reshape(y, {y.size(0), y.size(1), heads, y.size(2) / heads}), 1, 2);
}

void check_input(const char* what, const Tensor& x, std::int64_t width) {
  LADON_CHECK(x.rank() == 3 && x.size(2) == width, "MultiHeadAttention", what,
              " must be [batch, T, ", width, "], got shape ", x.shape());
}

/// Whether a and b are one tensor with one history, as in self-attention.
bool same(const Tensor& a, const Tensor& b) {
  return same_elements(a, b) && a.history() == b.history();
}

/// Inputs of queries, keys and values with padding blanked (blank_masked). Inputs that are one
/// tensor stay one tensor.
struct Operands {
  Operands(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& key_mask)
      : keys(detail::blank_masked(k, key_mask)),
        queries(same(q, k) ? keys : q),
        values(same(v, k) ? keys : detail::blank_masked(v, key_mask)) {}
  Tensor keys, queries, values;
};

/// Throws Error for an option of the prior that the parameterization does not read, and if the
/// option `in` of the positions is neither 0 nor the width of the inputs.
void check_read(const MultiHeadAttentionOptions& o) {
  using detail::check_unread;
  const char* layer = "MultiHeadAttention";
  const AttentionPrior &p = o.prior, usual{};
  if (p.parameterization == Parameterization::standard) {
    constexpr auto why =
        "only ntk parameterization has this factor; set prior.parameterization to "
        "Parameterization::ntk";
    check_unread(layer, "prior.query_key_std", p.query_key_std, usual.query_key_std, why);
    check_unread(layer, "prior.value_output_std", p.value_output_std, usual.value_output_std, why);
    check_unread(layer, "prior.bias_std", p.bias_std, usual.bias_std, why);
  } else {
    check_unread(layer, "prior.init", to_string(p.init), to_string(usual.init),
                 "weights start as N(0, 1) in ntk parameterization; set prior.query_key_std and "
                 "prior.value_output_std");
    if (!o.bias)
      check_unread(layer, "prior.bias_std", p.bias_std, usual.bias_std,
                   "bias is false; set it to true");
  }
  const std::int64_t width = o.positions ? o.positions->encoding.in : 0;
  LADON_CHECK(width == 0 || width == o.dim, layer, "positions.encoding.in is ", width,
              ", but positions get the width of the inputs, dim = ", o.dim,
              "; leave positions.encoding.in at 0");
}

void check_options(const MultiHeadAttentionOptions& o) {
  const char* layer = "MultiHeadAttention";
  LADON_CHECK(o.dim > 0 && o.heads > 0, layer, "dim and heads must be positive, got dim = ", o.dim,
              " and heads = ", o.heads);
  for (const auto& [what, width] : {std::pair("head_dim", o.head_dim),
                                    {"key_dim", o.key_dim},
                                    {"value_dim", o.value_dim},
                                    {"value_head_dim", o.value_head_dim},
                                    {"out", o.out}})
    LADON_CHECK(width >= 0, layer, what, " must not be negative, got ", width);
  LADON_CHECK(o.head_dim > 0 || o.dim % o.heads == 0, layer, o.heads,
              " heads do not divide dim = ", o.dim, "; give head_dim");
  LADON_CHECK(o.dropout >= 0 && o.dropout <= 1, layer, "dropout must lie in [0, 1], got ",
              o.dropout);
  LADON_CHECK(!o.form.tied || o.key_dim <= 0 || o.key_dim == o.dim, layer,
              "queries and keys that share weights (tied) need inputs of one width, got dim = ",
              o.dim, " and key_dim = ", o.key_dim);
  LADON_CHECK(o.kv_heads >= 0, layer, "kv_heads must not be negative, got ", o.kv_heads);
  LADON_CHECK(o.kv_heads == 0 || o.heads % o.kv_heads == 0, layer, o.kv_heads,
              " heads of keys and values do not divide ", o.heads,
              " heads; kv_heads must divide heads");
  LADON_CHECK(
      !o.form.tied || o.kv_heads == 0 || o.kv_heads == o.heads, layer,
      "queries and keys that share weights (tied) need equal numbers of heads, got heads = ",
      o.heads, " and kv_heads = ", o.kv_heads);
  LADON_CHECK(o.window >= 0, layer, "window must be positive, or 0 for none, got ", o.window);
  LADON_CHECK(o.window == 0 || o.causal, layer, "a window needs causal attention, but window is ",
              o.window, " and causal is false; set causal");
  const AttentionPrior& p = o.prior;
  detail::check_size(layer, "query_key_std", p.query_key_std);
  detail::check_size(layer, "value_output_std", p.value_output_std);
  detail::check_size(layer, "bias_std", p.bias_std);
  LADON_CHECK(
      o.limit_draws.per_estimate() >= 2, layer,
      "limit_draws.samples must be at least 2, or 0 to choose the number automatically; got ",
      o.limit_draws.samples);
  LADON_CHECK(o.limit_draws.coordinates >= 0, layer,
              "limit_draws.coordinates must not be negative, got ", o.limit_draws.coordinates);
  check_read(o);
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& o, Generator& source)
    : values_see_positions(o.positions && o.positions->values),
      hook(o.hook),
      form(o.form),
      causal(o.causal),
      window(o.window),
      dropout(o.dropout),
      init(o.prior.parameterization == Parameterization::ntk ? Init::normal : o.prior.init),
      limit_draws(o.limit_draws),
      rng(source.split(source.reserve(1))) {
  check_options(o);
  const std::int64_t width = o.head_dim > 0 ? o.head_dim : o.dim / o.heads;
  const std::int64_t value_width = o.value_head_dim > 0 ? o.value_head_dim : width;
  const std::int64_t key_dim = o.key_dim > 0 ? o.key_dim : o.dim;
  const std::int64_t value_dim = o.value_dim > 0 ? o.value_dim : key_dim;
  const std::int64_t out = o.out > 0 ? o.out : o.dim;
  RandomPositionsOptions encoding = o.positions ? o.positions->encoding : RandomPositionsOptions{};
  encoding.in = o.dim;
  const bool concatenated = o.positions && encoding.merge == PositionMerge::concat;
  const std::int64_t beside = concatenated ? encoding.channels : 0;
  // Projections are drawn as matrices [heads·width, in], so that fan_in and fan_out are those of
  // the whole projection.
  const std::int64_t shared = o.kv_heads > 0 ? o.kv_heads : o.heads;
  const auto projection = [&](std::int64_t heads, std::int64_t rows, std::int64_t in,
                              std::int64_t more, bool output_of = false) {
    const Shape shape{detail::checked_product("MultiHeadAttention", heads, rows),
                      detail::checked_sum("MultiHeadAttention", in, more)};
    // The output projection sums over the rows of its matrix, all others over the columns: `gain`
    // corrects for the exchange of fan_in and fan_out.
    const double drawn = init_stddev(init, shape);
    const double gain =
        output_of && drawn > 0 ? init_stddev(init, {shape[1], shape[0]}) / drawn : 1;
    const Tensor matrix = initialize(init, shape, {.gain = gain}, source).detach();
    return parameter(reshape(matrix, {heads, rows, shape[1]}));
  };
  query = projection(o.heads, width, o.dim, beside);
  if (!form.tied) key = projection(shared, width, key_dim, beside);
  value = projection(shared, value_width, value_dim, values_see_positions ? beside : 0);
  output = projection(o.heads, value_width, out, 0, true);
  if (o.positions) positions.emplace(encoding, source);
  if (o.prior.parameterization == Parameterization::ntk) {
    query_key_std = scalar(o.prior.query_key_std, f64);
    value_output_std = scalar(o.prior.value_output_std, f64);
    bias_std = scalar(o.prior.bias_std, f64);
    if (o.bias && o.prior.bias_std > 0) output_bias = initialize(Init::normal, {out}, source);
    return;
  }
  if (!o.bias) return;
  if (o.projection_bias) {
    query_bias = parameter(zeros({o.heads, width}));
    if (!form.tied) key_bias = parameter(zeros({shared, width}));
    value_bias = parameter(zeros({shared, value_width}));
  }
  output_bias = parameter(zeros({out}));
}

/// One projection of x:  [B, T, in] → [B, heads, T, width].
Tensor MultiHeadAttention::projected(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                     bool hides) const {
  const bool ntk = parameterization() == Parameterization::ntk;
  const double scale = ntk ? 1 / std::sqrt(static_cast<double>(weight.size(2))) : 1;
  detail::warn_of_precision("MultiHeadAttention", x, weight);
  const auto rows = [&](const Tensor& in) { return product(in, scale, weight, bias); };
  return heads_apart(by_rows(x, weight, hides, rows), weight.size(0));
}

AttentionHeads MultiHeadAttention::project(const Tensor& queries, const Tensor& keys,
                                           const Tensor& values, bool hides) const {
  LADON_CHECK(queries.rank() == 3 && keys.rank() == 3 && values.rank() == 3, "MultiHeadAttention",
              "queries, keys and values must be [batch, T, width], got shapes ", queries.shape(),
              ", ", keys.shape(), " and ", values.shape());
  LADON_CHECK(keys.size(0) == queries.size(0) && values.size(0) == queries.size(0),
              "MultiHeadAttention", "queries ", queries.shape(), ", keys ", keys.shape(),
              " and values ", values.shape(), " must agree in batch, their first axis");
  LADON_CHECK(values.size(1) == keys.size(1), "MultiHeadAttention",
              "each key needs one value, but ", "keys are ", keys.shape(), " and values ",
              values.shape(), "; they must agree in length, their second axis");
  const bool self = same(queries, keys);
  Tensor q = queries, k = keys, v = values;
  if (positions) {
    LADON_CHECK(
        self && same(queries, values), "MultiHeadAttention",
        "has positional encodings, which it adds in self-attention only, where queries, keys "
        "and values are one tensor; otherwise put RandomPositions before each input");
    q = k = (*positions)(queries);
    if (values_see_positions) v = q;
  }
  check_input("queries", q, query.size(2));
  check_input("keys", k, form.tied ? query.size(2) : key.size(2));
  check_input("values", v, value.size(2));
  if (!form.tied)
    return {projected(q, query, query_bias, hides), projected(k, key, key_bias, hides),
            projected(v, value, value_bias, hides)};
  // Tied: one product with the shared weight, of queries and keys concatenated if they differ.
  const Tensor both = projected(self ? q : concat({q, k}, 1), query, query_bias, hides);
  const Tensor first = self ? both : slice(both, 2, {.stop = q.size(1)});
  const Tensor second = self ? both : slice(both, 2, {.start = q.size(1)});
  return {first, second, projected(v, value, value_bias, hides)};
}

/// The heads as changed by the hook, if there is one. If h has no positions of queries and keys,
/// the hook gets 0, 1, ….
AttentionHeads MultiHeadAttention::changed(AttentionHeads h) const {
  if (!hook) return h;
  if (!h.q_positions.defined()) {
    h.q_positions = arange(h.q.size(2));
    h.k_positions = arange(h.k.size(2));
  }
  AttentionHeads y = hook->heads(h);
  y.q_positions = h.q_positions;
  y.k_positions = h.k_positions;
  return y;
}

double MultiHeadAttention::logit_scale() const {
  const double width = static_cast<double>(head_dim());
  const double scale = 1 / (form.scaling == AttentionScaling::sqrt ? std::sqrt(width) : width);
  const bool number = query_key_std.defined() && is_plain(query_key_std);
  return number ? scale * number_of("MultiHeadAttention", query_key_std) : scale;
}

/// The heads to use with logit_scale(), which is a plain number: if QK (query_key_std) requires
/// gradients, it is not part of that number, and the queries are multiplied by it.
AttentionHeads MultiHeadAttention::with_scale(const AttentionHeads& h) const {
  AttentionHeads y = h;
  if (query_key_std.defined() && !is_plain(query_key_std)) y.q = scaled(h.q, query_key_std);
  return y;
}

AttentionOptions MultiHeadAttention::options(const AttentionMask& mask, const AttentionHeads& h,
                                             std::int64_t offset) const {
  const std::int64_t keys = h.k.size(2);
  AttentionOptions options{.mask = mask.merged(h.k.size(0), keys),
                           .causal = causal || mask.causal,
                           .scale = logit_scale()};
  if (options.causal) options.causal_offset = offset;
  if (training() && dropout > 0) {
    options.dropout = dropout;
    options.rng = &rng;
  }
  return options;
}

/// The mask, restricted to the window of each query.
AttentionMask MultiHeadAttention::windowed(const AttentionMask& mask, std::int64_t queries,
                                           std::int64_t keys) const {
  LADON_CHECK(window >= 0, "MultiHeadAttention", "window is ", window,
              "; it must be positive, or 0 for none");
  if (window == 0 || keys <= window) return mask;
  const Tensor back = unsqueeze(arange(queries), 1) - arange(keys);
  return mask & allowed(less(back, double(window)));
}

AttentionResult MultiHeadAttention::attend(const AttentionHeads& heads, const AttentionMask& mask,
                                           bool with_weights, std::int64_t offset) const {
  const Tensor bias = hook ? hook->bias(heads) : Tensor();
  const AttentionHeads h = with_scale(heads);
  if (form.weighting != Weighting::softmax) return weigh(h, options(mask, h, offset), bias);
  const AttentionOptions o = options(bias.defined() ? mask + bias : mask, h, offset);
  return with_weights ? attention_with_weights(h.q, h.k, h.v, o)
                      : AttentionResult{scaled_dot_product_attention(h.q, h.k, h.v, o), {}};
}

namespace {

/// Repeats each key or value head for all query heads that share it:  [B, heads, T, width] → [B,
/// heads·times, T, width].
Tensor repeat_heads(const Tensor& x, std::int64_t times) {
  if (times == 1) return x;
  const Shape spread{x.size(0), x.size(1), times, x.size(2), x.size(3)};
  return flatten(expand(unsqueeze(x, 2), spread), 1, 2);
}

}  // namespace

/// Attention with weights other than softmax.
AttentionResult MultiHeadAttention::weigh(const AttentionHeads& h, const AttentionOptions& o,
                                          const Tensor& bias) const {
  LADON_CHECK(!o.mask.defined() || o.mask.dtype() == boolean, "MultiHeadAttention",
              "an additive mask (", o.mask.dtype(),
              ") needs softmax weights, but the layer has another weighting; pass a bool mask");
  const std::int64_t group = heads() / kv_heads();
  const Tensor q = h.q * *o.scale, k = repeat_heads(h.k, group), v = repeat_heads(h.v, group);
  Tensor factors;  // dropout's factors; if undefined, weighed() draws them
  const auto weighed = [&](const Tensor& logits, const Tensor& mask) -> AttentionResult {
    Tensor weights = attention_weights(form.weighting, bias.defined() ? logits + bias : logits);
    if (mask.defined()) weights = masked_fill(weights, logical_not(mask), 0);
    if (o.causal) weights = tril(weights, o.causal_offset);
    const Tensor dropped = factors.defined() ? weights * factors
                           : o.dropout > 0   ? ladon::dropout(weights, o.dropout, *o.rng)
                                             : weights;
    return {detail::weighted_values(dropped, v), weights};
  };
  const bool hides = o.mask.defined() || o.causal;
  if (!hides || (detail::all_ordinary(q) && detail::all_ordinary(k) && detail::all_ordinary(v)))
    return weighed(matmul(q, transpose(k)), o.mask);  // [B,H,Tq,d] · [B,H,Tk,d]ᵀ → [B,H,Tq,Tk]
  const Shape shape{q.size(0), q.size(1), q.size(2), k.size(2)};
  Tensor may = ones({shape[2], shape[3]}, boolean);  // true: may attend
  if (o.causal) may = tril(may, o.causal_offset);
  if (o.mask.defined()) may = logical_and(may, o.mask);
  const Tensor odd = detail::odd_queries(q, k, v, may);
  const auto products = [&](const Tensor& queries, const Tensor& visible) {
    return detail::products_of_seen(queries, k, [&] { return visible; });
  };
  if (!odd.defined()) return weighed(products(q, may), may);
  if (o.dropout > 0) factors = ladon::dropout(ones(shape, q.dtype()), o.dropout, *o.rng);
  const Tensor others = where(odd, scalar(0, q.dtype()), q),
               seen = logical_and(may, logical_not(odd));
  return detail::joined(odd, weighed(products(others, seen), seen), weighed(products(q, may), may));
}

// [B,H,T,d] → [B,T,H·d] · [H·d,out] → [B,T,out]
Tensor MultiHeadAttention::combine(const Tensor& contexts, bool hides) const {
  const std::int64_t all = heads() * value_head_dim();
  const Tensor joined =
      reshape(transpose(contexts, 1, 2), {contexts.size(0), contexts.size(2), all});
  Tensor bias = output_bias;
  const bool ntk = parameterization() == Parameterization::ntk;
  if (ntk && bias.defined()) bias = scaled(bias, bias_std);
  const Tensor weight = reshape(output, {all, output.size(2)});
  return by_rows(joined, weight, hides, [&](const Tensor& x) {
    const Tensor rows = ntk ? scaled(x, value_output_std / std::sqrt(static_cast<double>(all))) : x;
    const Tensor product = matmul(rows, weight);
    const Tensor y = bias.defined() ? product + bias : product;
    if (ParameterUses::active()) {
      const NoGrad off;  // empirical kernels have no derivative with respect to σ_b
      ParameterUses::report_product(rows, y,
                                    !bias.defined() ? 0
                                    : ntk           ? number_of("MultiHeadAttention", bias_std)
                                                    : 1);
    }
    return y;
  });
}

/// Whether a key may be hidden from some queries and visible to others. (Padding does not count: it
/// is hidden from all queries, and blank_masked has set its non-finite and huge values to 0.)
bool MultiHeadAttention::hides(const AttentionMask& mask) const {
  return causal || mask.causal || mask.allowed.defined() || mask.bias.defined();
}

Tensor MultiHeadAttention::forward(const Tensor& x, const AttentionMask& mask) const {
  if (x.rank() != 4) return forward(x, x, x, mask);
  if (positions && positions->grid.rank() == 2) positions->check_fits(x.shape().sub(1, 3));
  const Tensor y = forward(flatten(x, 1, 2), mask);
  return reshape(y, {x.size(0), x.size(1), x.size(2), y.size(2)});
}

Tensor MultiHeadAttention::forward(const Tensor& queries, const Tensor& keys, const Tensor& values,
                                   const AttentionMask& mask) const {
  const AttentionMask seen = windowed(mask, queries.size(1), keys.size(1));
  // x → q, k, v [B, H, T, d]; the hook; softmax(q·kᵀ/√d)·v (ops/attention.h); Σ_h context_h·O_h + b
  const Operands x(queries, keys, values, mask.key_mask);
  const bool hidden = hides(mask);
  const AttentionHeads h = changed(project(x.queries, x.keys, x.values, hidden));
  return combine(attend(h, seen, false).output, hidden);
}

Tensor MultiHeadAttention::forward(const Tensor& x, KeyValueCache& cache,
                                   const Tensor& mask) const {
  LADON_CHECK(causal, "MultiHeadAttention",
              "a cache needs causal attention, but this layer sees later tokens: ", describe(),
              "; set causal");
  LADON_CHECK(!positions, "MultiHeadAttention",
              "a cache needs a layer that adds no positional encodings, but this is ", describe(),
              "; put them before the layer");
  LADON_CHECK(!training() || dropout == 0, "MultiHeadAttention",
              "is in training mode, and dropout would be drawn at every step; call eval() first");
  const NoGrad no_grad;
  const detail::Undo undo(cache);
  const Tensor tokens = detail::blank_masked(x, mask);
  AttentionHeads h = project(tokens, tokens, tokens, false);
  h.q_positions = h.k_positions = cache.next_positions(x.size(0), x.size(1), mask);
  const KeyValueCache::Seen seen = cache.append(changed(h), mask, window);
  const AttentionMask visible{.allowed = seen.allowed};
  return combine(attend(seen.heads, visible, false, seen.offset).output, false);
}

ProjectedMemory MultiHeadAttention::project_memory(const Tensor& keys, const Tensor& values,
                                                   const Tensor& key_mask) const {
  LADON_CHECK(!hook, "MultiHeadAttention", "cannot project a memory with a hook; this is ",
              describe(), ", so pass the memory as keys and values to every call");
  LADON_CHECK(!positions, "MultiHeadAttention",
              "cannot project a memory with positional encodings; this is ", describe(),
              ", so put them before the layer");
  const Tensor& own = form.tied ? query : key;
  check_input("keys", keys, own.size(2));
  check_input("values", values, value.size(2));
  // Masks are only given to forward(), and may hide any row from some queries: hides = true.
  return {
      projected(detail::blank_masked(keys, key_mask), own, form.tied ? query_bias : key_bias, true),
      projected(detail::blank_masked(values, key_mask), value, value_bias, true)};
}

Tensor MultiHeadAttention::forward(const Tensor& queries, const ProjectedMemory& memory,
                                   const AttentionMask& mask) const {
  LADON_CHECK(!hook, "MultiHeadAttention",
              "cannot attend to a projected memory with a hook; this is ", describe(),
              ", so pass keys and values instead");
  LADON_CHECK(!positions, "MultiHeadAttention",
              "cannot attend to a projected memory with positional encodings; this is ", describe(),
              ", so put them before the layer");
  check_input("queries", queries, query.size(2));
  const bool hidden = hides(mask);
  const AttentionHeads h{projected(queries, query, query_bias, hidden), memory.keys, memory.values};
  return combine(attend(h, mask, false).output, hidden);
}

MultiHeadAttention::Details MultiHeadAttention::forward_with_weights(
    const Tensor& queries, const Tensor& keys, const Tensor& values,
    const AttentionMask& mask) const {
  const AttentionMask seen = windowed(mask, queries.size(1), keys.size(1));
  const Operands x(queries, keys, values, mask.key_mask);
  const bool hidden = hides(mask);
  const AttentionHeads h = changed(project(x.queries, x.keys, x.values, hidden));
  const AttentionResult result = attend(h, seen, true);
  return {combine(result.output, hidden), result.weights, result.output};
}

void MultiHeadAttention::visit(Visitor& v) {
  v("query", query);
  v("key", key);
  v("value", value);
  v("output", output);
  v("query_bias", query_bias);
  v("key_bias", key_bias);
  v("value_bias", value_bias);
  v("output_bias", output_bias);
  v("positions", positions);
  v("hook", hook);
  v.hyperparameter("query_key_std", query_key_std);
  v.hyperparameter("value_output_std", value_output_std);
  v.hyperparameter("bias_std", bias_std);
  v.generator("rng", rng);
}

std::string MultiHeadAttention::describe() const {
  const std::string plain = to_string(AttentionForm{}), own = to_string(form);
  return detail::join("MultiHeadAttention(dim ", query.size(2), ", ", heads(), " heads of ",
                      head_dim(),
                      kv_heads() == heads() ? "" : detail::join(", ", kv_heads(), " of keys"),
                      own == plain ? "" : ", " + own, causal ? ", causal" : "",
                      window > 0 ? detail::join(", window ", window) : "",
                      hook ? ", " + hook->describe() : "", ")");
}

}  // namespace ladon
