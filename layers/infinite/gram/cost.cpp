#include "ladon/layers/infinite/gram/cost.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops/shape.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/attention/kept_draws.h"
#include "ladon/layers/infinite/kernel/pass_scope.h"

namespace ladon::infinite::cost {
namespace {

constexpr double probe_seconds = 0.1;  // approximate seconds that measuring may take
constexpr double cached_bytes = 3e6;   // size of a tile's tensors at which a core is fastest
constexpr double drawn_bytes = 1e8;    // the same if layers average over draws
constexpr double kept_bytes = 256e6;   // most memory for random matrices that tiles share
constexpr double thread_bytes = 8e6;   // per thread: buffers of BLAS and of the allocator
constexpr double probe_share = 0.2;    // share of the matrix's side that is enough to measure
constexpr double tile_share = 0.05;    // largest share of a tile's time for work done once per tile

/// Number of inputs whose self-kernels are computed.
double input_count(const GramPlan& plan) {
  return static_cast<double>(plan.a.count() + (plan.symmetric ? 0 : plan.b.count()));
}

std::int64_t positions_of(const Inputs& in) {
  const Shape& s = in.x.shape();
  return s.sub(1, std::max(1, s.rank() - (in.x.dtype() == i64 ? 0 : 1))).count();
}

/// Bytes of the entries of one pair of inputs in one kernel.
double entry_bytes(const Inputs& in, Entries entries) {
  const auto positions = static_cast<double>(positions_of(in));
  return 8 * (entries == Entries::full ? positions * positions : positions);
}

/// Bytes of one input's self-kernels; 0 if they are not cached. They are cached if a layer averages
/// over draws, or if the self-kernels of all inputs take at most a quarter of the budget.
double self_bytes(const GramPlan& plan, double budget) {
  const Passes& passes = plan.passes[0];
  const std::int64_t numbers = numbers_kept(passes.graph(), plan.wanted, passes.landmarks());
  const double bytes = 8 * static_cast<double>(numbers) * plan.replicates;
  return plan.estimate.sampled || bytes * input_count(plan) <= budget / 4 ? bytes : 0;
}

/// Bytes of the contiguous f64 copy of the inputs; 0 if they need no copy.
double copy_bytes(const Inputs& in) {
  const bool ready = in.x.contiguous() && (in.x.dtype() == f64 || in.x.dtype() == i64);
  return ready ? 0 : 8.0 * static_cast<double>(in.x.count());
}

/// Cost of the kernels of the first inputs.
struct Measured {
  double peak, seconds, self_seconds;
  double of_inputs;  // part of `seconds`: work per input, for its draws
  double spent;      // time that measuring the block took, without self-kernels
  Kernel kernels;
};

/// Measures the computation of a block. Layers that average over draws make only a few of the
/// draws, and estimate the time of the rest.
Measured measure(const GramPlan& plan, const GramTile& block, bool selves) {
  const std::size_t before = Storage::bytes_in_use();
  Storage::reset_peak();
  Measured y{};
  PassSample selves_sample, sample;
  double start = processor_seconds();
  GramPlan part = plan;
  if (selves) {
    part = of_first(plan, block.rows, block.columns, &selves_sample);
    y.self_seconds = processor_seconds() - start + selves_sample.left_out;
  }
  start = processor_seconds();
  y.kernels = gram_tile(part, block, 0, &sample);
  y.spent = processor_seconds() - start;
  y.seconds = y.spent + sample.left_out;
  y.of_inputs = sample.of_inputs;
  // The counters are for the whole process, and other threads may free memory during the
  // measurement, so that the peak may lie below `before`.
  y.peak = static_cast<double>(std::max(Storage::peak_bytes(), before) - before);
  return y;
}

/// Number of pairs of a tile that are computed. In a tile on the diagonal, layers that average over
/// draws compute only one of the pairs (n, m) and (m, n).
double computed_pairs(const GramPlan& plan, const GramTile& tile) {
  const auto rows = static_cast<double>(tile.rows), columns = static_cast<double>(tile.columns);
  const bool half = plan.estimate.sampled && plan.symmetric && tile.row == tile.column;
  return half ? rows * (rows + 1) / 2 : rows * columns;
}

/// Number of inputs in a tile for which draws are made. In a tile on the diagonal, rows and columns
/// are the same inputs.
std::int64_t tile_inputs(const GramPlan& plan, const GramTile& tile) {
  return plan.symmetric && tile.row == tile.column ? tile.rows : tile.rows + tile.columns;
}

/// The tensor itself, if nothing else refers to its elements, or a copy.
Tensor own(Tensor& x) {
  Tensor y = std::move(x);
  return y.contiguous() && y.storage().exclusive() ? y : clone(y);
}

}  // namespace

double least_bytes(const Inputs& in, Entries entries, Get get) {
  return entry_bytes(in, entries) * (get == Get::ntk ? 4 : 3);
}

// The tensors of a block of n × n inputs have sizes proportional to n², n or 1, so for c·n inputs
// the peak is at most c² times as high. The larger the measured block, the tighter this bound.
Probe probe(const GramPlan& plan, Get get, double budget, bool may_be_whole) {
  const KernelNode& end = plan.passes[0].graph().output();
  Probe found{.block = block_of(end.positions, plan.wanted)};
  found.self_bytes = self_bytes(plan, budget);
  const std::int64_t most = std::max(plan.a.count(), plan.b.count());
  const auto first = [&](std::int64_t n) {
    return GramTile{0, 0, std::min(n, plan.a.count()), std::min(n, plan.b.count())};
  };
  const bool drawn = plan.estimate.sampled;
  const Entries inner = layouts(plan.passes[0].graph(), plan.wanted).front();
  const Measured one = measure(plan, first(1), drawn);
  const double all = static_cast<double>(plan.a.count()) * static_cast<double>(plan.b.count());
  if (!drawn && may_be_whole && one.peak * all <= std::min(probe_bytes, budget / 2)) {
    Measured whole = all == 1 ? one : measure(plan, first(most), false);
    found.pair_bytes = whole.peak / all;
    found.pair_seconds = whole.seconds / all;
    found.self_bytes = 0;
    found.whole.nngp = own(whole.kernels.nngp);
    if (get == Get::ntk) found.whole.ntk = own(whole.kernels.ntk);
    return found;
  }
  if (drawn) found.tile_bytes = one.peak;  // nearly all of it is independent of the pairs
  found.draw_bytes = plan.draws->expected_bytes();
  // Measuring should cost little compared with the whole computation.
  const std::int64_t enough =
      drawn ? 4
            : std::min(vector_unit, 1 + static_cast<std::int64_t>(probe_share * std::sqrt(all)));
  double spent = one.spent, peak = one.peak;
  for (std::int64_t n = 1;;) {
    // A block costs at most its number of pairs times the cost of a single pair.
    const double times = std::min({probe_seconds / (4 * spent), probe_bytes / (4 * peak), 1e6});
    n = std::min({most, std::max<std::int64_t>(2, enough),
                  n * std::max<std::int64_t>(2, static_cast<std::int64_t>(std::sqrt(times)))});
    const GramTile block = first(n);
    const Measured now = measure(plan, block, found.self_bytes > 0);
    const double pairs = static_cast<double>(block.rows * block.columns),
                 computed = computed_pairs(plan, block);
    // With draws, the measured difference may be negative, since the draws of a single pair may
    // take more memory than the pairs of the block. So pair_bytes is at least the size of a pair's
    // kernels, without the self-kernels that its inputs share with other pairs.
    const double least = drawn ? entry_bytes(plan.a, inner) * (get == Get::ntk ? 2 : 1) : 0;
    found.pair_bytes = std::max((now.peak - found.tile_bytes) / pairs, least);
    const double of_pairs = now.seconds - now.of_inputs, of_one = one.seconds - one.of_inputs;
    found.pair_seconds = std::max(of_pairs - of_one, 0.1 * of_pairs) / computed;
    found.tile_seconds = std::max(0.0, of_one - found.pair_seconds);
    found.input_seconds = now.of_inputs / static_cast<double>(tile_inputs(plan, block));
    found.self_seconds = now.self_seconds / static_cast<double>(tile_inputs(plan, block));
    spent = now.spent, peak = now.peak;
    if (n >= std::min(most, enough) || spent > probe_seconds / 4 || 4 * peak > probe_bytes)
      return found;
  }
}

// --- sizes ---

Sizes::Sizes(const GramPlan& plan, const Probe& p, Get get, double budget)
    : plan_(plan), probe_(p), unit_(positions_of(plan.a) == 1 ? vector_unit : 1) {
  matrices_ = (get == Get::ntk ? 2 : 1) * (plan.estimate.sampled ? 2 : 1);
  block_ = static_cast<double>(p.block.count());
  largest_ = rounded(std::max(plan.a.count(), plan.b.count()));
  const double free = budget - result_bytes() - working_bytes(unit_);
  draw_bytes_ = std::clamp(std::min(free / 2, kept_bytes), 0.0, p.draw_bytes * plan.replicates);
}

double Sizes::result_bytes() const {
  if (plan_.held_bytes) return *plan_.held_bytes;
  return 8.0 * matrices_ * block_ * static_cast<double>(plan_.a.count()) *
         static_cast<double>(plan_.b.count());
}

double Sizes::working_bytes(std::int64_t side) const {
  const double rows = static_cast<double>(std::min(side, plan_.a.count()));
  const double columns = static_cast<double>(std::min(side, plan_.b.count()));
  const double pair =
      probe_.pair_bytes + (plan_.estimate.sampled ? 8.0 * 3 * matrices_ * block_ : 0);
  const double in_flight = std::min<double>(num_threads(), tiles(side));
  return in_flight * (rows * columns * pair + probe_.tile_bytes) + num_threads() * thread_bytes +
         probe_bytes + probe_.self_bytes * input_count(plan_) + draw_bytes_ +
         probe_.landmark_bytes * plan_.replicates + copy_bytes(plan_.a) +
         (plan_.symmetric ? 0 : copy_bytes(plan_.b));
}

double Sizes::tiles(std::int64_t side) const {
  const auto a_side = [=](const Inputs& in) {
    return std::ceil(static_cast<double>(in.count()) / static_cast<double>(side));
  };
  const double rows = a_side(plan_.a);
  return plan_.symmetric ? rows * (rows + 1) / 2 : rows * a_side(plan_.b);
}

std::int64_t Sizes::rounded(std::int64_t side) const {
  const std::int64_t most = std::max(largest_, unit_);
  return side >= most ? most : (side + unit_ - 1) / unit_ * unit_;
}

std::int64_t Sizes::chosen(double budget) const {
  if (probe_.whole.nngp.defined()) return fitting(largest_, budget);
  const bool drawn = plan_.estimate.sampled;
  const double cached = std::sqrt((drawn ? drawn_bytes : cached_bytes) / probe_.pair_bytes);
  // If layers average over draws, the draws for an input serve all pairs of a tile, which saves
  // more than the caches do; and the loops over draws use all threads within one tile.
  const double at_once = plan_.processes * (drawn ? 1 : num_threads());
  const double shared = drawn && plan_.processes == 1
                            ? cached
                            : std::sqrt(static_cast<double>(plan_.a.count()) *
                                        static_cast<double>(plan_.b.count()) / (8.0 * at_once));
  const double paid = std::sqrt(probe_.tile_seconds / (tile_share * probe_.pair_seconds));
  const double wanted = std::min({cached, std::max(shared, paid), static_cast<double>(largest_)});
  return fitting(std::max<std::int64_t>(unit_, static_cast<std::int64_t>(wanted) / unit_ * unit_),
                 budget);
}

std::int64_t Sizes::fitting(std::int64_t side, double budget) const {
  while (side > unit_ && result_bytes() + working_bytes(side) > budget)
    side = std::max(unit_, side / 2 / unit_ * unit_);
  return side;
}

GramEstimate estimated(const GramPlan& plan, const Probe& found, const Sizes& sizes,
                       std::int64_t side) {
  GramEstimate e = plan.estimate;
  e.result_bytes = static_cast<std::uint64_t>(sizes.result_bytes());
  e.working_bytes = static_cast<std::uint64_t>(sizes.working_bytes(side));
  e.tile = side;
  const std::int64_t n1 = plan.a.count(), n2 = plan.b.count();
  e.tiles = static_cast<std::int64_t>(std::min(sizes.tiles(side), 1e18));
  const auto rows = static_cast<double>(n1), columns = static_cast<double>(n2);
  const auto across = [side](double n) { return std::ceil(n / static_cast<double>(side)); };
  const bool half = plan.estimate.sampled && plan.symmetric;  // of the pairs in diagonal tiles
  const double pairs = GramTiles(n1, n2, side, plan.symmetric).pairs() -
                       (half ? rows * (std::min(static_cast<double>(side), rows) - 1) / 2 : 0);
  const double inputs = plan.symmetric ? rows * across(rows)  // summed over tiles
                                       : rows * across(columns) + columns * across(rows);
  e.seconds = (pairs * found.pair_seconds + inputs * found.input_seconds +
               sizes.tiles(side) * found.tile_seconds + input_count(plan) * found.self_seconds) *
              plan.replicates / (num_threads() * plan.processes);
  return e;
}

}  // namespace ladon::infinite::cost
