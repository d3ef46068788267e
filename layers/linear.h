#pragma once
// Affine maps.

#include "ladon/layers/init.h"
#include "ladon/layers/layer.h"

namespace ladon {

struct LinearOptions {
  std::int64_t in, out;
  bool bias = true;
  // standard parameterization: the weight is drawn by `init`, the bias starts at zero.
  Init init = Init::xavier_uniform;
  double gain = 1;
  Parameterization parameterization = Parameterization::standard;
  // ntk parameterization: N(0, 1) weights and biases are multiplied by σ_w/sqrt(in) and σ_b, where
  // σ_w is weight_std and σ_b is bias_std. Options that only the other parameterization reads must
  // have their defaults (Error otherwise).
  double weight_std = 1;
  double bias_std = 0;  ///< 0 means no bias.
};

/// y = x·Wᵀ + b (standard), or σ_w/sqrt(in)·x·Wᵀ + σ_b·b (NTK):  [.., in] → [.., out].
struct Linear : Layer {
  Tensor weight;                ///< [out, in]
  Tensor bias;                  ///< [out]; undefined when bias = false, or (ntk) bias_std = 0
  Tensor weight_std, bias_std;  ///< f64 scalars; undefined in standard parameterization
  double init_std = 0;  ///< sqrt(in·Var W_ij) in standard parameterization; NaN if E W_ij ≠ 0.

  /// Throws Error if a size is not positive, a standard deviation is negative, or an option is set
  /// that nothing reads: an option of the other parameterization, bias_std without a bias, or a
  /// gain for Init::zeros or Init::ones.
  Linear(const LinearOptions& options, Generator& rng);
  Parameterization parameterization() const {
    return weight_std.defined() ? Parameterization::ntk : Parameterization::standard;
  }
  /// Factors in y = (scale·x)·Wᵀ + bias_scale·b: σ_w/sqrt(in) and σ_b in NTK, 1 in standard
  /// parameterization; bias_scale is 0 without a bias. Both are plain numbers and throw Error if σ
  /// requires gradients; scaled_input() and scaled_bias() keep the derivative with respect to σ.
  double scale() const;
  double bias_scale() const;
  /// scale·x and bias_scale·b; scaled_bias() is undefined without a bias.
  Tensor scaled_input(const Tensor& x) const;
  Tensor scaled_bias() const;
  /// Records the use y = x·Wᵀ + bias_scale·b of weight and bias in the thread's ParameterUses
  /// object, if there is one (layers/parameter_uses.h). x must already be scaled.
  void report(const Tensor& x, const Tensor& y) const;
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  /// Limit for the NNGP kernel k and the NTK t of the inputs: k' = σ_w²·k + σ_b²;  t' = σ_w²·t + k'
  /// in NTK parameterization, σ_w²·t + in·k + 1 in standard parameterization (without the 1 if
  /// there is no bias). The NTK of a deep net in standard parameterization is the limit in which
  /// all widths grow in their given proportions. Weights that are not Gaussian (uniform, truncated,
  /// orthogonal) have this limit only for many inputs, as in hidden layers.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
