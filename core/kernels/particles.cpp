#include "ladon/core/kernels/particles.h"

#include <algorithm>
#include <array>

#include "ladon/core/error.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/rows.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::kernels {
namespace {

constexpr std::int64_t work = 1 << 20;      // approximate number of multiply-adds per task
constexpr std::int64_t row_block = 64;      // tasks begin at multiples of it
constexpr std::int64_t column_block = 768;  // a multiple of the tile widths of f32 and f64

template <class T>
Rows<T> rows_of(const Tensor& x, std::int64_t begin, std::int64_t end) {
  return {x.data<T>() + begin, x.size(0), x.size(1), end - begin};
}

/// The symmetric matrix [m, m] of sums over the n columns of x, computed in pieces of columns.
template <class T>
Tensor symmetric(typename ParticleLoops<T>::Pairs loop, const Tensor& x) {
  const std::int64_t m = x.size(0), n = x.size(1);
  Tensor out = empty({m, m}, f64);  // throws Error if there are too many pairs
  const std::int64_t columns = std::max<std::int64_t>(8192, work / (m * m));
  const std::int64_t width = (m + pair_side - 1) / pair_side * pair_side;
  using Sums = std::vector<double>;
  Sums total(static_cast<std::size_t>(width * width));
  const auto sums_of = [&](std::int64_t piece) {
    const Rows<T> rows = rows_of<T>(x, piece * columns, std::min(n, (piece + 1) * columns));
    Sums sums(total.size());
    parallel::for_range(m, row_block, [&](std::int64_t begin, std::int64_t end) {
      loop(rows, begin, end, sums.data() + begin * width, width);
    });
    return sums;
  };
  const auto add = [&](const Sums& sums) {
    for (std::size_t p = 0; p < total.size(); ++p) total[p] += sums[p];
  };
  const std::int64_t held = std::clamp<std::int64_t>((1 << 22) / (m * m), 1, 16);
  parallel::in_order((n + columns - 1) / columns, held, sums_of, add);
  double* y = out.mutable_data<double>();
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j <= i; ++j)
      y[i * m + j] = y[j * m + i] = total[static_cast<std::size_t>(i * width + j)];
  return out;
}

template <class T>
Tensor mixed(typename ParticleLoops<T>::Mix loop, const Tensor& w, const Tensor& x) {
  const std::int64_t m = x.size(0), n = x.size(1);
  Tensor out = empty({m, n}, x.dtype());
  T* y = out.mutable_data<T>();
  const T* weights = w.data<T>();
  const std::int64_t columns =
      std::max<std::int64_t>(1, work / (m * m * column_block)) * column_block;
  parallel::for_range(n, columns, [&](std::int64_t begin, std::int64_t end) {
    loop(weights, rows_of<T>(x, begin, end), y + begin);
  });
  return out;
}

}  // namespace

Tensor squared_distances(const Tensor& x) {
  return visit_floating("squared_distances", x.dtype(), [&]<class T>() {
    return symmetric<T>(loops().of<T>().particles.squared_distances, contiguous(x));
  });
}

Tensor inner_products(const Tensor& x) {
  return visit_floating("inner_products", x.dtype(), [&]<class T>() {
    return symmetric<T>(loops().of<T>().particles.inner_products, contiguous(x));
  });
}

Tensor mix(const Tensor& w, const Tensor& x) {
  return visit_floating("mix", x.dtype(), [&]<class T>() {
    return mixed<T>(loops().of<T>().particles.mix, contiguous(w), contiguous(x));
  });
}

Tensor mix_differences(const Tensor& w, const Tensor& x) {
  return visit_floating("mix_differences", x.dtype(), [&]<class T>() {
    return mixed<T>(loops().of<T>().particles.mix_differences, contiguous(w), contiguous(x));
  });
}

std::vector<double> squared_norms(const Tensor& rows) {
  const Tensor x = contiguous(rows);
  const std::int64_t n = x.size(1);
  std::vector<double> norms(static_cast<std::size_t>(x.size(0)));
  visit_floating("squared_norms", x.dtype(), [&]<class T>() {
    const auto loop = loops().of<T>().particles.squared_norm;
    const T* data = x.data<T>();
    for_rows(x.size(0), n,
             [&](std::int64_t i) { norms[static_cast<std::size_t>(i)] = loop(data + i * n, n); });
  });
  return norms;
}

RowSums weighted_sum(double a, const Tensor& x, double b, const Tensor& z) {
  const Tensor first = contiguous(x), second = contiguous(z);
  const std::int64_t m = x.size(0), n = x.size(1);
  const std::vector<double> none(static_cast<std::size_t>(m));
  RowSums sums{empty_like(first), {none, none, none}};
  visit_floating("weighted_sum", x.dtype(), [&]<class T>() {
    const auto loop = loops().of<T>().particles.add;
    const T *p = first.data<T>(), *q = second.data<T>();
    T* y = sums.y.mutable_data<T>();
    for_rows(m, n, [&](std::int64_t i) {
      double norms[3];
      loop(static_cast<T>(a), p + i * n, static_cast<T>(b), q + i * n, y + i * n, n, norms);
      for (std::size_t k = 0; k < 3; ++k)
        sums.squared_norms[k][static_cast<std::size_t>(i)] = norms[k];
    });
  });
  return sums;
}

}  // namespace ladon::kernels
