#pragma once
// Solvers of the linear systems of an exact posterior, with A = K + (σ² + jitter·mean K_ii)·I.
//
// Solvers: the Cholesky factor of a matrix in memory (DenseFactor, below), of one on disk
// (extra/posterior/stored_factor.h), or of one in the memory of many ranks (distributed_factor.h
// there); and conjugate gradients for a matrix that can only be multiplied (cg_solver.h there),
// which bound their error.

#include <cstdint>
#include <optional>

#include "ladon/core/tensor.h"
#include "ladon/layers/infinite/kernel/kernel_matrix.h"

namespace ladon {

/// Additions to a kernel's diagonal.
struct GpOptions {
  double noise = 0;      ///< Variance σ² of the noise on the targets.
  double jitter = 1e-8;  ///< Added too, times the mean of the diagonal.
};

/// X ≈ A⁻¹·B for k right-hand sides.
struct LinearSolution {
  Tensor x;              ///< [N, k]
  Tensor residual = {};  ///< R = B − A·X [N, k]; undefined if X is exact but for rounding.
  Tensor unknown = {};  ///< Upper bound on rᵀA⁻¹r for each residual r, [k]; undefined likewise.
  int iterations = 0;   ///< Iterations of an iterative solver.
};

/// Linear systems with one A [N, N], symmetric and positive definite. Right-hand sides and results
/// are f64 matrices [N, k]. A subclass must override size(), solve() and log_determinant().
class Solver {
 public:
  virtual ~Solver() = default;
  virtual std::int64_t size() const = 0;  ///< N
  virtual LinearSolution solve(const Tensor& b) const = 0;
  /// ln det A. Throws Error if the solver cannot compute it.
  virtual double log_determinant() const = 0;

  /// L⁻¹·B for a factor A = L·Lᵀ: gives bᵀA⁻¹b = |L⁻¹b|² with half the work of solve(). Undefined
  /// if there is no factor.
  virtual Tensor half_solve(const Tensor& b) const;
  /// Like solve(), for use in bᵀA⁻¹b only. The error of that is quadratic in the residual, so
  /// iterations may stop earlier.
  virtual LinearSolution solve_for_squares(const Tensor& b) const { return solve(b); }
  /// The diagonal of A⁻¹, [N]; by default from N solves.
  virtual Tensor inverse_diagonal() const;

  /// Kind of the kernel K, if known: GaussianProcess::predict refuses a cross kernel of another
  /// kind.
  virtual std::optional<infinite::Get> kind() const { return {}; }
  /// f32 if K was rounded to it, which makes errors of variances larger.
  virtual DType precision() const { return f64; }
};

/// bᵀA⁻¹b for each column [k]; `error` bounds its error if x is not exact:
///   bᵀA⁻¹b = (b + r)ᵀx + rᵀA⁻¹r,   0 ≤ rᵀA⁻¹r ≤ unknown.
struct QuadraticForms {
  Tensor value, error = {};
};
QuadraticForms quadratic_forms(const Tensor& b, const LinearSolution& solution);

/// Cholesky factor in memory (Golub and Van Loan 2013, §4.2).
class DenseFactor : public Solver {
 public:
  /// kernel [N, N]. Throws Error for another shape, an asymmetric or non-finite kernel, a negative
  /// noise or jitter, and an A that is not positive definite, naming its smallest eigenvalue and a
  /// sufficient jitter. `operation` is the operation named in an Error.
  explicit DenseFactor(const infinite::KernelMatrix& kernel, const GpOptions& options = {},
                       const char* operation = "DenseFactor");

  std::int64_t size() const override { return factor_.size(0); }
  LinearSolution solve(const Tensor& b) const override;
  double log_determinant() const override;
  Tensor half_solve(const Tensor& b) const override;
  Tensor inverse_diagonal() const override;
  std::optional<infinite::Get> kind() const override { return kind_; }
  DType precision() const override { return precision_; }

 private:
  Tensor factor_;  // L, [N, N]
  std::optional<infinite::Get> kind_;
  DType precision_;
};

}  // namespace ladon
