// A is the covariance of the targets y, α = A⁻¹y, δ the difference between a draw of the kernel and
// the limit K, W = [−K*A⁻¹, I], and D₁ and D₂ are the terms defined at the head of first_order.h.

#include "ladon/optim/extra/posterior/first_order.h"

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

constexpr std::string_view operation = "FirstOrder";

Tensor head(const Tensor& x, int axis, std::int64_t n) { return slice(x, axis, {.stop = n}); }

double trace_of_product(const Tensor& a, const Tensor& b) {  // tr(A·Bᵀ)
  return number_of("FirstOrder", sum(a * b));
}

}  // namespace

FirstOrder::FirstOrder(const infinite::KernelMatrix& kernel, const Tensor& targets,
                       const GpOptions& options)
    : kernel_(clone(kernel_blocks::symmetric_block(operation, "the kernel", kernel))),
      precision_(kernel.dtype()) {
  const NoGrad off;
  LADON_CHECK(kernel.kind() != infinite::Get::ntk, operation,
              "the kernel is an NTK, but the expansion in 1/heads is about the prior, whose "
              "covariance is the NNGP kernel; pass .nngp of gram()");
  LADON_CHECK(targets.defined() && targets.rank() > 0, operation,
              "the targets must be [N] or [N, O]");
  const std::int64_t n = targets.size(0), m = kernel_.size(0) - n;
  LADON_CHECK(m >= 0, operation, "there are ", n, " targets for a kernel of ", kernel_.size(0),
              " inputs; the kernel must contain all training inputs, before the test inputs");
  targets_ = clone(kernel_blocks::target_block(operation, "the targets", targets, n));
  const Tensor train = contiguous(head(head(kernel_, 0, n), 1, n));
  const Tensor factor = kernel_blocks::factorize(
      operation, train,
      kernel_blocks::ridge_of(operation, diagonal(train), options.noise, options.jitter));
  inverse_ = lapack::cholesky_inverse(factor);
  weights_ = lapack::cholesky_solve(factor, targets_);
  // K*A⁻¹ is computed by a solve, and not as a product with inverse_, because
  // rounding_of_squares(), which predict() calls, bounds only the errors of a solve.
  const Tensor cross = head(slice(kernel_, 0, {.start = n}), 1, n);  // K* [M, N]
  const Tensor solved = lapack::cholesky_solve(factor, transpose(cross));
  to_test_ = concat({-transpose(solved), eye(m, f64)}, 1);
  log_evidence_limit_ = GaussianProcess(train, targets_, options).log_marginal_likelihood();
}

void FirstOrder::add(const Tensor& one_head) {
  const NoGrad off;
  LADON_CHECK(one_head.shape() == kernel_.shape(), operation,
              "a draw must have the limit's shape, but the draw has shape ", one_head.shape(),
              ", and the limit's kernel has shape ", kernel_.shape());
  const std::int64_t n = targets_.size(0), outputs = targets_.size(1);
  const Tensor delta = kernel_blocks::symmetric_block(operation, "the draw", one_head) - kernel_;
  precision_ = kernel_blocks::least_precise(precision_, one_head.dtype());
  const Tensor columns = head(delta, 1, n), train = head(columns, 0, n);  // [N + M, N], [N, N]
  const Tensor moved = matmul(inverse_, train);                           // A⁻¹δ
  const Tensor pulled = matmul(columns, weights_);                        // δα [N + M, O]
  const Tensor at_train = head(pulled, 0, n);
  const auto o = static_cast<double>(outputs);
  const double d1 = 0.5 * number_of("FirstOrder", dot(weights_, at_train)) -
                    0.5 * o * number_of("FirstOrder", sum(diagonal(moved)));
  const double d2 = -0.5 * number_of("FirstOrder", dot(at_train, matmul(inverse_, at_train))) +
                    0.25 * o * trace_of_product(moved, transpose(moved));
  log_evidence_.add(scalar(d2 + 0.5 * d1 * d1, f64));
  const Tensor w_columns = matmul(to_test_, columns);  // Wδ over training inputs, [M, N]
  const Tensor w_pulled = matmul(to_test_, pulled);    // Wδα [M, O]
  mean_.add(w_pulled * d1 - matmul(w_columns, matmul(inverse_, at_train)));
  const Tensor both = matmul(matmul(to_test_, delta), transpose(to_test_));
  within_.add(both * d1 - matmul(matmul(w_columns, inverse_), transpose(w_columns)));
  const Tensor one = transpose(w_pulled);  // [O, M]
  between_.add(unsqueeze(one, 2) * unsqueeze(one, 1));
}

FirstOrderCoefficients FirstOrder::coefficients() const {
  LADON_CHECK(draws() >= 2, operation, "needs at least two draws of a head, got ", draws());
  return {{number_of("FirstOrder", log_evidence_.mean()),
           number_of("FirstOrder", log_evidence_.standard_error())},
          mean_.mean(),
          mean_.standard_error(),
          within_.mean(),
          within_.standard_error(),
          between_.mean(),
          between_.standard_error()};
}

Tensor FirstOrder::mean(double heads) const {
  const NoGrad off;
  LADON_CHECK(heads > 0, operation, "heads must be positive, got ", heads);
  const std::int64_t n = targets_.size(0);
  const Tensor limit =
      matmul(slice(kernel_, 0, {.start = n}),
             concat({weights_, zeros({kernel_.size(0) - n, targets_.size(1)}, f64)}, 0));
  return std::isfinite(heads) ? limit + coefficients().mean / heads : limit;
}

GpPrediction FirstOrder::predict(double heads) const {
  const NoGrad off;
  const std::int64_t n = targets_.size(0);
  // Covariance for infinitely many heads: [−K*A⁻¹, I]·K·[0, I]ᵀ = K** − K*A⁻¹K*ᵀ.
  GpPrediction y{mean(heads), matmul(to_test_, slice(kernel_, 1, {.start = n}))};
  if (std::isfinite(heads)) {
    const FirstOrderCoefficients c = coefficients();
    y.covariance = y.covariance + (c.within + select(c.between, 0, 0)) / heads;
  }
  const Slice test{.start = n};
  const Tensor prior = at(kernel_, {test, test});
  const auto rounding = [&] {
    return kernel_blocks::rounding_of_squares(head(to_test_, 1, n), prior,
                                              head(diagonal(kernel_), 0, n), precision_);
  };
  y.covariance =
      kernel_blocks::proper_covariance(operation, y.covariance, prior, precision_, rounding,
                                       detail::join("the first-order expansion is not valid for ",
                                                    heads, " heads; use more heads, or mean()"));
  return y;
}

double FirstOrder::log_marginal_likelihood(double heads) const {
  LADON_CHECK(heads > 0, operation, "heads must be positive, got ", heads);
  return log_evidence_limit_ +
         (std::isfinite(heads) ? coefficients().log_evidence.value / heads : 0);
}

}  // namespace ladon
