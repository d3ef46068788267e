#pragma once
// A kernel solved by products with it alone, and bounds on what that leaves.
//
// A Cholesky factor takes N³/3 multiplications and N² numbers of memory; conjugate gradients take a
// few dozen products of the kernel with the targets, and of the kernel no more than a tile at a
// time.

#include <functional>
#include <memory>

#include "ladon/layers/infinite/gram/tiles/stored.h"
#include "ladon/optim/posterior/solver.h"
#include "ladon/optim/posterior/solvers/conjugate_gradients.h"

namespace ladon {

class LowRankPlusNoise;

/// A kernel [N, N] as what can be asked of it.
struct KernelMap {
  Tensor diagonal;                          ///< [N]
  LinearMap multiply;                       ///< [N, k] → [N, k]
  std::function<Tensor(std::int64_t)> row;  ///< [N]
  std::optional<infinite::Get> kind = {};   ///< Where it is known.
  DType precision = f64;                    ///< f32 where elements are rounded to it.
};
/// Kernel map of a matrix in memory, checked as GaussianProcess checks its kernel.
KernelMap kernel_map(const infinite::KernelMatrix& kernel);
/// Kernel map of a Gram matrix in tiles, which must outlive the map. Where ranks hold them, all
/// make and use it together.
KernelMap kernel_map(const infinite::StoredGram& kernel);
KernelMap kernel_map(const infinite::StoredGram&& temporary) = delete;

struct CgSolverOptions {
  std::int64_t rank = 100;       ///< Of the preconditioner: rows of the kernel that are asked for.
  double tolerance = 1e-8;       ///< For the targets: ‖y − A·x‖/‖y‖.
  double test_tolerance = 1e-4;  ///< For test inputs, whose variances err by its square.
  int max_iterations = 1000;
  std::int64_t at_once = 256;  ///< Test inputs that share products, ten times N numbers each.
  std::function<void(const CgProgress&)> progress = {};
};

/// The residual r of a solution satisfies rᵀA⁻¹r ≤ rᵀP⁻¹r: a pivoted Cholesky factor, the
/// preconditioner P = LLᵀ + s·I, leaves a positive semi-definite rest of A = K + s·I, so P ⪯ A.
class CgSolver : public Solver {
 public:
  /// Throws Error unless the diagonal is [N], and noise and jitter add something positive to it;
  /// solving throws as conjugate_gradients() does where A is not positive definite.
  explicit CgSolver(KernelMap kernel, const GpOptions& options = {},
                    const CgSolverOptions& solver = {});

  std::int64_t size() const override { return kernel_.diagonal.size(0); }
  LinearSolution solve(const Tensor& b) const override;
  LinearSolution solve_for_squares(
      const Tensor& b) const override;  ///< By test_tolerance, at_once columns.
  /// Throws Error: products with A do not tell it.
  double log_determinant() const override;
  std::optional<infinite::Get> kind() const override { return kernel_.kind; }
  DType precision() const override { return kernel_.precision; }

  std::int64_t rank() const { return rank_; }  ///< Of the preconditioner.

 private:
  LinearSolution solve(const Tensor& b, double tolerance) const;

  KernelMap kernel_;
  CgSolverOptions options_;
  double ridge_ = 0;  // s
  std::int64_t rank_ = 0;
  std::shared_ptr<const LowRankPlusNoise> near_;  // P
};

}  // namespace ladon
