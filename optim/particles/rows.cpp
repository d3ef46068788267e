#include "ladon/optim/particles/rows.h"

#include <algorithm>
#include <cmath>

#include "ladon/core/error.h"
#include "ladon/core/kernels/particles.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon::rows {
namespace {

void check_rows(const Tensor& x) {
  LADON_CHECK(x.defined(), "particles",
              "the particle matrix is undefined; it must be f32 or f64 [M, D]");
  LADON_CHECK(x.rank() == 2 && x.size(0) > 0 && is_floating(x.dtype()), "particles",
              "a particle matrix must be floating [M, D] with M > 0, got ",
              detail::kind_in_words(x));
}

/// sums(weights, rows) in the dtype of rows. Computed in f64 and then rounded if the largest weight
/// would overflow or underflow f32: weights are about 1/distance², 1e44 for particles 1e-22 apart,
/// and tiny for particles far apart.
Tensor combine(Tensor (*sums)(const Tensor&, const Tensor&), const Tensor& weights,
               const Tensor& rows) {
  check_rows(rows);
  const std::int64_t m = rows.size(0);
  LADON_CHECK(weights.defined(), "particles",
              "the matrix of weights between particles is undefined; it must be f64 [M, M]");
  LADON_CHECK(weights.dtype() == f64 && weights.shape() == Shape({m, m}), "particles",
              "the matrix of weights between ", m, " particles must be f64 ", Shape{m, m}, ", got ",
              weights.dtype(), " ", weights.shape());
  const Tensor w = kernels::contiguous(weights.detach()), x = rows.detach();
  if (representable(w, x.dtype())) return sums(kernels::cast(w, x.dtype()), x);
  return kernels::cast(sums(w, kernels::cast(x, f64)), x.dtype());
}

/// ‖x_i‖ of row i of x, f64, for a row whose squared elements overflow or underflow.
double scaled_norm(const Tensor& x, std::int64_t i) {
  const std::int64_t d = x.size(1);
  const double* const row = x.data<double>() + i * d;
  double largest = 0, sum = 0;
  for (std::int64_t k = 0; k < d; ++k) {
    if (std::isnan(row[k])) return row[k];
    largest = std::max(largest, std::abs(row[k]));
  }
  if (largest == 0 || std::isinf(largest)) return largest;
  for (std::int64_t k = 0; k < d; ++k) sum += (row[k] / largest) * (row[k] / largest);
  return largest * std::sqrt(sum);
}

}  // namespace

bool representable(const Tensor& weights, DType dtype) {
  if (dtype == f64) return true;
  const Tensor w = kernels::contiguous(weights);
  const double* first = w.data<double>();
  double most = 0;
  std::for_each(first, first + w.count(), [&](double v) { most = std::max(most, std::abs(v)); });
  return most == 0 || (1e-30 < most && most < 1e30);
}

Tensor squared_distances(const Tensor& x) {
  check_rows(x);
  return kernels::squared_distances(x.detach());
}

Tensor inner_products(const Tensor& x) {
  check_rows(x);
  return kernels::inner_products(x.detach());
}

Tensor mix(const Tensor& w, const Tensor& x) { return combine(kernels::mix, w, x); }

Tensor mix_differences(const Tensor& w, const Tensor& x) {
  return combine(kernels::mix_differences, w, x);
}

std::vector<double> norms(const Tensor& x) {
  check_rows(x);
  std::vector<double> norms = kernels::squared_norms(x.detach());
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const bool squares_fit = x.dtype() != f64 || (norms[i] > 1e-250 && norms[i] < 1e300);
    norms[i] = squares_fit
                   ? std::sqrt(norms[i])
                   : scaled_norm(kernels::contiguous(x.detach()), static_cast<std::int64_t>(i));
  }
  return norms;
}

int largest_exponent(const double* x, std::int64_t n) {
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i)
    if (std::isfinite(x[i])) largest = std::max(largest, std::abs(x[i]));
  int exponent = 0;
  std::frexp(largest, &exponent);
  return exponent;
}

void check_finite(const char* operation, const char* what, const Tensor& pairs) {
  const std::int64_t m = pairs.size(0);
  const double* x = pairs.data<double>();
  for (std::int64_t p = 0; p < pairs.count(); ++p)
    LADON_CHECK(std::isfinite(x[p]), operation,
                "every pair of particles must give a finite value, but the ", what,
                " of particles ", p / m, " and ", p % m, " is ", x[p]);
}

}  // namespace ladon::rows
