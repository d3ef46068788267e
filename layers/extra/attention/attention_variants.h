#pragma once
// Variants of attention that use the positions of tokens, as hooks: MultiHeadAttention({…, .hook =
// RotaryPositions({…})}). These hooks have no limit: with them the distribution of logits depends
// on distances between positions, and no kernel has been derived for that.

#include "ladon/layers/attention/attention_hook.h"

namespace ladon {

struct RotaryOptions {
  std::int64_t dim = 0;      ///< Channels of a head that are rotated, an even number; 0 means all.
  double base = 10000;       ///< Channel pair i rotates by position·base^(−2i/dim).
  double scale = 1;          ///< Divisor of positions (Chen et al. 2023).
  bool interleaved = false;  ///< Pairs channels 2i and 2i + 1, instead of i and i + dim/2.
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

/// Subtracts slope·distance from the logits. The slope of head h is 2^(−8(h + 1)/heads) if heads is
/// a power of two; otherwise the slopes are those for the next lower power of two, followed by
/// every other slope for twice that power (Press et al. 2022, "Train short, test long").
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
  std::int64_t max_distance = 128;  ///< Distances from this one on share one bucket.
  bool bidirectional = true;        ///< Half the buckets are for keys after the query.
  double stddev = 0.02;             ///< Elements start as N(0, stddev²).
};

/// A trained bias per head and bucket of distances. Half the buckets of a direction hold one
/// distance each, the others are spaced logarithmically (Raffel et al. 2020, "T5").
struct RelativeBias : AttentionHook {
  Tensor weight;  ///< [buckets, heads]
  RelativeBiasOptions options;

  /// Throws Error for fewer than 2 buckets per direction, or if max_distance is not above half the
  /// buckets of a direction.
  RelativeBias(const RelativeBiasOptions& options, Generator& rng);
  Tensor bias(const AttentionHeads& h) const override;
  /// The bucket of a key that is `ahead` positions after the query (< 0: before it).
  std::int64_t bucket(std::int64_t ahead) const;
  void visit(Visitor& v) override { v("weight", weight); }
  std::string describe() const override;
};

}  // namespace ladon
