#pragma once
// Gaussian-process regression from kernel matrices (Rasmussen and Williams 2006, "RW").
//
// An infinitely wide Bayesian network is a Gaussian process whose covariance is its NNGP kernel:
// its posterior is given by a linear solve, without training. If the kernel is the NTK, the
// posterior mean is the function to which gradient descent converges (gradient_flow.h).
//
// Kernels are plain matrices: K between the N training inputs, K* between M test inputs and the
// training inputs, K** between the test inputs. Everything is computed in f64. For a model:
//
//   const auto limit = infinite::limit(model).with_landmarks(x);  // the same for all kernels
//   const auto of = [&](auto&... x) { return gram(limit, x..., infinite::Get::nngp).nngp; };
//   const GaussianProcess gp(of(x), y, {.noise = 0.1});
//   gp.predict(of(test, x), of(test)).mean;
//   gp.log_marginal_likelihood();

#include <concepts>
#include <memory>
#include <utility>

#include "ladon/optim/posterior/solver.h"

namespace ladon {

/// Gaussian predictive distribution of O outputs at M test inputs. Outputs are independent and
/// share the covariance.
struct GpPrediction {
  Tensor mean;  ///< [M, O]
  /// Covariance [M, M] or variances [M], in the shape of the test kernel; undefined if predict()
  /// got no test kernel.
  Tensor covariance = {};
  /// Bounds on the elementwise error of mean and covariance, up to rounding. Undefined if the
  /// solver is exact, and if only the mean was computed. (The solver's bounds leave an interval for
  /// each result. For variances, its midpoint is returned; for a covariance matrix, its upper end,
  /// which keeps the matrix positive semi-definite.)
  Tensor mean_error = {}, covariance_error = {};

  Tensor variance() const;  ///< [M]: the covariance's diagonal. Throws Error if there is no
                            ///< covariance.
};

/// Leave-one-out prediction: predicts each target i from all other targets. Variances include the
/// noise.
struct LeaveOneOut {
  Tensor mean;             ///< [N, O]
  Tensor variance;         ///< [N]
  double log_density = 0;  ///< Σ_io ln p(y_io | all targets except i), over outputs o.
};

/// Posterior of f ~ GP(0, K) given targets y = f + N(0, σ²), by a Solver for A = K + σ²·I. Several
/// outputs share one kernel.
///
///   GaussianProcess(kernel, y, {.noise = 0.1});                           // matrix in memory
///   GaussianProcess(store_factor(gram, folder, {.noise = 0.1}), y);       // matrix on disk, from
///                          // gram = store_gram(limit, x, folder, {.get = infinite::Get::nngp})
///   GaussianProcess(distribute_factor(gram, {.noise = 0.1}), y);          // matrix on many ranks
///   GaussianProcess(CgSolver(kernel_map(gram), {.noise = 0.1}), y);       // conjugate gradients
///
/// If the solver is not exact, predictions have error bounds. Let x solve A·x = y up to the
/// residual r = y − A·x, and let z solve A·z = k* for a test input up to the residual s = k* − A·z.
/// Then the errors of mean and variance are products of two residuals:
///
///   k*ᵀA⁻¹y  = k*ᵀx + zᵀr + sᵀA⁻¹r,        |sᵀA⁻¹r| ≤ √(sᵀA⁻¹s · rᵀA⁻¹r);
///   k*ᵀA⁻¹k* = (k* + s)ᵀz + sᵀA⁻¹s;
///
/// If only the mean is computed, it is k*ᵀx, without z and without an error bound in the result:
/// its error is k*ᵀA⁻¹r, at most √(k** · rᵀA⁻¹r), where weights().unknown bounds rᵀA⁻¹r.
/// leave_one_out(), amplitude() and the evidence are as accurate as the solver's tolerances.
class GaussianProcess {
 public:
  /// kernel [N, N], targets [N] or [N, O]. Throws Error where shapes disagree, the kernel is not
  /// symmetric, a value is not finite, noise or jitter is negative, and if K + noise + jitter is
  /// not positive definite, naming the smallest eigenvalue and a sufficient jitter. Results have no
  /// derivatives; this constructor and predict() throw Error if a tensor that they are given
  /// requires a gradient and recording is on, or has a tangent of jvp. log_marginal_likelihood
  /// below is differentiable.
  GaussianProcess(const infinite::KernelMatrix& kernel, const Tensor& targets,
                  const GpOptions& options = {});
  /// Posterior by a given solver, which is shared. The process may be used by several threads at
  /// once if the solver may. Here and below, throws Error if a result of the solver has another
  /// shape or dtype than Solver says, or is not finite.
  GaussianProcess(std::shared_ptr<const Solver> solver, const Tensor& targets);
  template <std::derived_from<Solver> S>
  GaussianProcess(S solver, const Tensor& targets)
      : GaussianProcess(std::make_shared<const S>(std::move(solver)), targets) {}

  /// Posterior of f (without noise) at M test inputs. cross [M, N] is K*. A test kernel [M, M]
  /// gives the covariance, its diagonal [M] the variances, and without one only the mean is
  /// computed. Variances that rounding makes negative are set to 0. Throws Error if a variance is
  /// negative by more than rounding, if a covariance of the test kernel is impossible for its
  /// variances (this does not find every indefinite kernel, because no eigenvalues are computed),
  /// and if matrices of known kind (infinite::KernelMatrix, StoredGram) mix an NNGP kernel with an
  /// NTK. Only gram() and store_gram() know the kind: a matrix that was computed in another way, or
  /// from theirs by an operation, is not compared.
  GpPrediction predict(const infinite::KernelMatrix& cross,
                       const infinite::KernelMatrix& test = {}) const;

  /// ln p(Y) under the prior, summed over the outputs: the log evidence of the kernel. Throws Error
  /// if the solver cannot give its determinant.
  double log_marginal_likelihood() const;

  /// Leave-one-out predictions of all targets, in closed form.
  LeaveOneOut leave_one_out() const;

  /// The factor a that maximizes the likelihood of the targets when kernel, noise and jitter are
  /// all multiplied by a. Use it to scale variances: a·variance is in units of the targets, and
  /// means do not change.
  double amplitude() const;

  /// The solution A⁻¹Y [N, O] for the targets Y and A = K + σ²·I, with its residual and error
  /// bound.
  const LinearSolution& weights() const& { return weights_; }
  LinearSolution weights() && { return std::move(weights_); }

 private:
  const Solver& solver() const;  // throws Error if this was moved from
  std::shared_ptr<const Solver> solver_;
  Tensor targets_;  // [N, O]
  LinearSolution weights_;
};

/// Log marginal likelihood as a differentiable operation, an f64 scalar: kernel [N, N], targets [N]
/// or [N, O] and noise (one element) get gradients, so hyper-parameters of the kernel can be
/// learned. The gradient with respect to the kernel is symmetric: K_ij and K_ji each get half of
/// the derivative with respect to their common value. Twice differentiable. Throws the Errors of
/// GaussianProcess.
Tensor log_marginal_likelihood(const Tensor& kernel, const Tensor& targets, const Tensor& noise,
                               double jitter = 1e-8);

}  // namespace ladon
