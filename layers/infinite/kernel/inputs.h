#pragma once
// Inputs of a limit: blocks of a network's inputs, and their kernel.
//
// Every pair of inputs is treated by the same instructions, whatever else is in the block: a Gram
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
  /// With 0 in masked tokens, which is what stands there for every limit. The mask must fit.
  Inputs blanked() const;
};

/// Vectors are multiplied in units of this many; blocks that begin at multiples of it give the same
/// bits as one whole block. (Inputs with positions are multiplied one by one.)
inline constexpr std::int64_t vector_unit = 128;

/// Kernels that are computed of a network's inputs.
struct KernelOptions {
  Get get = Get::ntk;
  Entries entries = Entries::full;
};

/// The kind of a block, or of two. Throws Error for shapes, types and masks that inputs do not
/// have, and where blocks a and b disagree in all but N.
InputKind kind_of(const Inputs& a);
InputKind kind_of(const Inputs& a, const Inputs& b);

/// k = x·x'ᵀ/d over the channels (for indices: 1 where they are equal), t = 0; differentiable by x.
/// Throws Error where the blocks disagree in all but N, a mask does not fit, or a number is not
/// finite. What stands in a masked token does not count, not even whether it is a number: the
/// kernels are those of a 0 there.
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
  /// The kernel is the products of the coordinates, which are undefined for indices.
  std::array<Tensor, 2> names, coordinates;
};
struct BeginningOptions {
  Get get = Get::ntk;
  Entries entries = Entries::full;
  bool pairs = true;               ///< Otherwise nngp and ntk are undefined.
  std::array<Tensor, 2> cov = {};  ///< Of inputs with themselves, where it is known.
  bool names = false, coordinates = false;
};
Beginning begin(const Inputs& a, const Inputs* b, const BeginningOptions& options);

}  // namespace ladon::infinite
