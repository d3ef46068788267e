#include "ladon/layers/infinite/gram/plan.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "ladon/autograd/graph.h"
#include "ladon/core/error.h"
#include "ladon/core/machine/machine.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/gram/executor.h"

namespace ladon::infinite {
namespace {

constexpr double probe_seconds = 0.1;  // approximate seconds that measuring may take
constexpr double cached_bytes = 3e6;   // size of a tile's tensors at which a core is fastest
constexpr double drawn_bytes = 1e8;    // the same size if layers draw
constexpr double probe_bytes = 16e6;   // approximate memory that measuring may take
// per thread: BLAS packing buffers, memory kept by the allocator
constexpr double thread_bytes = 8e6;

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Measurements on a block of the first inputs.
struct Probe {
  Shape block;                              // shape of a pair's block of outputs
  double pair_bytes = 0, pair_seconds = 0;  // per pair of inputs
  double tile_bytes = 0, tile_seconds = 0;  // per tile, for draws that all its inputs share
  double self_bytes = 0, self_seconds = 0;  // per input, for self-kernels that are kept; 0: none
};

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

/// Bytes of one input's self-kernels. 0 if they are not kept, because those of all inputs take more
/// than a quarter of the budget and no layer draws.
double kept_bytes(const GramPlan& plan, double budget) {
  const Passes& passes = plan.passes[0];
  const std::int64_t numbers = numbers_kept(passes.graph(), plan.wanted, passes.landmarks());
  const double bytes = 8 * static_cast<double>(numbers) * plan.replicates;
  return plan.estimate.sampled || bytes * input_count(plan) <= budget / 4 ? bytes : 0;
}

// A block of n × n inputs makes tensors whose sizes are constants times n², n or 1, so the peak
// memory of c·n × c·n inputs is at most c² times as high. The larger the block, the tighter this
// bound.
Probe probe(const GramPlan& plan, Get get, double budget) {
  const KernelNode& end = plan.passes[0].graph().output();
  Probe found{.block = block_of(end.positions, plan.wanted)};
  found.self_bytes = kept_bytes(plan, budget);
  const std::int64_t most = std::max(plan.a.count(), plan.b.count());
  for (std::int64_t n = 1;; n *= 2) {
    const GramTile block{0, 0, std::min(n, plan.a.count()), std::min(n, plan.b.count())};
    const double pairs = static_cast<double>(block.rows * block.columns);
    const std::size_t before = Storage::bytes_in_use();
    Storage::reset_peak();
    double start = processor_seconds();
    GramPlan part = plan;
    if (found.self_bytes > 0) {
      part = of_first(plan, block.rows, block.columns);
      found.self_seconds =
          (processor_seconds() - start) / static_cast<double>(block.rows + block.columns);
    }
    start = processor_seconds();
    gram_tile(part, block, 0);
    const double seconds = processor_seconds() - start;
    // The counters are for the whole process: if other threads free memory meanwhile, the peak may
    // be below `before`.
    const auto peak = static_cast<double>(std::max(Storage::peak_bytes(), before) - before);
    if (plan.estimate.sampled && n == 1) {  // nearly all of it is for draws, which pairs share
      found.tile_bytes = peak;
      found.tile_seconds = seconds;
      if (most > 1) continue;
    }
    // At least the size of a pair's tensors in any layer.
    const double least = 8 * least_bytes(plan.a, plan.wanted, get);
    found.pair_bytes = std::max(peak - found.tile_bytes, plan.estimate.sampled ? least : 0) / pairs;
    found.pair_seconds = std::max(seconds - found.tile_seconds, 0.1 * seconds) / pairs;
    if (plan.estimate.sampled && n >= 4) return found;
    if (seconds > probe_seconds / 4 || n >= std::min(most, vector_unit) || 4 * peak > probe_bytes)
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
  Sizes(const GramPlan& plan, const Probe& p, Get get)
      : plan_(plan), probe_(p), unit_(positions_of(plan.a) == 1 ? vector_unit : 1) {
    matrices_ = (get == Get::ntk ? 2 : 1) * (plan.estimate.sampled ? 2 : 1);
    block_ = static_cast<double>(p.block.count());
    largest_ = rounded(std::max(plan.a.count(), plan.b.count()));
  }

  double result_bytes() const {
    if (plan_.held_bytes) return *plan_.held_bytes;
    return 8.0 * matrices_ * block_ * static_cast<double>(plan_.a.count()) *
           static_cast<double>(plan_.b.count());
  }
  /// Bytes of all memory but the result. Sums over replicates take three more matrices per kernel,
  /// including temporaries of a step.
  double working_bytes(std::int64_t side) const {
    const double rows = static_cast<double>(std::min(side, plan_.a.count()));
    const double columns = static_cast<double>(std::min(side, plan_.b.count()));
    const double pair =
        probe_.pair_bytes + (plan_.estimate.sampled ? 8.0 * 3 * matrices_ * block_ : 0);
    const double in_flight = std::min<double>(num_threads(), tiles(side));
    return in_flight * (rows * columns * pair + probe_.tile_bytes) + num_threads() * thread_bytes +
           probe_bytes + probe_.self_bytes * input_count(plan_) + copy_bytes(plan_.a) +
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
  /// Side for tiles whose tensors stay in cache, and of which there are enough for all threads.
  std::int64_t chosen(double budget) const {
    // If layers draw, larger tiles are faster: the draws for an input serve all pairs of a tile.
    const double cached =
        std::sqrt((plan_.estimate.sampled ? drawn_bytes : cached_bytes) / probe_.pair_bytes);
    const double shared =
        std::sqrt(static_cast<double>(plan_.a.count()) * static_cast<double>(plan_.b.count()) /
                  (8.0 * num_threads() * plan_.processes));
    const double wanted = std::min({cached, shared, static_cast<double>(largest_)});
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
  double matrices_, block_;
};

GramEstimate estimated(const GramPlan& plan, const Probe& found, const Sizes& sizes,
                       std::int64_t side) {
  GramEstimate e = plan.estimate;
  e.result_bytes = static_cast<std::uint64_t>(sizes.result_bytes());
  e.working_bytes = static_cast<std::uint64_t>(sizes.working_bytes(side));
  e.tile = side;
  const std::int64_t n1 = plan.a.count(), n2 = plan.b.count();
  e.tiles = static_cast<std::int64_t>(std::min(sizes.tiles(side), 1e18));
  e.seconds = (GramTiles(n1, n2, side, plan.symmetric).pairs() * found.pair_seconds +
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
      given ? "the memory budget is " : "the machine has free ", in_bytes(budget),
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
  LADON_CHECK(
      options.tile >= 0 && options.replicates >= 2 && options.checkpoint_seconds >= 0, "gram",
      "tile and checkpoint_seconds must not be negative and replicates must be at least 2, got ",
      options.tile, ", ", options.checkpoint_seconds, " and ", options.replicates);
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
  for (int r = 0; r < plan.replicates; ++r)
    plan.passes.emplace_back(
        limit.with_replicate(limit.replicate() + static_cast<std::uint64_t>(r)), graph, landmarks,
        plan.wanted);
  const Probe found = probe(plan, options.get, budget);
  const Sizes sizes(plan, found, options.get);
  plan.shape = {a.count(), b.count()};
  for (const std::int64_t size : found.block) plan.shape.append(size);
  plan.keeps_selves = found.self_bytes > 0;
  std::int64_t side = options.tile > 0 ? options.tile : executor.kept_side();
  side = executor.agreed_side(side > 0 ? sizes.rounded(side) : sizes.chosen(budget));
  plan.estimate = estimated(plan, found, sizes, side);
  check_budget(plan, sizes, budget, options.memory_budget > 0);
  plan.tiles = GramTiles(a.count(), b.count(), side, symmetric);
  return plan;
}

void compute_selves(GramPlan& plan) {
  if (!plan.keeps_selves) return;
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
  GramPlan part = plan;
  part.a = plan.a.rows(0, rows);
  part.b = plan.b.rows(0, columns);
  part.selves_a = {plan.passes[0].selves(part.a, rows)};
  part.selves_b = {plan.passes[0].selves(part.b, columns)};
  return part;
}

Kernel gram_tile(const GramPlan& plan, const GramTile& tile, std::size_t replicate) {
  static const Selves none;
  const bool known = !plan.selves_a.empty();
  const Passes::Rows rows{plan.a, known ? plan.selves_a[replicate] : none, tile.row,
                          tile.row + tile.rows};
  const Passes::Rows columns{plan.b, known ? plan.selves_b[replicate] : none, tile.column,
                             tile.column + tile.columns};
  return plan.symmetric && tile.row == tile.column ? plan.passes[replicate].pairs(rows)
                                                   : plan.passes[replicate].pairs(rows, columns);
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
