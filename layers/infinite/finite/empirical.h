#pragma once
// Kernels of one finite network.
//
// A network f with O outputs and randomly drawn parameters θ has the NNGP kernel f(x)·f(x')ᵀ/O and
// the NTK J(x)·J(x')ᵀ, J = ∂f/∂θ. As it grows wide they approach the kernels of the limit
// (infinite/limit.h). Training changes the kernels of a network, and agreement at initialization
// does not show by how much.

#include "ladon/layers/infinite/kernel/inputs.h"
#include "ladon/layers/layer.h"

namespace ladon::infinite {

enum class NtkMethod {
  layerwise,  ///< From inner products of layer inputs and of gradients; no Jacobian is formed.
  jacobian    ///< J·Jᵀ from a Jacobian [outputs, parameters]: slow, for checks.
};

struct EmpiricalOptions {
  /// Without the NTK, `method`, `channels` and `full` must have their defaults (Error otherwise).
  Get get = Get::ntk;
  NtkMethod method = NtkMethod::layerwise;
  /// Number of output channels, the first ones, whose NTK is computed; 0 stands for all. Throws
  /// Error for more channels than the network has.
  std::int64_t channels = 0;
  bool full = false;  ///< NTK of all pairs of these channels, instead of its average over channels.
  /// Checks that the last example has the same outputs alone as in its batch and, for the layerwise
  /// method, that the uses of trained tensors that the layers report (layers/parameter_uses.h) are
  /// complete, by comparing one gradient. Costs about a backward pass and a forward pass of one
  /// example. With two blocks, the first that has more than one example is checked.
  bool verify = true;
};

/// Kernels of a network between N1 and N2 inputs, in f64 whatever dtype the network computes in. T
/// is the number of positions of the outputs, if they have any: without them the kernels are [N1,
/// N2].
struct EmpiricalKernel {
  Tensor nngp;  ///< [N1, N2, T, T]: ⟨f(x), f(x')⟩/O over the O output channels.
  /// [N1, N2, T, T]: Σ_θ ⟨∂f_o(x)/∂θ, ∂f_o(x')/∂θ⟩ averaged over channels o; undefined unless
  /// requested. If full, [N1, N2, T, T, O, O] with channel o of x and o' of x'.
  Tensor ntk;
  Tensor outputs;  ///< [N1, T, O] (or [N1, O]): outputs f(x) of the first block.
};

/// Kernels of a network's outputs [N, O] or [N, .., O]. Examples must pass through the network
/// independently: throws Error if dropout draws or statistics of the batch are used, as in training
/// mode, or (with options.verify) if an example gives different outputs alone and in its batch.
/// Floating inputs are cast to the dtype of the parameters.
///
/// The layerwise method needs every layer with trained tensors to report them
/// (layers/parameter_uses.h), and no tensor to be shared by two layers: with options.verify, throws
/// Error if the reported uses do not account for the whole gradient. If both blocks are the same
/// tensors, they go through the network once.
EmpiricalKernel empirical_kernel(Layer& network, const Inputs& a, const Inputs& b,
                                 const EmpiricalOptions& options = {});
EmpiricalKernel empirical_kernel(Layer& network, const Inputs& a,
                                 const EmpiricalOptions& options = {});

/// empirical_kernel() for many inputs, in tiles of `tile` inputs per side; throws Error if tile <
/// 1. Memory is that of the result and of one tile. Each block goes through the network once per
/// tile. For one block with itself, tiles on and above the diagonal are computed and mirrored. The
/// checks of options.verify are made once, for the first tile.
EmpiricalKernel empirical_gram(Layer& network, const Inputs& a, const Inputs& b, std::int64_t tile,
                               const EmpiricalOptions& options = {});
EmpiricalKernel empirical_gram(Layer& network, const Inputs& a, std::int64_t tile,
                               const EmpiricalOptions& options = {});

}  // namespace ladon::infinite
