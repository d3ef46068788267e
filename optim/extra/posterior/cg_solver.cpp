#include "ladon/optim/extra/posterior/cg_solver.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/optim/extra/posterior/pivoted_cholesky.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

constexpr const char* operation = "CgSolver";

}  // namespace

KernelMap kernel_map(const infinite::KernelMatrix& kernel) {
  const NoGrad off;
  const Tensor k = clone(kernel_blocks::symmetric_block("kernel_map", "the kernel", kernel));
  return {clone(diagonal(k)), [k](const Tensor& v) { return matmul(k, v); },
          [k](std::int64_t i) { return select(k, 0, i); }, kernel.kind(), kernel.dtype()};
}

KernelMap kernel_map(const infinite::StoredGram& kernel) {
  return {kernel.diagonal(), [&kernel](const Tensor& v) { return kernel.multiply(v); },
          [&kernel](std::int64_t i) { return reshape(kernel.rows(i, i + 1), {kernel.size()}); },
          kernel.kind(), kernel.dtype()};
}

CgSolver::CgSolver(KernelMap kernel, const GpOptions& options, const CgSolverOptions& solver)
    : kernel_(std::move(kernel)), options_(solver) {
  const NoGrad off;
  LADON_CHECK(solver.at_once >= 1, operation, "at_once must be at least 1, got ", solver.at_once);
  LADON_CHECK(kernel_.row && kernel_.multiply, operation, "the kernel's function `",
              kernel_.row ? "multiply" : "row", "` is empty; set both in KernelMap");
  LADON_CHECK(kernel_.diagonal.defined() && kernel_.diagonal.rank() == 1, operation,
              "the kernel's diagonal must be a tensor [N]");
  ridge_ =
      kernel_blocks::ridge_of(operation, kernel_.diagonal, options.noise, options.jitter).total();
  LADON_CHECK(ridge_ > 0 && std::isfinite(ridge_), operation, "noise and jitter add ", ridge_,
              " to the diagonal; the sum must be positive");
  const PivotedCholesky some(kernel_.diagonal, kernel_.row, {.rank = solver.rank});
  rank_ = some.rank();
  near_ = std::make_shared<LowRankPlusNoise>(some.factor(), ridge_);
}

LinearSolution CgSolver::solve(const Tensor& b, double tolerance) const {
  const NoGrad off;
  const CgResult y = conjugate_gradients(
      [this](const Tensor& v) {
        const Tensor product = kernel_.multiply(v);
        LADON_CHECK(product.defined() && product.shape() == v.shape(), operation,
                    "the kernel's `multiply` maps ", v.shape(), " to ",
                    detail::shape_in_words(product), "; the shape must stay the same");
        return product + ridge_ * v;
      },
      b,
      {.tolerance = tolerance,
       .max_iterations = options_.max_iterations,
       .preconditioner = [this](const Tensor& r) { return near_->solve(r); },
       .progress = options_.progress});
  return {y.x, y.residual, maximum(sum(y.residual * near_->solve(y.residual), 0), 0), y.iterations};
}

LinearSolution CgSolver::solve(const Tensor& b) const { return solve(b, options_.tolerance); }

LinearSolution CgSolver::solve_for_squares(const Tensor& b) const {
  const NoGrad off;
  const std::int64_t k = b.size(1);
  LinearSolution all{empty({size(), k}, f64), empty({size(), k}, f64), empty({k}, f64)};
  for (std::int64_t begin = 0; begin < k; begin += options_.at_once) {
    const Slice some{begin, std::min(k, begin + options_.at_once)};
    const LinearSolution part = solve(contiguous(slice(b, 1, some)), options_.test_tolerance);
    copy_(slice(all.x, 1, some), part.x);
    copy_(slice(all.residual, 1, some), part.residual);
    copy_(slice(all.unknown, 0, some), part.unknown);
    all.iterations = std::max(all.iterations, part.iterations);
  }
  return all;
}

Tensor CgSolver::variances() const { return cast(kernel_.diagonal.detach(), f64) + ridge_; }

double CgSolver::log_determinant() const {
  detail::fail(
      "CgSolver::log_determinant",
      "conjugate gradients do not give the determinant; use a solver with a factor (DenseFactor, "
      "store_factor, distribute_factor)");
}

}  // namespace ladon
