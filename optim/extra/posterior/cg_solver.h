#pragma once
// Solver (solver.h) for A = K + s·I, with s = noise + jitter·mean K_ii. It uses only products of
// the kernel K with vectors, and gives error bounds.
//
// A Cholesky factor takes N³/3 multiplications and memory for N² numbers; conjugate gradients take
// a few dozen products of the kernel with the targets, and need only one tile of the kernel in
// memory at a time.

#include <functional>
#include <memory>

#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/optim/extra/posterior/conjugate_gradients.h"
#include "ladon/optim/posterior/solver.h"

namespace ladon {

class LowRankPlusNoise;

/// Kernel matrix K [N, N] given by its diagonal, its rows and its products with vectors.
struct KernelMap {
  Tensor diagonal;                          ///< [N]
  LinearMap multiply;                       ///< V ↦ K·V, [N, k] → [N, k]
  std::function<Tensor(std::int64_t)> row;  ///< i ↦ row i of K, [N]
  std::optional<infinite::Get> kind = {};   ///< NNGP kernel or NTK, if known.
  DType precision = f64;                    ///< f32 if elements are rounded to it.
};
/// Kernel map of a matrix in memory, with the same checks as GaussianProcess.
KernelMap kernel_map(const infinite::KernelMatrix& kernel);
/// Kernel map of a Gram matrix in tiles, which must outlive the map. If the tiles are distributed
/// over ranks, all ranks must create and use the map together.
KernelMap kernel_map(const infinite::StoredGram& kernel);
KernelMap kernel_map(const infinite::StoredGram&& temporary) = delete;

struct CgSolverOptions {
  std::int64_t rank = 100;       ///< Maximum rank of the preconditioner, which reads as many rows
                                 ///< of the kernel as its rank.
  double tolerance = 1e-8;       ///< Tolerance of ‖y − A·x‖/‖y‖ for the targets y.
  double test_tolerance = 1e-4;  ///< Tolerance for test inputs; relative errors of variances are
                                 ///< about its square.
  int max_iterations = 1000;
  std::int64_t at_once = 256;  ///< Number of test inputs solved together, each with memory for 10·N
                               ///< numbers.
  std::function<void(const CgProgress&)> progress = {};
};

/// Solver by preconditioned conjugate gradients. Its error bound is rᵀA⁻¹r ≤ rᵀP⁻¹r for the
/// residual r of a solution and the preconditioner P = LLᵀ + s·I: the pivoted Cholesky factor L
/// leaves a positive semi-definite remainder K − LLᵀ, so P ⪯ A.
class CgSolver : public Solver {
 public:
  /// Throws Error unless kernel.diagonal is [N], and s is positive and finite. Solving throws
  /// Error, as conjugate_gradients() does, if A is not positive definite.
  explicit CgSolver(KernelMap kernel, const GpOptions& options = {},
                    const CgSolverOptions& solver = {});

  std::int64_t size() const override { return kernel_.diagonal.size(0); }
  LinearSolution solve(const Tensor& b) const override;
  LinearSolution solve_for_squares(
      const Tensor& b) const override;  ///< Uses test_tolerance, at_once columns at a time.
  /// Throws Error: the determinant cannot be computed from products with A.
  double log_determinant() const override;
  Tensor variances() const override;
  std::optional<infinite::Get> kind() const override { return kernel_.kind; }
  DType precision() const override { return kernel_.precision; }

  std::int64_t rank() const { return rank_; }  ///< Rank of the preconditioner.

 private:
  LinearSolution solve(const Tensor& b, double tolerance) const;

  KernelMap kernel_;
  CgSolverOptions options_;
  double ridge_ = 0;  // s = noise + jitter·mean K_ii
  std::int64_t rank_ = 0;
  std::shared_ptr<const LowRankPlusNoise> near_;  // the preconditioner P
};

}  // namespace ladon
