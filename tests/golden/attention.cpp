// ONNX operators: scaled dot-product attention, linear attention and rotary positions.

#include <algorithm>
#include <cmath>
#include <limits>

#include "case.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon::golden {
namespace {

/// [B, T, H·d] → [B, H, T, d]; a tensor of rank 4 is taken as it is.
Tensor split_heads(const Case& c, const Tensor& x, const char* attribute) {
  if (x.rank() == 4) return x;
  const std::int64_t heads = c.integer(attribute, 0);
  LADON_CHECK(x.rank() == 3 && heads > 0 && x.size(2) % heads == 0, c.op(), heads,
              " heads for shape ", x.shape());
  return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}

Tensor merge_heads(const Tensor& x) {  // [B, H, T, d] → [B, T, H·d]
  return reshape(transpose(x, 1, 2), {x.size(0), x.size(2), x.size(1) * x.size(3)});
}

/// A boolean mask as numbers to add.
Tensor additive(const Tensor& allowed, DType dtype) {
  const double never = -std::numeric_limits<double>::infinity();
  return where(allowed, scalar(0, dtype), scalar(never, dtype));
}

/// mask ∧ allowed, for a mask that is undefined, boolean or additive.
Tensor restricted(const Tensor& mask, const Tensor& allowed) {
  if (!mask.defined()) return allowed;
  if (mask.dtype() == boolean) return logical_and(mask, allowed);
  return mask + additive(allowed, mask.dtype());
}

/// The mask given, stretched by "never" to all keys, without the keys beyond each entry's own
/// length (input 6) and those that `local_window_size` leaves behind. A causal frontier that ends
/// at that length, key ≤ query + length − queries, goes in as well; any other is left to the
/// operation.
void set_masks(const Case& c, const Tensor& q, const Tensor& k, bool causal_to_length,
               AttentionOptions& options) {
  const std::int64_t queries = q.size(2), keys = k.size(2);
  const Tensor key = arange(keys);
  const Tensor query = unsqueeze(arange(queries), 1);
  options.mask = c.optional(3);
  options.causal = c.flag("is_causal", false) && !causal_to_length;
  if (options.mask.defined() && options.mask.size(-1) < keys) {
    const bool is_bool = options.mask.dtype() == boolean;
    std::vector<std::int64_t> before(static_cast<std::size_t>(options.mask.rank())), after = before;
    after.back() = keys - options.mask.size(-1);
    options.mask =
        pad(options.mask, before, after, is_bool ? 0 : -std::numeric_limits<double>::infinity());
  }
  if (const std::int64_t window = c.integer("local_window_size", 0); window > 0) {
    const Tensor back = query + static_cast<double>(options.causal_offset) - key;
    options.mask = restricted(options.mask, less(back, static_cast<double>(window)));
  }
  if (!options.causal) options.causal_offset = 0;
  if (!c.has(6)) return;
  const Tensor length = reshape(c.in(6), {-1, 1, 1, 1});
  options.mask = restricted(options.mask, less(key, length));
  if (causal_to_length) {
    const Tensor last = query + (length - static_cast<double>(queries));
    options.mask = restricted(options.mask, less_equal(key, last));
  }
}

/// Each head of keys or values for the query heads that share it: [B, Hkv, T, d] → [B, H, T, d].
Tensor spread_heads(const Tensor& x, std::int64_t heads) {
  const std::int64_t group = heads / x.size(1);
  if (group == 1) return x;
  return reshape(expand(unsqueeze(x, 2), {-1, -1, group, -1, -1}),
                 {x.size(0), heads, x.size(2), x.size(3)});
}

Tensor capped(const Tensor& logits, const AttentionOptions& options) {
  const double cap = options.softcap;
  return cap > 0 ? tanh(logits / cap) * cap : logits;
}

Tensor masked(const Tensor& logits, const AttentionOptions& options) {
  Tensor y = logits;
  if (options.mask.defined())
    y = y + (options.mask.dtype() == boolean ? additive(options.mask, y.dtype()) : options.mask);
  if (!options.causal) return y;
  const Tensor all_keys = ones({y.size(2), y.size(3)}, boolean);
  return y + additive(tril(all_keys, options.causal_offset), y.dtype());
}

/// Outputs 0 and 3. Releases of ONNX differ under one operator set: earlier ones mask the logits
/// and then cap them, so that a forbidden key keeps the weight of −softcap; later ones cap first,
/// as Ladon does. Where there is a cap, the order is the one that gives the expected output.
struct Attended {
  Tensor y, qk;
};

/// scale·Q·Kᵀ [B, H, Tq, Tk] at the stage that `mode` asks for:
///              earlier releases       later ones
///   0          raw                    capped
///   1          masked                 capped
///   2          masked, then capped    capped, then masked
/// In earlier ones 2 is raw where there is no cap.
Tensor qk_output(const Case& c, const Tensor& raw, const AttentionOptions& options,
                 std::int64_t mode) {
  const Tensor cap = capped(raw, options), mask = masked(raw, options);
  Tensors readings{cap, raw};
  if (mode == 1) readings = {cap, mask};
  if (mode == 2)
    readings = {masked(cap, options), options.softcap > 0 ? capped(mask, options) : raw};
  return agreeing(readings, c.expected()[3]);
}

Attended attend(const Case& c, const Tensor& q, const Tensor& k, const Tensor& v,
                const AttentionOptions& options) {
  const std::int64_t heads = q.size(1), mode = c.integer("qk_matmul_output_mode", 0);
  const auto shaped = [&](const Tensor& y) { return c.in(0).rank() == 3 ? merge_heads(y) : y; };
  Attended out{shaped(scaled_dot_product_attention(q, k, v, options)), {}};
  const bool masked_first =
      options.softcap > 0 && c.wants(0) && !disagreement(out.y, c.expected()[0]).empty();
  if (!c.wants(3) && !masked_first) return out;
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.size(3))));
  const Tensor raw = matmul(q, transpose(spread_heads(k, heads))) * scale;
  const Tensor weights = masked_first ? softmax(capped(masked(raw, options), options))
                                      : attention_with_weights(q, k, v, options).weights;
  if (masked_first) out.y = shaped(matmul(weights, spread_heads(v, heads)));
  if (c.wants(3)) out.qk = mode == 3 ? weights : qk_output(c, raw, options, mode);
  return out;
}

Tensors attention(const Case& c) {
  const Tensor q = split_heads(c, c.in(0), "q_num_heads");
  Tensor k = split_heads(c, c.in(1), "kv_num_heads");
  Tensor v = split_heads(c, c.in(2), "kv_num_heads");
  const std::int64_t precision = c.integer("softmax_precision", 1);
  if ((precision == 10 && c.input_type(0) != "f2") || precision == 16)
    throw Skip{"softmax in fewer bits than the logits have; Ladon does not round to them"};
  AttentionOptions options;
  if (c.has(4)) {
    options.causal_offset = c.in(4).size(2);
    k = concat({c.in(4), k}, 2);
  }
  if (c.has(5)) v = concat({c.in(5), v}, 2);
  if (c.has("scale")) options.scale = c.number("scale", 1);
  options.softcap = c.number("softcap", 0);
  // Of entries with lengths of their own the last query sees the last key; in earlier releases of
  // ONNX the first query sees the first key.
  const bool to_length = c.flag("is_causal", false) && c.has(6) && !c.has(4);
  set_masks(c, q, k, to_length, options);
  Attended out = attend(c, q, k, v, options);
  if (to_length && c.wants(0) && !disagreement(out.y, c.expected()[0]).empty()) {
    set_masks(c, q, k, false, options);
    out = attend(c, q, k, v, options);
  }
  return {out.y, k, v, out.qk};
}

// --- linear attention ---

/// An input [B, T, H·d] as [B, H, T, d].
Tensor unpacked(const Case& c, std::size_t input, const char* attribute) {
  LADON_CHECK(c.in(input).rank() == 3, c.op(), "input ", input, " is to be [B, T, H·d], got shape ",
              c.in(input).shape());
  return split_heads(c, c.in(input), attribute);
}

/// The same of an input that some update rules need and the others must not have: undefined there.
Tensor gate(const Case& c, std::size_t input, bool needed, const char* name) {
  LADON_CHECK(c.has(input) == needed, c.op(), "the update rule ",
              c.text("update_rule", "gated_delta"), needed ? " needs " : " has no ", name);
  return needed ? unpacked(c, input, "kv_num_heads") : Tensor();
}

/// Changes of the state S [d_k, d_v] of each head of keys, all of them [B, Hkv, T, ..]:
///   S_t = exp(decay_t) ∘ S_{t−1} + k_t ⊗ (β_t·(v_t − (exp(decay_t) ∘ S_{t−1})ᵀ·erased_t))
struct StateSteps {
  Tensor k, v;
  Tensor decay;         ///< Of a head (d = 1) or of each of its key channels; undefined: 0.
  Tensor beta, erased;  ///< Undefined: k_t ⊗ v_t is added as it is.
};

/// S_0, …, S_T: [B, Hkv, T + 1, d_k, d_v].
Tensor states(const StateSteps& steps, const Tensor& past) {
  const auto as_row = [](const Tensor& x) { return unsqueeze(x, -2); };
  const auto as_column = [](const Tensor& x) { return unsqueeze(x, -1); };
  const Tensor added = as_column(steps.k) * as_row(steps.v), first = unsqueeze(past, 2);
  const Tensor keep =
      steps.decay.defined() ? expand(as_column(exp(steps.decay)), added.shape()) : ones_like(added);
  if (!steps.beta.defined())  // element by element
    return linear_recurrence(concat({ones_like(first), keep}, 2), concat({first, added}, 2), 2);
  Tensors all{past};
  for (std::int64_t t = 0; t < added.size(2); ++t) {
    const auto at = [&](const Tensor& x) { return select(x, 2, t); };
    const Tensor kept = at(keep) * all.back();
    const Tensor found = squeeze(matmul(as_row(at(steps.erased)), kept), -2);
    const Tensor change = at(steps.beta) * (at(steps.v) - found);
    all.push_back(kept + as_column(at(steps.k)) * as_row(change));
  }
  return stack(all, 2);
}

/// `chunk_size` changes no result.
Tensors linear_attention(const Case& c) {
  const std::string rule = c.text("update_rule", "gated_delta");
  const bool gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
  LADON_CHECK(rule == "linear" || rule == "gated" || rule == "delta" || rule == "gated_delta",
              c.op(), "no update rule \"", rule, '"');
  const Tensor q = unpacked(c, 0, "q_num_heads");
  StateSteps steps{unpacked(c, 1, "kv_num_heads"),
                   unpacked(c, 2, "kv_num_heads"),
                   gate(c, 4, gated, "decay"),
                   {},
                   {}};
  const std::int64_t heads = steps.k.size(1), d_k = q.size(3), d_v = steps.v.size(3);
  LADON_CHECK(q.size(1) % heads == 0, c.op(), q.size(1), " heads of queries do not share ", heads);
  const bool one_beta = delta && c.has(5) && c.in(5).size(-1) == 1;  // for all heads
  steps.beta = one_beta ? unsqueeze(c.in(5), 1) : gate(c, 5, delta, "beta");
  steps.erased = c.has(6) ? gate(c, 6, delta, "erase_gate") * steps.k : steps.k;
  const Shape shape{q.size(0), heads, d_k, d_v};
  const Tensor past = c.has(3) ? c.in(3) : zeros(shape, q.dtype());
  LADON_CHECK(past.shape() == shape, c.op(), "past_state has shape ", past.shape(), ", not ",
              shape);
  const Tensor all = states(steps, past);
  const double given = c.number("scale", 0), scale = given != 0 ? given : 1 / std::sqrt(d_k);
  // The queries of a group read one state: [B, Hkv, T, group, d_k]·[B, Hkv, T, d_k, d_v].
  const Tensor grouped =
      transpose(reshape(q, {q.size(0), heads, q.size(1) / heads, q.size(2), d_k}), 2, 3);
  const Tensor read = transpose(matmul(grouped, slice(all, 2, {.start = 1})) * scale, 2, 3);
  return {merge_heads(reshape(read, {q.size(0), q.size(1), q.size(2), d_v})), select(all, 2, -1)};
}

/// Pairs (x1, x2) of each head turn by their position's angle: (x1 cos − x2 sin, x1 sin + x2 cos).
/// The pair is the two halves of the rotated part, or neighbours (interleaved).
Tensors rotary_embedding(const Case& c) {
  const Tensor x = split_heads(c, c.in(0), "num_heads");  // [B, H, T, d]
  Tensor cosine = c.in(1), sine = c.in(2);
  if (c.has(3)) {
    cosine = embedding(cosine, c.in(3));
    sine = embedding(sine, c.in(3));
  }
  cosine = unsqueeze(cosine, 1);  // [B, 1, T, r/2]
  sine = unsqueeze(sine, 1);
  const std::int64_t given = c.integer("rotary_embedding_dim", 0);
  const std::int64_t r = given == 0 ? x.size(3) : given;
  const bool interleaved = c.flag("interleaved", false);
  const Tensor turned = slice(x, 3, {.stop = r}), rest = slice(x, 3, {.start = r});
  const Tensor x1 = interleaved ? slice(turned, 3, {.step = 2}) : slice(turned, 3, {.stop = r / 2});
  const Tensor x2 =
      interleaved ? slice(turned, 3, {.start = 1, .step = 2}) : slice(turned, 3, {.start = r / 2});
  const Tensor y1 = x1 * cosine - x2 * sine, y2 = x1 * sine + x2 * cosine;
  const Tensor pairs = interleaved ? flatten(stack({y1, y2}, 4), 3) : concat({y1, y2}, 3);
  const Tensor y = concat({pairs, rest}, 3);
  return {c.in(0).rank() == 3 ? merge_heads(y) : y};
}

}  // namespace

void add_attention(Table& t) {
  t["Attention"] = attention;
  t["LinearAttention"] = linear_attention;
  t["RotaryEmbedding"] = rotary_embedding;
}

}  // namespace ladon::golden
