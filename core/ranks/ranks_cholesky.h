#pragma once
// The only door to ScaLAPACK (Blackford et al. 1997): a Cholesky factor that no rank holds whole.
//
// The matrix is cut into square blocks, which are dealt out in turn over a grid of ranks, down and
// across ("block-cyclic"), so that all have work until the end. Each rank works on one thread (with
// more, the bits would be those of their number: a solution moved by 2e-14 from 1 to 2), so start
// one rank per core. Where one process is alone, the factor is that of core/linalg/lapack.h.

#include <cstdint>
#include <functional>
#include <memory>

#include "ladon/core/linalg/lapack.h"

namespace ladon::ranks {

/// Whether many ranks can have a factor: the library was built with ScaLAPACK.
bool has_cholesky();

/// Side of blocks beyond which some ranks wait for others.
inline constexpr std::int64_t largest_block = 512;

/// Rank that holds a block of the lower triangle, by its row and column of blocks: what it computes
/// of the matrix it can factor without a message.
int holder(std::int64_t block_row, std::int64_t block_column);

/// L of L·Lᵀ = A + ridge·I for a symmetric positive definite A [n, n], f64. All ranks make it, use
/// it and destroy it together, within their session. They agree to rounding with one process, and
/// each number of ranks has bits of its own.
class Cholesky {
 public:
  /// A[row : row + rows, column : column + columns], f64 [rows, columns].
  using Block = std::function<Tensor(std::int64_t row, std::int64_t column, std::int64_t rows,
                                     std::int64_t columns)>;

  /// `block` is asked for this rank's part of the lower triangle, cut at multiples of `side`; a
  /// rank holds n²/count() numbers. Throws lapack::NotPositiveDefinite, in all ranks, where A +
  /// ridge·I is not; then `block` is asked a second time, for its eigenvalues. Throws Error for n <
  /// 1 or side < 1, for a ridge that is not finite, for a block of another shape, for more than 2³¹
  /// − 1 numbers in one rank, and where many ranks have no ScaLAPACK.
  Cholesky(std::int64_t n, double ridge, const Block& block, std::int64_t side = 256);
  Cholesky(Cholesky&&) noexcept;
  Cholesky& operator=(Cholesky&&) noexcept;
  ~Cholesky();

  std::int64_t size() const;
  double log_determinant() const;  ///< ln det (A + ridge·I)
  /// (A + ridge·I)⁻¹·B, in all ranks, of a B that is the same in all.   [n, k] → [n, k], of any
  /// floating dtype → f64.
  Tensor solve(const Tensor& b) const;

 private:
  struct State;
  State& state() const;  // throws Error where it was moved from
  std::unique_ptr<State> state_;
};

}  // namespace ladon::ranks
