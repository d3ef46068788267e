#include "ladon/autograd/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ladon/autograd/forms.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/attention_values.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/dropout.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/softmax.h"
#include "ladon/autograd/slopes.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/attention/attention.h"
#include "ladon/core/unread.h"

namespace ladon {
namespace {

/// Inputs after checks and promotion to one dtype.
struct Inputs {
  Tensor q, k, v;
  Tensor mask;             ///< May be undefined.
  std::int64_t group = 1;  ///< Query heads per key head.
  double scale = 1;
};

Shape leading(const Tensor& x) { return x.shape().sub(0, x.rank() - 3); }

/// Shape of the logits, [.., heads, Tq, Tk].
Shape logits_shape(const char* operation, const Tensor& q, const Tensor& k, const Tensor& v) {
  Shape shape =
      broadcast_shapes(operation, broadcast_shapes(operation, leading(q), leading(k)), leading(v));
  for (const std::int64_t size : {q.size(-3), q.size(-2), k.size(-2)}) shape.append(size);
  return shape;
}

void check_options(const char* operation, const AttentionOptions& options) {
  LADON_CHECK(options.softcap >= 0, operation, "softcap is ", options.softcap,
              "; it must be positive, or 0 for none");
  LADON_CHECK(options.dropout >= 0 && options.dropout <= 1, operation, "dropout is ",
              options.dropout, "; it must lie in [0, 1]");
  LADON_CHECK(options.dropout == 0 || options.rng, operation, "dropout ", options.dropout,
              " needs a Generator: set options.rng");
}

Inputs check_inputs(const char* operation, const Tensor& q, const Tensor& k, const Tensor& v,
                    const AttentionOptions& options) {
  for (const Tensor* x : {&q, &k, &v}) {
    check_floating(operation, *x);
    LADON_CHECK(x->rank() >= 3 && x->rank() < Shape::max_rank, operation,
                "needs [.., heads, time, width], got shape ", x->shape());
  }
  LADON_CHECK(q.size(-1) == k.size(-1), operation,
              "queries and keys must have the same width, but queries are ", q.size(-1),
              " wide, keys ", k.size(-1), ": shapes ", q.shape(), " and ", k.shape());
  LADON_CHECK(k.size(-2) == v.size(-2), operation, "each key needs one value, but keys have shape ",
              k.shape(), ", values ", v.shape(), ", and their axes of time, -2, differ");
  LADON_CHECK(k.size(-3) == v.size(-3), operation,
              "keys and values must have the same heads, but keys have shape ", k.shape(),
              ", values ", v.shape(), ", and their axes of heads, -3, differ");
  const std::int64_t heads = q.size(-3), shared = k.size(-3);
  LADON_CHECK(shared > 0 ? heads % shared == 0 : heads == 0, operation, heads,
              " query heads cannot share ", shared,
              " key heads; the number of query heads must be a multiple of the number of key "
              "heads");
  check_options(operation, options);
  // causal_offset without `causal` is accepted if there is a mask, which may already hide later
  // keys, or a single query, as in decoding, for which there are no later keys.
  if (!options.causal && !options.mask.defined() && q.size(-2) > 1)
    detail::check_unread(operation, "causal_offset", options.causal_offset, 0,
                         "attention is not causal and has no mask; set causal to true");
  const Shape shape = logits_shape(operation, q, k, v);
  const DType dtype = promote(promote(q.dtype(), k.dtype()), v.dtype());
  Tensor mask = options.mask;
  if (mask.defined()) {
    LADON_CHECK(mask.dtype() == boolean || is_floating(mask.dtype()), operation,
                "the mask must be boolean (true = may attend) or floating (added to the logits), "
                "got ",
                mask.dtype());
    LADON_CHECK(broadcast_shapes(operation, mask.shape(), shape) == shape, operation,
                "a mask of shape ", mask.shape(),
                " does not broadcast to the logits [.., heads, queries, keys] of shape ", shape);
    if (mask.dtype() == f64 && dtype == f32) {  // finite values stay finite in f32
      constexpr double most = std::numeric_limits<float>::max();
      mask = where(isfinite(mask.detach()), clamp(mask, -most, most), mask);
    }
    if (mask.dtype() != boolean) mask = cast(mask, dtype);
  }
  const double width = static_cast<double>(q.size(-1));
  // Without query heads no key head is used.
  const auto seen = [heads](const Tensor& x) { return heads > 0 ? x : slice(x, -3, {.stop = 0}); };
  return {cast(q, dtype),
          cast(seen(k), dtype),
          cast(seen(v), dtype),
          mask,
          heads > 0 ? heads / shared : 1,
          options.scale.value_or(width > 0 ? 1 / std::sqrt(width) : 1)};
}

// --- the composed form, in public operations: stores the whole Tq × Tk matrix ---

// With grouped heads, the query heads of each key head get an axis `group` = H/Hkv, along which
// keys and values are broadcast:
//   q, logits, weights [.., H, a, b] ↔ [.., Hkv, group, a, b]   (group_heads, merge_heads)
//   k, v [.., Hkv, Tk, d] → [.., Hkv, 1, Tk, d]                 (spread_heads)
Tensor group_heads(const Tensor& x, std::int64_t group) {
  if (group == 1) return x;
  Shape shape = x.shape();
  shape[x.rank() - 3] /= group;
  shape.insert(x.rank() - 2, group);
  return reshape(x, shape);
}
Tensor merge_heads(const Tensor& x, std::int64_t group) {
  return group == 1 ? x : flatten(x, x.rank() - 4, x.rank() - 3);
}
Tensor spread_heads(const Tensor& x, std::int64_t group) {
  return group == 1 ? x : unsqueeze(x, -3);
}

/// [Tq, Tk], true where causal masking hides the key from the query.
Tensor too_late(std::int64_t queries, std::int64_t keys, std::int64_t offset) {
  offset = std::clamp(offset, -queries, keys);  // outside this range it masks no key or all keys
  return greater(arange(keys), unsqueeze(arange(offset, offset + queries), 1));
}

/// Whether each query may attend to each key, bool [.., Tq, Tk].
Tensor may_see(const Inputs& in, const AttentionOptions& options) {
  const std::int64_t queries = in.q.size(-2), keys = in.k.size(-2);
  Tensor may = ones({queries, keys}, boolean);
  if (options.causal) may = logical_not(too_late(queries, keys, options.causal_offset));
  if (!in.mask.defined()) return may;
  const Tensor& mask = in.mask;
  return logical_and(may, mask.dtype() == boolean ? mask : not_equal(mask.detach(), -INFINITY));
}

/// Whether some keys may be hidden (by a mask or causally), and a query, key or value is odd, that
/// is, has an element that is NaN, ∞ or huge (attention_values.h).
bool needs_care(const Inputs& in, const AttentionOptions& options) {
  const bool hides = in.mask.defined() || options.causal;
  return hides &&
         !(detail::all_ordinary(in.q) && detail::all_ordinary(in.k) && detail::all_ordinary(in.v));
}

/// The inputs with keys and values repeated for each query head (group 1), because
/// detail::products_of_seen() has no form for grouped heads.
Inputs ungrouped(const Inputs& in) {
  if (in.group == 1) return in;
  const auto each = [&](const Tensor& x) {
    Shape shape = spread_heads(x, in.group).shape();
    shape[shape.rank() - 3] = in.group;
    return merge_heads(expand(spread_heads(x, in.group), shape), in.group);
  };
  return {in.q, each(in.k), each(in.v), in.mask, 1, in.scale};
}

/// A copy of the inputs without some queries: where `rows`, bool [.., H, Tq, 1], is true, the query
/// is replaced by 0 and may attend to no key.
Inputs without(const Inputs& in, const Tensor& rows) {
  Inputs rest = in;
  rest.q = where(rows, scalar(0, in.q.dtype()), in.q);
  rest.mask = !in.mask.defined() ? logical_not(rows)
              : in.mask.dtype() == boolean
                  ? logical_and(in.mask, logical_not(rows))
                  : where(rows, scalar(-INFINITY, in.mask.dtype()), in.mask);
  return rest;
}

/// scale·Q·Kᵀ:  [.., H, Tq, d] · [.., Hkv, Tk, d]ᵀ → [.., H, Tq, Tk].
Tensor logits(const Inputs& in, const AttentionOptions& options) {
  const Tensor q = in.q * in.scale;
  return in.group == 1 ? detail::products_of_seen(q, in.k, [&] { return may_see(in, options); })
                       : merge_heads(matmul(group_heads(q, in.group),
                                            transpose(spread_heads(in.k, in.group))),
                                     in.group);
}

/// The logits after the soft cap, if there is one, before the masks.
Tensor capped(const Tensor& logits, double softcap) {
  return softcap > 0 ? softcap * tanh(logits / softcap) : logits;
}

Tensor weights(const Inputs& in, const Tensor& logits, const AttentionOptions& options) {
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  Tensor s = logits;
  if (in.mask.defined())
    s = in.mask.dtype() == boolean ? masked_fill(s, logical_not(in.mask), hidden) : s + in.mask;
  if (options.causal)
    s = masked_fill(s, too_late(s.size(-2), s.size(-1), options.causal_offset), hidden);
  return softmax(s, -1);
}

/// The composed form. Dropout multiplies the weights by `factors`; if `factors` is undefined, it is
/// drawn here.
AttentionResult formed(const Inputs& in, const AttentionOptions& options, const Tensor& factors) {
  const Tensor p = weights(in, capped(logits(in, options), options.softcap), options);
  const Tensor kept = factors.defined()     ? p * factors
                      : options.dropout > 0 ? dropout(p, options.dropout, *options.rng)
                                            : p;
  if (in.group == 1) return {detail::weighted_values(kept, in.v), p};
  // [.., H, Tq, Tk] · [.., Hkv, Tk, dv] → [.., H, Tq, dv]
  return {merge_heads(matmul(group_heads(kept, in.group), spread_heads(in.v, in.group)), in.group),
          p};
}

/// Reduces `rows`, flags of queries bool [.., Tq, 1], to the leading axes of attention weights of
/// the given shape. The flags may have more leading axes than the weights, because the values may;
/// the result is true where a flag is true at any index of those axes.
Tensor of_weights(Tensor rows, const Shape& shape) {
  while (rows.rank() > shape.rank()) rows = any(rows, 0);
  for (int axis = 0; axis < rows.rank() - 2; ++axis)
    if (shape[axis + shape.rank() - rows.rank()] == 1) rows = any(rows, axis, keep_dims);
  return rows;
}

AttentionResult composed(const Inputs& given, const AttentionOptions& options) {
  if (!needs_care(given, options)) return formed(given, options, {});
  const Inputs in = ungrouped(given);
  Tensor odd = detail::odd_queries(in.q, in.k, in.v, may_see(in, options));
  if (!odd.defined()) return formed(in, options, {});
  Shape shape = logits_shape("attention", in.q, in.k, in.k);  // shape of the attention weights
  if (in.mask.defined()) shape = broadcast_shapes("attention", shape, in.mask.shape());
  odd = of_weights(odd, shape);
  Tensor factors;  // of dropout, the same in both calls of formed()
  if (options.dropout > 0)
    factors = dropout(ones(shape, in.q.dtype()), options.dropout, *options.rng);
  return detail::joined(odd, formed(without(in, odd), options, factors),
                        formed(in, options, factors));
}

// With S the logits before the soft cap c, L those after it, P = softmax(L + mask) the weights, and
// g the gradient of the output P·V:
//   dV = Pᵀ·g,  dP = g·Vᵀ,  dL = P ∘ (dP − ⟨dP, P⟩),  dS = dL ∘ tanh'(S/c),
//   dQ = scale·dS·K,  dK = scale·dSᵀ·Q.
// Gradients of a key or value are summed over the query heads that share it. dL is computed by
// softmax_gradient(), which is accurate even where a weight is close to 1. As in the fused form,
// queries that odd_queries() marks (attention_values.h) are left out if the gradient g of their
// output is 0.
kernels::AttentionGradients gradients(const Inputs& given, const AttentionOptions& options,
                                      const Tensor& g) {
  const bool careful = needs_care(given, options);
  Inputs in = careful ? ungrouped(given) : given;
  if (careful) {
    const Tensor odd = detail::odd_queries(in.q, in.k, in.v, may_see(in, options));
    if (odd.defined()) in = without(in, logical_and(odd, all(equal(g.detach(), 0), -1, keep_dims)));
  }
  const auto over_group = [&](const Tensor& x) {  // sum over query heads that share a key head
    return given.group == 1 ? x : sum(in.group == 1 ? group_heads(x, given.group) : x, -3);
  };
  const Tensor s = logits(in, options), p = weights(in, capped(s, options.softcap), options);
  const Tensor g_grouped = group_heads(g, in.group);
  const Tensor dp =
      in.group == 1
          ? detail::products_of_seen(g, in.v, [&] { return may_see(in, options); })
          : merge_heads(matmul(g_grouped, transpose(spread_heads(in.v, in.group))), in.group);
  // values may have more leading axes than queries and keys
  Tensor ds = detail::softmax_gradient(dp, expand(p, dp.shape()), -1) * in.scale;
  if (options.softcap > 0) ds = ds * detail::tanh_slope(s / options.softcap);
  const Tensor ds_grouped = group_heads(ds, in.group);
  const Tensor dq = in.group == 1
                        ? detail::weighted_values(ds, in.k)
                        : merge_heads(matmul(ds_grouped, spread_heads(in.k, in.group)), in.group);
  return {dq, over_group(matmul(transpose(ds_grouped), group_heads(in.q, in.group))),
          over_group(matmul(transpose(group_heads(p, in.group)), g_grouped))};
}

Tensor fused(const Inputs& in, const AttentionOptions& options) {
  const kernels::AttentionSettings settings{.mask = in.mask.detach(),
                                            .causal = options.causal,
                                            .causal_offset = options.causal_offset,
                                            .scale = in.scale,
                                            .softcap = options.softcap};
  const kernels::AttentionOutput f = kernels::attention(in.q, in.k, in.v, settings);
  return record_joint(
      "scaled_dot_product_attention", f.output, {in.q, in.k, in.v},
      [q = saved(in.q), k = saved(in.k), v = saved(in.v), mask = saved(settings.mask), settings,
       log_sum = f.log_sum, group = in.group,
       options](const Tensor& g, const Tensor& y, detail::GradientSink& sink) {
        const Inputs kept{*q, *k, *v, *mask, group, settings.scale};  // throws if any was edited
        const kernels::AttentionGradients d = fast_or_composed(
            "attention_gradient", {g, kept.q, kept.k, kept.v},
            [&] {
              return kernels::attention_backward(g, kept.q, kept.k, kept.v, {y, log_sum}, settings);
            },
            [&] { return gradients(kept, options, g); });
        sink.give(0, d.q);
        sink.give(1, d.k);
        sink.give(2, d.v);
      });
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options) {
  const Inputs in = check_inputs("scaled_dot_product_attention", q, k, v, options);
  if (options.dropout > 0) return composed(in, options).output;  // dropout has no fast form
  return fast_or_composed(
      "scaled_dot_product_attention", {in.mask}, [&] { return fused(in, options); },
      [&] { return composed(in, options).output; });
}

AttentionResult attention_with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const AttentionOptions& options) {
  return composed(check_inputs("attention_with_weights", q, k, v, options), options);
}

}  // namespace ladon
