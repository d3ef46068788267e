#pragma once
// Solvers of the linear systems A·x = b of a Gaussian-process posterior, with A = K + (σ² +
// jitter·mean K_ii)·I for a kernel matrix K.
//
// Solvers: a Cholesky factor in memory (DenseFactor, below); in extra/posterior a Cholesky factor
// on disk (stored_factor.h), a Cholesky factor distributed over many ranks (distributed_factor.h),
// and conjugate gradients with error bounds, which only multiply by the matrix (cg_solver.h).

#include <cstdint>
#include <optional>

#include "ladon/core/tensor.h"
#include "ladon/layers/infinite/kernel/kernel_matrix.h"

namespace ladon {

/// Terms added to a kernel's diagonal.
struct GpOptions {
  double noise = 0;      ///< Variance σ² of the noise on the targets.
  double jitter = 1e-8;  ///< Fraction of the mean of the kernel's diagonal, added to the diagonal.
};

/// Solution X ≈ A⁻¹·B for k right-hand sides, the columns of B [N, k].
struct LinearSolution {
  Tensor x;              ///< [N, k]
  Tensor residual = {};  ///< R = B − A·X [N, k]; undefined if X is exact up to rounding.
  Tensor unknown = {};  ///< [k]: upper bound on rᵀA⁻¹r for each column r of R; undefined if R is.
  int iterations = 0;  ///< Iterations of an iterative solver.
};

/// Solver of linear systems with one symmetric positive definite matrix A [N, N]. Right-hand sides
/// and results are f64 matrices [N, k]. A subclass must override size(), solve() and
/// log_determinant().
class Solver {
 public:
  virtual ~Solver() = default;
  virtual std::int64_t size() const = 0;  ///< N, number of rows of A.
  virtual LinearSolution solve(const Tensor& b) const = 0;
  /// ln det A. Throws Error if the solver cannot compute it.
  virtual double log_determinant() const = 0;

  /// L⁻¹·B for a factor A = L·Lᵀ. It gives bᵀA⁻¹b = |L⁻¹b|² at half the cost of solve(). Returns an
  /// undefined tensor if the solver has no factor.
  virtual Tensor half_solve(const Tensor& b) const;
  /// Does what solve() does, for callers that use the solution only in bᵀA⁻¹b. Since the error of
  /// bᵀA⁻¹b is quadratic in the residual, an iterative solver may stop earlier.
  virtual LinearSolution solve_for_squares(const Tensor& b) const { return solve(b); }
  /// The diagonal of A⁻¹, [N]; by default from solves for the N columns of the identity.
  virtual Tensor inverse_diagonal() const;
  /// Prior variances A_ii of the targets, noise included, [N]. From them GaussianProcess::predict
  /// decides whether a negative posterior variance is a rounding error, or shows that the kernel
  /// blocks are inconsistent. If they are undefined (the default), it uses lower bounds from the
  /// cross kernel instead.
  virtual Tensor variances() const { return {}; }

  /// Kind of the kernel K (NNGP or NTK), if known: GaussianProcess::predict throws Error for a
  /// cross kernel of another kind.
  virtual std::optional<infinite::Get> kind() const { return {}; }
  /// f32 if K was rounded to f32, which makes errors of variances larger.
  virtual DType precision() const { return f64; }
};

/// bᵀA⁻¹b for each of k columns b, `value` [k]; `error` [k] bounds its error if the solution x has
/// a residual r:
///   bᵀA⁻¹b = (b + r)ᵀx + rᵀA⁻¹r,   0 ≤ rᵀA⁻¹r ≤ unknown.
struct QuadraticForms {
  Tensor value, error = {};
};
QuadraticForms quadratic_forms(const Tensor& b, const LinearSolution& solution);

/// Solver by a Cholesky factor in memory (Golub and Van Loan 2013, §4.2).
class DenseFactor : public Solver {
 public:
  /// Factorizes A for a kernel [N, N]. Throws Error for another shape, an asymmetric or non-finite
  /// kernel, a noise or jitter that is negative or not finite, and if A is not positive definite,
  /// naming its smallest eigenvalue and a sufficient jitter. Error messages begin with `operation`.
  explicit DenseFactor(const infinite::KernelMatrix& kernel, const GpOptions& options = {},
                       const char* operation = "DenseFactor");

  std::int64_t size() const override { return factor_.size(0); }
  LinearSolution solve(const Tensor& b) const override;
  double log_determinant() const override;
  Tensor half_solve(const Tensor& b) const override;
  Tensor inverse_diagonal() const override;
  Tensor variances() const override { return variances_; }
  std::optional<infinite::Get> kind() const override { return kind_; }
  DType precision() const override { return precision_; }

 private:
  Tensor factor_, variances_;  // L [N, N], A_ii [N]
  std::optional<infinite::Get> kind_;
  DType precision_;
};

}  // namespace ladon
