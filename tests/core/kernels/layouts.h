#pragma once
// Copies of a tensor in several memory layouts, read and written element by element; kernels are
// tested with them.

#include <cstring>
#include <vector>

#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/tensor.h"
#include "ladon/core/view.h"

namespace ladon::layout {

/// Offset of element i (in row-major order) from the first element of x, in elements.
inline std::int64_t place(const Tensor& x, std::int64_t i) {
  std::int64_t offset = 0;
  for (int axis = x.rank() - 1; axis >= 0; --axis) {
    offset += i % x.shape()[axis] * x.strides()[axis];
    i /= x.shape()[axis];
  }
  return offset;
}

/// Scalar view of element i.
inline Tensor at_place(const Tensor& x, std::int64_t i) {
  return Tensor(x.storage(), x.dtype(), {}, {}, x.offset() + place(x, i));
}

inline double element(const Tensor& x, std::int64_t i) {
  if (is_half(x.dtype())) return at_place(x, i).item();
  return visit_dtype(
      x.dtype(), [&]<class T>() { return static_cast<double>(x.strided_data<T>()[place(x, i)]); });
}

inline void set_element(Tensor x, std::int64_t i, double value) {
  if (is_half(x.dtype())) return kernels::fill(at_place(x, i), value);
  visit_dtype(x.dtype(),
              [&]<class T>() { x.mutable_strided_data<T>()[place(x, i)] = static_cast<T>(value); });
}

/// Tensor of pseudorandom elements: floating-point multiples of 1/64 in [−8, 8), integers in [−8,
/// 8), or booleans.
inline Tensor sample(const Shape& shape, DType dtype = f32, std::uint64_t seed = 1) {
  Tensor x = empty(shape, dtype);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto draw = static_cast<double>(state >> 54) - 512;
    set_element(x, i,
                dtype == boolean ? draw > 0
                : dtype == i64   ? std::int64_t(draw / 64)
                                 : draw / 64);
  }
  return x;
}

inline Tensor fill_from(Tensor to, const Tensor& from) {
  for (std::int64_t i = 0; i < from.count(); ++i) set_element(to, i, element(from, i));
  return to;
}

/// Copy of x whose last two axes are swapped in memory.
inline Tensor transposed_in_memory(const Tensor& x) {
  if (x.rank() < 2) return x;
  Shape shape = x.shape();
  std::swap(shape[x.rank() - 1], shape[x.rank() - 2]);
  return fill_from(view::transpose(empty(shape, x.dtype()), x.rank() - 1, x.rank() - 2), x);
}

/// Copy of x with the given step along an axis in memory: with gaps for step 2, backwards for −1.
inline Tensor stepped_in_memory(const Tensor& x, int axis, std::int64_t step) {
  const std::int64_t n = x.shape()[axis], wide = n * std::abs(step) + 1;
  Shape shape = x.shape();
  shape[axis] = wide;
  const std::int64_t start = step > 0 ? 1 : wide - 1;
  return fill_from(view::slice(empty(shape, x.dtype()), axis, start, n, step), x);
}

/// x itself, and copies of it in all these layouts.
inline std::vector<Tensor> layouts(const Tensor& x) {
  std::vector<Tensor> all{x, transposed_in_memory(x)};
  for (int axis : {0, x.rank() - 1}) {
    if (x.rank() == 0) break;
    all.push_back(stepped_in_memory(x, axis, 2));
    all.push_back(stepped_in_memory(x, axis, -1));
  }
  return all;
}

inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && a.contiguous() && b.contiguous() &&
         std::memcmp(a.storage().bytes() + std::size_t(a.offset()) * item_size(a.dtype()),
                     b.storage().bytes() + std::size_t(b.offset()) * item_size(b.dtype()),
                     std::size_t(a.count()) * item_size(a.dtype())) == 0;
}

}  // namespace ladon::layout
