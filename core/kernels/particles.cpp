#include "ladon/core/kernels/particles.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "ladon/core/error.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/rows.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::kernels {
namespace {

constexpr std::int64_t work = 1 << 17;      // approximate number of multiply-adds per task
constexpr std::int64_t row_block = 64;      // tasks begin at multiples of this row number
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
  const std::int64_t columns = std::max<std::int64_t>(1024, work / (m * m));
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
    for (std::int64_t j = 0; j <= i; ++j) y[i * m + j] = y[j * m + i] = total[i * width + j];
  return out;
}

/// Whether squared distances d2 that were computed in f32 are accurate: those between different
/// rows are neither infinite nor so small that many of the squares in their sum may have vanished.
bool squares_fit(const Tensor& d2) {
  const std::int64_t m = d2.size(0);
  const double* d = d2.data<double>();
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      if (!(1e-30 < d[i * m + j] && d[i * m + j] < std::numeric_limits<double>::infinity()))
        return false;
  return true;
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

Tensor squared_distances(const Tensor& rows) {
  const Tensor x = contiguous(rows);
  return visit_floating("squared_distances", x.dtype(), [&]<class T>() {
    const Tensor d2 = symmetric<T>(loops().of<T>().particles.squared_distances, x);
    if (std::is_same_v<T, double> || squares_fit(d2)) return d2;
    return symmetric<T>(loops().of<T>().particles.wide_distances, x);
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
  std::vector<double> norms(x.size(0));
  visit_floating("squared_norms", x.dtype(), [&]<class T>() {
    const auto loop = loops().of<T>().particles.squared_norm;
    const T* data = x.data<T>();
    for_rows(x.size(0), n, [&](std::int64_t i) { norms[i] = loop(data + i * n, n); });
  });
  return norms;
}

bool all_finite(const Tensor& rows) {
  const Tensor x = contiguous(rows);
  std::atomic<bool> finite = true;
  visit_floating("all_finite", x.dtype(), [&]<class T>() {
    const T* data = x.data<T>();
    parallel::for_range(x.count(), task_length, [&](std::int64_t begin, std::int64_t end) {
      if (!loops().of<T>().particles.all_finite(data + begin, end - begin)) finite = false;
    });
  });
  return finite;
}

RowSums weighted_sum(double a, const Tensor& x, double b, const Tensor& z) {
  const Tensor first = contiguous(x), second = contiguous(z);
  const std::int64_t m = x.size(0), n = x.size(1);
  const std::vector<double> none(m);
  RowSums sums{empty_like(first), {none, none, none}};
  visit_floating("weighted_sum", x.dtype(), [&]<class T>() {
    const auto loop = loops().of<T>().particles.add;
    const T *p = first.data<T>(), *q = second.data<T>();
    T* y = sums.y.mutable_data<T>();
    for_rows(m, n, [&](std::int64_t i) {
      double norms[3];
      loop(static_cast<T>(a), p + i * n, static_cast<T>(b), q + i * n, y + i * n, n, norms);
      for (std::size_t k = 0; k < 3; ++k) sums.squared_norms[k][i] = norms[k];
    });
  });
  return sums;
}

namespace {

/// The sum Σ_j w_ij of each row i of w, added up in f64 and rounded to T.
template <class T>
std::vector<T> totals(const T* w, std::int64_t m) {
  std::vector<T> total;
  for (std::int64_t i = 0; i < m; ++i)
    total.push_back(static_cast<T>(std::accumulate(w + i * m, w + (i + 1) * m, 0.0)));
  return total;
}

}  // namespace

RowSums forces(double a, const Tensor& k, const Tensor& g, double b, const Tensor& w,
               const Tensor& x) {
  const Tensor driving = k.defined() ? contiguous(k) : k, repulsive = contiguous(w);
  const Tensor gradients = contiguous(g), values = contiguous(x);
  const std::int64_t m = x.size(0), n = x.size(1);
  RowSums sums{empty_like(values), {}};
  visit_floating("forces", x.dtype(), [&]<class T>() {
    const auto& loop = loops().of<T>().particles;
    const std::vector<T> total = totals(repulsive.data<T>(), m);
    const PairForces<T> weights{driving.defined() ? driving.data<T>() : nullptr,
                                repulsive.data<T>(), total.data(), static_cast<T>(a),
                                static_cast<T>(b)};
    T* y = sums.y.mutable_data<T>();
    const std::int64_t columns =
        std::max<std::int64_t>(1, work / (m * m * column_block)) * column_block;
    std::vector<double> norms(3 * m);
    const auto piece = [&](std::int64_t at) {
      const std::int64_t begin = at * columns, end = std::min(n, begin + columns);
      const Tensor scratch = empty({loop.force_scratch(m)}, x.dtype());
      std::vector<double> of_piece(norms.size());
      loop.add_forces(weights, rows_of<T>(gradients, begin, end), rows_of<T>(values, begin, end),
                      y + begin, Tensor(scratch).mutable_data<T>(), of_piece.data());
      return of_piece;
    };
    parallel::in_order((n + columns - 1) / columns, 16, piece, [&](const auto& of_piece) {
      for (std::size_t p = 0; p < norms.size(); ++p) norms[p] += of_piece[p];
    });
    for (std::size_t s = 0; s < 3; ++s)
      sums.squared_norms[s].assign(norms.begin() + static_cast<std::ptrdiff_t>(s) * m,
                                   norms.begin() + static_cast<std::ptrdiff_t>(s + 1) * m);
  });
  return sums;
}

bool all_apart(const Tensor& squared_distances) {
  const Tensor distances = contiguous(squared_distances);
  const std::int64_t m = distances.size(0);
  const double* d2 = distances.data<double>();
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      if (!(d2[i * m + j] > 0)) return false;
  return true;
}

double cancellation(const Tensor& w, const Tensor& squared_distances) {
  const std::int64_t m = w.size(0);
  const Tensor weights = contiguous(w), distances = contiguous(squared_distances);
  const double *weight = weights.data<double>(), *d2 = distances.data<double>();
  std::vector<double> radius(m);
  double all = 0, outward = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    double& sum = radius[i];
    for (std::int64_t j = 0; j < m; ++j) {
      sum += d2[i * m + j];
      outward += weight[i * m + j] * d2[i * m + j] / 2;
    }
    all += sum;
  }
  const auto count = static_cast<double>(m);
  double spread = 0;
  for (double& r : radius) {
    const double square = std::max(0.0, r / count - all / (2 * count * count));
    spread += square;
    r = std::sqrt(square);
  }
  double error = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    double terms = 0;
    for (std::int64_t j = 0; j < m; ++j)
      terms += std::abs(weight[i * m + j]) * (radius[i] + radius[j]);
    error += terms * terms;
  }
  return std::sqrt(error) * std::sqrt(spread) / outward;
}

}  // namespace ladon::kernels
