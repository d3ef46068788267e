#include "ladon/optim/extra/posterior/pivoted_cholesky.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {

PivotedCholesky::PivotedCholesky(const Tensor& diagonal,
                                 const std::function<Tensor(std::int64_t)>& row,
                                 const PivotedCholeskyOptions& options) {
  constexpr const char* operation = "PivotedCholesky";
  const NoGrad off;
  LADON_CHECK(row, operation, "`row` is an empty function; pass one that returns row i, [N]");
  LADON_CHECK(diagonal.defined() && diagonal.rank() == 1 && diagonal.size(0) >= 1, operation,
              "the diagonal must be a tensor [N] with N ≥ 1");
  LADON_CHECK(options.rank >= 0 && options.tolerance >= 0, operation,
              "rank and tolerance must be at least 0, got ", options.rank, " and ",
              options.tolerance);
  const std::int64_t n = diagonal.size(0);
  const Tensor given = kernel_blocks::target_block(operation, "the diagonal", diagonal, n);
  std::vector<double> variance(given.data<double>(), given.data<double>() + n);
  const double trace = std::accumulate(variance.begin(), variance.end(), 0.0);
  const std::int64_t most = std::min(options.rank, n);
  columns_ = zeros({most, n}, f64);
  left_ = trace;
  for (std::int64_t m = 0; m < most && left_ > options.tolerance * trace; ++m) {
    const auto best = std::max_element(variance.begin(), variance.end());
    const std::int64_t pivot = best - variance.begin();
    const Tensor computed = row(pivot);
    const Tensor k = kernel_blocks::target_block(operation, "a row of the kernel", computed, n);
    const double own = given.data<double>()[pivot], in_row = k.data<double>()[pivot];
    const DType precision = kernel_blocks::least_precise(diagonal.dtype(), computed.dtype());
    const double relative = std::max(1e-6, std::sqrt(kernel_blocks::epsilon_of(precision)));
    LADON_CHECK(std::abs(own - in_row) <= relative * std::abs(own), operation,
                "diagonal and rows must agree, but the diagonal has element ", own, " at ", pivot,
                ", and row ", pivot, " has ", in_row, " there, which is ", in_row - own,
                " more; are both of the same kernel?");
    const Tensor before = slice(columns_, 0, {.stop = m});  // [m, N]
    const Tensor known = matmul(unsqueeze(select(before, 1, pivot), 0), before);
    const Tensor column = (reshape(k, {1, n}) - known) / std::sqrt(*best);
    copy_(slice(columns_, 0, {.start = m, .stop = m + 1}), column);
    const double* l = column.data<double>();
    for (std::int64_t i = 0; i < n; ++i) variance[i] = std::max(variance[i] - l[i] * l[i], 0.0);
    variance[pivot] = 0;  // exactly 0 instead of a rounding error
    pivots_.push_back(pivot);
    left_ = std::accumulate(variance.begin(), variance.end(), 0.0);
  }
}

Tensor PivotedCholesky::factor() const { return transpose(slice(columns_, 0, {.stop = rank()})); }

LowRankPlusNoise::LowRankPlusNoise(const Tensor& l, double noise) : noise_(noise) {
  constexpr const char* operation = "LowRankPlusNoise";
  const NoGrad off;
  LADON_CHECK(noise > 0 && std::isfinite(noise), operation, "the noise is ", noise,
              "; it must be positive");
  LADON_CHECK(l.defined() && l.rank() == 2, operation, "the factor must be [N, r]");
  l_ = clone(kernel_blocks::cross_block(operation, "the factor", l, -1, l.size(1)));
  if (l_.size(1) > 0)
    factor_ = lapack::cholesky(matmul(transpose(l_), l_) + noise * eye(l_.size(1), f64));
}

Tensor LowRankPlusNoise::solve(const Tensor& b) const {
  const NoGrad off;
  LADON_CHECK(b.defined() && b.rank() == 2 && b.size(0) == l_.size(0), "LowRankPlusNoise::solve",
              "the right-hand sides must be [", l_.size(0), ", k]");
  const Tensor x = cast(b.detach(), f64);
  if (!factor_.defined()) return x / noise_;
  return (x - matmul(l_, lapack::cholesky_solve(factor_, matmul(transpose(l_), x)))) / noise_;
}

double LowRankPlusNoise::log_determinant() const {
  const NoGrad off;
  const auto others = static_cast<double>(l_.size(0) - l_.size(1));
  const double own =
      factor_.defined() ? 2 * number_of("LowRankPlusNoise", sum(log(diagonal(factor_)))) : 0;
  return others * std::log(noise_) + own;
}

}  // namespace ladon
