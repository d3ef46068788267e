#pragma once
// Where every limit begins: blocks of a network's inputs, and their kernel.
//
// Every pair of inputs is treated by the same instructions, whatever else is in the block: a Gram
// matrix does not depend on how it is cut into blocks, bit for bit.

#include <cstdint>
#include <utility>

#include "ladon/layers/infinite/kernel/kernel.h"

namespace ladon::infinite {

/// A block of network inputs.
struct Inputs {
  Tensor x;          ///< Floating [N, d], [N, T, d] or [N, H, W, d]; or indices, i64 [N] or [N, T].
  Tensor mask = {};  ///< bool [N, T] (or [N, H·W]), true = token; undefined: all are.
  Tensor self = {};  ///< Of vectors: input_kernel's cov if it is known already, f64 [N].

  Inputs() = default;
  Inputs(Tensor values, Tensor token_mask = {})
      : x(std::move(values)), mask(std::move(token_mask)) {}  // NOLINT: implicit
  std::int64_t count() const { return x.size(0); }
  /// Rows [begin, end).
  Inputs rows(std::int64_t begin, std::int64_t end) const;
};

/// Vectors are multiplied in units of this many; blocks that begin at multiples of it give the same
/// bits as one whole block. (Inputs with positions are multiplied one by one.)
inline constexpr std::int64_t vector_unit = 128;

/// Which kernels are computed; an NTK needs the NNGP kernel, but not the other way round.
enum class Get { nngp, ntk };

/// Computes in.self of vectors, for many blocks of them; leaves inputs with positions as they are.
void remember_self_kernel(Inputs& in);

/// k = x·x'ᵀ/d over the channels (for indices: 1 where they are equal), t = 0. Throws Error where
/// the blocks disagree in all but N, or a mask does not fit.
Kernel input_kernel(const Inputs& a, const Inputs& b, Get get = Get::ntk);
/// The same for one block with itself; `same` is set on the diagonal.
Kernel input_kernel(const Inputs& a, Get get = Get::ntk);

}  // namespace ladon::infinite
