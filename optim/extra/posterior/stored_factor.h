#pragma once
// Cholesky factor, stored on disk, of a Gram matrix that is also stored on disk.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ladon/core/linalg/lapack.h"
#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/optim/posterior/solver.h"

namespace ladon {

/// Progress of store_factor(), reported once before the computation and after each tile.
struct StoredFactorProgress {
  std::int64_t tiles = 0, tiles_done = 0;
  /// Fraction of the multiplications done, 0 … 1, which differs from tiles_done/tiles because later
  /// rows of tiles take more multiplications.
  double share_done = 0;
};

struct StoredFactorOptions {
  /// Maximum number of bytes of tiles in memory at a time, in addition to those of the Gram matrix.
  /// If a column of tiles does not fit, some tiles are read repeatedly. 0 means the machine's free
  /// memory.
  std::uint64_t memory_budget = 0;
  /// Exceptions thrown by this function stop the computation and propagate from store_factor().
  std::function<void(const StoredFactorProgress&)> progress = {};
};

/// Cholesky factor L of A = K + (σ² + jitter·mean K_ii)·I = L·Lᵀ, stored in a folder. The object
/// holds the lock of the folder. Every tile is verified when read, and a damaged tile is an Error;
/// calling store_factor() again recomputes it. Not thread-safe.
class StoredFactor : public Solver {
 public:
  StoredFactor(StoredFactor&&) noexcept;
  StoredFactor& operator=(StoredFactor&&) noexcept;
  ~StoredFactor() override;

  std::int64_t size() const override;
  double log_determinant() const override;
  /// A⁻¹·B, with two passes over the tiles on disk. B may have any floating dtype.
  LinearSolution solve(const Tensor& b) const override;
  Tensor half_solve(const Tensor& b) const override;  ///< L⁻¹·B, with one pass over the tiles.
  Tensor variances() const override;
  std::optional<infinite::Get> kind() const override;
  DType precision() const override;

 private:
  friend StoredFactor store_factor(const infinite::StoredGram&, const std::string&,
                                   const GpOptions&, const StoredFactorOptions&);
  struct State;
  explicit StoredFactor(std::unique_ptr<State> state);
  Tensor passes(const Tensor& b, bool both) const;
  State& state() const;  // throws Error if this was moved from
  std::unique_ptr<State> state_;
};

/// Computes the factor of `gram` in `folder`, which is created if missing; tiles from an earlier
/// run that was stopped or killed are verified and reused. The algorithm is left-looking: each tile
/// is written once, computed from all tiles above it (Golub and Van Loan 2013, §4.2). The bits of
/// the factor do not depend on the number of threads or the budget.
///
/// Throws lapack::NotPositiveDefinite if A is not positive definite. The exception's
/// smallest_eigenvalue is the smallest eigenvalue of the covariance of a block of rows given all
/// rows before it; its jitter, added to the noise, is sufficient for the rows up to the end of that
/// block. Throws Error if the budget does not hold six tiles, if the disk has too little space, if
/// the folder contains another factor, or if another run is using the folder.
StoredFactor store_factor(const infinite::StoredGram& gram, const std::string& folder,
                          const GpOptions& options = {}, const StoredFactorOptions& storing = {});

}  // namespace ladon
