#include "ladon/layers/infinite/gram/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/machine/machine.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/unread.h"
#include "ladon/layers/infinite/attention/kept_draws.h"
#include "ladon/layers/infinite/gram/executor.h"
#include "ladon/layers/infinite/kernel/pass_scope.h"

namespace ladon::infinite {
namespace {

constexpr double probe_seconds = 0.1;  // approximate seconds that measuring may take
constexpr double cached_bytes = 3e6;   // size of a tile's tensors at which a core is fastest
constexpr double drawn_bytes = 1e8;    // the same size if layers draw
constexpr double kept_bytes = 256e6;   // most memory for random matrices that tiles share
constexpr double probe_bytes = 16e6;   // approximate memory that measuring may take
constexpr double thread_bytes = 8e6;   // per thread: BLAS packing buffers, memory of the allocator
constexpr double probe_share = 0.2;    // a block of this share of the matrix's side suffices
constexpr double tile_share = 0.05;    // largest share of a tile's time for work done once per tile

/// Measurements on a block of the first inputs.
struct Probe {
  Shape block;                              // shape of a pair's block of outputs
  double pair_bytes = 0, pair_seconds = 0;  // per pair of inputs
  double tile_bytes = 0, tile_seconds = 0;  // per tile, for what does not grow with its pairs
  double input_seconds = 0;                 // per input of a tile's sides, for its draws
  double self_bytes = 0, self_seconds = 0;  // per input, for self-kernels that are kept; else 0
  double draw_bytes = 0;      // per replicate, for random matrices that all tiles share
  double landmark_bytes = 0;  // per replicate, for what passes over pairs need of the landmarks
  Kernel whole = {};          // kernels of all pairs, if the block has all inputs
};

void check_options(const GramOptions& options) {
  LADON_CHECK(options.tile >= 0, "gram",
              "tile, the side of a tile, must be positive, or 0 to choose it automatically, got ",
              options.tile);
  LADON_CHECK(options.replicates >= 2, "gram",
              "replicates, from which standard errors are taken, must be at least 2, got ",
              options.replicates);
  LADON_CHECK(options.checkpoint_seconds >= 0, "gram",
              "checkpoint_seconds must not be negative, got ", options.checkpoint_seconds);
  if (options.checkpoint.empty())
    detail::check_unread("gram", "checkpoint_seconds", options.checkpoint_seconds,
                         GramOptions{}.checkpoint_seconds,
                         "checkpoint is empty, so nothing is stored; set checkpoint to a folder");
}

void check_blocks(const Inputs& a, const Inputs& b) {
  LADON_CHECK(a.x.defined() && b.x.defined(), "gram",
              "a block of inputs is undefined; give a tensor");
  LADON_CHECK(a.x.rank() > 0 && b.x.rank() > 0, "gram",
              "inputs need at least one axis, the number of inputs, got shapes ", a.x.shape(),
              " and ", b.x.shape());
}

/// Number of inputs whose self-kernels are computed.
double input_count(const GramPlan& plan) {
  return static_cast<double>(plan.a.count() + (plan.symmetric ? 0 : plan.b.count()));
}

std::int64_t positions_of(const Inputs& in) {
  const Shape& s = in.x.shape();
  return s.sub(1, std::max(1, s.rank() - (in.x.dtype() == i64 ? 0 : 1))).count();
}

/// Lower bound of the memory for one pair of inputs: the bytes of its kernels and of both
/// self-kernels.
double least_bytes(const Inputs& in, Entries entries, Get get) {
  const auto positions = static_cast<double>(positions_of(in));
  const double block = entries == Entries::full ? positions * positions : positions;
  return 8 * block * (get == Get::ntk ? 4 : 3);
}

/// Bytes of one input's self-kernels, if they are kept: always if a layer draws, otherwise only if
/// those of all inputs take at most a quarter of the budget. 0 if they are not kept.
double self_bytes(const GramPlan& plan, double budget) {
  const Passes& passes = plan.passes[0];
  const std::int64_t numbers = numbers_kept(passes.graph(), plan.wanted, passes.landmarks());
  const double bytes = 8 * static_cast<double>(numbers) * plan.replicates;
  return plan.estimate.sampled || bytes * input_count(plan) <= budget / 4 ? bytes : 0;
}

/// Cost of the kernels of the first inputs.
struct Measured {
  double peak, seconds, self_seconds;
  double of_inputs;  // part of `seconds`: work per input, for its draws
  double spent;      // time that measuring the block took, without self-kernels
  Kernel kernels;
};

Kernel tile_kernels(const GramPlan& plan, const GramTile& tile, std::size_t replicate,
                    PassSample* sample = nullptr) {
  static const Selves none;
  const bool known = !plan.selves_a.empty(), own = plan.symmetric && tile.row == tile.column;
  const Passes::Rows rows{plan.a, known ? plan.selves_a[replicate] : none, tile.row,
                          tile.row + tile.rows};
  const Passes::Rows columns{plan.b, known ? plan.selves_b[replicate] : none, tile.column,
                             tile.column + tile.columns};
  const PassScope scope(*plan.draws, {.sample = sample, .upper_triangle = own});
  return own ? plan.passes[replicate].pairs(rows) : plan.passes[replicate].pairs(rows, columns);
}

GramPlan first_inputs(const GramPlan& plan, std::int64_t rows, std::int64_t columns,
                      PassSample* sample = nullptr) {
  const PassScope scope(*plan.draws, {.sample = sample});
  GramPlan part = plan;
  part.a = plan.a.rows(0, rows);
  part.b = plan.b.rows(0, columns);
  part.selves_a = {plan.passes[0].selves(part.a, rows)};
  part.selves_b = part.selves_a;
  if (!plan.symmetric || rows != columns) part.selves_b = {plan.passes[0].selves(part.b, columns)};
  return part;
}

/// Measures the computation of a block. Layers that draw make only a few draws, and estimate the
/// time of the others.
Measured measure(const GramPlan& plan, const GramTile& block, bool selves) {
  const std::size_t before = Storage::bytes_in_use();
  Storage::reset_peak();
  Measured y{};
  PassSample selves_sample, sample;
  double start = processor_seconds();
  GramPlan part = plan;
  if (selves) {
    part = first_inputs(plan, block.rows, block.columns, &selves_sample);
    y.self_seconds = processor_seconds() - start + selves_sample.left_out;
  }
  start = processor_seconds();
  y.kernels = tile_kernels(part, block, 0, &sample);
  y.spent = processor_seconds() - start;
  y.seconds = y.spent + sample.left_out;
  y.of_inputs = sample.of_inputs;
  // The counters are for the whole process: other threads may free more memory during the
  // measurement.
  y.peak = static_cast<double>(std::max(Storage::peak_bytes(), before) - before);
  return y;
}

/// Number of pairs of a tile that are computed. In a tile on the diagonal, layers that draw compute
/// only one of the pairs (n, m) and (m, n).
double computed_pairs(const GramPlan& plan, const GramTile& tile) {
  const auto rows = static_cast<double>(tile.rows), columns = static_cast<double>(tile.columns);
  const bool half = plan.estimate.sampled && plan.symmetric && tile.row == tile.column;
  return half ? rows * (rows + 1) / 2 : rows * columns;
}

/// Number of inputs that draw in a tile. In a tile on the diagonal both sides have the same inputs.
std::int64_t tile_inputs(const GramPlan& plan, const GramTile& tile) {
  return plan.symmetric && tile.row == tile.column ? tile.rows : tile.rows + tile.columns;
}

/// The tensor itself, if nothing else refers to its elements, or a copy.
Tensor own(Tensor& x) {
  Tensor y = std::move(x);
  return y.contiguous() && y.storage().exclusive() ? y : clone(y);
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
    // A block costs at most as much as a single pair times its number of pairs.
    const double times = std::min({probe_seconds / (4 * spent), probe_bytes / (4 * peak), 1e6});
    n = std::min({most, std::max<std::int64_t>(2, enough),
                  n * std::max<std::int64_t>(2, static_cast<std::int64_t>(std::sqrt(times)))});
    const GramTile block = first(n);
    const Measured now = measure(plan, block, found.self_bytes > 0);
    const double pairs = static_cast<double>(block.rows * block.columns),
                 computed = computed_pairs(plan, block);
    // Lower bound: the size of a pair's tensors in any layer.
    const double least = drawn ? 8 * least_bytes(plan.a, plan.wanted, get) : 0;
    found.pair_bytes = std::max(now.peak - found.tile_bytes, least) / pairs;
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

/// Bytes of the contiguous f64 copy of the inputs; 0 if they need no copy.
double copy_bytes(const Inputs& in) {
  const bool ready = in.x.contiguous() && (in.x.dtype() == f64 || in.x.dtype() == i64);
  return ready ? 0 : 8.0 * static_cast<double>(in.x.count());
}

/// All quantities that follow from the side of a tile.
class Sizes {
 public:
  Sizes(const GramPlan& plan, const Probe& p, Get get, double budget)
      : plan_(plan), probe_(p), unit_(positions_of(plan.a) == 1 ? vector_unit : 1) {
    matrices_ = (get == Get::ntk ? 2 : 1) * (plan.estimate.sampled ? 2 : 1);
    block_ = static_cast<double>(p.block.count());
    largest_ = rounded(std::max(plan.a.count(), plan.b.count()));
    const double free = budget - result_bytes() - working_bytes(unit_);
    draw_bytes_ = std::clamp(std::min(free / 2, kept_bytes), 0.0, p.draw_bytes * plan.replicates);
  }

  /// Bytes of random matrices that tiles share, as far as the budget leaves room for the tiles.
  double draw_bytes() const { return draw_bytes_; }
  double result_bytes() const {
    if (plan_.held_bytes) return *plan_.held_bytes;
    return 8.0 * matrices_ * block_ * static_cast<double>(plan_.a.count()) *
           static_cast<double>(plan_.b.count());
  }
  /// Bytes of all memory but the result. Sums over replicates take three more numbers per entry of
  /// each matrix, temporaries included.
  double working_bytes(std::int64_t side) const {
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
  double tiles(std::int64_t side) const {
    const auto a_side = [=](const Inputs& in) {
      return std::ceil(static_cast<double>(in.count()) / static_cast<double>(side));
    };
    const double rows = a_side(plan_.a);
    return plan_.symmetric ? rows * (rows + 1) / 2 : rows * a_side(plan_.b);
  }
  /// The user's tile, rounded up to a multiple of the unit.
  std::int64_t rounded(std::int64_t side) const {
    const std::int64_t most = std::max(largest_, unit_);
    return side >= most ? most : (side + unit_ - 1) / unit_ * unit_;
  }
  /// Side at which the tensors of a tile stay in cache and there are enough tiles for all threads,
  /// but tiles are so large that the work done once per tile costs little.
  std::int64_t chosen(double budget) const {
    if (probe_.whole.nngp.defined()) return fitting(largest_, budget);
    const bool drawn = plan_.estimate.sampled;
    const double cached = std::sqrt((drawn ? drawn_bytes : cached_bytes) / probe_.pair_bytes);
    // If layers draw, the draws for an input serve all pairs of a tile, which saves more than the
    // caches do; and the loops over draws use all threads within one tile.
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
  /// The largest side, up to `side`, that fits the budget; if none does, the smallest side.
  std::int64_t fitting(std::int64_t side, double budget) const {
    while (side > unit_ && result_bytes() + working_bytes(side) > budget)
      side = std::max(unit_, side / 2 / unit_ * unit_);
    return side;
  }

 private:
  const GramPlan& plan_;
  const Probe& probe_;
  std::int64_t unit_, largest_ = std::numeric_limits<std::int64_t>::max();
  double matrices_, block_, draw_bytes_ = 0;
};

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
  const bool half = plan.estimate.sampled && plan.symmetric;  // diagonal tiles compute half
  const double pairs = GramTiles(n1, n2, side, plan.symmetric).pairs() -
                       (half ? rows * (std::min(static_cast<double>(side), rows) - 1) / 2 : 0);
  const double inputs = plan.symmetric ? rows * across(rows)  // of all tiles
                                       : rows * across(columns) + columns * across(rows);
  e.seconds = (pairs * found.pair_seconds + inputs * found.input_seconds +
               sizes.tiles(side) * found.tile_seconds + input_count(plan) * found.self_seconds) *
              plan.replicates / (num_threads() * plan.processes);
  return e;
}

void check_budget(const GramPlan& plan, const Sizes& sizes, double budget, bool given) {
  const auto total = static_cast<double>(plan.estimate.bytes());
  if (total <= budget) return;
  const std::int64_t smaller = sizes.fitting(plan.estimate.tile, budget);
  const bool fits = sizes.result_bytes() + sizes.working_bytes(smaller) <= budget;
  detail::fail(
      "gram", "needs ", in_bytes(total), " (", plan.estimate.describe(), "), but ",
      given ? "the memory budget is " : "the machine's free memory is ", in_bytes(budget),
      fits ? detail::join("; tiles of ", smaller, " × ", smaller, " would fit (GramOptions::tile)")
           : "; no tile is small enough: take fewer inputs at a time");
}

}  // namespace

GramTiles::GramTiles(std::int64_t rows, std::int64_t columns, std::int64_t side, bool symmetric)
    : rows_(rows), columns_(columns), side_(side), symmetric_(symmetric) {}

/// Number of tiles in the rows of tiles before `row`. In a symmetric matrix each row of tiles has
/// one tile fewer than the row above.
std::int64_t GramTiles::before(std::int64_t row) const {
  return row * across(columns_) - (symmetric_ ? row * (row - 1) / 2 : 0);
}

double GramTiles::pairs() const {
  double pairs = 0;
  for (std::int64_t i = 0; i < rows_; i += side_)
    pairs += static_cast<double>(std::min(side_, rows_ - i)) *
             static_cast<double>(symmetric_ ? columns_ - i : columns_);
  return pairs;
}

GramTile GramTiles::operator[](std::int64_t index) const {
  std::int64_t row = 0, end = across(rows_);  // before(row) <= index < before(end)
  while (end - row > 1) {
    const std::int64_t middle = (row + end) / 2;
    (before(middle) <= index ? row : end) = middle;
  }
  const std::int64_t column = index - before(row) + (symmetric_ ? row : 0);
  const std::int64_t i = row * side_, j = column * side_;
  return {i, j, std::min(side_, rows_ - i), std::min(side_, columns_ - j)};
}

std::string in_bytes(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  int unit = 0;
  for (; bytes >= 999.95 && unit < 6; bytes /= 1000) ++unit;
  std::ostringstream out;
  out.setf(std::ios::fixed);
  out.precision(unit == 0 ? 0 : 1);
  out << bytes << ' ' << units[unit];
  return out.str();
}

std::string time_and_tiles(double seconds, std::int64_t tiles, std::int64_t side) {
  std::ostringstream out;
  out.precision(2);
  out << "about " << seconds << " s: " << tiles << (tiles == 1 ? " tile of " : " tiles of ") << side
      << " × " << side << " inputs";
  return out.str();
}

std::string GramEstimate::describe() const {
  return detail::join(in_bytes(static_cast<double>(result_bytes)), " for the result and ",
                      in_bytes(static_cast<double>(working_bytes)), " of work, ",
                      time_and_tiles(seconds, tiles, tile));
}

GramPlan plan_gram(const Limit& limit, const Inputs& a, const Inputs& b, bool symmetric,
                   const GramOptions& options, const GramExecutor& executor,
                   std::optional<double> held_bytes) {
  check_blocks(a, b);
  check_options(options);
  const auto budget =
      static_cast<double>(options.memory_budget > 0 ? options.memory_budget : free_memory());
  const NoGrad off;
  GramPlan plan;
  plan.a = a;
  plan.b = b;
  plan.symmetric = symmetric;
  plan.wanted = options.entries;
  plan.held_bytes = held_bytes;
  plan.processes = executor.processes();
  if (a.count() == 0 || b.count() == 0) {
    plan.shape = limit.with_replicate(0)(a, b, Get::nngp, options.entries).nngp.shape();
    return plan;
  }
  // Throws here, before any work, if a layer has no limit.
  const auto graph = limit.graph(kind_of(a, b), options.get);
  const double least = least_bytes(plan.a, layouts(*graph, plan.wanted).front(), options.get);
  LADON_CHECK(
      least <= budget, "gram", "needs ", in_bytes(least),
      " for one pair of inputs, and more for a layer's temporaries, but the budget is only ",
      in_bytes(budget), "; use inputs with fewer positions");
  plan.estimate.sampled = graph->draws();
  plan.replicates = graph->draws() ? options.replicates : 1;
  const Inputs landmarks = graph->draws() ? limit.landmarks(b) : Inputs();
  plan.draws = std::make_shared<KeptDraws>(probe_bytes / 2);
  const auto add_passes = [&](int replicate) {
    const PassScope scope(*plan.draws);
    plan.passes.emplace_back(
        limit.with_replicate(limit.replicate() + static_cast<std::uint64_t>(replicate)), graph,
        landmarks, plan.wanted);
  };
  const std::size_t before = Storage::bytes_in_use();
  add_passes(0);
  const std::size_t held = std::max(Storage::bytes_in_use(), before) - before;
  std::int64_t side = options.tile > 0 ? options.tile : executor.kept_side();
  Probe found = probe(plan, options.get, budget, side == 0 && plan.processes == 1);
  found.landmark_bytes = static_cast<double>(held);
  const Sizes sizes(plan, found, options.get, budget);
  plan.shape = {a.count(), b.count()};
  for (const std::int64_t size : found.block) plan.shape.append(size);
  plan.keeps_selves = found.self_bytes > 0;
  side = executor.agreed_side(side > 0 ? sizes.rounded(side) : sizes.chosen(budget));
  plan.estimate = estimated(plan, found, sizes, side);
  check_budget(plan, sizes, budget, options.memory_budget > 0);
  plan.draws->allow(sizes.draw_bytes());
  for (int r = 1; r < plan.replicates; ++r) add_passes(r);
  if (side >= std::max(a.count(), b.count())) plan.whole = std::move(found.whole);
  plan.tiles = GramTiles(a.count(), b.count(), side, symmetric);
  return plan;
}

void compute_selves(GramPlan& plan) {
  if (!plan.keeps_selves) return;
  const PassScope scope(*plan.draws);
  const std::int64_t side = plan.estimate.tile;
  const auto of_block = [&](const Passes& passes, const Inputs& in) {
    const std::int64_t n = in.count();
    return passes.selves(in, side < n / side ? side * side : n, &plan.remainders);
  };
  for (const Passes& passes : plan.passes) {
    plan.selves_a.push_back(of_block(passes, plan.a));
    plan.selves_b.push_back(plan.symmetric ? plan.selves_a.back() : of_block(passes, plan.b));
  }
}

GramPlan of_first(const GramPlan& plan, std::int64_t rows, std::int64_t columns) {
  return first_inputs(plan, rows, columns);
}

Kernel gram_tile(const GramPlan& plan, const GramTile& tile, std::size_t replicate) {
  return tile_kernels(plan, tile, replicate);
}

namespace {

/// Executor of an estimate: asks no other process, and uses the options' executor only for the side
/// of tiles that are stored already.
class Asked final : public GramExecutor {
 public:
  explicit Asked(const GramOptions& options) : own_(executor_for(options)) {}
  std::int64_t kept_side() const override { return own_->kept_side(); }

 private:
  std::unique_ptr<GramExecutor> own_;
};

}  // namespace

GramEstimate estimate_gram(const Limit& limit, const Inputs& a, const Inputs& b,
                           const GramOptions& options) {
  return plan_gram(limit, a, b, false, options, Asked(options)).estimate;
}

GramEstimate estimate_gram(const Limit& limit, const Inputs& a, const GramOptions& options) {
  return plan_gram(limit, a, a, true, options, Asked(options)).estimate;
}

}  // namespace ladon::infinite
