#pragma once
// Reductions of a row in a fixed order: the terms of a block are distributed over the lanes of four
// vectors, and blocks are combined pairwise. So a sum of n floats has an error of order
// (block/lanes + log n)·ε.

#include <type_traits>

#include "ladon/core/kernels/loops/math.h"
#include "ladon/core/kernels/reductions/reduction.h"

namespace ladon::kernels::LADON_LEVEL {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <class T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(vector_bytes)));
};
/// A machine vector of T.
template <class T>
using Vector = typename VectorOf<T>::Type;

/// Loads a V, which is T or a vector of T, at any alignment.
template <class V, class T>
LADON_INLINE V load(const T* x) {
  V v;
  __builtin_memcpy(&v, x, sizeof v);
  return v;
}

/// Combines two partial results. V is a number or a vector of numbers.
template <Reduce op, class V>
LADON_INLINE V combine(V a, V b) {
  if constexpr (op == Reduce::prod) {
    return a * b;
  } else if constexpr (op == Reduce::max || op == Reduce::min) {
    const V extreme = (op == Reduce::max ? b > a : b < a) ? b : a;
    return b != b ? b : extreme;
  } else {
    return a + b;
  }
}

template <Reduce op, class T>
constexpr T neutral = op == Reduce::prod  ? T(1)
                      : op == Reduce::max ? -infinity<T>
                      : op == Reduce::min ? infinity<T>
                                          : T(0);

/// Number of terms of a block: 16 terms per lane of each of four vectors.
template <class T>
constexpr std::int64_t block_length = 16 * 4 * vector_bytes / sizeof(T);

template <Reduce op, class T, class Term>
LADON_INLINE T reduce_block(std::int64_t begin, std::int64_t end, const Term& term) {
  using V = Vector<T>;
  constexpr int lanes = sizeof(V) / sizeof(T);
  const V start = V{} + neutral<op, T>;
  V sum[4] = {start, start, start, start};
  std::int64_t i = begin;
  for (; i + 4 * lanes <= end; i += 4 * lanes)
    for (int j = 0; j < 4; ++j)
      sum[j] = combine<op>(sum[j], term.template operator()<V>(i + j * lanes));
  for (; i + lanes <= end; i += lanes) sum[0] = combine<op>(sum[0], term.template operator()<V>(i));
  const V v = combine<op>(combine<op>(sum[0], sum[1]), combine<op>(sum[2], sum[3]));
  T lane[lanes];
  __builtin_memcpy(lane, &v, sizeof v);
  for (int width = lanes / 2; width > 0; width /= 2)
    for (int j = 0; j < width; ++j) lane[j] = combine<op>(lane[j], lane[j + width]);
  T rest = lane[0];
  for (; i < end; ++i) rest = combine<op>(rest, term.template operator()<T>(i));
  return rest;
}

/// Combines the terms i in [begin, end). `term.operator()<T>(i)` is term i, and
/// `term.operator()<Vector<T>>(i)` a vector of the terms i, i + 1, …, one per lane.
template <Reduce op, class T, class Term>
T reduce_terms(std::int64_t begin, std::int64_t end, const Term& term) {
  constexpr std::int64_t block = block_length<T>;
  if (end - begin <= block) return reduce_block<op, T>(begin, end, term);
  const std::int64_t blocks = (end - begin + block - 1) / block;
  const std::int64_t middle = begin + blocks / 2 * block;
  const T left = reduce_terms<op, T>(begin, middle, term);
  return combine<op>(left, reduce_terms<op, T>(middle, end, term));
}

/// The term that an element x contributes to a reduction.
template <Reduce op, class V>
LADON_INLINE V term_of(V x) {
  if constexpr (op == Reduce::sum_squares)
    return x * x;
  else if constexpr (op == Reduce::sum_abs)
    return x < V{} ? -x : x;
  else
    return x;
}

template <Reduce op, class T>
LADON_INLINE T reduce_row(const T* x, std::int64_t n) {
  return reduce_terms<op, T>(0, n,
                             [x]<class V>(std::int64_t i) { return term_of<op>(load<V>(x + i)); });
}

/// Inner product ⟨a, b⟩.
template <class T>
LADON_INLINE T dot(const T* a, const T* b, std::int64_t n) {
  return reduce_terms<Reduce::sum, T>(
      0, n, [a, b]<class V>(std::int64_t i) { return load<V>(a + i) * load<V>(b + i); });
}

}  // namespace ladon::kernels::LADON_LEVEL
