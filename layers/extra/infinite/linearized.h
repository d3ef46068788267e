#pragma once
// Taylor expansion of a network in its parameters, to first or higher order.
//
// In a wide network each parameter hardly moves during training, and the network stays close to
//   f(x; θ0) + J(x)·(θ − θ0),   J = ∂f/∂θ at θ0,
// which is linear in θ, though not in x. Fitting it by least squares is kernel regression with the
// tangent kernel Θ = J·Jᵀ (Lee et al. 2019, "Wide neural networks of any depth evolve as linear
// models").

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ladon/layers/infinite/kernel/inputs.h"
#include "ladon/layers/layer.h"

namespace ladon::infinite {

/// The linear map J = ∂f/∂θ of a network at a block of inputs, applied without forming it: a
/// product costs about as much as a gradient. Holds the block's graph; the network may be
/// destroyed, and later changes of its parameters in place are an Error.
class TangentMap {
 public:
  /// Map with respect to the network's parameters that are not frozen, or to those of `set`. Throws
  /// Error if there are no such parameters, and if the network draws dropout or uses batch
  /// statistics, as in training mode.
  TangentMap(Layer& network, const Inputs& inputs);
  TangentMap(Layer& network, const Inputs& inputs, const ParameterSet& set);

  Tensor output() const { return output_; }  ///< f at the inputs, without history.
  /// J·v, with the shape of the output, for one tangent per parameter, of its shape; an undefined
  /// tangent counts as zero.
  Tensor times(const std::vector<Tensor>& tangents) const;
  /// Jᵀ·c, one tensor per parameter, of its shape, for a cotangent c of the output's shape.
  std::vector<Tensor> transposed_times(const Tensor& cotangent) const;

 private:
  std::vector<Tensor> parameters_;
  Tensor recorded_, output_;
  // Jᵀu is linear in u, so the gradient of ⟨v, Jᵀu⟩ with respect to u is J·v: two backward passes.
  Tensor u_;
  std::vector<Tensor> pulled_back_;
};

/// Θ(a, b)·v = J_a·(J_bᵀ·v) without forming Θ, for v with the shape of the outputs at b (cast to
/// their dtype); the result has the shape of the outputs at a. Θ is the full tangent kernel between
/// all pairs of outputs, not averaged over channels. Throws Error whenever TangentMap does.
Tensor ntk_vector_product(Layer& network, const Inputs& a, const Inputs& b, const Tensor& v);
Tensor ntk_vector_product(Layer& network, const Inputs& a, const Tensor& v);

/// The Taylor expansion of a network around its parameters θ0,
///   y = Σ_{k ≤ order} 1/k!·Dᵏf(x; θ0)[w, …, w],
/// where w = θ − θ0, one tensor per parameter of the network (or per parameter that is chosen by
/// name), starts at zero and is the only trained tensor. The network itself does not change, and is
/// in evaluation mode. At w = 0 the tangent kernel is that of the network with respect to these
/// parameters. Each order costs two more backward passes, and needs higher derivatives of the
/// operations. Inputs, and the network's hyper-parameters, get no gradient (Error if they require
/// one).
struct TaylorExpansion : Layer {
  std::unique_ptr<Layer> network;
  std::string pattern;               ///< Chooses the parameters (ParameterSet::choose).
  std::vector<Tensor> displacement;  ///< w, in the order of the parameters.
  int order;

  /// Throws Error unless 1 ≤ order ≤ 8, and if no parameter of the network matches the pattern. A
  /// pass throws Error if members were changed so that this does not hold any more.
  TaylorExpansion(std::unique_ptr<Layer> network, int order, std::string pattern = "*");
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  /// Limit of the network itself, since infinitely wide networks are linear in their parameters.
  /// Throws Error if `pattern` chooses only some of the parameters.
  KernelNode limit(const KernelNode& inputs) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

/// Expansion of order 1, f(x; θ0) + J(x)·w. Its tangent kernel at any w is that of the network at
/// θ0.
struct Linearized : TaylorExpansion {
  explicit Linearized(std::unique_ptr<Layer> given, std::string names = "*")
      : TaylorExpansion(std::move(given), 1, std::move(names)) {}
  std::string describe() const override;
};

}  // namespace ladon::infinite
