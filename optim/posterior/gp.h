#pragma once
// Gaussian-process regression from kernel matrices (Rasmussen and Williams 2006, "RW").
//
// An infinitely wide Bayesian network is a Gaussian process whose covariance is its NNGP kernel:
// its posterior is given by a linear solve, without training. With the NTK instead, the mean is the
// limit of gradient descent (gradient_flow.h).
//
// Kernels are plain matrices: K between the N training inputs, K* between M test inputs and the
// training inputs, K** between the test inputs. Everything is computed in f64. For a model:
//
//   const auto limit = infinite::limit(model).with_landmarks(x);  // the same for all three
//   const auto of = [&](auto&... x) { return gram(limit, x..., infinite::Get::nngp).nngp; };
//   const GaussianProcess gp(of(x), y, {.noise = 0.1});
//   gp.predict(of(test, x), of(test)).mean;
//   gp.log_marginal_likelihood();

#include <concepts>
#include <memory>
#include <utility>

#include "ladon/optim/posterior/solver.h"

namespace ladon {

/// A Gaussian belief about test outputs. Outputs are independent and share the covariance.
struct GpPrediction {
  Tensor mean;  ///< [M, O]
  /// [M, M], or variances [M], in the shape of the test kernel; or undefined.
  Tensor covariance = {};
  /// Bounds on |exact − given|, elementwise and up to rounding. Undefined if the solver is exact,
  /// and if only the mean was computed. (Variances are the midpoint of the remaining interval;
  /// covariances are its upper end, which keeps the matrix positive semi-definite.)
  Tensor mean_error = {}, covariance_error = {};

  Tensor variance() const;  ///< [M]: the covariance's diagonal. Throws Error if there is no
                            ///< covariance.
};

/// Prediction of each target i from all others. Variances include the noise.
struct LeaveOneOut {
  Tensor mean;             ///< [N, O]
  Tensor variance;         ///< [N]
  double log_density = 0;  ///< Σ ln p(y_io | the others), over targets and outputs.
};

/// The posterior of f ~ GP(0, K) given targets y = f + N(0, σ²), by a Solver of A = K + σ²·I.
/// Several outputs share one kernel.
///
///   GaussianProcess(kernel, y, {.noise = 0.1});                              // a matrix in memory
///   GaussianProcess(store_factor(gram, folder, {.noise = 0.1}), y);             // on disk, of
///                          // store_gram(limit, x, folder, {.get = infinite::Get::nngp})
///   GaussianProcess(distribute_factor(gram, {.noise = 0.1}), y);                // of many ranks
///   GaussianProcess(CgSolver(kernel_map(gram), {.noise = 0.1}), y);          // without a factor
///
/// A solver that is not exact comes with error bounds. With A·x = y − r for the targets and A·z =
/// k* − s for a test input both errors are products of two residuals:
///
///   k*ᵀA⁻¹y  = k*ᵀx + zᵀr + sᵀA⁻¹r,        |sᵀA⁻¹r| ≤ √(sᵀA⁻¹s · rᵀA⁻¹r);
///   k*ᵀA⁻¹k* = (k* + s)ᵀz + sᵀA⁻¹s;
///
/// A mean computed alone is k*ᵀx, without z, and has no bound here: its error is k*ᵀA⁻¹r, at most
/// √(k** · rᵀA⁻¹r), where weights().unknown bounds rᵀA⁻¹r. leave_one_out(), amplitude() and the
/// evidence are as accurate as the solver's tolerances.
class GaussianProcess {
 public:
  /// kernel [N, N], targets [N] or [N, O]. Throws Error where shapes disagree, the kernel is not
  /// symmetric, a value is not finite, noise or jitter is negative, and if K + noise + jitter is
  /// not positive definite, naming the smallest eigenvalue and a sufficient jitter.
  GaussianProcess(const infinite::KernelMatrix& kernel, const Tensor& targets,
                  const GpOptions& options = {});
  /// The solver is shared; it determines from which threads the process may be used.
  GaussianProcess(std::shared_ptr<const Solver> solver, const Tensor& targets);
  template <std::derived_from<Solver> S>
  GaussianProcess(S solver, const Tensor& targets)
      : GaussianProcess(std::make_shared<const S>(std::move(solver)), targets) {}

  /// The posterior of f (without noise) at test inputs. cross [M, N]; test [M, M] gives the
  /// covariance, [M] the variances, an undefined one the mean alone. Variances that rounding makes
  /// negative are set to 0. Throws Error if a variance is negative by more than rounding, and if
  /// matrices of known kind (infinite::KernelMatrix, StoredGram) mix an NNGP kernel with an NTK.
  GpPrediction predict(const infinite::KernelMatrix& cross,
                       const infinite::KernelMatrix& test = {}) const;

  /// ln p(Y) under the prior, summed over the outputs: the log evidence of the kernel. Throws Error
  /// if the solver cannot give its determinant.
  double log_marginal_likelihood() const;

  /// Prediction of every target from all others, without refitting.
  LeaveOneOut leave_one_out() const;

  /// The factor a that maximizes the likelihood of the targets when kernel, noise and jitter are
  /// multiplied by it. Means do not change; variances are multiplied by a, which gives error bars
  /// in units of the targets.
  double amplitude() const;

  /// A⁻¹Y [N, O], with its residual and error bound.
  const LinearSolution& weights() const { return weights_; }

 private:
  const Solver& solver() const;  // throws Error if this was moved from
  std::shared_ptr<const Solver> solver_;
  Tensor targets_;  // [N, O]
  LinearSolution weights_;
};

/// The log marginal likelihood as a recorded operation: kernel [N, N], targets [N] or [N, O] and
/// noise (one element) get gradients, so hyper-parameters of the kernel can be learned. Returns an
/// f64 scalar. The gradient with respect to the kernel is symmetric: K_ij and K_ji each get half
/// the effect of changing both. Twice differentiable. Errors as for GaussianProcess.
Tensor log_marginal_likelihood(const Tensor& kernel, const Tensor& targets, const Tensor& noise,
                               double jitter = 1e-8);

}  // namespace ladon
