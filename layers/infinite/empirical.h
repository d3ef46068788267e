#pragma once
// Kernels of one finite network.

#include "ladon/layers/infinite/kernel.h"
#include "ladon/layers/module.h"

namespace ladon::infinite {

enum class NtkMethod {
  layerwise,  ///< By inner products of inputs and gradients at each layer; no Jacobian is formed.
  jacobian    ///< J·Jᵀ with the Jacobian formed, [outputs, parameters]: slow, to check against.
};

struct EmpiricalOptions {
  Wanted wanted = Wanted::ntk;
  NtkMethod method = NtkMethod::layerwise;
  std::int64_t channels = 0;  ///< The NTK is averaged over the first so many outputs; 0: over all.
};

/// [N1, N2], or [N1, N2, T, T] where the network's outputs have T positions; the network's dtype.
struct EmpiricalKernel {
  Tensor nngp;  ///< ⟨f(x), f(x')⟩/O over the O output channels.
  Tensor
      ntk;  ///< Σ_θ ⟨∂f_o(x)/∂θ, ∂f_o(x')/∂θ⟩, averaged over channels o; undefined unless wanted.
};

/// Kernels of a network's outputs [N, O] or [N, T, O]. Each example must go through the network on
/// its own (dropout in evaluation mode, no batch statistics). Every layer with trained tensors must
/// report them (layers/trace.h): Error if a parameter has a gradient that no layer reported.
/// Inputs are cast to the dtype of the parameters.
EmpiricalKernel empirical_kernel(Layer& network, const Inputs& a, const Inputs& b,
                                 const EmpiricalOptions& options = {});
EmpiricalKernel empirical_kernel(Layer& network, const Inputs& a,
                                 const EmpiricalOptions& options = {});

}  // namespace ladon::infinite
