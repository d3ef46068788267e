// Gram matrices in tiles: the same bits however they are cut, within the memory told, and resumed.

#include "ladon/layers/infinite/gram/gram.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

#include "ladon/autograd/ops.h"
#include "ladon/core/parallel.h"
#include "ladon/layers/infinite/gram/plan.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon {
namespace {

using infinite::gram;
using infinite::Gram;
using infinite::GramOptions;
using infinite::GramProgress;
using infinite::Inputs;
using infinite::limit;

namespace fs = std::filesystem;

constexpr std::int64_t unit = infinite::vector_unit;

LinearOptions random_linear(std::int64_t in) {
  return {.in = in,
          .out = 2,
          .parameterization = Parameterization::ntk,
          .weight_std = 1.2,
          .bias_std = 0.3};
}

Sequential relu_net(std::int64_t in) {
  Generator rng(1);
  return Sequential(Linear(random_linear(in), rng), Activation(Nonlinearity::relu),
                    Linear(random_linear(2), rng), Activation(Nonlinearity::gelu),
                    Linear(random_linear(2), rng));
}

/// Ends with positions.
Sequential attention_net(std::int64_t in) {
  Generator rng(1);
  return Sequential(MultiHeadAttention({.dim = in,
                                        .heads = 1,
                                        .form = {.scaling = AttentionScaling::linear, .tied = true},
                                        .prior = {.parameterization = Parameterization::ntk}},
                                       rng),
                    Activation(Nonlinearity::relu), Linear(random_linear(in), rng));
}

Tensor draw(const Shape& shape, std::uint64_t seed = 2) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.defined() != b.defined()) return false;
  if (!a.defined()) return true;
  const Tensor x = contiguous(a), y = contiguous(b);
  return x.shape() == y.shape() &&
         std::memcmp(x.data<double>(), y.data<double>(),
                     static_cast<std::size_t>(x.count()) * sizeof(double)) == 0;
}

void expect_same_bits(const Gram& a, const Gram& b, const std::string& what) {
  EXPECT_TRUE(same_bits(a.nngp, b.nngp)) << what << ": NNGP";
  EXPECT_TRUE(same_bits(a.ntk, b.ntk)) << what << ": NTK";
  EXPECT_TRUE(same_bits(a.nngp_se, b.nngp_se)) << what << ": NNGP's standard error";
  EXPECT_TRUE(same_bits(a.ntk_se, b.ntk_se)) << what << ": NTK's standard error";
}

/// A layer that estimates by sampling:  replicate r adds r to the kernels.
struct Sampling : Layer {
  Tensor forward(const Tensor& x) const override { return x; }
  infinite::Kernel limit(const infinite::Kernel& k) const override {
    return infinite::map_pairs(k, k.law, [&](const infinite::Pairs& p) {
      const auto r = static_cast<double>(k.call->replicate);
      return infinite::PairKernels{p.nngp + r, p.ntk.defined() ? p.ntk - 2 * r : Tensor()};
    });
  }
  bool draws() const override { return true; }
  void visit(Visitor&) override {}
  std::string describe() const override { return "Sampling"; }
};

/// Doubles the variance of an input with itself only, as dropout does.
struct Noise : Layer {
  Tensor forward(const Tensor& x) const override { return x; }
  infinite::Kernel limit(const infinite::Kernel& k) const override {
    return infinite::map_pairs(k, k.law, [](const infinite::Pairs& p) {
      infinite::PairKernels y{p.nngp, p.ntk};
      if (p.same.defined()) y.nngp = where(p.same, 2 * p.nngp, p.nngp);
      return y;
    });
  }
  void visit(Visitor&) override {}
  std::string describe() const override { return "Noise"; }
};

// --- what is computed ---

TEST(Gram, IsTheLimitOfAllInputs) {
  const Sequential net = relu_net(7);
  const Tensor x = draw({70, 7}), y = draw({5, 7}, 3);
  const infinite::Kernel k = limit(net)(x, y);
  const Gram g = gram(limit(net), x, y);
  EXPECT_TRUE(same_bits(g.nngp, k.nngp));
  EXPECT_TRUE(same_bits(g.ntk, k.ntk));
  EXPECT_FALSE(gram(limit(net), x, y, {.get = infinite::Get::nngp}).ntk.defined());
  EXPECT_FALSE(g.nngp_se.defined());
}

TEST(Gram, HasTheSameBitsForAnyTileAndNumberOfThreads) {
  const Sequential net = relu_net(300);
  const Tensor x = draw({3 * unit + 9, 300}), y = draw({2 * unit - 5, 300}, 3);
  const Gram whole = gram(limit(net), x, y, {.tile = 1000});
  expect_same_bits(gram(limit(net), x, y, {.tile = INT64_MAX}), whole, "as large as can be");
  const int before = num_threads();
  for (const int threads : {1, 3})
    for (const std::int64_t tile : {std::int64_t{0}, unit, unit + 40, 3 * unit}) {
      set_num_threads(threads);
      expect_same_bits(gram(limit(net), x, y, {.tile = tile}), whole,
                       detail::join("tile ", tile, ", ", threads, " threads"));
    }
  set_num_threads(before);
}

TEST(Gram, WithPositionsHasTheSameBitsForAnyTile) {
  const Sequential net = attention_net(6);
  const Tensor x = draw({11, 3, 6});
  const Gram whole = gram(limit(net), x, x, {.tile = 20});
  EXPECT_EQ(whole.ntk.shape(), (Shape{11, 11, 3, 3}));
  for (const std::int64_t tile : {1, 2, 3, 8})
    expect_same_bits(gram(limit(net), x, x, {.tile = tile}), whole, detail::join("tile ", tile));
}

// What ends with positions, each with the same of the other input only.
TEST(Gram, OfEachPositionWithTheSameIsTheDiagonal) {
  Generator rng(4);
  const Sequential net(Conv1d({.in = 3, .out = 8, .window = {3}, .padding = Padding::same}, rng),
                       Activation(Nonlinearity::relu), Linear({.in = 8, .out = 2}, rng));
  const Tensor x = draw({9, 5, 3}), y = draw({4, 5, 3}, 3);
  const auto own = [](const Gram& g) {
    return Gram{diagonal(g.nngp), diagonal(g.ntk), Tensor(), Tensor()};
  };
  for (const std::int64_t tile : {0, 1, 4, 20}) {
    const infinite::GramOptions all{.tile = tile};
    const infinite::GramOptions some{.entries = infinite::Entries::diagonal, .tile = tile};
    expect_same_bits(gram(limit(net), x, y, some), own(gram(limit(net), x, y, all)), "two blocks");
    expect_same_bits(gram(limit(net), x, some), own(gram(limit(net), x, all)), "one block");
  }
}

TEST(Gram, CutsAnyNumberOfTiles) {
  for (const bool symmetric : {false, true})
    for (const std::int64_t side : {1, 2, 3, 7, 10}) {
      const infinite::GramTiles tiles(10, symmetric ? 10 : 7, side, symmetric);
      Tensor seen = zeros({10, symmetric ? 10 : 7}, f64);
      double pairs = 0;
      for (std::int64_t i = 0; i < tiles.count(); ++i) {
        const infinite::GramTile t = tiles[i];
        pairs += static_cast<double>(t.rows * t.columns);
        Tensor window = slice(slice(seen, 0, {.start = t.row, .stop = t.row + t.rows}), 1,
                              {.start = t.column, .stop = t.column + t.columns});
        copy_(window, window + 1);
      }
      EXPECT_EQ(pairs, tiles.pairs());
      EXPECT_TRUE(all_equal(symmetric ? triu(seen) : seen,
                            symmetric ? triu(ones({10, 10}, f64)) : ones({10, 7}, f64)));
    }
  const infinite::GramTiles many(5'000'000, 5'000'000, 1, true);
  EXPECT_EQ(many.count(), std::int64_t{5'000'000} * 5'000'001 / 2);
  const infinite::GramTile last = many[many.count() - 1], second = many[5'000'000];
  EXPECT_EQ(last.row, 4'999'999);
  EXPECT_EQ(last.column, 4'999'999);
  EXPECT_EQ(second.row, 1);
  EXPECT_EQ(second.column, 1);
}

TEST(Gram, OfNoInputsIsTheirLimit) {
  const Sequential net = relu_net(7), tokens = attention_net(6);
  const Tensor none = zeros({0, 7}, f64);
  EXPECT_EQ(gram(limit(net), none).ntk.shape(), (Shape{0, 0}));
  EXPECT_EQ(gram(limit(net), draw({3, 7}), none).nngp.shape(), (Shape{3, 0}));
  EXPECT_EQ(gram(limit(tokens), zeros({0, 4, 6}, f64)).ntk.shape(), (Shape{0, 0, 4, 4}));
  EXPECT_EQ(estimate_gram(limit(net), none).tiles, 0);
}

// Counts what a model makes of single inputs: once an input, whatever the tile.
TEST(Gram, ComputesEachInputOnceAlone) {
  struct Counting : Layer {
    std::shared_ptr<std::atomic<std::int64_t>> alone =
        std::make_shared<std::atomic<std::int64_t>>();
    Tensor forward(const Tensor& x) const override { return x; }
    infinite::Kernel limit(const infinite::Kernel& k) const override {
      return infinite::map_pairs(k, k.law, [this](const infinite::Pairs& p) {
        if (p.nngp.rank() == 3) *alone += p.nngp.size(0);  // [N, T, T]
        return infinite::PairKernels{p.nngp, p.ntk};
      });
    }
    void visit(Visitor&) override {}
    std::string describe() const override { return "Counting"; }
  };
  const Counting layer;
  gram(limit(layer), draw({20, 3, 5}), {.tile = 1});
  EXPECT_LE(*layer.alone, 20 + 200);  // and some to measure, where a tile for each pair has 3·210
}

TEST(Gram, OfOneBlockIsSymmetricAndAgreesAboveTheDiagonal) {
  const Sequential net = relu_net(300);
  const Tensor x = draw({3 * unit + 9, 300});
  const Gram half = gram(limit(net), x, {.tile = unit}), whole = gram(limit(net), x, x);
  for (const auto which : {&Gram::nngp, &Gram::ntk}) {
    EXPECT_TRUE(same_bits(half.*which, transpose(half.*which)));
    EXPECT_TRUE(same_bits(triu(half.*which), triu(whole.*which)));
    EXPECT_TRUE(all_close(half.*which, whole.*which, 1e-8, 0));
  }
  const Sequential attention = attention_net(5);
  const Tensor tokens = draw({9, 3, 5});
  const Gram blocks = gram(limit(attention), tokens, {.tile = 2});
  EXPECT_TRUE(same_bits(blocks.ntk, permute(blocks.ntk, {1, 0, 3, 2})));
  EXPECT_TRUE(all_close(blocks.ntk, gram(limit(attention), tokens, tokens).ntk, 1e-12, 1e-15));
}

TEST(Gram, TellsWhichInputsAreTheSame) {
  const Noise noise;
  const Tensor x = draw({unit + 2, 4});
  const Tensor k = gram(limit(noise), x, {.tile = unit}).nngp;
  const Tensor plain = gram(limit(noise), x, x, {.tile = unit}).nngp;
  EXPECT_TRUE(same_bits(k, plain * (eye(unit + 2, f64) + 1)));
}

TEST(Gram, AveragesReplicatesAndTellsTheirError) {
  const Sampling layer;
  const Tensor x = draw({unit + 2, 4});
  const Gram g = gram(limit(layer), x, {.tile = unit, .replicates = 5});
  const Tensor plain = infinite::input_kernel(x, x).nngp;
  EXPECT_TRUE(all_close(triu(g.nngp), triu(plain + 2), 1e-12, 1e-12));  // (0 + 1 + 2 + 3 + 4)/5
  EXPECT_TRUE(all_close(g.ntk, full(plain.shape(), -4, f64), 1e-12, 0));
  const double se = std::sqrt(2.5 / 5);
  EXPECT_TRUE(all_close(g.nngp_se, full(plain.shape(), se, f64), 1e-9, 0));
  EXPECT_TRUE(all_close(g.ntk_se, full(plain.shape(), 2 * se, f64), 1e-9, 0));
}

// --- memory ---

void expect_bound(const Layer& net, const Inputs& x, const GramOptions& options) {
  const auto estimate = infinite::estimate_gram(limit(net), x, options);
  const std::size_t before = Storage::bytes_in_use();
  Storage::reset_peak();
  const Gram g = gram(limit(net), x, options);
  const std::size_t peak = Storage::peak_bytes() - before;
  const std::uint64_t matrices = g.nngp_se.defined() ? 32 : 16;  // bytes of an entry
  EXPECT_EQ(estimate.result_bytes, matrices * static_cast<std::uint64_t>(g.ntk.count()));
  EXPECT_LE(peak, estimate.bytes()) << estimate.describe();
  EXPECT_GE(peak, estimate.result_bytes);
}

TEST(GramEstimate, BoundsTheMemoryOfTensors) {
  const Sequential net = relu_net(20);
  for (const Inputs& x :
       {Inputs(draw({300, 20})), Inputs(draw({24, 5, 20})), Inputs(cast(draw({300, 20}), f32))})
    for (const std::int64_t tile : {0, 3, 128}) expect_bound(net, x, {.tile = tile});
}

// Where layers draw, it is more for each tile, and less for each pair.
TEST(GramEstimate, BoundsTheMemoryOfDraws) {
  Generator rng(1);
  const Sequential net(Linear(random_linear(20), rng), Activation(Nonlinearity::relu),
                       MultiHeadAttention({.dim = 2,
                                           .heads = 1,
                                           .prior = {.parameterization = Parameterization::ntk},
                                           .limit_draws = {.samples = 4}},
                                          rng),
                       MeanPool());
  for (const std::int64_t inputs : {1, 5, 40})
    for (const std::int64_t tile : {0, 1, 7, 40})
      expect_bound(net, draw({inputs, 6, 20}), {.tile = tile, .replicates = 2});
}

#ifndef LADON_SANITIZED  // sanitizers have memory of their own

/// The most memory that the process has had resident, in bytes (Linux).
std::uint64_t most_resident() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::uint64_t kilobytes = 0;
  while (status >> word)
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  return 0;
}

TEST(GramEstimate, BoundsTheMemoryOfTheProcess) {
  const Sequential net = attention_net(16);
  // 100² · 32² entries: 82 MB a matrix, far more than the allocator has left from other tests.
  const Tensor x = draw({100, 32, 16});
  const pid_t child = fork();  // its high-water mark begins at what it has now
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto estimate = infinite::estimate_gram(limit(net), x);
    const std::uint64_t before = most_resident();
    gram(limit(net), x);
    const std::uint64_t taken = most_resident() - before;
    _exit(before > 0 && taken > estimate.result_bytes / 2 && taken <= estimate.bytes() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif

TEST(Gram, RefusesWhatIsOverTheBudget) {
  const Sequential net = relu_net(2);
  const Tensor x = expand(zeros({1, 2}, f64), {10'000'000, 2});  // 2 · 8 · 10¹⁴ bytes
  const std::size_t before = Storage::bytes_in_use();
  Storage::reset_peak();
  test::expect_error([&] { gram(limit(net), x, {.memory_budget = 1'000'000'000}); },
                     "needs 1.6 PB");
  test::expect_error([&] { gram(limit(net), x); }, "the machine has free");
  const Tensor long_sequence = expand(zeros({1, 1, 2}, f64), {2, 10'000'000, 2});
  test::expect_error([&] { gram(limit(net), long_sequence); }, "for one pair of inputs");
  EXPECT_LT(Storage::peak_bytes() - before, 10'000'000u);
}

TEST(Gram, NamesTheTileThatWouldFit) {
  const Sequential net = relu_net(2);
  const Tensor x = draw({5 * unit, 2});
  const auto estimate = infinite::estimate_gram(limit(net), x, {.tile = unit});
  const GramOptions options{.tile = 5 * unit, .memory_budget = estimate.bytes() + 1'000'000};
  test::expect_error([&] { gram(limit(net), x, options); },
                     detail::join("tiles of ", unit, " × ", unit, " would fit"));
  EXPECT_NO_THROW(gram(limit(net), x, {.memory_budget = options.memory_budget}));
}

TEST(Gram, ReportsProgress) {
  const Sequential net = relu_net(2);
  std::vector<std::int64_t> done;
  gram(limit(net), draw({2 * unit + 1, 2}), {.tile = unit, .progress = [&](const GramProgress& p) {
                                               EXPECT_EQ(p.estimate.tiles, 6);
                                               done.push_back(p.tiles_done);
                                             }});
  EXPECT_EQ(done, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Gram, RefusesMalformedRequests) {
  const Sequential net = relu_net(2);
  test::expect_error([&] { gram(limit(net), Inputs()); }, "undefined");
  test::expect_error([&] { gram(limit(net), draw({2, 2}), {.tile = -1}); }, "negative");
  test::expect_error([&] { gram(limit(net), draw({2, 2}), {.replicates = 1}); }, "at least 2");
}

// --- checkpoints ---

class GramCheckpoint : public testing::Test {
 protected:
  GramOptions stored(std::function<void(const GramProgress&)> progress = {}) const {
    return {.tile = unit,
            .checkpoint = folder_.path() / "tiles",
            .checkpoint_seconds = 0,
            .progress = std::move(progress)};
  }
  Gram run(const GramOptions& options) const { return gram(limit(net_), x_, options); }
  /// How many tiles a run computes itself.
  std::int64_t computed(const GramOptions& options) const {
    std::int64_t restored = 0, tiles = 0;
    GramOptions counting = options;
    std::int64_t last = 0;
    counting.progress = [&](const GramProgress& p) {
      tiles = p.estimate.tiles;
      last = p.tiles_done;
    };
    const auto before = files();
    expect_same_bits(run(counting), whole_, "resumed");
    EXPECT_EQ(last, tiles);
    for (const auto& [path, file] : files())
      if (before.contains(path) && before.at(path) == file) ++restored;
    return tiles - restored;
  }
  /// The parts and which file each is: a part that is written again is a new one.
  std::map<fs::path, ino_t> files() const {
    std::map<fs::path, ino_t> all;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "tiles")) {
      struct stat status;
      if (entry.path().extension() == ".bin" && stat(entry.path().c_str(), &status) == 0)
        all[entry.path()] = status.st_ino;
    }
    return all;
  }

  Sequential net_ = relu_net(50);
  Tensor x_ = draw({3 * unit + 20, 50});
  Gram whole_ = gram(limit(net_), x_, {.tile = unit});
  test::TemporaryFolder folder_;
};

TEST_F(GramCheckpoint, ResumesAfterAnExceptionWithTheSameBits) {
  const auto stop = [](const GramProgress& p) {
    if (p.tiles_done == 4) throw std::runtime_error("stop");
  };
  EXPECT_THROW(run(stored(stop)), std::runtime_error);
  EXPECT_EQ(computed(stored()), 10 - 3);  // the fourth was not stored yet
  EXPECT_EQ(computed(stored()), 0);
  EXPECT_EQ(computed({.checkpoint = folder_.path() / "tiles"}), 0);  // takes the tile stored
}

TEST_F(GramCheckpoint, ResumesAfterTheProcessWasKilledWithTheSameBits) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    run(stored([](const GramProgress& p) {
      if (p.tiles_done == 5) kill(getpid(), SIGKILL);
    }));
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(computed(stored()), 10 - 4);
  for (const auto& entry : fs::directory_iterator(folder_.path() / "tiles"))
    EXPECT_FALSE(entry.path().string().ends_with(".tmp")) << entry.path();
}

TEST_F(GramCheckpoint, ComputesDamagedTilesAgain) {
  run(stored());
  const auto part = [&](int i) {
    return folder_.path() / "tiles" / detail::join("part_00000", i, ".bin");
  };
  fs::resize_file(part(0), fs::file_size(part(0)) - 1);
  fs::resize_file(part(1), 0);
  fs::remove(part(2));
  std::fstream(part(3), std::ios::in | std::ios::out | std::ios::binary).seekp(5000).put('\x55');
  fs::copy_file(part(7), part(6), fs::copy_options::overwrite_existing);
  EXPECT_EQ(computed(stored()), 5);
  EXPECT_EQ(computed(stored()), 0);
}

TEST_F(GramCheckpoint, PartsOfSeveralTilesResume) {
  GramOptions options = stored();
  options.checkpoint_seconds = 0.1;
  run(options);
  EXPECT_LT(files().size(), 10u);
  const auto before = files();
  expect_same_bits(run(options), whole_, "resumed");
  EXPECT_EQ(files(), before);
}

TEST_F(GramCheckpoint, RefusesTilesOfAnotherComputation) {
  run(stored());
  const auto refused = [&](const Layer& net, const Tensor& x, const GramOptions& options,
                           const std::string& difference) {
    test::expect_error([&] { gram(limit(net), x, options); }, difference);
  };
  refused(net_, x_ * 2, stored(), "its \"inputs\" is");
  refused(relu_net(50), concat({x_, x_}, 0), stored(), "its \"inputs\" is");
  test::expect_error([&] { gram(limit(net_), x_, x_, stored()); }, "its \"other inputs\" is");
  GramOptions nngp = stored();
  nngp.get = infinite::Get::nngp;
  refused(net_, x_, nngp, "of another computation");
  GramOptions tile = stored();
  tile.tile = 2 * unit;
  refused(net_, x_, tile, detail::join("its \"tile\" is ", unit, ", now it is ", 2 * unit));
  Sequential other = relu_net(50);
  other.set_hyperparameter("layers.0.weight_std", scalar(1.21, f64));
  refused(other, x_, stored(), "its \"model\" is");
  Sequential shallower = relu_net(50);
  shallower.layers.pop_back();
  refused(shallower, x_, stored(), "its \"model\" is");
}

TEST_F(GramCheckpoint, IsForOneRunAtATime) {
  int refused = 0;
  const auto second = [&](const GramProgress& p) {
    if (p.tiles_done != 1) return;
    test::expect_error([&] { run(stored()); }, "the folder " + (folder_.path() / "tiles").string() +
                                                   " is in use by process " +
                                                   std::to_string(getpid()));
    ++refused;
  };
  expect_same_bits(run(stored(second)), whole_, "the first run");
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(computed(stored()), 0);
}

TEST_F(GramCheckpoint, KeepsNoPartsOfAnotherCut) {
  const fs::path tiles = folder_.path() / "tiles";
  GramOptions other = stored();
  other.tile = 2 * unit;
  run(other);
  const fs::path stale = tiles / "part_000002.bin", beyond = tiles / "part_000077.bin";
  ASSERT_TRUE(fs::exists(stale));
  fs::remove(tiles / "manifest.txt");  // as of a run that began beside another
  fs::copy_file(stale, beyond);
  std::ofstream(tiles / "part_000088.bin") << "a file of somebody else, long enough for a header";
  std::ofstream(tiles / "notes.bin") << "another";
  run(stored());
  EXPECT_FALSE(fs::exists(beyond));
  EXPECT_TRUE(fs::remove(tiles / "part_000088.bin") && fs::remove(tiles / "notes.bin"));
  fs::remove(tiles / "part_000003.bin");
  fs::copy_file(tiles / "part_000001.bin", beyond);
  std::fstream(beyond, std::ios::in | std::ios::out | std::ios::binary).seekp(8).put('\x55');
  EXPECT_EQ(computed(stored()), 1);
  EXPECT_FALSE(fs::exists(beyond)) << "its identity is not the manifest's";
}

TEST_F(GramCheckpoint, RefusesAForeignManifest) {
  fs::create_directories(folder_.path() / "tiles");
  std::ofstream(folder_.path() / "tiles" / "manifest.txt") << "something else\n";
  test::expect_error([&] { run(stored()); }, "is not the manifest of a checkpoint");
}

}  // namespace
}  // namespace ladon
