#pragma once
// Computation of the tiles of a Gram matrix, in memory or on disk. Internal to gram() and
// store_gram().

#include <chrono>
#include <functional>
#include <mutex>

#include "ladon/layers/infinite/gram/plan.h"

namespace ladon::infinite {

/// Contiguous f64 copy of the inputs (i64 for indices) with 0 in masked tokens, from which tiles
/// are computed.
Inputs prepared(const Inputs& in);

/// The matrices' entries in one tile. If a layer averages over draws: means over replicates, and
/// their standard errors.
Gram compute_tile(const GramPlan& plan, const GramTile& tile);

class GramReport;
/// Computes the tiles of the plan that have these indices, on all threads, writes them into the
/// result, and mirrors them if the matrix is symmetric.
void compute_tiles(const GramPlan& plan, const std::vector<std::int64_t>& tiles, Gram& result,
                   GramReport& report);

/// Completes a symmetric matrix [N, N], [N, N, T] or [N, N, T, T] by mirroring the entries of one
/// tile on and above the diagonal:  k[j, i, b, a] = k[i, j, a, b].
void mirror(Tensor& matrix, const GramTile& tile);
/// Mirrors all matrices of the plan, if it is symmetric.
void mirror(Gram& result, const GramPlan& plan, const GramTile& tile);

/// Calls f(row, length) for each row of a tile in each defined matrix, with a pointer to the row's
/// first element and the number of its elements.
template <class F>
void for_each_row(const Gram& result, const GramTile& tile, const F& f) {
  for (const Tensor* const which : matrices_of(result)) {
    Tensor matrix = *which;
    if (!matrix.defined()) continue;
    const std::int64_t block = matrix.shape().sub(2, matrix.rank()).count();
    const std::int64_t stride = matrix.size(1) * block;
    double* row = matrix.mutable_data<double>() + tile.row * stride + tile.column * block;
    for (std::int64_t i = 0; i < tile.rows; ++i, row += stride) f(row, tile.columns * block);
  }
}

/// Counts finished tiles of the plan and estimates the time left, at the rate so far. It assumes
/// that other ranks have finished as many pairs as this one; their tiles count once they are
/// received.
class GramReport {
 public:
  /// `tell` receives the number of tiles done and the seconds left. It is called by one thread at a
  /// time, for the first time in this constructor, with 0 tiles done.
  GramReport(const GramPlan& plan, std::function<void(std::int64_t, double)> tell);
  void finished(const GramTile& tile);
  /// Counts tiles [begin, end) as finished: an earlier run stored them.
  void restored(std::int64_t begin, std::int64_t end);
  /// Counts all tiles of all ranks as finished.
  void complete();

 private:
  double seconds_left() const;

  const GramPlan& plan_;
  std::function<void(std::int64_t, double)> tell_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::int64_t done_ = 0;
  double pairs_ = 0, pairs_done_ = 0, pairs_left_ = 0;
};

}  // namespace ladon::infinite
