#pragma once
// Caches of attention: keys and values of the positions seen so far, so that a model that generates
// token by token processes each token once.

#include <cstdint>
#include <vector>

#include "ladon/layers/attention/attention_hook.h"

namespace ladon {

/// Keys and values of one attention layer, to which those of new positions are appended. Rows of a
/// batch may differ in length: each row stores its tokens contiguously, without padding, so that
/// its results are bitwise the same as for this row alone. With a window, positions that no later
/// query sees are dropped. No gradient passes through the cache, and inside jvp append() refuses
/// keys and values that have a tangent.
class KeyValueCache {
 public:
  KeyValueCache() = default;
  KeyValueCache(const KeyValueCache& other);  ///< An independent copy.
  KeyValueCache(KeyValueCache&&) noexcept = default;
  KeyValueCache& operator=(KeyValueCache other) noexcept;
  ~KeyValueCache() = default;

  /// Number of tokens, without padding, that each row has seen: [batch]. Empty before the first
  /// append().
  const std::vector<std::int64_t>& lengths() const& { return lengths_; }
  std::vector<std::int64_t> lengths() && { return std::move(lengths_); }
  /// Positions of the next tokens: i64 [batch, count]. mask: bool [batch, count], true = token;
  /// undefined: all are tokens. Padding gets the position of the next token, and does not advance
  /// it; in one pass over all positions, without a cache, padding has positions of its own, so that
  /// tokens behind padding have larger positions there. Throws Error for a batch size other than
  /// that of the cache, and for negative sizes.
  Tensor next_positions(std::int64_t batch, std::int64_t count, const Tensor& mask = {}) const;

  /// Keys and values that the queries of the new positions see.
  struct Seen {
    AttentionHeads heads;     ///< The given q, and k, v and k_positions of all positions so far.
    Tensor allowed = {};      ///< bool [batch, 1, Tq, Tk]; undefined if a causal mask suffices.
    std::int64_t offset = 0;  ///< Number of keys before the first query (causal_offset).
  };
  /// Appends h.k and h.v [batch, heads, T, width]. With window > 0 a query sees only the last
  /// `window` positions, including its own; with 0 it sees all. Throws Error, and appends nothing,
  /// if batch, heads, widths or dtype differ from those of earlier calls, if h.q_positions is
  /// defined but not i64 [T] or [batch, T], or if inside jvp k or v has a tangent. Appends nothing
  /// either if memory does not suffice.
  Seen append(const AttentionHeads& h, const Tensor& mask = {}, std::int64_t window = 0);

  /// Makes row i a copy of the former row rows[i]; `rows` is i64, of any length. Beam search uses
  /// it, and so do batches from which finished rows are dropped. Throws Error, and changes nothing,
  /// for rows that the cache does not have.
  void select(const Tensor& rows);
  /// Appends the rows of another cache of the same layer. Throws Error, and changes nothing, if
  /// their shapes differ.
  void join(const KeyValueCache& other);
  /// Copy that shares memory with this cache. Only one of the two may append(), since it writes
  /// after the shared positions. If one pass of a layer or model throws, the pass itself restores
  /// the cache; a snapshot serves to undo several passes.
  KeyValueCache snapshot() const;

 private:
  std::int64_t slots(std::size_t row) const { return lengths_[row] - forgotten_[row]; }
  std::int64_t most_slots() const;
  void make_room(const AttentionHeads& h, std::int64_t window);
  void put(const Tensor& x, Tensor& to, const std::vector<bool>& flags) const;
  Tensor visible(const Tensor& asked, std::int64_t window) const;

  Tensor keys_, values_;  // [batch, heads, capacity, width]
  std::vector<std::int64_t> lengths_;
  std::vector<std::int64_t> forgotten_;  // dropped positions of each row, before its first slot
};

/// Keys and values of a cross-attention memory, projected once for all queries.
struct ProjectedMemory {
  Tensor keys, values;  ///< [batch, heads, Tk, width]
};

/// Key-value caches of all layers of a model. Make one per text (or batch of texts) to generate:
///
///   DecodingCache cache;
///   Tensor y = model(prompt, cache);       // [batch, T, ..]
///   y = model(next, cache);                // [batch, 1, ..], as in one pass over all positions
///
/// A pass that throws, wherever in the model or its hooks, leaves the cache as it was, so that the
/// same positions can be given again.
struct DecodingCache {
  std::vector<KeyValueCache> layers;
  std::vector<ProjectedMemory> memory;  ///< One per decoder layer; empty for other models.
  Tensor memory_mask = {};  ///< bool [batch, S], false = padding; undefined means all are tokens.
  /// Maximum number of positions, set by the model when it gets the first tokens; 0 means no limit.
  std::int64_t most_positions = 0;
  /// Fingerprint of the model that filled the cache, set by prepare(); 0 before.
  std::uint64_t model = 0;

  /// Positions of the next tokens, and selection of rows, as in KeyValueCache. If select() or
  /// join() throws, no layer has changed.
  Tensor next_positions(std::int64_t batch, std::int64_t count, const Tensor& mask = {}) const;
  void select(const Tensor& rows);
  /// Appends the rows of a cache of the same model. Throws Error for a cache of another model, or
  /// one with a memory (of a decoder).
  void join(const DecodingCache& other);
  /// Like KeyValueCache::snapshot().
  DecodingCache snapshot() const;
  /// Prepares for a model of `count` layers whose attentions project with `weights`; a new cache
  /// then belongs to this model. Throws Error if another model filled the cache (even one of the
  /// same architecture, such as a clone), if the weights were changed since then, or if the layers
  /// have seen different positions, because the cache of one layer was changed without the others.
  void prepare(std::size_t count, const std::vector<Tensor>& weights);

 private:
  void take_model(std::size_t count, std::uint64_t of);
};

}  // namespace ladon
