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
  /// y = (scale·x)·Wᵀ + bias_scale·b: σ_w/sqrt(in) and σ_b, or 1; the latter is 0 without a bias.
  /// These are plain numbers: Error where σ has a derivative; scaled_input() and scaled_bias() keep
  /// it.
  double scale() const;
  double bias_scale() const;
  /// scale·x and bias_scale·b; the bias is undefined where there is none.
  Tensor scaled_input(const Tensor& x) const;
  Tensor scaled_bias() const;
  /// Reports y = x·Wᵀ + bias_scale·b, for x with its scale (layers/parameter_uses.h).
  void report(const Tensor& x, const Tensor& y) const;
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  /// k' = σ_w²·k + σ_b²;  t' = σ_w²·t + k' in NTK, σ_w²·t + in·k + 1 in standard parameterization
  /// (without the 1 if there is no bias). At any depth, standard's NTK is that of a net whose other
  /// widths are in the same proportion to infinity. Weights that are not Gaussian (uniform,
  /// truncated, orthogonal) give it only where their inputs are many, as those of hidden layers.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
