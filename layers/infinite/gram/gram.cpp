#include "ladon/layers/infinite/gram/gram.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/running_moments.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/parallel.h"
#include "ladon/layers/infinite/gram/checkpoint.h"

namespace ladon::infinite {
namespace {

Gram compute(const GramPlan& plan, const GramTile& tile, Get get) {
  if (!plan.estimate.sampled) {
    Kernel k = gram_tile(plan, tile, get, 0);
    return {.nngp = std::move(k.nngp), .ntk = std::move(k.ntk), .nngp_se = {}, .ntk_se = {}};
  }
  const NoGrad off;
  RunningMoments nngp, ntk;
  for (std::size_t r = 0; r < plan.passes.size(); ++r) {
    const Kernel k = gram_tile(plan, tile, get, r);
    nngp.add(k.nngp);
    if (k.ntk.defined()) ntk.add(k.ntk);
  }
  return {nngp.mean(), ntk.mean(), nngp.standard_error(),
          ntk.count() > 0 ? ntk.standard_error() : Tensor()};
}

/// Completes a symmetric matrix [N, N], [N, N, T] or [N, N, T, T] by what stands on and above the
/// diagonal of one tile:  k[j, i, b, a] = k[i, j, a, b].
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
  for (const auto which : gram_matrices)
    if ((result.*which).defined()) mirror(result.*which, tile);
}

void store(Gram& result, const Gram& part, const GramTile& tile) {
  const NoGrad off;
  const std::vector<Index> window = {Slice{tile.row, tile.row + tile.rows},
                                     Slice{tile.column, tile.column + tile.columns}};
  for (const auto which : gram_matrices)
    if ((part.*which).defined()) copy_(at(result.*which, window), part.*which);
}

/// Counts finished tiles and tells how long the others will take, at the rate so far.
class Report {
 public:
  Report(const GramPlan& plan, const GramOptions& options) : plan_(plan), tell_(options.progress) {
    pairs_ = pairs_left_ = plan.tiles.pairs();
    tell(plan.estimate.seconds);
  }
  void finished(const GramTile& t) {
    const std::lock_guard lock(mutex_);
    ++done_;
    pairs_done_ += pairs(t);
    pairs_left_ -= pairs(t);
    tell(seconds_left());
  }
  void restored(std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex_);
    done_ += end - begin;
    for (std::int64_t i = begin; i < end; ++i) pairs_left_ -= pairs(plan_.tiles[i]);
    tell(seconds_left());
  }

 private:
  static double pairs(const GramTile& t) { return static_cast<double>(t.rows * t.columns); }
  // The estimate counts as a twentieth of the work, done at its rate.
  double seconds_left() const {
    constexpr double weight = 0.05;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    const double seconds = spent.count() + weight * plan_.estimate.seconds;
    return pairs_left_ * seconds / (pairs_done_ + weight * pairs_);
  }
  void tell(double seconds_left) const {
    if (tell_) tell_({plan_.estimate, done_, seconds_left});
  }

  const GramPlan& plan_;
  const std::function<void(const GramProgress&)>& tell_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::int64_t done_ = 0;
  double pairs_ = 0, pairs_done_ = 0, pairs_left_ = 0;
};

/// In the form that tiles are computed from.
Inputs prepared(const Inputs& in) {
  return {contiguous(in.x.dtype() == i64 ? in.x : cast(in.x, f64)), in.mask};
}

Gram run(const Limit& limit, const Inputs& a, const Inputs& b, bool symmetric,
         const GramOptions& options) {
  const NoGrad off;
  GramPlan plan = plan_gram(limit, a, b, symmetric, options);
  Report report(plan, options);
  plan.a = prepared(a);
  plan.b = symmetric ? plan.a : prepared(b);
  const bool ntk = options.get == Get::ntk, sampled = plan.estimate.sampled;
  const auto matrix = [&](bool wanted) { return wanted ? empty(plan.shape, f64) : Tensor(); };
  Gram result{matrix(true), matrix(ntk), matrix(sampled), matrix(sampled && ntk)};
  std::optional<GramCheckpoint> stored;
  if (!options.checkpoint.empty()) stored.emplace(limit, plan, options);
  compute_selves(plan);
  const std::int64_t count = plan.tiles.count();
  const std::int64_t step = stored ? stored->part_tiles() : count;
  for (std::int64_t first = 0; first < count; first += step) {
    const std::int64_t last = std::min(count, first + step);
    if (stored && stored->read(first / step, result)) {
      for (std::int64_t i = first; i < last; ++i) mirror(result, plan, plan.tiles[i]);
      report.restored(first, last);
      continue;
    }
    parallel::for_range(last - first, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const GramTile tile = plan.tiles[first + i];
        store(result, compute(plan, tile, options.get), tile);
        mirror(result, plan, tile);
        report.finished(tile);
      }
    });
    if (stored) stored->write(first / step, result);
  }
  return result;
}

}  // namespace

Gram gram(const Limit& limit, const Inputs& a, const Inputs& b, const GramOptions& options) {
  return run(limit, a, b, false, options);
}

Gram gram(const Limit& limit, const Inputs& a, const GramOptions& options) {
  return run(limit, a, a, true, options);
}

Gram gram_diagonal(const Limit& limit, const Inputs& x, const GramOptions& options) {
  const NoGrad off;
  LADON_CHECK(x.x.defined() && x.x.rank() > 0, "gram_diagonal", "the inputs are undefined");
  LADON_CHECK(options.replicates >= 2, "gram_diagonal", "replicates must be at least 2, got ",
              options.replicates);
  const int replicates = limit.draws() ? options.replicates : 1;
  if (x.count() == 0) {
    const Kernel k = limit(x, options.get, options.entries);
    const auto none = [](const Tensor& block) {
      if (!block.defined()) return block;
      Shape shape = block.shape().sub(1, block.rank());
      return zeros(shape, f64);
    };
    return {none(k.nngp), none(k.ntk), {}, {}};
  }
  RunningMoments nngp, ntk;
  for (int r = 0; r < replicates; ++r) {
    const Limit one = limit.draws() ? limit.with_replicate(static_cast<std::uint64_t>(r)) : limit;
    std::vector<Tensor> ks(static_cast<std::size_t>(x.count())), ts = ks;
    parallel::for_range(x.count(), 1, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) {
        const Kernel k = one(x.rows(i, i + 1), options.get, options.entries);
        const Shape own = k.nngp.shape().sub(2, k.nngp.rank());
        ks[static_cast<std::size_t>(i)] = reshape(k.nngp, own);
        if (k.ntk.defined()) ts[static_cast<std::size_t>(i)] = reshape(k.ntk, own);
      }
    });
    nngp.add(stack(ks, 0));
    if (ts[0].defined()) ntk.add(stack(ts, 0));
  }
  Gram y{nngp.mean(), ntk.mean(), {}, {}};
  if (replicates > 1) {
    y.nngp_se = nngp.standard_error();
    if (ntk.count() > 0) y.ntk_se = ntk.standard_error();
  }
  return y;
}

}  // namespace ladon::infinite
