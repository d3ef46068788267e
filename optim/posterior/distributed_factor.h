#pragma once
// The Cholesky factor of a Gram matrix on disk, in the memory of many ranks (core/ranks.h).
//
//   const auto kernel = infinite::store_gram(limit(model), x, folder);  // the ranks share its tiles out
//   const DistributedFactor factor = distribute_factor(kernel, {.noise = 0.1});
//   const Tensor mean = matmul(cross, factor.solve(y));
//
// As StoredFactor (stored_factor.h), where the memory of all ranks holds what a disk must hold for one.

#include <cstdint>

#include "ladon/core/ranks_cholesky.h"
#include "ladon/layers/infinite/gram/stored.h"

namespace ladon {

struct DistributedFactorOptions {
  double noise = 0;      ///< Variance σ² of the noise on the targets.
  double jitter = 1e-8;  ///< Added to the diagonal as well, times the mean of that diagonal.
};

/// L of L·Lᵀ = A = K + (σ² + jitter·mean K_ii)·I, of which each rank holds N²/count() numbers. All ranks
/// use it together, within their session.
class DistributedFactor {
 public:
  std::int64_t size() const { return factor_.size(); }
  double log_determinant() const { return factor_.log_determinant(); }  ///< ln det A
  /// A⁻¹·B, in all ranks, of the same B in all.   [N, k] → [N, k], of any floating dtype → f64.
  Tensor solve(const Tensor& b) const { return factor_.solve(b); }

 private:
  friend DistributedFactor distribute_factor(const infinite::StoredGram&,
                                             const DistributedFactorOptions&);
  explicit DistributedFactor(ranks::Cholesky factor) : factor_(std::move(factor)) {}
  ranks::Cholesky factor_;
};

/// Reads each tile in those ranks that hold some of it. Throws lapack::NotPositiveDefinite where A is not,
/// and Error for a negative noise or jitter, for a damaged tile, and as ranks::Cholesky does.
DistributedFactor distribute_factor(const infinite::StoredGram& gram,
                                    const DistributedFactorOptions& options = {});

}  // namespace ladon
