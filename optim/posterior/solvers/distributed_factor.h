#pragma once
// The Cholesky factor of a Gram matrix in the memory of many ranks (core/ranks/ranks.h).
//
//   // tiles in the memory of each rank
//   const auto kernel = infinite::store_gram(limit(model), x, {}, {.get = infinite::Get::nngp});
//   const GaussianProcess process(distribute_factor(kernel, {.noise = 0.1}), y);
//
// As StoredFactor (stored_factor.h), where the memory of all ranks holds what a disk must hold for
// one. The tiles are in memory, too, or in a folder.

#include <cstdint>

#include "ladon/core/ranks/ranks_cholesky.h"
#include "ladon/layers/infinite/gram/tiles/stored.h"
#include "ladon/optim/posterior/solver.h"

namespace ladon {

/// L of L·Lᵀ = A = K + (σ² + jitter·mean K_ii)·I, of which each rank holds N²/count() numbers. All
/// ranks use it together, within their session.
class DistributedFactor : public Solver {
 public:
  std::int64_t size() const override { return factor_.size(); }
  double log_determinant() const override { return factor_.log_determinant(); }
  /// In all ranks, of the same B in all, of any floating dtype.
  LinearSolution solve(const Tensor& b) const override { return {factor_.solve(b)}; }
  std::optional<infinite::Get> kind() const override { return kind_; }
  DType precision() const override { return precision_; }

 private:
  friend DistributedFactor distribute_factor(const infinite::StoredGram&, const GpOptions&);
  DistributedFactor(ranks::Cholesky factor, const infinite::StoredGram& gram)
      : factor_(std::move(factor)), kind_(gram.kind()), precision_(gram.dtype()) {}
  ranks::Cholesky factor_;
  infinite::Get kind_;
  DType precision_;
};

/// Takes each tile in those ranks that hold some of it: of tiles in memory, their own. Throws
/// lapack::NotPositiveDefinite where A is not, and Error for a negative noise or jitter, for a
/// damaged tile, and as ranks::Cholesky does.
DistributedFactor distribute_factor(const infinite::StoredGram& gram,
                                    const GpOptions& options = {});

}  // namespace ladon
