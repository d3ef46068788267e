#include "ladon/core/kernels/products/gathered_product.h"

#include <algorithm>

#include "ladon/core/kernels/loops.h"

namespace ladon::kernels {
namespace {

using std::int64_t;

constexpr int64_t span_length = 256;  // a panel of B of this length stays in the first-level cache

template <class T>
int64_t padded(int64_t n) {
  const int64_t unit = loops().of<T>().gemm.columns;
  return (n + unit - 1) / unit * unit;
}

}  // namespace

template <class T>
GatheredProduct<T>::GatheredProduct(int64_t pieces, int64_t width, int64_t n,
                                    blas::Matrix<const T> b)
    : pieces_(pieces),
      n_(n),
      padded_(padded<T>(n)),
      packed_(static_cast<std::size_t>(pieces * width * padded_) * sizeof(T)) {
  const int64_t whole = width > 0 ? span_length / width : pieces;  // whole pieces per span
  if (whole > 0)
    for (int64_t s = 0; s < pieces; s += whole)
      spans_.push_back({s, std::min(whole, pieces - s), 0, width, s * width});
  else
    for (int64_t s = 0; s < pieces; ++s)
      for (int64_t p = 0; p < width; p += span_length)
        spans_.push_back({s, 1, p, std::min(span_length, width - p), s * width + p});
  T* to = reinterpret_cast<T*>(packed_.bytes());
  for (const Span& span : spans_)
    loops().of<T>().gemm.pack_right(n, span.pieces * span.length, b.data + span.row * b.row,
                                    b.column, b.row, to + span.row * padded_);
}

template <class T>
void GatheredProduct<T>::operator()(int64_t m, const T* const* at, const T* row,
                                    blas::Matrix<T> c) const {
  const T* right = reinterpret_cast<const T*>(packed_.bytes());
  for (const Span& span : spans_)
    loops().of<T>().gathered.multiply(
        m, n_, {at + span.piece, pieces_, span.pieces, span.first, span.length},
        right + span.row * padded_, span.row > 0, row, c.data, c.row);
}

template <class T>
int64_t gathered_space(int64_t m, int64_t n) {
  return m * padded<T>(n);
}

template <class T>
void add_gathered_product(int64_t m, int64_t pieces, int64_t width, int64_t n, const T* const* at,
                          blas::Matrix<const T> b, blas::Matrix<T> c, T* space) {
  const LoopsOf<T>& loop = loops().of<T>();
  const bool panel = n == loop.gemm.columns && b.row == n && b.column == 1;
  if (!panel) loop.gemm.pack_right(n, m, b.data, b.column, b.row, space);
  loop.gathered.multiply_transposed(m, n, {at, pieces, pieces, 0, width}, panel ? b.data : space,
                                    c.data, c.row);
}

template class GatheredProduct<float>;
template class GatheredProduct<double>;
template int64_t gathered_space<float>(int64_t, int64_t);
template int64_t gathered_space<double>(int64_t, int64_t);
template void add_gathered_product(int64_t, int64_t, int64_t, int64_t, const float* const*,
                                   blas::Matrix<const float>, blas::Matrix<float>, float*);
template void add_gathered_product(int64_t, int64_t, int64_t, int64_t, const double* const*,
                                   blas::Matrix<const double>, blas::Matrix<double>, double*);

}  // namespace ladon::kernels
