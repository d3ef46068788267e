#include "ladon/optim/posterior/solver.h"

#include <algorithm>
#include <vector>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {

Tensor Solver::half_solve(const Tensor& /*b*/) const { return {}; }

Tensor Solver::inverse_diagonal() const {
  constexpr const char* operation = "inverse_diagonal";
  constexpr std::int64_t at_once = 256;  // number of columns of the identity solved together
  std::vector<Tensor> parts;
  for (std::int64_t begin = 0; begin < size(); begin += at_once) {
    const std::int64_t columns = std::min(at_once, size() - begin);
    Tensor b = zeros({size(), columns}, f64);
    copy_(slice(b, 0, {.start = begin, .stop = begin + columns}), eye(columns, f64));
    if (const Tensor v = half_solve(b); v.defined()) {
      kernel_blocks::check_solved(operation, "half_solve", "L⁻¹·B", v, b.shape());
      parts.push_back(sum(square(v), 0));
      continue;
    }
    const LinearSolution y = solve_for_squares(b);
    kernel_blocks::check_solution(operation, "solve_for_squares", y, b);
    parts.push_back(quadratic_forms(b, y).value);
  }
  return concat(parts, 0);
}

// The bounds leave an interval for bᵀA⁻¹b; `value` is its midpoint, `error` half its length.
QuadraticForms quadratic_forms(const Tensor& b, const LinearSolution& solution) {
  if (!solution.residual.defined()) return {sum(b * solution.x, 0)};
  return {sum((b + solution.residual) * solution.x, 0) + solution.unknown / 2,
          solution.unknown / 2};
}

DenseFactor::DenseFactor(const infinite::KernelMatrix& kernel, const GpOptions& options,
                         const char* operation)
    : kind_(kernel.kind()), precision_(kernel.dtype()) {
  const Tensor k = kernel_blocks::symmetric_block(operation, "the kernel", kernel);
  const kernel_blocks::Ridge ridge =
      kernel_blocks::ridge_of(operation, diagonal(k), options.noise, options.jitter);
  factor_ = kernel_blocks::factorize(operation, k, ridge);
  variances_ = diagonal(k) + ridge.total();
}

LinearSolution DenseFactor::solve(const Tensor& b) const {
  return {lapack::cholesky_solve(factor_, b)};
}

double DenseFactor::log_determinant() const {
  return 2 * number_of("DenseFactor", sum(log(diagonal(factor_))));
}

Tensor DenseFactor::half_solve(const Tensor& b) const {
  return lapack::solve_triangular(factor_, b);
}

Tensor DenseFactor::inverse_diagonal() const {
  return clone(diagonal(lapack::cholesky_inverse(factor_)));
}

}  // namespace ladon
