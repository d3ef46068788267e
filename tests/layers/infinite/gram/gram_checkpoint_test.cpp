// Checkpoints of Gram matrices: finished tiles are saved to files, and a later run continues from
// them.

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "ladon/core/io/file.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/tests/layers/infinite/gram/gram_networks.h"

namespace ladon::gram_checkpoint_test {
namespace {

using infinite::gram;
using infinite::Gram;
using infinite::GramOptions;
using infinite::GramProgress;
using infinite::limit;
using test::draw;
using test::expect_same_bits;
using test::relu_net;

namespace fs = std::filesystem;

constexpr std::int64_t unit = infinite::vector_unit;

class GramCheckpoint : public testing::Test {
 protected:
  GramOptions stored(std::function<void(const GramProgress&)> progress = {}) const {
    return {.tile = unit,
            .checkpoint = folder_.path() / "tiles",
            .checkpoint_seconds = 0,
            .progress = std::move(progress)};
  }
  Gram run(const GramOptions& options) const { return gram(limit(net_), x_, options); }
  /// Number of tiles that a run computes itself.
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

TEST_F(GramCheckpoint, AMaskThatHidesNothingIsNone) {
  const Sequential net(relu_net(5), MeanPositions());
  const Tensor x = draw({3, 4, 5}), all = ones({3, 4}, boolean);
  const Gram bare = gram(limit(net), x, stored());
  expect_same_bits(gram(limit(net), infinite::Inputs(x, all), stored()), bare, "all visible");
  Tensor some = clone(all);
  some.mutable_data<bool>()[3] = false;
  test::expect_error([&] { gram(limit(net), infinite::Inputs(x, some), stored()); },
                     "its \"inputs\" is");
}

TEST_F(GramCheckpoint, KnowsItsReplicates) {
  run(stored());
  test::expect_error([&] { gram(limit(net_).with_replicate(1), x_, stored()); },
                     "its \"replicates\" is");
}

TEST_F(GramCheckpoint, OfNoInputsIsEmpty) {
  EXPECT_EQ(gram(limit(net_), zeros({0, 50}), stored()).nngp.shape(), (Shape{0, 0}));
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

TEST_F(GramCheckpoint, RefusesToReplaceAForeignPart) {
  const fs::path part = folder_.path() / "tiles" / "part_000000.bin";
  fs::create_directories(part.parent_path());
  std::ofstream(part) << "a file of somebody else";
  test::expect_error([&] { run(stored()); }, part.string() + ": cannot be overwritten");
  EXPECT_EQ(read_file(part), "a file of somebody else");
}

TEST_F(GramCheckpoint, RefusesAForeignManifest) {
  fs::create_directories(folder_.path() / "tiles");
  std::ofstream(folder_.path() / "tiles" / "manifest.txt") << "something else\n";
  test::expect_error([&] { run(stored()); }, "is not the manifest of a checkpoint");
}

}  // namespace
}  // namespace ladon::gram_checkpoint_test
