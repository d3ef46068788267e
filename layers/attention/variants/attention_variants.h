#pragma once
// Variants of attention by where tokens stand, as hooks: MultiHeadAttention({…, .hook =
// RotaryPositions({…})}). None has a limit: the logits of far positions are no longer those of near
// ones, and no kernel of them was derived here.

#include "ladon/layers/attention/attention_hook.h"

namespace ladon {

struct RotaryOptions {
  std::int64_t dim = 0;      ///< Channels of a head that are turned, an even number; 0: all.
  double base = 10000;       ///< Pair i turns by position·base^(−2i/dim).
  double scale = 1;          ///< Positions are divided by it (Chen et al. 2023).
  bool interleaved = false;  ///< As rotary_embedding's.
};

/// Queries and keys turned by angles that grow with their positions, so that logits depend on the
/// distance alone (Su et al. 2021, "RoFormer").
struct RotaryPositions : AttentionHook {
  RotaryOptions options;

  /// Throws Error for an odd or negative dim, and unless base and scale are positive.
  explicit RotaryPositions(const RotaryOptions& options = {});
  AttentionHeads heads(const AttentionHeads& h) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;
};

/// Logits less slope·distance, a slope a head: 2^(−8(h + 1)/heads) where heads are a power of two,
/// else those of the next lower one and every other one of twice it (Press et al. 2022, "Train
/// short, test long").
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
  std::int64_t max_distance = 128;  ///< From here on all distances share a bucket.
  bool bidirectional = true;        ///< Half the buckets are for keys behind the query.
  double stddev = 0.02;             ///< Elements start as N(0, stddev²).
};

/// A trained bias for each head and bucket of distances: half of a direction's buckets for one
/// distance each, the others growing as logarithms (Raffel et al. 2020, "T5").
struct RelativeBias : AttentionHook {
  Tensor weight;  ///< [buckets, heads]
  RelativeBiasOptions options;

  /// Throws Error for fewer than 2 buckets a direction, or max_distance not beyond their half.
  RelativeBias(const RelativeBiasOptions& options, Generator& rng);
  Tensor bias(const AttentionHeads& h) const override;
  /// The bucket of a key that stands `ahead` positions behind (> 0) or before the query.
  std::int64_t bucket(std::int64_t ahead) const;
  void visit(Visitor& v) override { v("weight", weight); }
  std::string describe() const override;
};

}  // namespace ladon
