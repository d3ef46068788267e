#pragma once
// Embeddings: tables of trained vectors.

#include "ladon/layers/layer.h"

namespace ladon {

struct EmbeddingOptions {
  std::int64_t count, dim;
  std::int64_t padding_index = -1;  ///< If ≥ 0, index of a row that is zero and gets no gradient.
  double stddev = 1;                ///< σ: rows are N(0, σ²).
  /// In ntk parameterization rows are N(0, 1), and the output is multiplied by σ.
  Parameterization parameterization = Parameterization::standard;
};

/// Rows of a table, y = W_i (standard) or σ·W_i (NTK):  i64 [..] → [.., dim]. Throws Error for an
/// index outside [0, count).
struct Embedding : Layer {
  Tensor weight;      ///< [count, dim]
  Tensor weight_std;  ///< σ, an f64 scalar; undefined in standard parameterization
  std::int64_t padding_index;
  double init_std;  ///< σ in standard parameterization.

  Embedding(const EmbeddingOptions& options, Generator& rng);
  Tensor forward(const Tensor& index) const override;
  bool per_position() const override { return true; }
  /// Limit for indices i and i', from the kernel of indices (input_kernel): the NNGP kernel k' =
  /// σ²·1{i = i'}, and the NTK t' = 1{i = i'} in standard parameterization, t' = k' in NTK
  /// parameterization. The limit does not see which indices are padding_index: mask their
  /// positions.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
