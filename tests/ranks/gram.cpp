// Gram matrices that ranks compute together, in memory and in a folder: they equal those of one
// process in every bit.

#include "ladon/layers/infinite/gram/gram.h"

#include <sys/stat.h>

#include <cstdlib>
#include <iostream>
#include <map>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/ranks/ranks_cholesky.h"
#include "ladon/layers/extra/images/conv.h"
#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/ranks/checks.h"

namespace ladon::test {
namespace {

namespace fs = std::filesystem;
using infinite::Entries;
using infinite::Gram;
using infinite::gram;
using infinite::GramOptions;
using infinite::limit;

constexpr std::int64_t unit = infinite::vector_unit;
constexpr std::int64_t n = 5 * unit - 7;  // 15 tiles of a unit

Tensor draw(const Shape& shape, std::uint64_t seed = 2) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

Sequential dense() {
  Generator rng(1);
  return Sequential(Linear({.in = 6, .out = 2}, rng), Activation(Nonlinearity::relu),
                    Linear({.in = 2, .out = 2}, rng), Activation(Nonlinearity::relu),
                    Linear({.in = 2, .out = 1}, rng));
}

/// Ends with positions.
Sequential convolution() {
  Generator rng(1);
  return Sequential(Conv1d({.in = 3, .out = 4, .window = {3}, .padding = Padding::same}, rng),
                    Activation(Nonlinearity::relu), Linear({.in = 4, .out = 2}, rng));
}

bool same(const Gram& a, const Gram& b) {
  return same_bits(a.nngp, b.nngp) && same_bits(a.ntk, b.ntk) && same_bits(a.nngp_se, b.nngp_se) &&
         same_bits(a.ntk_se, b.ntk_se);
}

/// `compute` gives what this rank makes of it alone.
template <class F>
void expect_same(const F& compute, const char* what) {
  const Gram together = compute();
  const ranks::Alone alone;
  require(same(together, compute()), what);
}

void in_memory() {
  const Sequential net = dense();
  const Tensor x = draw({n, 6}), y = draw({2 * unit - 5, 6}, 3);
  for (const std::int64_t tile : {std::int64_t{0}, unit}) {
    expect_same([&] { return gram(limit(net), x, {.tile = tile}); }, "one block");
    expect_same([&] { return gram(limit(net), x, y, {.tile = tile}); }, "two blocks");
  }
  std::int64_t told = 0, tiles = -1;
  gram(limit(net), x, {.tile = unit, .progress = [&](const infinite::GramProgress& p) {
                         require(p.tiles_done >= told, "tiles are told in their order");
                         told = p.tiles_done;
                         tiles = p.estimate.tiles;
                       }});
  require(told == tiles, "all tiles are told");
  const Sequential positions = convolution();
  const Tensor images = draw({7, 4, 3});
  for (const Entries entries : {Entries::full, Entries::diagonal})
    expect_same([&] { return gram(limit(positions), images, {.entries = entries, .tile = 2}); },
                "with positions");
  Generator rng(1);
  const MultiHeadAttention attention({.dim = 4, .heads = 2}, rng);
  const infinite::Limit drawn = limit(attention);
  require(drawn.draws(), "the limit is an average over draws");
  expect_same(
      [&] {
        return gram(drawn, draw({5, 3, 4}), {.tile = 2, .replicates = 2});
      },
      "with draws");
}

/// Nothing is made of tiles of different kernels.
void different() {
  if (ranks::count() == 1) return;
  const auto own = static_cast<std::uint64_t>(ranks::rank());
  const Sequential net = dense();
  require_error(
      [&] {
        gram(limit(net), draw({n, 6}, own));
      },
      "[gram] the ranks compute different things: \"inputs\"", "all have the same inputs");
  require_error(
      [&] {
        gram(limit(net), draw({n, 6}), draw({7, 6}, own));
      },
      "\"other inputs\"", "in both blocks");
  Generator rng(1);
  const Linear layer({.in = 6,
                      .out = 2,
                      .parameterization = Parameterization::ntk,
                      .weight_std = 1 + static_cast<double>(own)},
                     rng);
  require_error([&] { gram(limit(layer), draw({n, 6})); }, "different things: \"", "and model");
}

/// The ranks multiply together.
void expect_product(const infinite::StoredGram& kernel) {
  const Tensor v = draw({n, 3}, 5), y = kernel.multiply(v);
  const Tensor of_last = clone(y);
  ranks::broadcast(of_last, ranks::count() - 1);
  require(same_bits(y, of_last), "all have the same product");
  if (ranks::count() > 1) {
    const auto own = static_cast<std::uint64_t>(ranks::rank());
    const Tensor another = draw({n, 3}, own);
    require_error([&] { kernel.multiply(another); }, "the vectors differ between ranks",
                  "by other vectors, of one shape");
    const Tensor fewer = draw({n, own == 0 ? 2 : 3}, 5);
    require_error([&] { kernel.multiply(fewer); }, "the vectors differ between ranks",
                  "by fewer vectors");
  }
  const ranks::Alone alone;
  const Tensor single = kernel.multiply(v);
  require(sum(square(y - single)).item() <= 1e-24 * sum(square(single)).item(), "that of one");
}

void in_folders() {
  const Sequential net = dense();
  const Tensor x = draw({n, 6});
  const SharedFolder shared;
  Gram expected;
  {
    const ranks::Alone alone;
    expected = gram(limit(net), x);
  }
  for (const double seconds : {0.0, 1e-9, 10.0})  // one tile per part, one per thread, all in one
    for (int run = 0; run < 2; ++run) {
      const fs::path parts = shared.path() / std::to_string(seconds);
      const GramOptions options{.tile = unit, .checkpoint = parts, .checkpoint_seconds = seconds};
      require(same(gram(limit(net), x, options), expected), "with a checkpoint");
    }
  if (ranks::count() > 1)
    require_error(
        [&] {
          const Tensor own = draw({n, 6}, static_cast<std::uint64_t>(ranks::rank()));
          gram(limit(net), own, {.tile = unit, .checkpoint = shared.path() / "different"});
        },
        "the ranks compute different things: \"inputs\"", "all have the same inputs");
  const fs::path tiles = shared.path() / "stored";
  for (int run = 0; run < 2; ++run) {
    const auto stored = store_gram(limit(net), x, tiles, {.get = infinite::Get::ntk, .tile = unit});
    require(same_bits(stored.rows(0, n), expected.ntk), "stored");
    require(same_bits(stored.diagonal(), diagonal(expected.ntk)), "its diagonal");
    expect_product(stored);
  }
}

/// Tiles in the memory of their ranks, which nobody sends.
void in_memory_of_each() {
  const Sequential net = dense();
  const Tensor x = draw({n, 6}), v = draw({n, 3}, 5);
  Tensor expected;
  {
    const ranks::Alone alone;
    expected = gram(limit(net), x).ntk;
  }
  const auto tiles = store_gram(limit(net), x, {}, {.get = infinite::Get::ntk, .tile = unit});
  require(same_bits(tiles.rows(0, n), expected), "the rows of one process");
  require(same_bits(tiles.rows(unit - 1, unit + 1), slice(expected, 0, {unit - 1, unit + 1})),
          "of two rows of tiles");
  if (ranks::count() > 1) {
    const std::int64_t own = ranks::rank();
    require_error([&] { tiles.rows(own, own + 2); }, "rank 0 has rows 0 to 2, rank 1 has rows 1",
                  "all ask for the same rows");
  }
  require(same_bits(tiles.diagonal(), diagonal(expected)), "its diagonal");
  const Tensor y = tiles.multiply(v), single = matmul(expected, v), of_last = clone(y);
  ranks::broadcast(of_last, ranks::count() - 1);
  require(same_bits(y, of_last), "all have the same product");
  require(sum(square(y - single)).item() <= 1e-24 * sum(square(single)).item(), "that of one");
  int held = 0;
  for (std::int64_t i = 0; i < tiles.across(); ++i)
    for (std::int64_t j = i; j < tiles.across(); ++j) {
      if (ranks::holder(j, i) != ranks::rank()) {
        require_error([&] { tiles.tile(i, j); }, "in the memory of another", "each has its own");
        continue;
      }
      ++held;
      const std::int64_t row = tiles.first(i), column = tiles.first(j);
      require(same_bits(tiles.tile(i, j),
                        contiguous(at(expected, {Slice{row, tiles.first(i + 1)},
                                                 Slice{column, tiles.first(j + 1)}}))),
              "a tile");
    }
  const Tensor sum_held = full({1}, held, f64);
  ranks::all_reduce(sum_held);
  require(sum_held.item() == 15, "each tile is in one rank");
  require(ranks::count() > 4 || held > 0, "and every rank has some");
  if (ranks::count() > 1)
    require_error(
        [&] {
          store_gram(limit(net), draw({n, 6}, static_cast<std::uint64_t>(ranks::rank())), {},
                     {.get = infinite::Get::ntk});
        },
        "[store_gram] the ranks compute different things: \"inputs\"", "all have the same inputs");
}

/// The files of parts, and which they are: a part that is written anew is another file.
std::map<fs::path, ino_t> parts_in(const fs::path& folder) {
  std::map<fs::path, ino_t> found;
  if (!fs::exists(folder)) return found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    struct stat is;
    if (entry.path().extension() == ".bin" && stat(entry.path().c_str(), &is) == 0)
      found[entry.path()] = is.st_ino;
  }
  return found;
}

}  // namespace

void check_grams() {
  in_memory();
  different();
  in_folders();
  in_memory_of_each();
}

void die_in_gram(const fs::path& folder, bool stored) {
  const Sequential net = dense();
  const auto die = [](std::int64_t done) {
    if (done == 2 && ranks::rank() == ranks::count() - 1) std::_Exit(9);
  };
  if (stored)
    store_gram(limit(net), draw({n, 6}), folder,
               {.get = infinite::Get::ntk, .tile = unit, .progress = [&](const auto& p) {
                  die(p.tiles_done);
                }});
  else
    gram(limit(net), draw({n, 6}),
         {.tile = unit,
          .checkpoint = folder,
          .checkpoint_seconds = 0,
          .progress = [&](const auto& p) { die(p.tiles_done); }});
}

void resume_gram(const fs::path& folder, bool stored) {
  const Sequential net = dense();
  const Tensor x = draw({n, 6});
  const auto before = parts_in(folder);
  ranks::barrier();
  const Tensor found =
      stored
          ? store_gram(limit(net), x, folder, {.get = infinite::Get::ntk, .tile = unit}).rows(0, n)
          : gram(limit(net), x, {.tile = unit, .checkpoint = folder}).ntk;
  const auto after = parts_in(folder);
  require(!before.empty() && before.size() < after.size(), "some tiles were left, and not all");
  for (const auto& [path, file] : before)
    require(after.at(path) == file, "tiles that were left are taken up");
  if (ranks::rank() == 0) std::cout << before.size() << " tiles were taken up\n";
  const ranks::Alone alone;
  require(same_bits(found, gram(limit(net), x).ntk), "the bits of a run that nobody killed");
}

}  // namespace ladon::test
