#pragma once
// Solvers of the linear systems of an exact posterior, with A = K + (σ² + jitter·mean K_ii)·I.
//
// A matrix in memory answers by its Cholesky factor (DenseFactor, below), one on disk by a factor
// on disk (solvers/stored_factor.h) or in the memory of many ranks (solvers/distributed_factor.h),
// and one that can only be multiplied by conjugate gradients (solvers/cg_solver.h), which know how
// far they are from the answer.

#include <cstdint>
#include <optional>

#include "ladon/core/tensor.h"
#include "ladon/layers/infinite/kernel/kernel_matrix.h"

namespace ladon {

/// Additions to a kernel's diagonal.
struct GpOptions {
  double noise = 0;      ///< Variance σ² of the noise on the targets.
  double jitter = 1e-8;  ///< As well, times the mean of the diagonal.
};

/// X ≈ A⁻¹·B for k right sides.
struct LinearSolution {
  Tensor x;              ///< [N, k]
  Tensor residual = {};  ///< R = B − A·X [N, k]; undefined where X is exact but for rounding.
  Tensor unknown = {};   ///< At least rᵀA⁻¹r of each residual r, [k]; undefined as well.
  int iterations = 0;    ///< Of what iterates.
};

/// Linear systems with one A [N, N], symmetric and positive definite. Right sides and results are
/// f64 matrices [N, k]. To write one, override size(), solve() and log_determinant().
class Solver {
 public:
  virtual ~Solver() = default;
  virtual std::int64_t size() const = 0;  ///< N
  virtual LinearSolution solve(const Tensor& b) const = 0;
  /// ln det A. Throws Error where it is not known.
  virtual double log_determinant() const = 0;

  /// L⁻¹·B of a factor A = L·Lᵀ: enough for bᵀA⁻¹b = |L⁻¹b|², by half the work of solve().
  /// Undefined where there is no factor.
  virtual Tensor half_solve(const Tensor& b) const;
  /// Solution as by solve(), for use in bᵀA⁻¹b. That errs by the square of the residual, so an
  /// iteration may end sooner.
  virtual LinearSolution solve_for_squares(const Tensor& b) const { return solve(b); }
  /// The diagonal of A⁻¹, [N]; by itself N solves.
  virtual Tensor inverse_diagonal() const;

  /// Which kernel K is, where that is known: GaussianProcess::predict refuses a cross kernel of the
  /// other kind.
  virtual std::optional<infinite::Get> kind() const { return {}; }
  /// f32 where K was rounded to it, which leaves larger errors of variances.
  virtual DType precision() const { return f64; }
};

/// bᵀA⁻¹b of each column [k], within `error` of what is given where x is not exact:
///   bᵀA⁻¹b = (b + r)ᵀx + rᵀA⁻¹r,   0 ≤ rᵀA⁻¹r ≤ unknown.
struct QuadraticForms {
  Tensor value, error = {};
};
QuadraticForms quadratic_forms(const Tensor& b, const LinearSolution& solution);

/// A factor in memory (Golub and Van Loan 2013, §4.2).
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
