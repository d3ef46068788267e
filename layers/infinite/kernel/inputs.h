#pragma once
// Inputs of a limit: blocks of a network's inputs, and their kernel.
//
// Every pair of inputs is computed by the same instructions, whatever the other inputs of its block
// are: a Gram matrix has the same bits however it is divided into blocks.

#include <array>
#include <cstdint>
#include <utility>

#include "ladon/layers/infinite/kernel/graph.h"

namespace ladon::infinite {

/// A block of network inputs.
struct Inputs {
  Tensor x;          ///< Floating [N, d], [N, T, d] or [N, H, W, d]; or indices, i64 [N] or [N, T].
  Tensor mask = {};  ///< bool [N, T] (or [N, H·W]), true = token; undefined without padding.

  Inputs() = default;
  Inputs(Tensor values, Tensor token_mask = {})
      : x(std::move(values)), mask(std::move(token_mask)) {}  // NOLINT: implicit
  std::int64_t count() const { return x.size(0); }
  /// Inputs [begin, end) of this block.
  Inputs rows(std::int64_t begin, std::int64_t end) const;
  /// Copy of these inputs with 0 in masked tokens, the form that every limit uses. The mask must
  /// fit.
  Inputs blanked() const;
};

/// Number of vectors that are multiplied at a time. Blocks that begin at multiples of it give the
/// same bits as one whole block. (Inputs with positions are multiplied one at a time.)
inline constexpr std::int64_t vector_unit = 128;

/// Options of input_kernel().
struct KernelOptions {
  Get get = Get::ntk;
  Entries entries = Entries::full;
};

/// Kind of the inputs of one block, or of two. Throws Error for shapes, dtypes and masks that
/// inputs cannot have, and if blocks a and b differ in anything but N.
InputKind kind_of(const Inputs& a);
InputKind kind_of(const Inputs& a, const Inputs& b);

/// Kernels of the network's inputs: the NNGP kernel x·x'ᵀ/d over the d channels (for indices: 1 if
/// they are equal, else 0), and the NTK 0. Differentiable with respect to x. Throws Error if the
/// blocks differ in anything but N, a mask does not fit, or a visible value is not finite. Values
/// in masked tokens count as 0, even NaN.
Kernel input_kernel(const Inputs& a, const Inputs& b, const KernelOptions& options);
/// Kernels of one block with itself, as input_kernel(a, a); `same` is true on the diagonal.
Kernel input_kernel(const Inputs& a, const KernelOptions& options);
inline Kernel input_kernel(const Inputs& a, const Inputs& b, Get get = Get::ntk) {
  return input_kernel(a, b, KernelOptions{.get = get});
}
inline Kernel input_kernel(const Inputs& a, Get get = Get::ntk) {
  return input_kernel(a, KernelOptions{.get = get});
}

/// Kernels of the network's inputs, with which an evaluation begins: between inputs a and b, or (b
/// null) of a with itself.
struct Beginning {
  Kernel kernel;
  /// Of each block, if requested: hashes of its inputs, i64 [N] (Root::names), and coordinates
  /// X/sqrt(d) of their tokens, [N, T, d], whose inner products are the kernel (undefined for
  /// indices).
  std::array<Tensor, 2> names, coordinates;
};
struct BeginningOptions {
  Get get = Get::ntk;
  Entries entries = Entries::full;
  bool pairs = true;               ///< If false, nngp and ntk are undefined.
  std::array<Tensor, 2> cov = {};  ///< Self-kernels of each block, if known.
  bool names = false, coordinates = false;
};
Beginning begin(const Inputs& a, const Inputs* b, const BeginningOptions& options);

}  // namespace ladon::infinite
