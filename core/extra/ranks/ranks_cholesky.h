#pragma once
// The only interface to ScaLAPACK (Blackford et al. 1997): a Cholesky factor that is distributed
// over ranks.
//
// The matrix is cut into square blocks, which are distributed cyclically over the rows and columns
// of a grid of ranks ("block-cyclic"), so that all ranks have work until the end. Each rank works
// on one thread, so start one rank per core. (With more threads the bits would depend on their
// number: a solution changed by 2e-14 from 1 thread to 2.) A single process uses the factorization
// of core/linalg/lapack.h.

#include <cstdint>
#include <functional>
#include <memory>

#include "ladon/core/linalg/lapack.h"

namespace ladon::ranks {

/// Whether several ranks can share a factor, which needs a library built with ScaLAPACK.
bool has_cholesky();

/// Largest recommended side of blocks: with larger blocks, some ranks wait for other ranks.
inline constexpr std::int64_t largest_block = 512;

/// Rank that holds a block of the lower triangle; block_row and block_column count blocks. If that
/// rank also computes the block, the block need not be sent to another rank.
int holder(std::int64_t block_row, std::int64_t block_column);

/// Cholesky factor L of A + ridge·I = L·Lᵀ for a symmetric positive definite A [n, n], f64. All
/// ranks construct, use and destroy it together, within their session. Results agree with those of
/// a single process up to rounding; their bits depend on the number of ranks.
class Cholesky {
 public:
  /// A[row : row + rows, column : column + columns], f64 [rows, columns].
  using Block = std::function<Tensor(std::int64_t row, std::int64_t column, std::int64_t rows,
                                     std::int64_t columns)>;

  /// Calls `block` for the blocks of the lower triangle that this rank holds, cut at multiples of
  /// `side`; a rank holds n²/count() elements. Throws lapack::NotPositiveDefinite, in all ranks, if
  /// A + ridge·I is not positive definite; then `block` is called again, to find the eigenvalues.
  /// Throws Error if n < 1 or side < 1, for a ridge that is not finite, for a block of another
  /// shape, for more than 2³¹ − 1 elements in a rank, and for several ranks without ScaLAPACK.
  Cholesky(std::int64_t n, double ridge, const Block& block, std::int64_t side = 256);
  Cholesky(Cholesky&&) noexcept;
  Cholesky& operator=(Cholesky&&) noexcept;
  ~Cholesky();

  std::int64_t size() const;
  double log_determinant() const;  ///< ln det (A + ridge·I)
  /// (A + ridge·I)⁻¹·B, in all ranks, for a B that must be the same in all ranks.   [n, k], any
  /// floating dtype → [n, k], f64.
  Tensor solve(const Tensor& b) const;

 private:
  struct State;
  State& state() const;  // throws Error if this object was moved from
  std::unique_ptr<State> state_;
};

}  // namespace ladon::ranks
