#pragma once
// Inputs of a limit: blocks of a network's inputs, and their kernel.
//
// Every pair of inputs is computed by the same instructions, whatever else is in the block: a Gram
// matrix does not depend on how it is cut into blocks, bit for bit.

#include <array>
#include <cstdint>
#include <utility>

#include "ladon/layers/infinite/kernel/graph.h"

namespace ladon::infinite {

/// A block of network inputs.
struct Inputs {
  Tensor x;          ///< Floating [N, d], [N, T, d] or [N, H, W, d]; or indices, i64 [N] or [N, T].
  Tensor mask = {};  ///< bool [N, T] (or [N, H·W]), true = token; undefined: all are.

  Inputs() = default;
  Inputs(Tensor values, Tensor token_mask = {})
      : x(std::move(values)), mask(std::move(token_mask)) {}  // NOLINT: implicit
  std::int64_t count() const { return x.size(0); }
  /// Rows [begin, end).
  Inputs rows(std::int64_t begin, std::int64_t end) const;
  /// These inputs with 0 in masked tokens, as every limit sees them. The mask must fit.
  Inputs blanked() const;
};

/// Vectors are multiplied in units of this many; blocks that begin at multiples of it give the same
/// bits as one whole block. (Inputs with positions are multiplied one by one.)
inline constexpr std::int64_t vector_unit = 128;

/// Options of input_kernel().
struct KernelOptions {
  Get get = Get::ntk;
  Entries entries = Entries::full;
};

/// The kind of a block, or of two. Throws Error for shapes, dtypes and masks that inputs cannot
/// have, and if blocks a and b differ in anything but N.
InputKind kind_of(const Inputs& a);
InputKind kind_of(const Inputs& a, const Inputs& b);

/// k = x·x'ᵀ/d over the channels (for indices: 1 if they are equal, else 0), t = 0; differentiable
/// with respect to x. Throws Error if the blocks differ in anything but N, a mask does not fit, or
/// a number is not finite. Values in masked tokens are ignored, NaN included: they count as 0.
Kernel input_kernel(const Inputs& a, const Inputs& b, const KernelOptions& options);
/// Kernel of one block with itself, as input_kernel(a, b); `same` is set on the diagonal.
Kernel input_kernel(const Inputs& a, const KernelOptions& options);
inline Kernel input_kernel(const Inputs& a, const Inputs& b, Get get = Get::ntk) {
  return input_kernel(a, b, KernelOptions{.get = get});
}
inline Kernel input_kernel(const Inputs& a, Get get = Get::ntk) {
  return input_kernel(a, KernelOptions{.get = get});
}

/// The first kernel of an evaluation, between inputs a and b, or (b null) of a with itself.
struct Beginning {
  Kernel kernel;
  /// Names i64 [N] (Root::names) and coordinates X/sqrt(d) [N, T, d] of each block, if asked for.
  /// The kernel is the product of the coordinates; for indices they are undefined.
  std::array<Tensor, 2> names, coordinates;
};
struct BeginningOptions {
  Get get = Get::ntk;
  Entries entries = Entries::full;
  bool pairs = true;               ///< false: nngp and ntk are undefined.
  std::array<Tensor, 2> cov = {};  ///< Self-kernels of each block, if known.
  bool names = false, coordinates = false;
};
Beginning begin(const Inputs& a, const Inputs* b, const BeginningOptions& options);

}  // namespace ladon::infinite
