#include "ladon/optim/posterior/kernel_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/reductions/symmetry.h"
#include "ladon/core/linalg/cholesky.h"
#include "ladon/core/linalg/lapack.h"

namespace ladon::kernel_blocks {
namespace {

Tensor plain(std::string_view operation, std::string_view what, const Tensor& x) {
  LADON_CHECK(x.defined(), operation, what, " must be floating-point, got an undefined tensor");
  LADON_CHECK(is_floating(x.dtype()), operation, what, " must be floating-point, got ", x.dtype());
  check_plain(std::string(operation).c_str(), x, what);
  return contiguous(cast(x, f64));
}

void check_finite(std::string_view operation, std::string_view what, const Tensor& x) {
  if (std::isfinite(number_of("GaussianProcess", sum(x)))) return;  // then so are all terms
  const double* values = x.data<double>();
  const std::int64_t columns = x.rank() == 2 ? std::max<std::int64_t>(x.size(1), 1) : 1;
  for (std::int64_t i = 0; i < x.count(); ++i)
    LADON_CHECK(std::isfinite(values[i]), operation, "the element of ", what, " at row ",
                i / columns, ", column ", i % columns, " is ", values[i], "; all must be finite");
}

// Throws Error naming the first pair of elements that differ by more than the tolerance.
[[noreturn]] void fail_asymmetric(std::string_view operation, std::string_view what,
                                  const Tensor& k, double tolerance) {
  const std::int64_t n = k.size(0);
  const double* v = k.data<double>();
  std::int64_t i = 0, j = 0;
  while (std::abs(v[i * n + j] - v[j * n + i]) <= tolerance)
    if (++j >= i) ++i, j = 0;
  detail::fail(operation, what, " is not symmetric: [", i, ", ", j, "] is ", v[i * n + j], ", [", j,
               ", ", i, "] is ", v[j * n + i]);
}

}  // namespace

Tensor symmetric_block(std::string_view operation, std::string_view what, const Tensor& x) {
  const Tensor k = plain(operation, what, x);
  LADON_CHECK(k.rank() == 2 && k.size(0) == k.size(1) && k.size(0) >= 1, operation, what,
              " must be square, [N, N] with N ≥ 1, got ", k.shape());
  const kernels::Symmetry found = kernels::symmetry(k);
  if (!std::isfinite(found.largest)) check_finite(operation, what, k);
  const double tolerance = std::sqrt(epsilon_of(x.dtype())) * found.largest;
  if (!(found.difference <= tolerance)) fail_asymmetric(operation, what, k, tolerance);
  return k;
}

Tensor cross_block(std::string_view operation, std::string_view what, const Tensor& x,
                   std::int64_t rows, std::int64_t columns) {
  const Tensor k = plain(operation, what, x);
  const bool fits = k.rank() == 2 && k.size(1) == columns && (rows < 0 || k.size(0) == rows);
  LADON_CHECK(fits, operation, what, " must have shape [", rows < 0 ? "M" : std::to_string(rows),
              ", ", columns, "], got ", k.shape());
  check_finite(operation, what, k);
  return k;
}

Tensor target_block(std::string_view operation, std::string_view what, const Tensor& x,
                    std::int64_t n) {
  const Tensor y = plain(operation, what, x);
  LADON_CHECK((y.rank() == 1 || y.rank() == 2) && y.size(0) == n && y.size(-1) >= 1, operation,
              what, " must have shape [", n, "] or [", n, ", outputs], one row per input, got ",
              y.shape());
  check_finite(operation, what, y);
  return reshape(y, {n, y.rank() == 2 ? y.size(1) : 1});
}

namespace {

/// Throws Error if a covariance of the block exceeds √(product of its variances) by more than √ε.
void check_covariances(std::string_view operation, std::string_view what, const Tensor& block,
                       DType precision) {
  const Tensor dense = contiguous(block);
  const std::int64_t m = dense.size(0);
  const double* k = dense.data<double>();
  const double epsilon = epsilon_of(precision), most = 1 + std::sqrt(epsilon);
  double largest = 0;
  for (std::int64_t i = 0; i < m; ++i) largest = std::max(largest, k[i * m + i]);
  std::vector<double> deviations;  // NaN for a negative variance, which proper_covariance() refuses
  for (std::int64_t i = 0; i < m; ++i)
    deviations.push_back(std::sqrt(k[i * m + i] + epsilon * largest));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      if (std::abs(k[i * m + j]) > most * deviations[i] * deviations[j])
        detail::fail(operation, what, " is not a covariance matrix: the covariance of test inputs ",
                     j, " and ", i, " is ", k[i * m + j], ", but their variances are ",
                     k[j * m + j], " and ", k[i * m + i]);
}

}  // namespace

Tensor test_block(std::string_view operation, const Tensor& x, std::int64_t m) {
  constexpr std::string_view what = "the test kernel";
  const Tensor k = plain(operation, what, x);
  LADON_CHECK((k.rank() == 1 || k.rank() == 2) && k.size(0) == m && k.size(-1) == m, operation,
              what, " must be [", m, "] (variances) or [", m, ", ", m, "] (covariances), got ",
              k.shape());
  if (k.rank() == 2 && m > 0) {
    const Tensor block = symmetric_block(operation, what, x);
    check_covariances(operation, what, block, x.dtype());
    return block;
  }
  check_finite(operation, what, k);
  return k;
}

Ridge ridge_of(std::string_view operation, const Tensor& diagonal, double noise, double jitter) {
  LADON_CHECK(noise >= 0 && std::isfinite(noise), operation, "the noise (a variance) is ", noise,
              "; it must be finite and at least 0");
  LADON_CHECK(jitter >= 0 && std::isfinite(jitter), operation, "the jitter is ", jitter,
              "; it must be finite and at least 0");
  return {noise, jitter, number_of(std::string(operation).c_str(), mean(diagonal))};
}

Tensor factorize(std::string_view operation, const Tensor& kernel, const Ridge& ridge) {
  try {
    return lapack::cholesky(kernel, ridge.total());
  } catch (const lapack::NotPositiveDefinite& e) {
    fail_indefinite(operation, ridge, e.smallest_eigenvalue, e.jitter);
  }
}

void fail_indefinite(std::string_view operation, const Ridge& ridge, double smallest_eigenvalue,
                     double missing) {
  const std::string jitter =
      ridge.takes_jitter && ridge.mean > 0
          ? detail::join("a jitter of at least ", ridge.jitter + missing / ridge.mean)
          : "";
  const std::string noise =
      ridge.takes_noise ? detail::join("a noise of at least ", ridge.noise + missing) : "";
  detail::fail(operation, "the kernel, with ",
               ridge.takes_noise ? detail::join("noise ", ridge.noise, " and ") : "", "jitter ",
               ridge.jitter, " (times the mean of its diagonal, ", ridge.mean,
               ") added to the diagonal, is not positive definite: its smallest eigenvalue is ",
               smallest_eigenvalue,
               jitter.empty() && noise.empty()
                   ? ridge.takes_jitter
                         ? "; no jitter helps, because the mean of the diagonal is not "
                           "positive: check the kernel"
                         : "; check the kernel, which must be a covariance, or add a small "
                           "multiple of I to it"
                   : "; pass " + jitter + (jitter.empty() || noise.empty() ? "" : " or ") + noise);
}

Tensor proper_covariance(std::string_view operation, const Tensor& left, const Tensor& prior,
                         DType precision, const std::function<Tensor()>& allowed,
                         std::string_view hint) {
  Tensor c = left.rank() == 1 ? clone(left) : (left + transpose(left)) * 0.5;
  const std::int64_t m = c.size(0), step = left.rank() == 1 ? 1 : m + 1;
  const Tensor before = contiguous(prior.rank() == 1 ? prior : diagonal(prior));
  const double* priors = before.data<double>();
  double* values = c.mutable_data<double>();
  const double relative = std::sqrt(epsilon_of(precision));
  Tensor more;  // allowed(), computed when needed
  std::int64_t worst = -1;
  double most = 0;  // largest amount by which a variance is below its bound
  for (std::int64_t i = 0; i < m; ++i) {
    const double value = values[i * step], bound = relative * std::abs(priors[i]);
    if (value < -bound && !more.defined()) more = contiguous(allowed());
    const double excess = value < -bound ? -value - bound - more.data<double>()[i] : 0;
    if (excess > most) {
      most = excess;
      worst = i;
    }
    values[i * step] = std::max(value, 0.0);
  }
  if (worst >= 0)
    detail::fail(operation, "the variance at test input ", worst, " would be ",
                 contiguous(left.rank() == 1 ? left : diagonal(left)).data<double>()[worst],
                 ", below 0 by more than rounding error (the prior variance is ", priors[worst],
                 "); ", hint);
  return c;
}

Tensor rounding_of_squares(const Tensor& s, double largest_variance, DType precision) {
  const double entries = precision == f32 ? epsilon_of(f32) : 0;
  const double each =
      entries + static_cast<double>(s.size(1)) * std::numeric_limits<double>::epsilon();
  return square(1 + sum(abs(s), 1)) * (each * largest_variance);
}

double epsilon_of(DType dtype) {
  return dtype == f32 ? std::numeric_limits<float>::epsilon()
                      : std::numeric_limits<double>::epsilon();
}

DType least_precise(DType a, DType b) { return a == f32 || b == f32 ? f32 : f64; }

}  // namespace ladon::kernel_blocks
