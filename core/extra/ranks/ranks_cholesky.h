#pragma once
// The only interface to ScaLAPACK (Blackford et al. 1997): a Cholesky factor that no rank holds
// whole.
//
// The matrix is cut into square blocks, which are distributed in turn over a grid of ranks, down
// and across ("block-cyclic"), so that all have work until the end. Each rank works on one thread
// (with more, the bits would depend on their number: a solution moved by 2e-14 from 1 to 2), so
// start one rank per core. A single process uses the factor of core/linalg/lapack.h.

#include <cstdint>
#include <functional>
#include <memory>

#include "ladon/core/linalg/lapack.h"

namespace ladon::ranks {

/// Whether several ranks can share a factor: the library was built with ScaLAPACK.
bool has_cholesky();

/// Side of blocks beyond which some ranks wait for others.
inline constexpr std::int64_t largest_block = 512;

/// Rank that holds a block of the lower triangle, given by its row and column of blocks. If that
/// rank computes the block, factoring needs no message for it.
int holder(std::int64_t block_row, std::int64_t block_column);

/// L of L·Lᵀ = A + ridge·I for a symmetric positive definite A [n, n], f64. All ranks construct,
/// use and destroy it together, within their session. Results agree with those of one process to
/// rounding; their bits depend on the number of ranks.
class Cholesky {
 public:
  /// A[row : row + rows, column : column + columns], f64 [rows, columns].
  using Block = std::function<Tensor(std::int64_t row, std::int64_t column, std::int64_t rows,
                                     std::int64_t columns)>;

  /// Calls `block` for this rank's part of the lower triangle, cut at multiples of `side`; a rank
  /// holds n²/count() numbers. Throws lapack::NotPositiveDefinite, in all ranks, if A + ridge·I is
  /// not; then `block` is called again, to find the eigenvalues. Throws Error for n < 1 or side <
  /// 1, for a ridge that is not finite, for a block of another shape, for more than 2³¹ − 1 numbers
  /// in one rank, and for several ranks without ScaLAPACK.
  Cholesky(std::int64_t n, double ridge, const Block& block, std::int64_t side = 256);
  Cholesky(Cholesky&&) noexcept;
  Cholesky& operator=(Cholesky&&) noexcept;
  ~Cholesky();

  std::int64_t size() const;
  double log_determinant() const;  ///< ln det (A + ridge·I)
  /// (A + ridge·I)⁻¹·B, in all ranks, for a B that is the same in all.   [n, k] → [n, k], of any
  /// floating dtype → f64.
  Tensor solve(const Tensor& b) const;

 private:
  struct State;
  State& state() const;  // throws Error if it was moved from
  std::unique_ptr<State> state_;
};

}  // namespace ladon::ranks
