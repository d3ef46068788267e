#include "ladon/layers/infinite/gram/work.h"

#include <algorithm>

#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/running_moments.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::infinite {
namespace {

/// Number of pairs in a tile, times the number of processes: each process is assumed to compute as
/// many pairs.
double pairs(const GramTile& t, int processes) {
  return static_cast<double>(t.rows * t.columns) * processes;
}

void store(Gram& result, const Gram& part, const GramTile& tile) {
  const std::vector<AxisIndex> window = {Slice{tile.row, tile.row + tile.rows},
                                         Slice{tile.column, tile.column + tile.columns}};
  const auto to = matrices_of(result);
  const auto from = matrices_of(part);
  for (std::size_t i = 0; i < to.size(); ++i)
    if (from[i]->defined() && !same_elements(*to[i], *from[i])) copy_(at(*to[i], window), *from[i]);
}

}  // namespace

Inputs prepared(const Inputs& in) {
  const Tensor x = in.blanked().x;  // so that padding does not change checksums of inputs
  return {contiguous(x.dtype() == i64 ? x : cast(x, f64)), in.mask};
}

Gram compute_tile(const GramPlan& plan, const GramTile& tile) {
  if (!plan.estimate.sampled) {
    const bool known =
        plan.whole.nngp.defined() && tile.rows == plan.shape[0] && tile.columns == plan.shape[1];
    Kernel k = known ? plan.whole : gram_tile(plan, tile, 0);
    return {.nngp = std::move(k.nngp), .ntk = std::move(k.ntk), .nngp_se = {}, .ntk_se = {}};
  }
  RunningMoments nngp, ntk;
  for (std::size_t r = 0; r < plan.passes.size(); ++r) {
    const Kernel k = gram_tile(plan, tile, r);
    nngp.add(k.nngp);
    if (k.ntk.defined()) ntk.add(k.ntk);
  }
  return {nngp.mean(),
          ntk.mean(),
          nngp.standard_error(),
          ntk.count() > 0 ? ntk.standard_error() : Tensor(),
          {}};
}

void compute_tiles(const GramPlan& plan, const std::vector<std::int64_t>& tiles, Gram& result,
                   GramReport& report) {
  parallel::for_range(std::ssize(tiles), 1, [&](std::int64_t at, std::int64_t end) {
    for (; at < end; ++at) {
      const GramTile tile = plan.tiles[tiles[at]];
      store(result, compute_tile(plan, tile), tile);
      mirror(result, plan, tile);
      report.finished(tile);
    }
  });
}

void mirror(Tensor& matrix, const GramTile& tile) {
  const std::int64_t n = matrix.size(0), t = matrix.rank() == 4 ? matrix.size(2) : 1;
  const std::int64_t size = matrix.shape().sub(2, matrix.rank()).count();
  double* k = matrix.mutable_data<double>();
  const auto pair = [=](std::int64_t i, std::int64_t j) { return k + (i * n + j) * size; };
  const auto transpose = kernels::loops().f64.transpose;
  if (size == 1 && tile.row != tile.column)
    return transpose(tile.rows, tile.columns, pair(tile.row, tile.column), n,
                     pair(tile.column, tile.row), n);
  for (std::int64_t i = tile.row; i < tile.row + tile.rows; ++i)
    for (std::int64_t j = std::max(i, tile.column); j < tile.column + tile.columns; ++j) {
      if (i == j)
        for (std::int64_t a = 0; a < t; ++a)
          for (std::int64_t b = 0; b < a; ++b) pair(i, i)[a * t + b] = pair(i, i)[b * t + a];
      else if (matrix.rank() == 4)
        transpose(t, t, pair(i, j), t, pair(j, i), t);
      else
        std::copy_n(pair(i, j), size, pair(j, i));
    }
}

void mirror(Gram& result, const GramPlan& plan, const GramTile& tile) {
  if (!plan.symmetric) return;
  for (Tensor* const matrix : matrices_of(result))
    if (matrix->defined()) mirror(*matrix, tile);
}

GramReport::GramReport(const GramPlan& plan, std::function<void(std::int64_t, double)> tell)
    : plan_(plan), tell_(std::move(tell)) {
  pairs_ = pairs_left_ = plan.tiles.pairs();
  tell_(0, plan.estimate.seconds);
}

void GramReport::finished(const GramTile& tile) {
  const std::lock_guard lock(mutex_);
  ++done_;
  pairs_done_ += pairs(tile, plan_.processes);
  pairs_left_ -= pairs(tile, plan_.processes);
  tell_(done_, seconds_left());
}

void GramReport::restored(std::int64_t begin, std::int64_t end) {
  const std::lock_guard lock(mutex_);
  done_ += end - begin;
  for (std::int64_t i = begin; i < end; ++i) pairs_left_ -= pairs(plan_.tiles[i], plan_.processes);
  tell_(done_, seconds_left());
}

void GramReport::complete() {
  const std::lock_guard lock(mutex_);
  if (done_ == plan_.tiles.count()) return;
  done_ = plan_.tiles.count();
  tell_(done_, 0);
}

// The rate that the plan has estimated counts as if it had been measured on a twentieth of the
// work.
double GramReport::seconds_left() const {
  constexpr double weight = 0.05;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
  const double seconds = spent.count() + weight * plan_.estimate.seconds;
  return std::max(pairs_left_, 0.0) * seconds / (pairs_done_ + weight * pairs_);
}

}  // namespace ladon::infinite
