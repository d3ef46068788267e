#pragma once
// Kernels of one finite network.
//
// A network drawn at random has the kernels f(x)·f(x')ᵀ/O and J(x)·J(x')ᵀ, J = ∂f/∂θ. As it grows
// wide they come close to the limit's (infinite/limit.h); one that is being trained moves away from
// them, and agreement at initialization says nothing of how far.

#include "ladon/layers/infinite/kernel/inputs.h"
#include "ladon/layers/layer.h"

namespace ladon::infinite {

enum class NtkMethod {
  layerwise,  ///< By inner products of inputs and gradients at each layer; no Jacobian is formed.
  jacobian    ///< J·Jᵀ with the Jacobian formed, [outputs, parameters]: slow, to check against.
};

struct EmpiricalOptions {
  Get get = Get::ntk;
  NtkMethod method = NtkMethod::layerwise;
  std::int64_t channels = 0;  ///< The NTK is of the first `channels` outputs; 0: of all.
  bool full = false;          ///< Between any two of those channels, instead of their average.
  /// Check that the last example has the same outputs alone as in its batch and, for the layerwise
  /// method, that the layers' reports account for every trained tensor, by comparing one gradient.
  /// Costs about a backward pass and a forward pass of one example. Of two blocks the
  /// first with more than one example is checked.
  bool verify = true;
};

/// f64, whatever the network computes in. T stands for the positions of the outputs, if they have
/// any: without them the kernels are [N1, N2].
struct EmpiricalKernel {
  Tensor nngp;  ///< [N1, N2, T, T]: ⟨f(x), f(x')⟩/O over the O output channels.
  /// [N1, N2, T, T]: Σ_θ ⟨∂f_o(x)/∂θ, ∂f_o(x')/∂θ⟩ averaged over channels o; undefined unless
  /// wanted. If full, [N1, N2, T, T, O, O] with channel o of x and o' of x'.
  Tensor ntk;
  Tensor outputs;  ///< [N1, T, O] (or [N1, O]): f of the first block.
};

/// Kernels of a network's outputs [N, O] or [N, .., O]. Each example must go through the network on
/// its own: Error where dropout draws or batches are normalized by their statistics, as in training
/// mode, and where an example alone has other outputs (if options.verify). Floating inputs are cast
/// to the dtype of the parameters.
///
/// Layerwise, every layer with trained tensors must report them (layers/parameter_uses.h), and no
/// tensor may be shared by two layers: Error where the reports do not add up (if options.verify).
/// A block with itself, which is also what two handles to the same tensors are, goes through the
/// network once.
EmpiricalKernel empirical_kernel(Layer& network, const Inputs& a, const Inputs& b,
                                 const EmpiricalOptions& options = {});
EmpiricalKernel empirical_kernel(Layer& network, const Inputs& a,
                                 const EmpiricalOptions& options = {});

/// empirical_kernel() of many inputs, in tiles of `tile` per side (Error unless ≥ 1). It holds the
/// result and what one tile needs. Each block goes through the network once per tile. For one block
/// with itself it computes tiles on and above the diagonal and mirrors them. Verifies reports once.
EmpiricalKernel empirical_gram(Layer& network, const Inputs& a, const Inputs& b, std::int64_t tile,
                               const EmpiricalOptions& options = {});
EmpiricalKernel empirical_gram(Layer& network, const Inputs& a, std::int64_t tile,
                               const EmpiricalOptions& options = {});

}  // namespace ladon::infinite
