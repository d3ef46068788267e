#pragma once
// Caches of attention: keys and values of the positions it has seen, so that a model that writes
// one token after the other looks at each only once.

#include <cstdint>
#include <vector>

#include "ladon/layers/attention/attention_hook.h"

namespace ladon {

/// The keys and values of one layer, appended as they come. Rows of a batch may differ in length:
/// each row's tokens stand side by side, padding takes no room, and so a row has the bits that it
/// has alone. With a window it forgets what no later query will see. Values alone: no gradient
/// passes through what is remembered.
class KeyValueCache {
 public:
  KeyValueCache() = default;
  KeyValueCache(const KeyValueCache& other);  ///< Independent: both may go on in their own ways.
  KeyValueCache(KeyValueCache&&) noexcept = default;
  KeyValueCache& operator=(KeyValueCache other) noexcept;
  ~KeyValueCache() = default;

  /// Positions that row b has seen, tokens and not padding: i64 [batch]. Empty before the first.
  const std::vector<std::int64_t>& lengths() const { return lengths_; }
  /// The positions that the next tokens will have: i64 [batch, count]. mask (bool [batch, count],
  /// true = token; undefined: all are): padding takes the position of the token after it, and
  /// counts for nothing. Throws Error for a batch of another size than that which is remembered.
  Tensor next_positions(std::int64_t batch, std::int64_t count, const Tensor& mask = {}) const;

  /// Keys and values that the queries of the new positions see.
  struct Seen {
    AttentionHeads heads;     ///< q as given; k and v of all positions, with their positions.
    Tensor allowed = {};      ///< bool [batch, 1, Tq, Tk]; undefined: causal says all.
    std::int64_t offset = 0;  ///< Keys before the first query (AttentionOptions::causal_offset).
  };
  /// Appends h.k and h.v [batch, heads, T, width]. window > 0: a query sees the last `window`
  /// positions alone, itself among them. Throws Error unless batch, heads, widths and dtype are
  /// those of before.
  Seen append(const AttentionHeads& h, const Tensor& mask = {}, std::int64_t window = 0);

  /// Row i becomes what row rows[i] (i64 [n]) was: beams, and sentences that are done.
  void select(const Tensor& rows);
  /// Appends the rows of another cache of the same layer. Throws Error where their shapes differ.
  void join(const KeyValueCache& other);
  /// Copy that shares memory with this cache. Only one of the two may append(): it writes behind
  /// what both hold. Keep one before a pass that may throw, to go back to.
  KeyValueCache snapshot() const;

 private:
  std::int64_t slots(std::size_t row) const { return lengths_[row] - forgotten_[row]; }
  std::int64_t most_slots() const;
  void make_room(const AttentionHeads& h, std::int64_t window);
  void put(const Tensor& x, Tensor& to, const std::vector<bool>& flags) const;
  Tensor visible(const Tensor& asked, std::int64_t window) const;

  Tensor keys_, values_;  // [batch, heads, capacity, width]; 0 where no token was yet
  std::vector<std::int64_t> lengths_;
  std::vector<std::int64_t> forgotten_;  // positions of each row before its first slot
};

/// Keys and values of a memory that queries come back to (cross-attention), projected once.
struct ProjectedMemory {
  Tensor keys, values;  ///< [batch, heads, Tk, width]
};

/// Caches of a stack of layers. Make one for each text (or batch of texts) that is written:
///
///   DecodingCache cache;
///   Tensor y = model(prompt, cache);       // [batch, T, ..]
///   y = model(next, cache);                // [batch, 1, ..], as if all had been seen at once
struct DecodingCache {
  std::vector<KeyValueCache> layers;
  std::vector<ProjectedMemory> memory;  ///< Of decoder layers; empty elsewhere.
  Tensor memory_mask = {};  ///< bool [batch, S], false = padding; undefined: all are tokens.
  /// Largest number of positions of the model, set by it at the first tokens; 0: no limit.
  std::int64_t most_positions = 0;
  /// Fingerprint of the model whose positions it has seen, as prepare() takes it; 0: of none yet.
  std::uint64_t model = 0;

  /// Positions of the next tokens, and selection of rows, as in KeyValueCache.
  Tensor next_positions(std::int64_t batch, std::int64_t count, const Tensor& mask = {}) const;
  void select(const Tensor& rows);
  /// Appends the rows of a cache of the same model; of another, or of decoders, none (Error).
  void join(const DecodingCache& other);
  /// As KeyValueCache's.
  DecodingCache snapshot() const;
  /// Makes it one of `count` layers if it is new, whose attentions project by `weights`. Throws
  /// Error if it is another model's, also one of the same form (a clone), if these weights were
  /// written to since, or if an Error broke off a pass half way: its layers then have seen
  /// different positions.
  void prepare(std::size_t count, const std::vector<Tensor>& weights);

 private:
  void take_model(std::size_t count, std::uint64_t of);
};

}  // namespace ladon
