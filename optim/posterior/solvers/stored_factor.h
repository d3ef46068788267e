#pragma once
// The Cholesky factor of a Gram matrix on disk, on disk as well.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ladon/core/linalg/lapack.h"
#include "ladon/layers/infinite/gram/tiles/stored.h"
#include "ladon/optim/posterior/solver.h"

namespace ladon {

/// Told once before anything is computed, and after each tile.
struct StoredFactorProgress {
  std::int64_t tiles = 0, tiles_done = 0;
  /// Share of the multiplications that are done, 0 … 1: tiles of later rows take more of them.
  double share_done = 0;
};

struct StoredFactorOptions {
  /// Bytes of tiles that are held at a time, beside what the Gram matrix keeps. With fewer than for
  /// a column of tiles, some are read more often. 0: what the machine has free.
  std::uint64_t memory_budget = 0;
  /// Its exceptions end the computation and come out of store_factor().
  std::function<void(const StoredFactorProgress&)> progress = {};
};

/// L of L·Lᵀ = A = K + (σ² + jitter·mean K_ii)·I, in a folder, whose lock it holds. Every tile that
/// is read is checked; a damaged one is an Error, and store_factor() computes it again. To be used
/// by one thread at a time.
class StoredFactor : public Solver {
 public:
  StoredFactor(StoredFactor&&) noexcept;
  StoredFactor& operator=(StoredFactor&&) noexcept;
  ~StoredFactor() override;

  std::int64_t size() const override;
  double log_determinant() const override;
  /// In two passes over the tiles. B may be of any floating dtype.
  LinearSolution solve(const Tensor& b) const override;
  Tensor half_solve(const Tensor& b) const override;  ///< In one.
  std::optional<infinite::Get> kind() const override;
  DType precision() const override;

 private:
  friend StoredFactor store_factor(const infinite::StoredGram&, const std::string&,
                                   const GpOptions&, const StoredFactorOptions&);
  struct State;
  explicit StoredFactor(std::unique_ptr<State> state);
  Tensor passes(const Tensor& b, bool both) const;
  State& state() const;  // throws Error where it was moved from
  std::unique_ptr<State> state_;
};

/// Computes the factor of `gram` into `folder`, which is made if it is missing; tiles that are
/// there, of an earlier run that was ended or killed, are checked and taken up. Left-looking: each
/// tile is written once, and made of all tiles above it (Golub and Van Loan 2013, §4.2). The same
/// bits at any number of threads and for any budget.
///
/// Throws lapack::NotPositiveDefinite where A is not: its smallest_eigenvalue is that of a block of
/// rows given all rows before, and its jitter, added to the noise, is enough up to there. Throws
/// Error if the budget does not hold six tiles, the disk has no room, the folder is of another
/// factor, or another run is working in it.
StoredFactor store_factor(const infinite::StoredGram& gram, const std::string& folder,
                          const GpOptions& options = {}, const StoredFactorOptions& storing = {});

}  // namespace ladon
