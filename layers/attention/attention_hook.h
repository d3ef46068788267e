#pragma once
// User-defined variants of attention: rotary positions, ALiBi, relative biases, …

#include "ladon/layers/infinite/attention/limit.h"
#include "ladon/layers/module.h"

namespace ladon {

/// Queries, keys and values of all heads, [batch, heads, T, width] each. Keys and values may have
/// fewer heads, each shared by a group of query heads.
struct AttentionHeads {
  Tensor q, k, v;
  /// Positions in the sequence: i64 [T], or [batch, T]. A hook may read them; those in its result
  /// are ignored.
  Tensor q_positions = {}, k_positions = {};
};

/// Variant of MultiHeadAttention, which owns it (option `hook`). It may have trained tensors, which
/// visit() lists as in any module.
///
///   struct Alibi : AttentionHook {
///     Tensor bias(const AttentionHeads& h) const override { return slopes * distances(h); }
///     …
///   };
struct AttentionHook : Module {
  /// Replaces h before the logits are computed: RotaryPositions rotates queries and keys here. With
  /// a cache, h has only the new positions.
  virtual AttentionHeads heads(const AttentionHeads& h) const { return h; }
  /// Bias of the logits: floating, broadcast to [batch, heads, Tq, Tk]; an undefined tensor means
  /// no bias. With a cache, h has the new queries and all keys.
  virtual Tensor bias(const AttentionHeads&) const { return {}; }
  /// The infinite-width limit of attention with this hook, as a map of pairs of inputs
  /// (infinite::AttentionMap), for an attention described by `layer`. Called when the graph of a
  /// limit is built. The default throws Error: a variant has no limit until one is derived.
  virtual infinite::AttentionMap limit(const infinite::AttentionLimit& layer) const;
};

}  // namespace ladon
