#include "ladon/layers/extra/tiles/stored.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/ranks/ranks.h"
#include "ladon/core/extra/ranks/ranks_cholesky.h"
#include "ladon/core/held.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/machine/background.h"
#include "ladon/core/machine/machine.h"
#include "ladon/layers/extra/tiles/checkpoint.h"
#include "ladon/layers/extra/tiles/executor.h"
#include "ladon/layers/infinite/gram/work.h"

namespace ladon::infinite {
namespace {

constexpr const char* operation = "store_gram";
constexpr const char* title = "Ladon stored Gram matrix 1";
constexpr std::int64_t largest_side = 2048;  // larger tiles do not make products faster
constexpr double tiles_in_budget = 12;
static_assert(ranks::largest_block % vector_unit == 0);

struct StoredPlan {
  // `tiles` are the stored tiles; estimate.tile is the side of the smaller tiles in which threads
  // compute them.
  GramPlan gram;
  StoredGramEstimate estimate;
  double budget = 0;
};

std::int64_t tile_side(std::int64_t n, std::int64_t wanted, double budget) {
  const double chosen = std::sqrt(budget / (8 * tiles_in_budget));
  const std::int64_t side = wanted > 0
                                ? std::min(wanted, n) + vector_unit - 1
                                : static_cast<std::int64_t>(std::min<double>(largest_side, chosen));
  const std::int64_t most = (n + vector_unit - 1) / vector_unit * vector_unit;
  return std::clamp(side / vector_unit * vector_unit, vector_unit, most);
}

/// Whether this rank holds a tile. A tile on or above the diagonal belongs to the rank that holds
/// the transposed block of a distributed Cholesky factor, which is lower triangular.
bool mine(const GramTile& tile, std::int64_t side) {
  return ranks::holder(tile.column / side, tile.row / side) == ranks::rank();
}

/// Number of pairs in this rank's tiles.
double own_pairs(const GramTiles& tiles, std::int64_t side) {
  double pairs = 0;
  for (std::int64_t i = 0; i < tiles.count(); ++i)
    if (mine(tiles[i], side)) pairs += static_cast<double>(tiles[i].rows * tiles[i].columns);
  return pairs;
}

StoredPlan plan_stored(const Limit& limit, const Inputs& x, const std::string& folder,
                       const StoredGramOptions& options) {
  LADON_CHECK(options.get, operation,
              "the kernel to store is not given; set .get = infinite::Get::nngp (the "
              "posterior of GaussianProcess) or infinite::Get::ntk (gradient descent)");
  LADON_CHECK(options.dtype == f64 || options.dtype == f32, operation,
              "tiles are stored as f64 or f32, not as ", options.dtype);
  LADON_CHECK(options.tile >= 0, operation, "the tile must not be negative, got ", options.tile);
  LADON_CHECK(x.x.defined(), operation, "the inputs are an undefined tensor; pass [N, ..]");
  LADON_CHECK(x.x.rank() > 0 && x.count() > 0, operation, "needs at least one input, got shape ",
              x.x.shape(), "; its first axis numbers the inputs");
  const std::int64_t n = x.count();
  StoredPlan plan;
  plan.budget =
      static_cast<double>(options.memory_budget > 0 ? options.memory_budget : free_memory());
  const bool in_memory = folder.empty();
  const std::int64_t wanted =
      options.tile > 0 || in_memory
          ? options.tile
          : detail::PartFolder::manifest(operation, title, folder).number("tile");
  std::int64_t side = tile_side(n, wanted, plan.budget);
  if (in_memory) side = std::min(side, ranks::largest_block);
  // Ranks may have different budgets.
  ranks::broadcast(std::as_writable_bytes(std::span(&side, 1)), 0);
  const auto pairs = static_cast<double>(std::min(side, n) * std::min(side, n));
  const auto item = static_cast<double>(item_size(options.dtype));
  const GramTiles tiles(n, n, side, true);
  // Bytes of two tiles if they are stored in a folder, or else of all tiles of this rank; and, if
  // tiles are f32, of an f64 copy of the one in use.
  const double held = (in_memory ? own_pairs(tiles, side) : 2 * pairs) * item +
                      (options.dtype == f64 ? 0 : 8 * pairs);
  plan.gram = plan_gram(limit, x, x, true,
                        {.get = *options.get,
                         .memory_budget = options.memory_budget,
                         .replicates = options.replicates},
                        *shared_executor({}), held);
  LADON_CHECK(
      plan.gram.shape.rank() == 2, operation,
      "the model ends with positions: its output has a vector per position, not one per input; "
      "end it with MeanPositions, Flatten or FirstToken");
  plan.gram.tiles = tiles;
  plan.estimate = {in_memory ? 0 : static_cast<std::uint64_t>(tiles.pairs() * item),
                   plan.gram.estimate.bytes(), plan.gram.estimate.seconds, side,
                   plan.gram.tiles.count()};
  return plan;
}

/// Entries of one stored tile; in a tile on the diagonal, those below the diagonal are mirrored.
Tensor compute(const GramPlan& plan, const GramTile& tile, Get get) {
  const bool diagonal = tile.row == tile.column;
  const GramTiles cut(tile.rows, tile.columns, plan.estimate.tile, diagonal);
  Tensor block = empty({tile.rows, tile.columns}, f64);
  parallel::for_range(cut.count(), 1, [&](std::int64_t i, std::int64_t end) {
    for (; i < end; ++i) {
      const GramTile part = cut[i];
      const Gram k = compute_tile(
          plan, {tile.row + part.row, tile.column + part.column, part.rows, part.columns});
      copy_(at(block, {Slice{part.row, part.row + part.rows},
                       Slice{part.column, part.column + part.columns}}),
            get == Get::ntk ? k.ntk : k.nngp);
      if (diagonal) mirror(block, part);
    }
  });
  return block;
}

}  // namespace

std::string StoredGramEstimate::describe() const {
  return detail::join(
      disk_bytes > 0 ? in_bytes(static_cast<double>(disk_bytes)) + " on disk and " : "",
      in_bytes(static_cast<double>(memory_bytes)), " of memory, ",
      time_and_tiles(seconds, tiles, tile));
}

struct StoredGram::State {
  State(std::int64_t count, Get which, GramTiles cut, const StoredGramEstimate& taken, DType type,
        double free_bytes, const std::string& folder)
      : n(count),
        kind(which),
        tiles(std::move(cut)),
        estimate(taken),
        dtype(type),
        room(free_bytes),
        kept(static_cast<std::size_t>(tiles.count())),
        diagonal(zeros({n}, f64)) {
    if (!folder.empty()) parts.emplace(operation, title, folder);
  }

  std::uint64_t payload(const GramTile& t) const {
    return static_cast<std::uint64_t>(t.rows * t.columns) * item_size(dtype);
  }
  void begin(const detail::Manifest& manifest) {
    if (parts)
      parts->begin(manifest);
    else
      manifest.check_same_in_all_ranks(operation);
    identity = manifest.identity(title);
  }
  /// Block of tile `index` from the disk; undefined if it is missing or damaged.
  Tensor read(std::int64_t index) const {
    const GramTile t = tiles[index];
    Tensor block;
    const bool whole = parts && parts->read(index, payload(t), [&](detail::PartReader& from) {
      block = empty({t.rows, t.columns}, dtype);
      from.read(block.strided_bytes(), payload(t));
    });
    return whole ? block : Tensor();
  }
  void write(std::int64_t index, const Tensor& block) const {
    parts->write(index, payload(tiles[index]), [&](detail::PartWriter& to) {
      to.write(block.strided_bytes(), payload(tiles[index]));
    });
  }
  /// Keeps a tile in memory if there is room, so that a later pass over all tiles finds the first
  /// tiles there. Without a folder all tiles are kept.
  void keep(std::int64_t index, const Tensor& block) {
    const auto bytes = static_cast<double>(payload(tiles[index]));
    Tensor& place = kept[index];
    if (place.defined() || (parts && bytes > room)) return;
    place = block;
    room -= bytes;
  }
  void set_diagonal(const GramTile& t, const Tensor& block) {
    if (t.row != t.column) return;
    const Tensor own = contiguous(cast(ladon::diagonal(block), f64));
    std::copy_n(own.data<double>(), t.rows, diagonal.mutable_data<double>() + t.row);
  }
  Tensor fetch(std::int64_t index) const {
    const Tensor& known = kept[index];
    const Tensor block = known.defined() ? known : read(index);
    LADON_CHECK(block.defined() || parts, "StoredGram", "rank ", ranks::rank(),
                " has no tile of row ", tiles[index].row, " and column ", tiles[index].column,
                ", which is in the memory of another rank; use rows() or multiply() on all ranks");
    LADON_CHECK(block.defined(), "StoredGram", parts->path_of(index),
                " is missing or was damaged since it was stored; store_gram() computes it again");
    return block;
  }
  /// Whether this rank processes a tile when all ranks work together.
  bool own(const GramTile& t) const { return mine(t, estimate.tile); }
  /// Calls use(tile, block) for all tiles with wanted(tile), in order.
  template <class Wanted, class Use>
  void for_each(const Wanted& wanted, const Use& use) {
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; i < tiles.count(); ++i)
      if (wanted(tiles[i])) indices.push_back(i);
    const auto index = [&](std::int64_t at) { return indices[at]; };
    parallel::one_ahead(
        static_cast<std::int64_t>(indices.size()),
        [&](std::int64_t at) { return fetch(index(at)); },
        [&](std::int64_t at, const Tensor& block) {
          keep(index(at), block);
          use(tiles[index(at)], cast(block, f64));
        });
  }

  std::int64_t n;
  Get kind;
  GramTiles tiles;
  StoredGramEstimate estimate;
  DType dtype;
  double room;                              // bytes that may still be kept
  std::optional<detail::PartFolder> parts;  // nullopt if tiles are in memory
  std::uint64_t identity = 0;
  std::vector<Tensor> kept;
  Tensor diagonal;
};

StoredGram::StoredGram(std::unique_ptr<State> state) : state_(std::move(state)) {}
StoredGram::StoredGram(StoredGram&&) noexcept = default;
StoredGram& StoredGram::operator=(StoredGram&&) noexcept = default;
StoredGram::~StoredGram() = default;
StoredGram::State& StoredGram::state() const { return detail::held("StoredGram", state_); }

std::int64_t StoredGram::size() const { return state().n; }
Get StoredGram::kind() const { return state().kind; }
DType StoredGram::dtype() const { return state().dtype; }
const StoredGramEstimate& StoredGram::estimate() const& { return state().estimate; }
StoredGramEstimate StoredGram::estimate() && { return state().estimate; }
std::uint64_t StoredGram::identity() const { return state().identity; }
Tensor StoredGram::diagonal() const { return clone(state().diagonal); }

std::int64_t StoredGram::across() const { return (size() + estimate().tile - 1) / estimate().tile; }
std::int64_t StoredGram::first(std::int64_t i) const {
  LADON_CHECK(0 <= i && i <= across(), "StoredGram::first", "there is no tile row ", i,
              ": the matrix has ", across(), " tiles per side, numbered from 0");
  return std::min(size(), i * estimate().tile);
}

Tensor StoredGram::tile(std::int64_t i, std::int64_t j) const {
  const NoGrad off;
  LADON_CHECK(0 <= i && i < across() && 0 <= j && j < across(), "StoredGram::tile",
              "there is no tile ", i, ", ", j, ": the matrix has ", across(),
              " tiles per side, numbered from 0");
  const std::int64_t row = std::min(i, j), column = std::max(i, j);
  const std::int64_t index = row * across() - row * (row - 1) / 2 + column - row;
  const Tensor block = state().fetch(index);
  state().keep(index, block);
  const Tensor exact = cast(block, f64);
  return i <= j ? exact : transpose(exact);
}

Tensor StoredGram::rows(std::int64_t begin, std::int64_t end) const {
  const NoGrad off;
  LADON_CHECK(0 <= begin && begin <= end && end <= size(), "StoredGram::rows",
              "there are no rows [", begin, ", ", end, "): the matrix has ", size(),
              " rows, numbered from 0");
  if (!state().parts)
    ranks::check_alike("StoredGram::rows", detail::join("rows ", begin, " to ", end));
  Tensor result = zeros({end - begin, size()}, f64);
  const auto crossed = [=](std::int64_t first, std::int64_t count) {
    return Slice{std::max(begin, first), std::min(end, first + count)};
  };
  const auto crosses = [&](std::int64_t first, std::int64_t count) {
    return first < end && begin < first + count;
  };
  const auto take = [&](const Tensor& block, std::int64_t row, std::int64_t column) {
    if (!crosses(row, block.size(0))) return;
    const Slice some = crossed(row, block.size(0));
    copy_(at(result, {Slice{*some.start - begin, *some.stop - begin},
                      Slice{column, column + block.size(1)}}),
          at(block, {Slice{*some.start - row, *some.stop - row}}));
  };
  state().for_each(
      [&](const GramTile& t) {
        return (state().parts || state().own(t)) &&
               (crosses(t.row, t.rows) || crosses(t.column, t.columns));
      },
      [&](const GramTile& t, const Tensor& block) {
        take(block, t.row, t.column);
        if (t.row != t.column) take(transpose(block), t.column, t.row);
      });
  if (!state().parts) ranks::all_reduce(result);  // an entry is 0 in all ranks but one
  return result;
}

Tensor StoredGram::multiply(const Tensor& v) const {
  const NoGrad off;
  LADON_CHECK(v.defined() && is_floating(v.dtype()) && v.rank() == 2 && v.size(0) == size(),
              "StoredGram::multiply", "the vectors must be floating-point, [", size(),
              ", k], one row per input; got ", detail::kind_in_words(v));
  ranks::check_alike("StoredGram::multiply", "the vectors", v);
  const std::int64_t k = v.size(1);
  const Tensor x = contiguous(cast(v.detach(), f64));
  Tensor y = zeros({size(), k}, f64);
  double* to = y.mutable_data<double>();
  const double* from = x.data<double>();
  const auto add = [&](blas::Matrix<const double> a, std::int64_t rows, std::int64_t columns,
                       std::int64_t row, std::int64_t column) {
    blas::gemm<double>(rows, k, columns, 1, a, {from + column * k, k, 1}, 1, {to + row * k, k, 1});
  };
  state().for_each([&](const GramTile& t) { return state().own(t); },
                   [&](const GramTile& t, const Tensor& block) {
                     const blas::Matrix<const double> a{block.data<double>(), t.columns, 1};
                     add(a, t.rows, t.columns, t.row, t.column);
                     if (t.row != t.column) add(a.transposed(), t.columns, t.rows, t.column, t.row);
                   });
  ranks::all_reduce(y);
  return y;
}

StoredGramEstimate estimate_stored_gram(const Limit& limit, const Inputs& x,
                                        const std::string& folder,
                                        const StoredGramOptions& options) {
  const ranks::Alone asked;
  return plan_stored(limit, x, folder, options).estimate;
}

StoredGram store_gram(const Limit& limit, const Inputs& x, const std::string& folder,
                      const StoredGramOptions& options) {
  const NoGrad off;
  StoredPlan plan = plan_stored(limit, x, folder, options);
  if (!folder.empty())
    detail::PartFolder::check_room(operation, folder, plan.estimate.disk_bytes,
                                   options.dtype == f64 ? "; as f32 they take half" : "");
  GramPlan& gram = plan.gram;
  gram.a = gram.b = prepared(x);
  auto state = std::make_unique<StoredGram::State>(
      x.count(), *options.get, gram.tiles, plan.estimate, options.dtype,
      plan.budget - static_cast<double>(plan.estimate.memory_bytes), folder);
  detail::Manifest manifest = manifest_of(limit, gram, *options.get);
  manifest.entries.emplace_back("tile", detail::join(plan.estimate.tile));
  manifest.entries.emplace_back("dtype", detail::join(options.dtype));
  state->begin(manifest);

  GramReport report(gram, [&](std::int64_t done, double seconds_left) {
    if (options.progress) options.progress({plan.estimate, done, seconds_left});
  });
  compute_selves(gram);
  std::future<void> written;  // one tile is written while the next is computed
  for (std::int64_t i = 0; i < gram.tiles.count(); ++i) {
    const GramTile tile = gram.tiles[i];
    if (!state->own(tile)) continue;
    Tensor block = state->read(i);
    const bool known = block.defined();
    if (!known) block = cast(compute(gram, tile, *options.get), options.dtype);
    if (written.valid()) written.get();
    if (!known && state->parts)
      written = parallel::in_background([&state = *state, i, block] { state.write(i, block); });
    state->set_diagonal(tile, block);
    state->keep(i, block);
    if (known)
      report.restored(i, i + 1);
    else
      report.finished(tile);
  }
  if (written.valid()) written.get();
  ranks::all_reduce(state->diagonal);  // each element is 0 in all ranks but one
  report.complete();
  return StoredGram(std::move(state));
}

}  // namespace ladon::infinite
