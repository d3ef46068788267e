#pragma once
// Gaussian-process regression from kernel matrices (Rasmussen and Williams 2006, "RW").
//
// An infinitely wide Bayesian network is a Gaussian process whose covariance is its NNGP kernel:
// what it believes after seeing data is given by a linear solve, without training. With the NTK in
// the kernel's place the mean is where gradient descent ends (flow/gradient_flow.h).
//
// Kernels come as plain matrices: K between the N training inputs, K* between M test inputs and
// these, K** between the test inputs. Everything is computed in f64. Of a model:
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

/// A Gaussian belief about test outputs. Outputs share the covariance and are independent.
struct GpPrediction {
  Tensor mean;  ///< [M, O]
  /// [M, M], or variances [M], as the test kernel was given; or undefined.
  Tensor covariance = {};
  /// Bounds on |exact − given|, elementwise and up to rounding. Undefined where the solver is
  /// exact, and for a mean alone. (Variances are the middle of the interval that is left,
  /// covariances its upper end, which keeps the matrix positive semi-definite.)
  Tensor mean_error = {}, covariance_error = {};

  Tensor variance() const;  ///< [M]: the covariance's diagonal. Throws Error where there is none.
};

/// Predictions of target i by a model without it, for every i. Variances include the noise.
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
/// A solver that is not exact bounds what it leaves. With A·x = y − r of the targets and A·z = k* −
/// s of a test input both errors are products of two residuals,
///
///   k*ᵀA⁻¹y  = k*ᵀx + zᵀr + sᵀA⁻¹r,        |sᵀA⁻¹r| ≤ √(sᵀA⁻¹s · rᵀA⁻¹r);
///   k*ᵀA⁻¹k* = (k* + s)ᵀz + sᵀA⁻¹s;
///
/// A mean alone is k*ᵀx, without z, and has no bound here: it errs by k*ᵀA⁻¹r, at most √(k** ·
/// rᵀA⁻¹r), where weights().unknown bounds rᵀA⁻¹r. leave_one_out(), amplitude() and the evidence
/// are as accurate as the solver's tolerances.
class GaussianProcess {
 public:
  /// kernel [N, N], targets [N] or [N, O]. Throws Error where shapes disagree, the kernel is not
  /// symmetric, a value is not finite, noise or jitter is negative, and where K + noise + jitter
  /// is not positive definite: then it names the smallest eigenvalue and the jitter that would do.
  GaussianProcess(const infinite::KernelMatrix& kernel, const Tensor& targets,
                  const GpOptions& options = {});
  /// The solver is shared, and limits from which threads the process may be used.
  GaussianProcess(std::shared_ptr<const Solver> solver, const Tensor& targets);
  template <std::derived_from<Solver> S>
  GaussianProcess(S solver, const Tensor& targets)
      : GaussianProcess(std::make_shared<const S>(std::move(solver)), targets) {}

  /// The belief about f (without noise) at test inputs. cross [M, N]; test [M, M] gives the
  /// covariance, [M] the variances, an undefined one the mean alone. Variances are never negative:
  /// what rounding leaves below 0 is 0. Throws Error where a variance is negative by more than
  /// rounding, and where matrices that know it (infinite::KernelMatrix, StoredGram) are an NNGP
  /// kernel and an NTK.
  GpPrediction predict(const infinite::KernelMatrix& cross,
                       const infinite::KernelMatrix& test = {}) const;

  /// ln p(Y) under the prior, summed over the outputs: how well the kernel explains the targets.
  /// Throws Error where the solver does not know its determinant.
  double log_marginal_likelihood() const;

  /// Every target predicted from all others, without refitting.
  LeaveOneOut leave_one_out() const;

  /// The factor a that makes the targets most likely when kernel, noise and jitter are multiplied
  /// by it. Means do not change, variances are multiplied by a: the error bars in units of the
  /// targets.
  double amplitude() const;

  /// A⁻¹Y [N, O], and how near it is.
  const LinearSolution& weights() const { return weights_; }

 private:
  const Solver& solver() const;  // throws Error where this was moved from
  std::shared_ptr<const Solver> solver_;
  Tensor targets_;  // [N, O]
  LinearSolution weights_;
};

/// The log marginal likelihood as a recorded operation: kernel [N, N], targets [N] or [N, O] and
/// noise (one element) get gradients, so hyper-parameters of the kernel can be learned. Returns a
/// scalar, f64. Gradients by the kernel are symmetric, each of K_ij and K_ji having half of what a
/// change of both does. Differentiable twice. Errors as for GaussianProcess.
Tensor log_marginal_likelihood(const Tensor& kernel, const Tensor& targets, const Tensor& noise,
                               double jitter = 1e-8);

}  // namespace ladon
