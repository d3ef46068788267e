#pragma once
// Variants of attention that use the positions of tokens, as hooks: MultiHeadAttention({…, .hook =
// RotaryPositions({…})}). None has a limit: the distribution of logits then depends on the distance
// of positions, and no kernel was derived for that.

#include "ladon/layers/attention/attention_hook.h"

namespace ladon {

struct RotaryOptions {
  std::int64_t dim = 0;      ///< Channels of a head that are rotated, an even number; 0: all.
  double base = 10000;       ///< Pair i rotates by position·base^(−2i/dim).
  double scale = 1;          ///< Positions are divided by it (Chen et al. 2023).
  bool interleaved = false;  ///< As in rotary_embedding().
};

/// Rotates queries and keys by angles proportional to their positions, so that logits depend on
/// distances alone (Su et al. 2021, "RoFormer").
struct RotaryPositions : AttentionHook {
  RotaryOptions options;

  /// Throws Error for an odd or negative dim, and unless base and scale are positive.
  explicit RotaryPositions(const RotaryOptions& options = {});
  AttentionHeads heads(const AttentionHeads& h) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;
};

/// Subtracts slope·distance from the logits. Slopes per head: 2^(−8(h + 1)/heads) if heads is a
/// power of two; else those of the next lower power, then every other slope of twice that power
/// (Press et al. 2022, "Train short, test long").
struct AlibiBias : AttentionHook {
  Tensor slopes;  ///< [heads], not trained

  explicit AlibiBias(std::int64_t heads);
  Tensor bias(const AttentionHeads& h) const override;
  void visit(Visitor& v) override { v.buffer("slopes", slopes); }
  std::string describe() const override;
};

struct RelativeBiasOptions {
  std::int64_t heads;
  std::int64_t buckets = 32;
  std::int64_t max_distance = 128;  ///< All distances from here on share one bucket.
  bool bidirectional = true;        ///< Half the buckets are for keys after the query.
  double stddev = 0.02;             ///< Elements start as N(0, stddev²).
};

/// A trained bias per head and bucket of distances. Half the buckets of a direction hold one
/// distance each, the others are spaced logarithmically (Raffel et al. 2020, "T5").
struct RelativeBias : AttentionHook {
  Tensor weight;  ///< [buckets, heads]
  RelativeBiasOptions options;

  /// Throws Error for fewer than 2 buckets per direction, or max_distance not above half of them.
  RelativeBias(const RelativeBiasOptions& options, Generator& rng);
  Tensor bias(const AttentionHeads& h) const override;
  /// The bucket of a key that is `ahead` positions after the query (< 0: before it).
  std::int64_t bucket(std::int64_t ahead) const;
  void visit(Visitor& v) override { v("weight", weight); }
  std::string describe() const override;
};

}  // namespace ladon
