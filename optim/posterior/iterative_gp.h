#pragma once
// Gaussian-process regression without a factor of the kernel: by products with it, and with bounds on
// what that leaves.
//
// A Cholesky factor takes N³/3 multiplications and N² numbers of memory; conjugate gradients take a
// few dozen products of the kernel with the targets, and of the kernel no more than a tile at a time.

#include "ladon/layers/infinite/gram/stored.h"
#include "ladon/optim/posterior/conjugate_gradients.h"

namespace ladon {

class LowRankPlusNoise;

/// A kernel [N, N] as what can be asked of it.
struct KernelMap {
  Tensor diagonal;                          ///< [N]
  LinearMap multiply;                       ///< [N, k] → [N, k]
  std::function<Tensor(std::int64_t)> row;  ///< [N]
};
/// Of a matrix in memory, checked as GaussianProcess does.
KernelMap kernel_map(const Tensor& kernel);
/// Of one on disk, which must outlive the map.
KernelMap kernel_map(const infinite::StoredGram& kernel);

struct IterativeGpOptions {
  double noise = 0;         ///< Variance σ² of the noise on the targets.
  double jitter = 1e-8;     ///< As of GpOptions. One of the two must be positive.
  std::int64_t rank = 100;  ///< Of the preconditioner: rows of the kernel that are asked for.
  double tolerance = 1e-8;  ///< For the targets: ‖y − A·x‖/‖y‖.
  /// For test inputs. Variances err by its square.
  double test_tolerance = 1e-4;
  int max_iterations = 1000;
  std::int64_t at_once = 256;  ///< Test inputs that share products, N numbers each.
  std::function<void(const CgProgress&)> progress = {};
};

/// Each exact value is within `…_error` of what is given, but for rounding.
struct BoundedPrediction {
  Tensor mean, mean_error;          ///< [M, O]
  Tensor variance, variance_error;  ///< [M]; undefined of predict_mean().
};

/// The posterior of GaussianProcess with the same kernel, targets, noise and jitter, A = K + s·I.
///
/// The bounds. Of the weights x ≈ A⁻¹y the residual r = y − A·x is known, and of a pivoted Cholesky
/// factor that P = LLᵀ + s·I ⪯ A, so |uᵀA⁻¹v| ≤ √(uᵀP⁻¹u · vᵀP⁻¹v). A mean k*ᵀx lacks k*ᵀA⁻¹r, where
/// k*ᵀA⁻¹k* is at most k** too (no posterior variance is negative); and since k* = K^½·u with |u|² ≤ k**,
/// and λ^½/(λ + s) ≤ 1/(2√s) for λ ≥ 0:
///
///   |k*ᵀA⁻¹r| ≤ min( √(min(k**, k*ᵀP⁻¹k*) · rᵀP⁻¹r),  √k** · ‖r‖/(2√s) ).
///
/// With z ≈ A⁻¹k* solved for as well, s* = k* − A·z, both errors are products of two residuals:
///
///   k*ᵀA⁻¹y  = k*ᵀx + zᵀr + s*ᵀA⁻¹r,         |s*ᵀA⁻¹r| ≤ √(s*ᵀP⁻¹s* · rᵀP⁻¹r);
///   k*ᵀA⁻¹k* = (k* + s*)ᵀz + s*ᵀA⁻¹s*,       0 ≤ s*ᵀA⁻¹s* ≤ s*ᵀP⁻¹s*.
class IterativeGaussianProcess {
 public:
  /// targets [N] or [N, O]. Solves for the weights. Throws Error where shapes disagree, noise and
  /// jitter are both 0, and as conjugate_gradients() does of a kernel that is not positive definite.
  IterativeGaussianProcess(KernelMap kernel, const Tensor& targets,
                           const IterativeGpOptions& options = {});

  /// cross [M, N], variances k** [M]. Without a solve, so without variances.
  BoundedPrediction predict_mean(const Tensor& cross, const Tensor& variances) const;
  /// With variances of f: solves for every test input.
  BoundedPrediction predict(const Tensor& cross, const Tensor& variances) const;

  const CgResult& solved() const { return solved_; }  ///< Weights, and how near they are.
  std::int64_t rank() const { return rank_; }         ///< Of the preconditioner.

 private:
  CgResult solve(const Tensor& b, double tolerance) const;  // A⁻¹·b

  KernelMap kernel_;
  IterativeGpOptions options_;
  double ridge_ = 0;
  std::int64_t rank_ = 0;
  std::shared_ptr<const LowRankPlusNoise> near_;  // P
  CgResult solved_;
  Tensor energy_;  // [O]: rᵀP⁻¹r
};

}  // namespace ladon
