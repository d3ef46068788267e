#include "ladon/layers/infinite/gram/plan.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "ladon/autograd/graph.h"
#include "ladon/core/error.h"
#include "ladon/core/parallel.h"
#include "ladon/layers/infinite/gram/checkpoint.h"

namespace ladon::infinite {
namespace {

constexpr double probe_seconds = 0.1;  // what measuring may take, about
constexpr double cached_bytes = 3e6;   // tensors of a tile that a core works on fastest
constexpr double probe_bytes = 16e6;   // what measuring may hold, about
constexpr double thread_bytes = 8e6;   // packing buffers of BLAS and what the allocator holds back

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// What the machine has free (Linux's own estimate); without one, no limit.
std::uint64_t free_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kilobytes = 0;
  while (file >> name) {
    if (name == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::numeric_limits<std::uint64_t>::max();
}

/// What a block of the first inputs showed.
struct Probe {
  double pair_bytes, pair_seconds;
  Shape positions;  // of the model's output
  bool sampled;
};

void check_blocks(const Inputs& a, const Inputs& b) {
  LADON_CHECK(a.x.defined() && b.x.defined(), "gram", "a block of inputs is undefined");
  LADON_CHECK(a.x.rank() > 0 && b.x.rank() > 0 && a.count() > 0 && b.count() > 0, "gram",
              "there are no inputs: shapes ", a.x.shape(), " and ", b.x.shape());
}

std::int64_t positions_of(const Inputs& in) {
  const Shape& s = in.x.shape();
  return s.sub(1, std::max(1, s.rank() - (in.x.dtype() == i64 ? 0 : 1))).count();
}

/// What the kernels of one pair of inputs and of both with themselves take: the least there is.
double least_bytes(const Inputs& in, Get get) {
  const auto positions = static_cast<double>(positions_of(in));
  return 8 * positions * positions * (get == Get::ntk ? 4 : 3);
}

// A block of n × n inputs makes tensors of n², n or 1 times a constant; at n·c its peak is therefore
// at most c² times as high. The larger the block, the less the bound exceeds the truth.
Probe probe(const Limit& limit, const GramPlan& plan, Get get, double budget) {
  const double least = least_bytes(plan.a, get);
  LADON_CHECK(least <= budget, "gram", "needs ", in_bytes(least),
              " for one pair of inputs, and more for a layer's temporaries, but there is ",
              in_bytes(budget), "; take fewer positions");
  const std::int64_t most = std::max(plan.a.count(), plan.b.count());
  for (std::int64_t n = 1;; n *= 2) {
    const GramTile block{0, 0, std::min(n, plan.a.count()), std::min(n, plan.b.count())};
    const double pairs = static_cast<double>(block.rows * block.columns);
    const std::size_t before = Storage::bytes_in_use();
    Storage::reset_peak();
    const double start = processor_seconds();
    const Kernel k = gram_tile(limit, plan, block, get, 0);
    const double seconds = processor_seconds() - start;
    const auto peak = static_cast<double>(Storage::peak_bytes() - before);
    if (seconds > probe_seconds / 4 || n >= std::min(most, vector_unit) || 4 * peak > probe_bytes)
      return {peak / pairs, seconds / pairs, k.positions, k.draws.used};
  }
}

/// Bytes of the f64 copy that inputs need.
double copy_bytes(const Inputs& in) {
  const bool ready = in.x.contiguous() && (in.x.dtype() == f64 || in.x.dtype() == i64);
  return ready ? 0 : 8.0 * static_cast<double>(in.x.count());
}

std::vector<GramTile> cut(const GramPlan& plan) {
  const std::int64_t n1 = plan.a.count(), n2 = plan.b.count(), side = plan.estimate.tile;
  LADON_CHECK(plan.estimate.tiles < 10'000'000, "gram", "there would be ", plan.estimate.tiles,
              " tiles; take larger ones than ", side, " × ", side, " inputs");
  std::vector<GramTile> tiles;
  for (std::int64_t i = 0; i < n1; i += side)
    for (std::int64_t j = plan.symmetric ? i : 0; j < n2; j += side)
      tiles.push_back({i, j, std::min(side, n1 - i), std::min(side, n2 - j)});
  return tiles;
}

/// Everything that follows from the side of a tile.
class Sizes {
 public:
  Sizes(const GramPlan& plan, const Probe& p, Get get)
      : plan_(plan), probe_(p), unit_(positions_of(plan.a) == 1 ? vector_unit : 1) {
    matrices_ = (get == Get::ntk ? 2 : 1) * (p.sampled ? 2 : 1);
    block_ = static_cast<double>(p.positions.count()) * static_cast<double>(p.positions.count());
    largest_ = rounded(std::max(plan.a.count(), plan.b.count()));
  }

  double result_bytes() const {
    return 8.0 * matrices_ * block_ * static_cast<double>(plan_.a.count()) *
           static_cast<double>(plan_.b.count());
  }
  /// Sums over replicates take three matrices more a kernel, tensors of a step included.
  double working_bytes(std::int64_t side) const {
    const double rows = static_cast<double>(std::min(side, plan_.a.count()));
    const double columns = static_cast<double>(std::min(side, plan_.b.count()));
    const double pair = probe_.pair_bytes + (probe_.sampled ? 8.0 * 3 * matrices_ * block_ : 0);
    const double in_flight = std::min<double>(num_threads(), tiles(side));
    return in_flight * rows * columns * pair + num_threads() * thread_bytes + probe_bytes +
           copy_bytes(plan_.a) + (plan_.symmetric ? 0 : copy_bytes(plan_.b));
  }
  double tiles(std::int64_t side) const {
    const auto a_side = [=](const Inputs& in) {
      return std::ceil(static_cast<double>(in.count()) / static_cast<double>(side));
    };
    const double rows = a_side(plan_.a);
    return plan_.symmetric ? rows * (rows + 1) / 2 : rows * a_side(plan_.b);
  }
  /// What a user asked for, as a multiple of the unit.
  std::int64_t rounded(std::int64_t side) const {
    const std::int64_t most = std::max(largest_, unit_);
    return side >= most ? most : (side + unit_ - 1) / unit_ * unit_;
  }
  /// A tile whose tensors stay in cache, and enough of them for all threads.
  std::int64_t chosen(double budget) const {
    const double cached = std::sqrt(cached_bytes / probe_.pair_bytes);
    const double shared = std::sqrt(static_cast<double>(plan_.a.count()) *
                                    static_cast<double>(plan_.b.count()) / (8.0 * num_threads()));
    const double wanted = std::min({cached, shared, static_cast<double>(largest_)});
    return fitting(std::max<std::int64_t>(unit_, static_cast<std::int64_t>(wanted) / unit_ * unit_),
                   budget);
  }
  /// The largest tile of at most `side` that the budget allows; the least one if none does.
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
  GramEstimate e;
  e.result_bytes = static_cast<std::uint64_t>(sizes.result_bytes());
  e.working_bytes = static_cast<std::uint64_t>(sizes.working_bytes(side));
  e.tile = side;
  e.sampled = found.sampled;
  const std::int64_t n1 = plan.a.count(), n2 = plan.b.count();
  e.tiles = static_cast<std::int64_t>(std::min(sizes.tiles(side), 1e18));
  double pairs = 0;
  for (std::int64_t i = 0; i < n1; i += side)
    pairs += static_cast<double>(std::min(side, n1 - i)) *
             static_cast<double>(plan.symmetric ? n2 - i : n2);
  e.seconds = pairs * found.pair_seconds * plan.replicates / num_threads();
  return e;
}

void check_budget(const GramPlan& plan, const Sizes& sizes, double budget, bool given) {
  const auto total = static_cast<double>(plan.estimate.bytes());
  if (total <= budget) return;
  const std::int64_t smaller = sizes.fitting(plan.estimate.tile, budget);
  const bool fits = sizes.result_bytes() + sizes.working_bytes(smaller) <= budget;
  detail::fail("gram", "needs ", in_bytes(total), " (", plan.estimate.describe(), "), but ",
               given ? "the memory budget is " : "the machine has free ", in_bytes(budget),
               fits ? detail::join("; tiles of ", smaller, " × ", smaller, " would fit")
                    : "; no tile is small enough: take fewer inputs at a time");
}

}  // namespace

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

std::string GramEstimate::describe() const {
  std::ostringstream time;
  time.precision(2);
  time << seconds;
  return detail::join(in_bytes(static_cast<double>(result_bytes)), " for the result and ",
                      in_bytes(static_cast<double>(working_bytes)), " of work, about ", time.str(),
                      " s: ", tiles, tiles == 1 ? " tile of " : " tiles of ", tile, " × ", tile,
                      " inputs");
}

GramPlan plan_gram(const Limit& limit, const Inputs& a, const Inputs& b, bool symmetric,
                   const GramOptions& options) {
  check_blocks(a, b);
  LADON_CHECK(options.tile >= 0 && options.replicates >= 2 && options.checkpoint_seconds >= 0,
              "gram",
              "tile and checkpoint_seconds must not be negative and replicates be at least 2, got ",
              options.tile, ", ", options.checkpoint_seconds, " and ", options.replicates);
  const auto budget =
      static_cast<double>(options.memory_budget > 0 ? options.memory_budget : free_memory());
  GramPlan plan;
  plan.a = a;
  plan.b = b;
  plan.symmetric = symmetric;
  const Probe found = probe(limit, plan, options.get, budget);
  const Sizes sizes(plan, found, options.get);
  plan.shape = {a.count(), b.count()};
  if (found.positions.rank() > 0) {
    plan.shape.append(found.positions.count());
    plan.shape.append(found.positions.count());
  }
  plan.replicates = found.sampled ? options.replicates : 1;
  std::int64_t side = options.tile;
  if (side == 0 && !options.checkpoint.empty())
    side = GramCheckpoint::stored_tile(options.checkpoint);
  side = side > 0 ? sizes.rounded(side) : sizes.chosen(budget);
  plan.estimate = estimated(plan, found, sizes, side);
  check_budget(plan, sizes, budget, options.memory_budget > 0);
  plan.tiles = cut(plan);
  return plan;
}

Kernel gram_tile(const Limit& limit, const GramPlan& plan, const GramTile& tile, Get get,
                 std::uint64_t replicate) {
  const NoGrad off;  // the mode is a thread's own
  const Inputs rows = plan.a.rows(tile.row, tile.row + tile.rows);
  const bool diagonal = plan.symmetric && tile.row == tile.column;
  Kernel k = diagonal
                 ? input_kernel(rows, get)
                 : input_kernel(rows, plan.b.rows(tile.column, tile.column + tile.columns), get);
  k.draws.replicate = replicate;
  return limit(k);
}

GramEstimate estimate_gram(const Limit& limit, const Inputs& a, const Inputs& b,
                           const GramOptions& options) {
  return plan_gram(limit, a, b, false, options).estimate;
}

GramEstimate estimate_gram(const Limit& limit, const Inputs& a, const GramOptions& options) {
  return plan_gram(limit, a, a, true, options).estimate;
}

}  // namespace ladon::infinite
