#pragma once
// Cholesky factor of a Gram matrix, distributed over the memory of many ranks, that is, processes
// (core/extra/ranks/ranks.h).
//
//   // tiles in the memory of each rank
//   const auto kernel = infinite::store_gram(limit(model), x, {}, {.get = infinite::Get::nngp});
//   const GaussianProcess process(distribute_factor(kernel, {.noise = 0.1}), y);
//
// Like StoredFactor (stored_factor.h), but the factor is in the combined memory of all ranks
// instead of on disk. The kernel's tiles may be in memory, too, or in a folder.

#include <cstdint>

#include "ladon/core/extra/ranks/ranks_cholesky.h"
#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/optim/posterior/solver.h"

namespace ladon {

/// Cholesky factor L of A = K + (σ² + jitter·mean K_ii)·I = L·Lᵀ. Each rank holds N²/ranks::count()
/// of its numbers. All ranks must call its functions together, within one session of ranks.
class DistributedFactor : public Solver {
 public:
  std::int64_t size() const override { return factor_.size(); }
  double log_determinant() const override { return factor_.log_determinant(); }
  /// A⁻¹·B. Call it in all ranks with the same B, of any floating dtype.
  LinearSolution solve(const Tensor& b) const override { return {factor_.solve(b)}; }
  Tensor variances() const override { return variances_; }
  std::optional<infinite::Get> kind() const override { return kind_; }
  DType precision() const override { return precision_; }

 private:
  friend DistributedFactor distribute_factor(const infinite::StoredGram&, const GpOptions&);
  DistributedFactor(ranks::Cholesky factor, const Tensor& variances,
                    const infinite::StoredGram& gram)
      : factor_(std::move(factor)),
        variances_(variances),
        kind_(gram.kind()),
        precision_(gram.dtype()) {}
  ranks::Cholesky factor_;
  Tensor variances_;
  infinite::Get kind_;
  DType precision_;
};

/// Computes the Cholesky factor of A, which is `gram` plus noise and jitter on the diagonal. Each
/// rank reads only the tiles that it needs for its part of the factor. A tile in memory can be read
/// only by the rank that has it. Throws lapack::NotPositiveDefinite if A is not positive definite,
/// and Error for a noise or jitter that is negative or not finite, for a damaged tile, and whenever
/// ranks::Cholesky throws.
DistributedFactor distribute_factor(const infinite::StoredGram& gram,
                                    const GpOptions& options = {});

}  // namespace ladon
