#include "ladon/optim/particles/rows.h"

#include <algorithm>
#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/kernels/lane_sum.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/parallel.h"

namespace ladon::rows {
namespace {

constexpr std::int64_t work = 1 << 15;  // elements a task reads, about

/// How many rows of that length a task takes.
std::int64_t rows_a_task(std::int64_t length) {
  return std::max<std::int64_t>(1, work / std::max<std::int64_t>(1, length));
}

void check_rows(const Tensor& x) {
  LADON_CHECK(x.defined(), "particles", "the particle matrix is undefined");
  LADON_CHECK(x.rank() == 2 && x.size(0) > 0 && is_floating(x.dtype()), "particles",
              "a particle matrix is floating [M, D] with M > 0; got ", x.dtype(), " of shape ",
              x.shape());
}

/// The symmetric matrix of f(x_i, x_j, D) over pairs j ≤ i.
template <class F>
Tensor symmetric(const Tensor& theta, const F& f) {
  check_rows(theta);
  const Tensor x = kernels::contiguous(theta.detach());
  const std::int64_t m = x.size(0), d = x.size(1);
  Tensor out = empty({m, m}, f64);
  double* y = out.mutable_data<double>();
  visit_floating("particles", x.dtype(), [&]<class T>() {
    const T* data = x.data<T>();
    const std::int64_t pairs = m * (m + 1) / 2;
    parallel::for_range(pairs, rows_a_task(d), [&](std::int64_t begin, std::int64_t end) {
      // Pair p is (i, j) with p = i(i + 1)/2 + j, 0 ≤ j ≤ i.
      auto i = static_cast<std::int64_t>((std::sqrt(8.0 * double(begin) + 1) - 1) / 2);
      while (i * (i + 1) / 2 > begin) --i;
      while ((i + 1) * (i + 2) / 2 <= begin) ++i;
      std::int64_t j = begin - i * (i + 1) / 2;
      for (std::int64_t p = begin; p < end; ++p) {
        y[i * m + j] = y[j * m + i] = f(data + i * d, data + j * d, d);
        if (++j > i) ++i, j = 0;
      }
    });
  });
  return out;
}

/// y_i[c] = Σ_j term(w_ij, x_i[c], x_j[c]), the sum beginning with its first term.
template <class Term>
Tensor combine(const Tensor& weights, const Tensor& rows, const Term& term) {
  check_rows(rows);
  const Tensor x = kernels::contiguous(rows.detach());
  const std::int64_t m = x.size(0), d = x.size(1);
  LADON_CHECK(weights.defined(), "particles", "the matrix between particles is undefined");
  LADON_CHECK(weights.dtype() == f64 && weights.shape() == Shape({m, m}), "particles",
              "the matrix between ", m, " particles must be f64 ", Shape{m, m}, ", got ",
              weights.dtype(), " ", weights.shape());
  const Tensor w = kernels::contiguous(weights.detach());
  Tensor out = empty({m, d}, f64);
  double* y = out.mutable_data<double>();
  const double* weight = w.data<double>();
  visit_floating("particles", x.dtype(), [&]<class T>() {
    const T* data = x.data<T>();
    const std::int64_t columns = std::clamp<std::int64_t>(work / (m * m), 64, 1024);
    parallel::for_range(d, columns, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < m; ++j) {
          const double wij = weight[i * m + j];
          const T *a = data + i * d, *b = data + j * d;
          double* yi = y + i * d;
          if (j == 0)
            for (std::int64_t c = begin; c < end; ++c) yi[c] = term(wij, a[c], b[c]);
          else
            for (std::int64_t c = begin; c < end; ++c) yi[c] += term(wij, a[c], b[c]);
        }
    });
  });
  return out;
}

}  // namespace

Tensor squared_distances(const Tensor& theta) {
  return symmetric(theta, [](const auto* a, const auto* b, std::int64_t d) {
    return kernels::lane_sum(d, [=](std::int64_t k) {
      const double difference = double(a[k]) - double(b[k]);
      return difference * difference;
    });
  });
}

Tensor inner_products(const Tensor& theta) {
  return symmetric(theta, [](const auto* a, const auto* b, std::int64_t d) {
    return kernels::lane_sum(d, [=](std::int64_t k) { return double(a[k]) * double(b[k]); });
  });
}

Tensor mix(const Tensor& w, const Tensor& x) {
  return combine(w, x, [](double wij, double, double xj) { return wij * xj; });
}

Tensor mix_differences(const Tensor& w, const Tensor& x) {
  return combine(w, x, [](double wij, double xi, double xj) { return wij * (xi - xj); });
}

std::vector<double> norms(const Tensor& rows) {
  check_rows(rows);
  const Tensor x = kernels::contiguous(rows.detach());
  const std::int64_t m = x.size(0), d = x.size(1);
  std::vector<double> norms(m);
  visit_floating("particles", x.dtype(), [&]<class T>() {
    const T* data = x.data<T>();
    parallel::for_range(m, rows_a_task(d), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T* row = data + i * d;
        const auto squares = [=](std::int64_t k) { return double(row[k]) * row[k]; };
        norms[i] = std::sqrt(kernels::lane_sum(d, squares));
      }
    });
  });
  return norms;
}

void check_finite(const char* operation, const char* what, const Tensor& pairs) {
  const std::int64_t m = pairs.size(0);
  const double* x = pairs.data<double>();
  for (std::int64_t p = 0; p < pairs.count(); ++p)
    LADON_CHECK(std::isfinite(x[p]), operation, "the ", what, " of particles ", p / m, " and ",
                p % m, " is ", x[p]);
}

}  // namespace ladon::rows
