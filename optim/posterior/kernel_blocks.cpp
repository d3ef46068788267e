#include "ladon/optim/posterior/kernel_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/reductions/reduce.h"
#include "ladon/core/kernels/reductions/symmetry.h"
#include "ladon/core/linalg/cholesky.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/optim/posterior/solver.h"

namespace ladon::kernel_blocks {
namespace {

Tensor plain(std::string_view operation, std::string_view what, const Tensor& x) {
  LADON_CHECK(x.defined(), operation, what, " must be floating-point, got an undefined tensor");
  LADON_CHECK(is_floating(x.dtype()), operation, what, " must be floating-point, got ", x.dtype());
  check_plain(std::string(operation).c_str(), x, what);
  return contiguous(cast(x, f64));
}

void check_finite(std::string_view operation, std::string_view what, const Tensor& x) {
  if (std::isfinite(number_of("GaussianProcess", sum(x)))) return;  // then all elements are finite
  const double* values = x.data<double>();
  const std::int64_t columns = x.rank() == 2 ? std::max<std::int64_t>(x.size(1), 1) : 1;
  for (std::int64_t i = 0; i < x.count(); ++i)
    LADON_CHECK(std::isfinite(values[i]), operation, "the element of ", what, " at row ",
                i / columns, ", column ", i % columns, " is ", values[i], "; all must be finite");
}

/// Rounding errors of the elements of a kernel matrix. An element is often a difference of larger
/// numbers (a centred kernel, a kernel given other inputs), so its error is not proportional to its
/// own size. The size of these numbers is not known. It is estimated by the median of all
/// variances, which a few inputs of another scale do not change, and by the variances of the two
/// inputs of the element.
struct ElementErrors {
  ElementErrors(const Tensor& block, DType precision)
      : usual(std::pow(epsilon_of(precision), 0.75) * kernels::median_magnitude(diagonal(block))),
        relative(64 * epsilon_of(precision)) {}

  /// Bound on the error of x_ij, given x_ii and x_jj.
  double operator()(double a, double b) const { return std::max(usual, relative * std::max(a, b)); }

  double usual, relative;
};

/// Throws Error naming the first pair of elements k_ij and k_ji that differ by more than rounding.
/// `difference` is the largest |k_ij − k_ji|.
void check_symmetric(std::string_view operation, std::string_view what, const Tensor& k,
                     double difference, DType precision) {
  if (difference == 0) return;  // most kernels are exactly symmetric
  const ElementErrors error(k, precision);
  if (difference <= error.usual) return;
  const double relative = std::sqrt(epsilon_of(precision));
  const std::int64_t n = k.size(0);
  const double* v = k.data<double>();
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) {
      const double a = std::max(v[i * n + i], 0.0), b = std::max(v[j * n + j], 0.0);
      const double below = v[i * n + j], above = v[j * n + i];
      const double scale =
          std::max({std::sqrt(a) * std::sqrt(b), std::abs(below), std::abs(above)});
      if (!(std::abs(below - above) <= relative * scale + error(a, b)))
        detail::fail(operation, what, " is not symmetric: [", i, ", ", j, "] is ", below, ", [", j,
                     ", ", i, "] is ", above);
    }
}

}  // namespace

Tensor symmetric_block(std::string_view operation, std::string_view what, const Tensor& x) {
  const Tensor k = plain(operation, what, x);
  LADON_CHECK(k.rank() == 2 && k.size(0) == k.size(1) && k.size(0) >= 1, operation, what,
              " must be square, [N, N] with N ≥ 1, got ", k.shape());
  const kernels::Symmetry found = kernels::symmetry(k);
  if (!std::isfinite(found.largest)) check_finite(operation, what, k);
  check_symmetric(operation, what, k, found.difference, x.dtype());
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

void check_solved(std::string_view operation, std::string_view function, std::string_view what,
                  const Tensor& x, const Shape& shape) {
  const std::string of = detail::join("what the solver's ", function, "() returns as ", what);
  LADON_CHECK(x.defined(), operation, of, " is an undefined tensor; it must be f64 ", shape);
  LADON_CHECK(x.dtype() == f64 && x.shape() == shape, operation, of, " is ", x.dtype(), " ",
              x.shape(), "; it must be f64 ", shape);
  check_finite(operation, of, contiguous(x.detach()));
}

void check_solution(std::string_view operation, std::string_view function, const LinearSolution& y,
                    const Tensor& b) {
  check_solved(operation, function, "x", y.x, b.shape());
  LADON_CHECK(y.residual.defined() == y.unknown.defined(), operation, "the solver's ", function,
              "() returns only one of residual and unknown; both must be defined, or neither");
  if (!y.residual.defined()) return;
  check_solved(operation, function, "residual", y.residual, b.shape());
  check_solved(operation, function, "unknown", y.unknown, {b.size(1)});
}

namespace {

/// Throws Error if a covariance of the block exceeds √(product of its variances) by more than √ε
/// and the errors of the variances.
void check_covariances(std::string_view operation, std::string_view what, const Tensor& block,
                       DType precision) {
  const std::int64_t m = block.size(0);
  const double* k = block.data<double>();
  const ElementErrors error(block, precision);
  const auto largest = [&](std::int64_t i, std::int64_t j) {
    const double a = k[i * m + i], b = k[j * m + j], room = error(a, b);
    if (std::min(a, b) < -room) return std::numeric_limits<double>::infinity();
    return (1 + std::sqrt(epsilon_of(precision))) * std::sqrt(std::max(a, 0.0) + room) *
           std::sqrt(std::max(b, 0.0) + room);
  };
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      if (std::abs(k[i * m + j]) > largest(i, j))
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
  Tensor more;  // result of allowed(), which is called only when needed
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

Tensor rounding_of_squares(const Tensor& s, const Tensor& prior, const Tensor& train,
                           DType precision) {
  const double entries = precision == f32 ? epsilon_of(f32) : 0;
  const double each =
      entries + static_cast<double>(s.size(1)) * std::numeric_limits<double>::epsilon();
  const Tensor variance = prior.rank() == 1 ? prior : diagonal(prior);  // [M]
  const Tensor known = relu(cast(train, f64));                          // [N] or [M, N]
  const Tensor own = where(greater(variance, 0), variance, mean(known, -1));
  const Tensor others = sum(abs(s) * sqrt(known), 1);  // [M]
  return square(sqrt(own) + others) * each;
}

double epsilon_of(DType dtype) {
  return dtype == f32 ? std::numeric_limits<float>::epsilon()
                      : std::numeric_limits<double>::epsilon();
}

DType least_precise(DType a, DType b) { return a == f32 || b == f32 ? f32 : f64; }

}  // namespace ladon::kernel_blocks
