#pragma once
// A kernel solved by matrix-vector products only, with error bounds.
//
// A Cholesky factor takes N³/3 multiplications and memory for N² numbers; conjugate gradients take
// a few dozen products of the kernel with the targets, and need only one tile of the kernel at a
// time.

#include <functional>
#include <memory>

#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/optim/extra/posterior/conjugate_gradients.h"
#include "ladon/optim/posterior/solver.h"

namespace ladon {

class LowRankPlusNoise;

/// A kernel [N, N] given by its diagonal, rows and products.
struct KernelMap {
  Tensor diagonal;                          ///< [N]
  LinearMap multiply;                       ///< [N, k] → [N, k]
  std::function<Tensor(std::int64_t)> row;  ///< [N]
  std::optional<infinite::Get> kind = {};   ///< If known.
  DType precision = f64;                    ///< f32 if elements are rounded to it.
};
/// Kernel map of a matrix in memory, with the same checks as GaussianProcess.
KernelMap kernel_map(const infinite::KernelMatrix& kernel);
/// Kernel map of a Gram matrix in tiles, which must outlive the map. If the tiles are distributed
/// over ranks, all ranks must create and use it together.
KernelMap kernel_map(const infinite::StoredGram& kernel);
KernelMap kernel_map(const infinite::StoredGram&& temporary) = delete;

struct CgSolverOptions {
  std::int64_t rank = 100;       ///< Rank of the preconditioner: number of rows of the kernel it
                                 ///< reads.
  double tolerance = 1e-8;       ///< For the targets: ‖y − A·x‖/‖y‖.
  double test_tolerance = 1e-4;  ///< For test inputs; errors of variances are its square.
  int max_iterations = 1000;
  std::int64_t at_once = 256;  ///< Test inputs solved together, with memory for ten times N numbers
                               ///< each.
  std::function<void(const CgProgress&)> progress = {};
};

/// The residual r of a solution satisfies rᵀA⁻¹r ≤ rᵀP⁻¹r for the preconditioner P = LLᵀ + s·I: L
/// is a pivoted Cholesky factor, which leaves a positive semi-definite remainder of A = K + s·I, so
/// P ⪯ A.
class CgSolver : public Solver {
 public:
  /// Throws Error unless the diagonal is [N], and noise and jitter add a positive number to it;
  /// solving throws as conjugate_gradients() does if A is not positive definite.
  explicit CgSolver(KernelMap kernel, const GpOptions& options = {},
                    const CgSolverOptions& solver = {});

  std::int64_t size() const override { return kernel_.diagonal.size(0); }
  LinearSolution solve(const Tensor& b) const override;
  LinearSolution solve_for_squares(
      const Tensor& b) const override;  ///< Uses test_tolerance, at_once columns at a time.
  /// Throws Error: it cannot be computed from products with A.
  double log_determinant() const override;
  std::optional<infinite::Get> kind() const override { return kernel_.kind; }
  DType precision() const override { return kernel_.precision; }

  std::int64_t rank() const { return rank_; }  ///< Rank of the preconditioner.

 private:
  LinearSolution solve(const Tensor& b, double tolerance) const;

  KernelMap kernel_;
  CgSolverOptions options_;
  double ridge_ = 0;  // s
  std::int64_t rank_ = 0;
  std::shared_ptr<const LowRankPlusNoise> near_;  // P
};

}  // namespace ladon
