#include "ladon/optim/posterior/gp.h"

#include <cmath>
#include <numbers>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/lapack.h"
#include "ladon/optim/posterior/solve.h"

namespace ladon {
namespace {

// ln N(Y | 0, A) over the columns of Y, from L and α = A⁻¹Y    (RW 2.30):
//   −½ tr(Yᵀα) − O Σ_i ln L_ii − ½ N O ln 2π
double log_density(const Tensor& factor, const Tensor& targets, const Tensor& weights) {
  const double n = static_cast<double>(targets.size(0)), outputs = targets.size(1);
  return -0.5 * dot(targets, weights).item() - outputs * sum(log(diagonal(factor))).item() -
         0.5 * n * outputs * std::log(2 * std::numbers::pi);
}

// A⁻¹ of a symmetric positive definite A.   dA⁻¹ = −A⁻¹ dA A⁻¹
Tensor inverse(const Tensor& a, const Tensor& factor) {
  return record("inverse", lapack::cholesky_inverse(factor), {a},
                [](const Tensor& g, const Tensor& y) { return -matmul(y, matmul(g, y)); });
}

// ln N(Y | 0, A) as an operation on A [N, N] and Y [N, O]; L is A's factor.
//   dA = ½ (ααᵀ − O A⁻¹)    (RW 5.9),   dY = −α
Tensor log_normal(const Tensor& a, const Tensor& y, const Tensor& factor) {
  const Tensor weights = lapack::cholesky_solve(factor, y.detach());
  const Tensor value = scalar(log_density(factor, y.detach(), weights), f64);
  return record_joint(
      "log_marginal_likelihood", value, {a, y},
      [a = saved(a), y = saved(y), factor, weights](const Tensor& g, GradientSink& sink) {
        if (!grad_enabled() && !sink.needs(0)) return sink.give(1, -(g * weights));
        const Tensor a_inverse = inverse(a, factor);
        const Tensor alpha = grad_enabled() ? matmul(a_inverse, y) : weights;
        const double outputs = static_cast<double>(alpha.size(1));
        if (sink.needs(0))  // [N, O] · [O, N] → [N, N]
          sink.give(0, (matmul(alpha, transpose(alpha)) - outputs * a_inverse) * (0.5 * g));
        if (sink.needs(1)) sink.give(1, -(g * alpha));
      });
}

}  // namespace

GaussianProcess::GaussianProcess(const Tensor& kernel, const Tensor& targets,
                                 const GpOptions& options) {
  constexpr std::string_view operation = "GaussianProcess";
  const Tensor k = kernel_blocks::symmetric_block(operation, "the kernel", kernel);
  targets_ = clone(kernel_blocks::target_block(operation, "the targets", targets, k.size(0)));
  factor_ = kernel_blocks::factorize(
      operation, k, kernel_blocks::ridge_of(operation, diagonal(k), options.noise, options.jitter));
  weights_ = lapack::cholesky_solve(factor_, targets_);
}

// RW algorithm 2.1:  mean = K* α,  V = L⁻¹ K*ᵀ,  covariance = K** − VᵀV    (RW 2.25, 2.26)
Prediction GaussianProcess::predict(const Tensor& cross, const Tensor& test) const {
  constexpr std::string_view operation = "GaussianProcess::predict";
  const Tensor k =
      kernel_blocks::cross_block(operation, "the cross kernel", cross, -1, targets_.size(0));
  Prediction posterior{matmul(k, weights_), {}};  // [M, N] · [N, O] → [M, O]
  if (!test.defined()) return posterior;
  const Tensor prior = kernel_blocks::test_block(operation, test, k.size(0));
  const Tensor v = lapack::solve_triangular(factor_, transpose(k));  // [N, M]
  const Tensor known = prior.rank() == 1 ? sum(square(v), 0) : matmul(transpose(v), v);
  posterior.covariance = kernel_blocks::proper_covariance(prior - known);
  return posterior;
}

double GaussianProcess::log_marginal_likelihood() const {
  return log_density(factor_, targets_, weights_);
}

// With P = A⁻¹:  σ²_i = 1/P_ii,  μ_i = y_i − α_i/P_ii    (RW 5.12),
//   ln p(y_i | the others) = −½ ln 2πσ²_i − (y_i − μ_i)²/(2σ²_i)    (RW 5.10)
LeaveOneOut GaussianProcess::leave_one_out() const {
  const Tensor variance = reciprocal(clone(diagonal(lapack::cholesky_inverse(factor_))));
  const Tensor error = weights_ * unsqueeze(variance, 1);  // y_i − μ_i, [N, O]
  const double outputs = static_cast<double>(targets_.size(1));
  const double log_density = -0.5 * (outputs * sum(log(variance * (2 * std::numbers::pi))).item() +
                                     dot(error, weights_).item());
  return {targets_ - error, variance, log_density};
}

// ln N(y | 0, aA) = −yᵀA⁻¹y/(2a) − ½ N ln a + …  is largest at a = yᵀA⁻¹y/N.
double GaussianProcess::amplitude() const {
  return dot(targets_, weights_).item() / static_cast<double>(targets_.count());
}

Tensor log_marginal_likelihood(const Tensor& kernel, const Tensor& targets, const Tensor& noise,
                               double jitter) {
  constexpr const char* operation = "log_marginal_likelihood";
  const Tensor k = kernel_blocks::symmetric_block(operation, "the kernel", kernel);
  const Tensor y = kernel_blocks::target_block(operation, "the targets", targets, k.size(0));
  check_floating(operation, noise);
  LADON_CHECK(noise.count() == 1, operation, "the noise must have one element, got shape ",
              noise.shape());
  const kernel_blocks::Ridge ridge =
      kernel_blocks::ridge_of(operation, diagonal(k), noise.item(), jitter);
  const Tensor factor = kernel_blocks::factorize(operation, k, ridge);
  // A = K + (σ² + jitter·mean K_ii)·I, recorded; its factor is known already.
  const Tensor recorded = cast(kernel, f64);
  const Tensor on_diagonal = reshape(cast(noise, f64), {}) + mean(diagonal(recorded)) * jitter;
  return log_normal(recorded + on_diagonal * eye(k.size(0), f64),
                    reshape(cast(targets, f64), y.shape()), factor);
}

}  // namespace ladon
