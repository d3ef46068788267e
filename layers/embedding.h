#pragma once
// Tables of trained rows.

#include "ladon/layers/layer.h"

namespace ladon {

struct EmbeddingOptions {
  std::int64_t count, dim;
  std::int64_t padding_index = -1;  ///< ≥ 0: a row that is zero and gets no gradient.
  double stddev = 1;                ///< σ: rows are N(0, σ²).
  /// ntk: σ stands in front of N(0, 1) rows.
  Parameterization parameterization = Parameterization::standard;
};

/// Rows of a table, y = W_i, or σ·W_i:  i64 [..] → [.., dim]. Throws Error for an index outside
/// [0, count).
struct Embedding : Layer {
  Tensor weight;      ///< [count, dim]
  Tensor weight_std;  ///< σ, an f64 number; undefined in standard parameterization
  std::int64_t padding_index;
  double init_std;  ///< σ in standard parameterization.

  Embedding(const EmbeddingOptions& options, Generator& rng);
  Tensor forward(const Tensor& index) const override;
  bool per_position() const override { return true; }
  /// k' = σ²·1{i = i'}, of the kernel of indices (input_kernel); t' = 1{i = i'}, or k' in NTK
  /// parameterization. The limit does not see which index is the padding: mask those positions.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
