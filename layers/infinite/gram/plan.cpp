#include "ladon/layers/infinite/gram/plan.h"

#include <algorithm>
#include <sstream>

#include "ladon/autograd/graph.h"
#include "ladon/core/error.h"
#include "ladon/core/machine/machine.h"
#include "ladon/core/unread.h"
#include "ladon/layers/infinite/attention/kept_draws.h"
#include "ladon/layers/infinite/gram/cost.h"
#include "ladon/layers/infinite/gram/executor.h"
#include "ladon/layers/infinite/kernel/pass_scope.h"

namespace ladon::infinite {
namespace {

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

void check_budget(const GramPlan& plan, const cost::Sizes& sizes, double budget, bool given) {
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
  const double least = cost::least_bytes(plan.a, layouts(*graph, plan.wanted).front(), options.get);
  LADON_CHECK(
      least <= budget, "gram", "needs ", in_bytes(least),
      " for one pair of inputs, and more for a layer's temporaries, but the budget is only ",
      in_bytes(budget), "; use inputs with fewer positions");
  plan.estimate.sampled = graph->draws();
  plan.replicates = graph->draws() ? options.replicates : 1;
  const Inputs landmarks = graph->draws() ? limit.landmarks(b) : Inputs();
  plan.draws = std::make_shared<KeptDraws>(cost::probe_bytes / 2);
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
  cost::Probe found = cost::probe(plan, options.get, budget, side == 0 && plan.processes == 1);
  found.landmark_bytes = static_cast<double>(held);
  const cost::Sizes sizes(plan, found, options.get, budget);
  plan.shape = {a.count(), b.count()};
  for (const std::int64_t size : found.block) plan.shape.append(size);
  plan.keeps_selves = found.self_bytes > 0;
  side = executor.agreed_side(side > 0 ? sizes.rounded(side) : sizes.chosen(budget));
  plan.estimate = cost::estimated(plan, found, sizes, side);
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

GramPlan of_first(const GramPlan& plan, std::int64_t rows, std::int64_t columns,
                  PassSample* sample) {
  const PassScope scope(*plan.draws, {.sample = sample});
  GramPlan part = plan;
  part.a = plan.a.rows(0, rows);
  part.b = plan.b.rows(0, columns);
  part.selves_a = {plan.passes[0].selves(part.a, rows)};
  part.selves_b = part.selves_a;
  if (!plan.symmetric || rows != columns) part.selves_b = {plan.passes[0].selves(part.b, columns)};
  return part;
}

Kernel gram_tile(const GramPlan& plan, const GramTile& tile, std::size_t replicate,
                 PassSample* sample) {
  static const Selves none;
  const bool known = !plan.selves_a.empty(), own = plan.symmetric && tile.row == tile.column;
  const Passes::Rows rows{plan.a, known ? plan.selves_a[replicate] : none, tile.row,
                          tile.row + tile.rows};
  const Passes::Rows columns{plan.b, known ? plan.selves_b[replicate] : none, tile.column,
                             tile.column + tile.columns};
  const PassScope scope(*plan.draws, {.sample = sample, .upper_triangle = own});
  return own ? plan.passes[replicate].pairs(rows) : plan.passes[replicate].pairs(rows, columns);
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
