#pragma once
// Variants of attention from outside: rotary positions, ALiBi, relative biases, …

#include "ladon/layers/infinite/attention/limit.h"
#include "ladon/layers/module.h"

namespace ladon {

/// Queries, keys and values of all heads, [batch, heads, T, width] each. Keys and values may have
/// fewer heads, which queries share in groups.
struct AttentionHeads {
  Tensor q, k, v;
  /// Positions in the sequence: i64 [T], or [batch, T]. Given to a hook, and not taken from it.
  Tensor q_positions = {}, k_positions = {};
};

/// Variant of MultiHeadAttention, which holds it as a part (option `hook`): it may own
/// trained tensors, which visit() lists as any module's.
///
///   struct Alibi : AttentionHook {
///     Tensor bias(const AttentionHeads& h) const override { return slopes * distances(h); }
///     …
///   };
struct AttentionHook : Module {
  /// In place of h, before the logits: where rotary positions turn queries and keys. With a cache
  /// it is asked for the new positions alone.
  virtual AttentionHeads heads(const AttentionHeads& h) const { return h; }
  /// Added to the logits: floating, broadcast to [batch, heads, Tq, Tk]; undefined: nothing. With a
  /// cache it is asked for the new queries and all keys.
  virtual Tensor bias(const AttentionHeads&) const { return {}; }
  /// The limit of attention with this change: what it makes of pairs, as infinite::AttentionMap
  /// tells. Asked for when a limit is described, for a layer of this form. Throws Error unless a
  /// hook gives one: a variant has no limit before someone derived it.
  virtual infinite::AttentionMap limit(const infinite::AttentionLimit& layer) const;
};

}  // namespace ladon
