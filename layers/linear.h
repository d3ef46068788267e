#pragma once
// Affine maps and tables.

#include "ladon/layers/init.h"
#include "ladon/layers/module.h"

namespace ladon {

struct LinearOptions {
  std::int64_t in, out;
  bool bias = true;
  // standard parameterization: the weight is drawn by `init`, the bias starts at zero.
  Init init = Init::xavier_uniform;
  double gain = 1;
  Parameterization parameterization = Parameterization::standard;
  // ntk parameterization: σ_w and σ_b stand in front of N(0, 1) weights and biases.
  double weight_std = 1;
  double bias_std = 0;  ///< 0: no bias.
};

/// y = x·Wᵀ + b, or σ_w/sqrt(in)·x·Wᵀ + σ_b·b:  [.., in] → [.., out].
struct Linear : Layer {
  Tensor weight;                ///< [out, in]
  Tensor bias;                  ///< [out]; undefined when bias = false, or bias_std = 0
  Tensor weight_std, bias_std;  ///< f64 numbers; undefined in standard parameterization
  double init_std = 0;  ///< In standard parameterization: sqrt(in·Var W_ij); NaN: mean not 0.

  /// Throws Error where a size is not positive or a standard deviation negative.
  Linear(const LinearOptions& options, Generator& rng);
  Parameterization parameterization() const {
    return weight_std.defined() ? Parameterization::ntk : Parameterization::standard;
  }
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  /// k' = σ_w²·k + σ_b²;  t' = σ_w²·t + k' in NTK, σ_w²·t + in·k + 1 in standard parameterization
  /// (without the 1 if there is no bias). At any depth, standard's NTK is that of a net whose other
  /// widths are in the same proportion to infinity. Weights that are not Gaussian (uniform,
  /// truncated, orthogonal) give it only where their inputs are many, as those of hidden layers.
  infinite::Kernel limit(const infinite::Kernel& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

struct EmbeddingLayerOptions {
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

  Embedding(const EmbeddingLayerOptions& options, Generator& rng);
  Tensor forward(const Tensor& index) const override;
  bool per_position() const override { return true; }
  /// k' = σ²·1{i = i'}, of the kernel of indices (input_kernel); t' = 1{i = i'}, or k' in NTK
  /// parameterization. The limit does not see which index is the padding: mask those positions.
  infinite::Kernel limit(const infinite::Kernel& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
