#pragma once
// Uses of trained tensors, which layers report in their forward pass. The empirical tangent kernel
// of a network needs them (infinite/finite/empirical.h).
//
// The tangent kernel Σ_θ ⟨∂f(x)/∂θ, ∂f(x')/∂θ⟩ needs no Jacobian if it is known how θ is used. For
// y_t = W·x_t at each position t, a gradient δ_t with respect to y_t gives ∂/∂W = Σ_t δ_t x_tᵀ, and
// the inner product of two such matrices is Σ_tt' ⟨x_t, x'_t'⟩⟨δ_t, δ'_t'⟩   (Novak et al. 2022,
// "Fast finite width NTK").

#include <functional>
#include <vector>

#include "ladon/core/modes.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// While an object of this class is alive on this thread, layers record in it each use of a trained
/// tensor.
class ParameterUses : private detail::Scoped<ParameterUses*> {
 public:
  /// y = x·Wᵀ for a trained W:  input [batch, .., in], output [batch, .., out]. Axes between batch
  /// and channels are positions that share W. An input of i64 [batch, .., 1] stands for one-hot
  /// rows, x = e_i: y is column i of W; −1 stands for x = 0.
  struct Product {
    Tensor input, output;
  };
  /// Any other use: `gradient` maps δ, the gradient with respect to the output [batch, ..], to the
  /// gradient of the trained tensor for each example, [batch, number of its elements]. Must be
  /// linear in δ.
  struct Use {
    Tensor output;
    std::function<Tensor(const Tensor& delta)> gradient;
  };

  ParameterUses() : Scoped(detail::modes.watchers.uses, this) {}

  std::vector<Product> products;
  std::vector<Use> uses;

  /// The innermost active object of this thread, or null.
  static ParameterUses* active() { return detail::modes.watchers.uses; }

  // Functions that layers call to report a use; without effect if no object is active.

  /// y = x·Wᵀ + bias_scale·b for a trained W and, if bias_scale ≠ 0, a trained b.
  static void report_product(const Tensor& x, const Tensor& y, double bias_scale = 0);
  /// y = w ∘ h + b for trained w and b, one per channel.
  static void report_affine(const Tensor& h, const Tensor& y);
  /// Any other use of a trained tensor, with output y: `gradient` gives the tensor's gradient for
  /// each example from the gradient δ with respect to y (Use).
  static void report(const Tensor& y, std::function<Tensor(const Tensor& delta)> gradient);
};

}  // namespace ladon
