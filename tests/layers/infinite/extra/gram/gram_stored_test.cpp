// Gram matrices whose tiles are on disk.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "ladon/core/extra/ranks/ranks_cholesky.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/tests/layers/infinite/gram/gram_networks.h"

namespace ladon::gram_stored_test {
namespace {

using infinite::Get;
using infinite::gram;
using infinite::limit;
using infinite::store_gram;
using infinite::StoredGram;
using infinite::StoredGramOptions;
using infinite::StoredGramProgress;
using test::draw;
using test::relu_net;
using test::same_bits;

namespace fs = std::filesystem;

constexpr std::int64_t unit = infinite::vector_unit;
constexpr std::int64_t n = 3 * unit + 20;  // 4 tiles a side, 10 in all

class StoredGramTest : public testing::Test {
 protected:
  /// Of the NTK, unless the options say another.
  StoredGram run(StoredGramOptions options = {.tile = unit}) const {
    if (!options.get) options.get = Get::ntk;
    return store_gram(limit(net_), x_, tiles_, options);
  }
  /// Number of tiles that a run computes itself: the others keep their time of writing.
  int computed() const {
    std::map<fs::path, fs::file_time_type> before;
    for (const auto& entry : fs::directory_iterator(tiles_))
      before[entry] = entry.last_write_time();
    EXPECT_TRUE(same_bits(run().rows(0, n), whole_));
    int changed = 0;
    for (const auto& entry : fs::directory_iterator(tiles_))
      if (entry.path().extension() == ".bin")
        changed += !before.contains(entry) || before[entry] != entry.last_write_time();
    return changed;
  }
  fs::path part(int i) const { return tiles_ / detail::join("part_00000", i, ".bin"); }

  Sequential net_ = relu_net(50);
  Tensor x_ = draw({n, 50});
  Tensor whole_ = gram(limit(net_), x_).ntk;
  test::TemporaryFolder folder_;
  fs::path tiles_ = folder_ / "tiles";
};

TEST_F(StoredGramTest, HasTheBitsOfTheMatrixInMemory) {
  for (const Get get : {Get::nngp, Get::ntk}) {
    const auto g = gram(limit(net_), x_, {.get = get});
    const Tensor& expected = get == Get::ntk ? g.ntk : g.nngp;
    const StoredGram stored = store_gram(limit(net_), x_, folder_ / (get == Get::ntk ? "k" : "t"),
                                         {.get = get, .tile = unit});
    EXPECT_EQ(stored.size(), n);
    EXPECT_TRUE(same_bits(stored.rows(0, n), expected));
    EXPECT_TRUE(same_bits(stored.rows(unit - 1, unit + 2),
                          slice(expected, 0, {.start = unit - 1, .stop = unit + 2})));
    EXPECT_EQ(stored.rows(5, 5).shape(), (Shape{0, n}));
    EXPECT_TRUE(same_bits(stored.diagonal(), diagonal(expected)));
    for (const auto& [i, j] : {std::pair(1, 3), std::pair(3, 1), std::pair(2, 2)})
      EXPECT_TRUE(same_bits(stored.tile(i, j),
                            at(expected, {Slice{stored.first(i), stored.first(i + 1)},
                                          Slice{stored.first(j), stored.first(j + 1)}})));
  }
}

TEST_F(StoredGramTest, IsKeptInMemoryWithoutAFolder) {
  const StoredGram stored = store_gram(limit(net_), x_, {}, {.get = Get::ntk, .tile = unit});
  EXPECT_TRUE(same_bits(stored.rows(0, n), whole_));
  EXPECT_TRUE(same_bits(stored.rows(unit - 3, 2 * unit), slice(whole_, 0, {unit - 3, 2 * unit})));
  EXPECT_TRUE(same_bits(stored.diagonal(), diagonal(whole_)));
  const Tensor v = draw({n, 2});
  EXPECT_TRUE(same_bits(stored.multiply(v), run().multiply(v)));
  EXPECT_EQ(stored.estimate().disk_bytes, 0U);
  EXPECT_GE(stored.estimate().memory_bytes, 8U * 10 * unit * unit / 2);
  const auto larger =
      store_gram(limit(net_), draw({6 * unit, 50}), {}, {.get = Get::ntk, .tile = 5 * unit});
  EXPECT_EQ(larger.estimate().tile, ranks::largest_block);
}

TEST_F(StoredGramTest, MultipliesFromEitherTriangle) {
  const Tensor v = draw({n, 3}, 5), expected = matmul(whole_, v);
  const double size = amax(abs(expected)).item();
  const StoredGram stored = run();
  const Tensor y = stored.multiply(v);
  EXPECT_LE(amax(abs(y - expected)).item(), 1e-13 * size);
  EXPECT_TRUE(same_bits(y, stored.multiply(v))) << "tiles that were kept";
  EXPECT_LE(amax(abs(stored.multiply(cast(v, f32)) - expected)).item(), 1e-6 * size);
}

TEST_F(StoredGramTest, SingleTilesAreRoundedAndSumsAreNot) {
  const StoredGram stored = run({.dtype = f32, .tile = unit});
  const Tensor rounded = cast(cast(whole_, f32), f64), v = draw({n, 2}, 5);
  EXPECT_TRUE(same_bits(stored.rows(0, n), rounded));
  EXPECT_TRUE(same_bits(stored.diagonal(), diagonal(rounded)));
  const Tensor expected = matmul(rounded, v);
  EXPECT_LE(amax(abs(stored.multiply(v) - expected)).item(), 1e-13 * amax(abs(expected)).item());
  EXPECT_EQ(stored.estimate().disk_bytes,
            4u * (10 * unit * unit - 3 * unit * (unit - 20) - (unit * unit - 400)));
}

TEST_F(StoredGramTest, HasTheSameBitsAtAnyNumberOfThreads) {
  const Tensor v = draw({n, 3}, 5);
  std::vector<Tensor> results;
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    const StoredGram stored = store_gram(limit(net_), x_, folder_ / std::to_string(threads),
                                         {.get = Get::ntk, .tile = unit});
    results.push_back(concat({stored.multiply(v), stored.rows(0, n)}, 1));
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
}

TEST_F(StoredGramTest, MeansOverDrawsAreStored) {
  Sequential net = relu_net(50);
  net.layers.emplace_back(test::Sampling());
  const StoredGram stored =
      store_gram(limit(net), x_, tiles_, {.get = Get::ntk, .tile = unit, .replicates = 3});
  EXPECT_TRUE(same_bits(stored.rows(0, n), gram(limit(net), x_, {.replicates = 3}).ntk));
}

TEST_F(StoredGramTest, KeepsTheBudget) {
  const Tensor x = draw({2000, 4});
  const Sequential net = relu_net(4);
  const std::uint64_t budget = 60'000'000;  // the matrix has 32 MB, and is told at 16 MB on disk
  const StoredGramOptions options{.get = Get::nngp, .memory_budget = budget};
  const auto estimate = infinite::estimate_stored_gram(limit(net), x, tiles_, options);
  EXPECT_LE(estimate.memory_bytes, budget) << estimate.describe();
  EXPECT_GT(estimate.tiles, 1);
  const std::size_t before = Storage::bytes_in_use();
  const auto peak = [&] { return Storage::peak_bytes() - before; };
  Storage::reset_peak();
  const StoredGram stored = store_gram(limit(net), x, tiles_, options);
  EXPECT_LE(peak(), budget);
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(tiles_))
    if (entry.path().extension() == ".bin") bytes += entry.file_size() - 40;
  EXPECT_EQ(bytes, estimate.disk_bytes);
  const Tensor v = draw({2000, 2}, 5);
  Storage::reset_peak();
  const Tensor y = stored.multiply(v);
  EXPECT_LE(peak(), budget);
}

TEST_F(StoredGramTest, HoldsFewTilesWhereTheBudgetIsSmall) {
  const std::size_t at_first = Storage::bytes_in_use();      // of other tests
  const Tensor x = draw({3000, 4}), v = draw({3000, 1}, 5);  // 36 MB on disk
  const Sequential net = relu_net(4);
  const auto options = [](std::uint64_t budget) {
    return StoredGramOptions{.get = Get::nngp, .tile = 256, .memory_budget = budget};
  };
  const auto least = infinite::estimate_stored_gram(limit(net), x, tiles_, options(0)).memory_bytes;
  const StoredGram stored = store_gram(limit(net), x, tiles_, options(least + 2'000'000));
  const std::size_t before = Storage::bytes_in_use();
  Storage::reset_peak();
  stored.multiply(v);
  EXPECT_LE(Storage::peak_bytes() - before, 4u * 8 * 256 * 256) << "tiles in flight";
  EXPECT_LE(before - at_first, 4'500'000u + 8 * 3000 * 6)
      << "tiles kept: 2 MB, of what is in this test";
}

TEST_F(StoredGramTest, ResumesAfterTheProcessWasKilled) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    run({.tile = unit, .progress = [](const StoredGramProgress& p) {
           if (p.tiles_done == 5) kill(getpid(), SIGKILL);
         }});
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  const int left = computed();  // the fifth was being written
  EXPECT_TRUE(left == 5 || left == 6) << left;
  EXPECT_EQ(computed(), 0);
}

TEST_F(StoredGramTest, ComputesDamagedTilesAgain) {
  { const StoredGram stored = run({.tile = unit, .memory_budget = 1'000'000'000}); }
  fs::resize_file(part(0), fs::file_size(part(0)) - 1);
  fs::resize_file(part(1), 0);
  fs::remove(part(2));
  std::fstream(part(3), std::ios::in | std::ios::out | std::ios::binary).seekp(5000).put('\x55');
  fs::copy_file(part(7), part(6), fs::copy_options::overwrite_existing);
  EXPECT_EQ(computed(), 5);
  EXPECT_EQ(computed(), 0);
}

TEST_F(StoredGramTest, SaysWhatWasDamagedSince) {
  const auto least =
      infinite::estimate_stored_gram(limit(net_), x_, tiles_, {.get = Get::ntk, .tile = unit})
          .memory_bytes;
  const StoredGram stored = run({.tile = unit, .memory_budget = least});  // none is kept
  fs::resize_file(part(4), 100);
  test::expect_error([&] { stored.multiply(draw({n, 1})); }, "part_000004.bin is missing or was");
  EXPECT_NO_THROW(stored.tile(0, 0));
}

TEST_F(StoredGramTest, RefusesAnotherComputationAndASecondRun) {
  {
    const StoredGram stored = run();
    test::expect_error([&] { run(); }, "is in use by process");
  }
  const auto refused = [&](const Layer& net, const Tensor& x, StoredGramOptions options,
                           const std::string& difference) {
    if (!options.get) options.get = Get::ntk;
    test::expect_error([&] { store_gram(limit(net), x, tiles_, options); }, difference);
  };
  refused(net_, x_ * 2, {}, "its \"inputs\" is");
  refused(relu_net(50), x_, {.dtype = f32}, "its \"dtype\" is f64, now it is f32");
  refused(net_, x_, {.get = Get::nngp}, "of another computation");
  refused(net_, x_, {.tile = 2 * unit}, "its \"tile\" is 128, now it is 256");
  EXPECT_EQ(run({}).estimate().tile, unit) << "the folder's own";
  test::expect_error([&] { gram(limit(net_), x_, {.checkpoint = tiles_}); },
                     "is not the manifest of a checkpoint");
}

TEST_F(StoredGramTest, RefusesWhatCannotBe) {
  const auto refused = [&](const Layer& net, const infinite::Inputs& x, StoredGramOptions options,
                           const std::string& why) {
    if (!options.get) options.get = Get::ntk;
    test::expect_error([&] { store_gram(limit(net), x, tiles_, options); }, why);
    EXPECT_FALSE(fs::exists(part(0)));
  };
  refused(net_, infinite::Inputs(), {}, "the inputs are an undefined tensor");
  refused(net_, zeros({0, 50}, f64), {}, "needs at least one input, got shape [0, 50]");
  refused(net_, x_, {.dtype = i64}, "stored as f64 or f32, not as i64");
  refused(net_, x_, {.tile = -1}, "negative");
  refused(net_, x_, {.memory_budget = 1000}, "the memory budget is 1.0 kB");
  refused(test::attention_net(4), draw({3, 2, 4}), {}, "ends with positions");
  const Tensor many = expand(zeros({1, 1}, f64), {10'000'000, 1});
  const Sequential thin = relu_net(1);
  const std::size_t before = Storage::bytes_in_use();
  Storage::reset_peak();
  refused(thin, many, {.memory_budget = 1'000'000'000}, "the parts still to be written take 4");
  EXPECT_LT(Storage::peak_bytes() - before, 20'000'000u);
  EXPECT_FALSE(fs::exists(tiles_));
  const StoredGram stored = run();
  test::expect_error(
      [&] {
        stored.multiply(draw({n + 1, 1}));
      },
      "must be floating-point, [404, k]");
  test::expect_error([&] { stored.rows(3, n + 1); }, "there are no rows [3, 405)");
  test::expect_error([&] { stored.tile(0, 4); }, "there is no tile 0, 4");
}

}  // namespace
}  // namespace ladon::gram_stored_test
