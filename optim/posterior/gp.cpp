// RW stands for Rasmussen and Williams 2006. K, K* and K** are the kernels between training inputs,
// between test and training inputs, and between test inputs; Y are the targets, A = K + (σ² +
// jitter·mean K_ii)·I, and α = A⁻¹Y.

#include "ladon/optim/posterior/gp.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/held.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

constexpr const char* operation = "GaussianProcess";

// ln N(Y | 0, A) over the columns of Y, from tr(YᵀA⁻¹Y) and ln det A    (RW 2.30):
//   −½ tr(YᵀA⁻¹Y) − ½ O ln det A − ½ N O ln 2π
double log_density(const Tensor& targets, double squares, double log_determinant) {
  const double n = static_cast<double>(targets.size(0)), outputs = targets.size(1);
  return -0.5 * squares - 0.5 * outputs * log_determinant -
         0.5 * n * outputs * std::log(2 * std::numbers::pi);
}

/// half_solve() of a solver for b [N, k], checked; undefined if the solver has no factor.
Tensor checked_half(const Solver& solver, const Tensor& b) {
  const Tensor v = solver.half_solve(b);
  if (v.defined()) kernel_blocks::check_solved(operation, "half_solve", "L⁻¹·B", v, b.shape());
  return v;
}

// A⁻¹ of a symmetric positive definite A.   dA⁻¹ = −A⁻¹ dA A⁻¹
Tensor inverse(const Tensor& a, const Tensor& factor) {
  return record("inverse", lapack::cholesky_inverse(factor), {a},
                [](const Tensor& g, const Tensor& y) { return -matmul(y, matmul(g, y)); });
}

// ln N(Y | 0, A) as an operation on A [N, N] and Y [N, O]; `factor` is A's Cholesky factor. Its
// gradients with respect to A and Y, with α = A⁻¹Y, are
//   dA = ½ (ααᵀ − O A⁻¹)    (RW 5.9),   dY = −α
Tensor log_normal(const Tensor& a, const Tensor& y, const Tensor& factor) {
  const Tensor weights = lapack::cholesky_solve(factor, y.detach());
  const Tensor value =
      scalar(log_density(y.detach(), number_of("GaussianProcess", dot(y.detach(), weights)),
                         2 * number_of("GaussianProcess", sum(log(diagonal(factor))))),
             f64);
  return record_joint(
      "log_marginal_likelihood", value, {a, y},
      [a = saved(a), y = saved(y), factor, weights](const Tensor& g, detail::GradientSink& sink) {
        if (!grad_enabled() && !sink.needs(0)) return sink.give(1, -(g * weights));
        const Tensor a_inverse = inverse(a, factor);
        const Tensor alpha = grad_enabled() ? matmul(a_inverse, y) : weights;
        const double outputs = static_cast<double>(alpha.size(1));
        if (sink.needs(0))  // [N, O] · [O, N] → [N, N]
          sink.give(0, (matmul(alpha, transpose(alpha)) - outputs * a_inverse) * (0.5 * g));
        if (sink.needs(1)) sink.give(1, -(g * alpha));
      });
}

// Lower bounds on the diagonal of A, [M, N]: one bound on A_jj from each test input i. By the
// Cauchy–Schwarz inequality K*_ij² ≤ A_jj·q_i with q_i = K*_i A⁻¹ K*_iᵀ; k is K* and s is K* A⁻¹,
// both [M, N].
Tensor least(const Tensor& k, const Tensor& s) {
  const Tensor q = sum(k * s, {1}, Dims::keep);  // [M, 1]
  return square(k) / maximum(q, std::numeric_limits<double>::min());
}

}  // namespace

Tensor GpPrediction::variance() const {
  LADON_CHECK(covariance.defined(), "GpPrediction::variance",
              "there is no covariance; pass predict() the kernel of the test inputs");
  return covariance.rank() == 1 ? covariance : clone(diagonal(covariance));
}

GaussianProcess::GaussianProcess(const infinite::KernelMatrix& kernel, const Tensor& targets,
                                 const GpOptions& options)
    : GaussianProcess(DenseFactor(kernel, options, operation), targets) {}

GaussianProcess::GaussianProcess(std::shared_ptr<const Solver> solver, const Tensor& targets)
    : solver_(std::move(solver)) {
  LADON_CHECK(solver_, operation, "the solver is null; pass a Solver");
  targets_ = clone(kernel_blocks::target_block(operation, "the targets", targets, solver_->size()));
  weights_ = solver_->solve(targets_);
  kernel_blocks::check_solution(operation, "solve", weights_, targets_);
}

const Solver& GaussianProcess::solver() const { return detail::held(operation, solver_); }

// RW algorithm 2.1:  mean = K* α,  V = L⁻¹ K*ᵀ,  covariance = K** − VᵀV    (RW 2.25, 2.26)
GpPrediction GaussianProcess::predict(const infinite::KernelMatrix& cross,
                                      const infinite::KernelMatrix& test) const {
  constexpr std::string_view caller = "GaussianProcess::predict", among = "the training kernel";
  infinite::check_one_kind(caller, among, solver().kind(), "the cross kernel", cross.kind());
  infinite::check_one_kind(caller, among, solver().kind(), "the test kernel", test.kind());
  infinite::check_one_kind(caller, "the cross kernel", cross.kind(), "the test kernel",
                           test.kind());
  const Tensor k =
      kernel_blocks::cross_block(caller, "the cross kernel", cross, -1, targets_.size(0));
  GpPrediction posterior{matmul(k, weights_.x)};  // [M, N] · [N, O] → [M, O]
  if (!test.defined()) return posterior;
  const Tensor prior = kernel_blocks::test_block(caller, test, k.size(0));
  const bool variances = prior.rank() == 1;
  const Tensor columns = transpose(k);  // [N, M]
  const bool exact_weights = !weights_.residual.defined();
  const DType precision = kernel_blocks::least_precise(
      solver().precision(), kernel_blocks::least_precise(cross.dtype(), test.dtype()));
  const auto proper = [&](const Tensor& left, const std::function<Tensor()>& allowed) {
    return kernel_blocks::proper_covariance(caller, left, prior, precision, allowed,
                                            kernel_blocks::one_kernel);
  };
  const auto rounding = [&](const Tensor& solved) {  // solved = A⁻¹·K*ᵀ [N, M]
    const Tensor s = transpose(solved), train = solver().variances();
    return kernel_blocks::rounding_of_squares(s, prior, train.defined() ? train : least(k, s),
                                              precision);
  };
  if (const Tensor v = exact_weights ? checked_half(solver(), columns) : Tensor(); v.defined()) {
    const Tensor known = variances ? sum(square(v), 0) : matmul(transpose(v), v);
    posterior.covariance = proper(prior - known, [&] {
      const LinearSolution solved = solver().solve(columns);
      kernel_blocks::check_solution(operation, "solve", solved, columns);
      return rounding(solved.x);
    });
    return posterior;
  }
  const LinearSolution z = solver().solve_for_squares(columns);
  kernel_blocks::check_solution(operation, "solve_for_squares", z, columns);
  if (!exact_weights) posterior.mean = posterior.mean + matmul(transpose(z.x), weights_.residual);
  if (z.residual.defined()) {
    const Tensor unknown = unsqueeze(z.unknown, 1);  // [M, 1]
    if (!exact_weights) posterior.mean_error = sqrt(unknown * weights_.unknown);
    if (!variances) posterior.covariance_error = sqrt(unknown * z.unknown);
  }
  if (variances) {
    const QuadraticForms known = quadratic_forms(columns, z);
    posterior.covariance = proper(prior - known.value, [&] {
      return known.error.defined() ? rounding(z.x) + known.error : rounding(z.x);
    });
    posterior.covariance_error = known.error;
  } else {  // K*A⁻¹K*ᵀ = K*Z + ZᵀS + SᵀA⁻¹S, with the solution Z and its residual S
    Tensor known = matmul(k, z.x);
    if (z.residual.defined()) known = known + matmul(transpose(z.x), z.residual);
    posterior.covariance = proper(prior - known, [&] { return rounding(z.x); });
  }
  return posterior;
}

double GaussianProcess::log_marginal_likelihood() const {
  const double log_determinant = solver().log_determinant();
  LADON_CHECK(std::isfinite(log_determinant), operation, "the solver's log_determinant() is ",
              log_determinant, "; it must be finite");
  return log_density(targets_,
                     number_of("GaussianProcess", sum(quadratic_forms(targets_, weights_).value)),
                     log_determinant);
}

// Leave-one-out variance and mean of target y_i, with P = A⁻¹ and α = P·y:
//   σ²_i = 1/P_ii,  μ_i = y_i − α_i/P_ii    (RW 5.12),
//   ln p(y_i | all other targets) = −½ ln 2πσ²_i − (y_i − μ_i)²/(2σ²_i)    (RW 5.10)
LeaveOneOut GaussianProcess::leave_one_out() const {
  const Tensor diagonal = solver().inverse_diagonal();
  kernel_blocks::check_solved(operation, "inverse_diagonal", "the diagonal of A⁻¹", diagonal,
                              {targets_.size(0)});
  const Tensor variance = reciprocal(diagonal);
  const Tensor error = weights_.x * unsqueeze(variance, 1);  // y_i − μ_i, [N, O]
  const double outputs = static_cast<double>(targets_.size(1));
  const double log_density =
      -0.5 * (outputs * number_of("GaussianProcess", sum(log(variance * (2 * std::numbers::pi)))) +
              number_of("GaussianProcess", dot(error, weights_.x)));
  return {targets_ - error, variance, log_density};
}

// ln N(y | 0, aA) = −yᵀA⁻¹y/(2a) − ½ N ln a + …  is largest at a = yᵀA⁻¹y/N.
double GaussianProcess::amplitude() const {
  solver();
  return number_of("GaussianProcess", sum(quadratic_forms(targets_, weights_).value)) /
         static_cast<double>(targets_.count());
}

Tensor log_marginal_likelihood(const Tensor& kernel, const Tensor& targets, const Tensor& noise,
                               double jitter) {
  constexpr const char* caller = "log_marginal_likelihood";
  const Tensor k = kernel_blocks::symmetric_block(caller, "the kernel", kernel.detach());
  const Tensor y = kernel_blocks::target_block(caller, "the targets", targets.detach(), k.size(0));
  check_floating(caller, noise);
  LADON_CHECK(noise.count() == 1, caller, "the noise must have one element, got shape ",
              noise.shape());
  const kernel_blocks::Ridge ridge =
      kernel_blocks::ridge_of(caller, diagonal(k), number_of(caller, noise.detach()), jitter);
  const Tensor factor = kernel_blocks::factorize(caller, k, ridge);
  // A = K + (σ² + jitter·mean K_ii)·I, recorded; its factor is already computed.
  const Tensor recorded = cast(kernel, f64);
  const Tensor on_diagonal = reshape(cast(noise, f64), {}) + mean(diagonal(recorded)) * jitter;
  return log_normal(recorded + on_diagonal * eye(k.size(0), f64),
                    reshape(cast(targets, f64), y.shape()), factor);
}

}  // namespace ladon
