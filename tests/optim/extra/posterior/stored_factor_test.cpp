// Cholesky factors in tiles on disk.

#include "ladon/optim/extra/posterior/stored_factor.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "ladon/core/linalg/lapack.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/tests/layers/infinite/gram/gram_networks.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::stored_factor_test {
namespace {

using infinite::Get;
using infinite::limit;
using test::expect_error;
using test::expect_near;
using test::gaussian;
using test::same_bits;

namespace fs = std::filesystem;

constexpr std::int64_t n = 3 * 128 + 20;  // 4 tiles a side, 10 in all

class StoredFactorTest : public testing::Test {
 protected:
  infinite::StoredGram store(const Layer& net, const std::string& name) const {
    return store_gram(limit(net), x_, folder_ / name, {.get = Get::nngp, .tile = 128});
  }
  StoredFactor run(const GpOptions& options = {.noise = 0.1},
                   const StoredFactorOptions& storing = {}) const {
    return store_factor(gram_, factor_, options, storing);
  }
  int computed() const {
    std::map<fs::path, fs::file_time_type> before;
    for (const auto& entry : fs::directory_iterator(factor_))
      before[entry] = entry.last_write_time();
    EXPECT_TRUE(same_bits(run().solve(b_).x, whole_));
    int changed = 0;
    for (const auto& entry : fs::directory_iterator(factor_))
      if (entry.path().extension() == ".bin")
        changed += !before.contains(entry) || before[entry] != entry.last_write_time();
    return changed;
  }
  fs::path part(int i) const { return factor_ / detail::join("part_00000", i, ".bin"); }

  test::TemporaryFolder folder_;
  Tensor x_ = test::draw({n, 30}), b_ = gaussian({n, 3}, 5);
  Sequential net_ = test::relu_net(30);
  infinite::StoredGram gram_ = store(net_, "gram");
  fs::path factor_ = folder_ / "factor";
  Tensor whole_ = store_factor(gram_, folder_ / "another", {.noise = 0.1}).solve(b_).x;
};

TEST_F(StoredFactorTest, EqualsTheFactorInMemory) {
  const Tensor k = infinite::gram(limit(net_), x_, {.get = Get::nngp}).nngp;
  const Tensor a = k + (0.1 + 1e-8 * mean(diagonal(k)).item()) * eye(n, f64);
  const Tensor l = lapack::cholesky(a), expected = lapack::cholesky_solve(l, b_);
  const StoredFactor factor = run();
  EXPECT_EQ(factor.size(), n);
  expect_near(factor.solve(b_).x, expected, 1e-10 * amax(abs(expected)).item());
  EXPECT_NEAR(factor.log_determinant(), 2 * sum(log(diagonal(l))).item(), 1e-9);
  expect_near(factor.half_solve(b_), lapack::solve_triangular(l, b_), 1e-10);
  expect_near(factor.solve(cast(b_, f32)).x, expected, 1e-5 * amax(abs(expected)).item());
}

TEST_F(StoredFactorTest, HasTheSameBitsForAnyBudgetAndThreads) {
  const std::uint64_t tile = 8 * 128 * 128;
  for (const int threads : {1, 2})
    for (const std::uint64_t tiles : {6, 7, 100}) {
      set_num_threads(threads);
      const std::string name = detail::join("f", threads, "_", tiles);
      const std::size_t before = Storage::bytes_in_use();
      Storage::reset_peak();
      const StoredFactor factor =
          store_factor(gram_, folder_ / name, {.noise = 0.1}, {.memory_budget = tiles * tile});
      if (tiles < 100) {
        EXPECT_LE(Storage::peak_bytes() - before, tiles * tile) << tiles << " tiles";
      }
      EXPECT_TRUE(same_bits(factor.solve(b_).x, whole_)) << tiles << " tiles";
    }
  expect_error([&] { run({.noise = 0.1}, {.memory_budget = 5 * tile}); },
               "needs 0.786432 MB for six tiles");
}

TEST_F(StoredFactorTest, ResumesAfterTheProcessWasKilled) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    run({.noise = 0.1}, {.progress = [](const StoredFactorProgress& p) {
          if (p.tiles_done == 6) kill(getpid(), SIGKILL);
        }});
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(computed(), 4);
  EXPECT_EQ(computed(), 0);
}

TEST_F(StoredFactorTest, ComputesDamagedTilesAgain) {
  {
    const StoredFactor factor = run();
    std::fstream(part(3), std::ios::in | std::ios::out | std::ios::binary).seekp(900).put('\x55');
    expect_error([&] { factor.solve(b_); }, "part_000003.bin is missing or was damaged");
  }
  fs::remove(part(4));
  fs::resize_file(part(9), 7);
  EXPECT_EQ(computed(), 3);
  EXPECT_EQ(computed(), 0);
}

TEST_F(StoredFactorTest, TellsItsProgress) {
  std::vector<double> shares;
  run({.noise = 0.1}, {.progress = [&](const StoredFactorProgress& p) {
        EXPECT_EQ(p.tiles, 10);
        EXPECT_EQ(p.tiles_done, static_cast<std::int64_t>(shares.size()));
        shares.push_back(p.share_done);
      }});
  ASSERT_EQ(shares.size(), 11u);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.front(), 0);
  EXPECT_NEAR(shares.back(), 1, 1e-12);
}

TEST_F(StoredFactorTest, RefusesAnotherComputationAndASecondRun) {
  {
    const StoredFactor factor = run();
    expect_error([&] { run(); }, "is in use by process");
  }
  expect_error([&] { run({.noise = 0.1 + 1e-12}); }, "its \"added to the diagonal\" is 0.1");
  Sequential other = test::relu_net(30);
  other.set_hyperparameter("layers.0.weight_std", scalar(1.21, f64));
  const auto gram = store(other, "gram of another");
  expect_error([&] { store_factor(gram, factor_, {.noise = 0.1}); }, "its \"kernel\" is");
  expect_error([&] { store_factor(gram, folder_ / "another gram", {.noise = -1}); },
               "is -1; it must be finite");
  const StoredFactor factor = run();
  expect_error([&] { factor.solve(gaussian({n})); }, "must be floating-point, [404, k]");
}

// The kernel of a linear map has rank 31: without noise the first tile's factor fails by rounding.
TEST_F(StoredFactorTest, NamesTheRowsThatAreNotPositiveDefinite) {
  Generator rng(1);
  const Linear thin({.in = 30, .out = 1, .parameterization = Parameterization::ntk}, rng);
  const auto gram = store(thin, "thin");
  try {
    store_factor(gram, factor_, {.jitter = 0});
    ADD_FAILURE() << "no error";
  } catch (const lapack::NotPositiveDefinite& e) {
    EXPECT_NE(std::string(e.what()).find("rows 0 to 128"), std::string::npos) << e.what();
    EXPECT_LT(e.smallest_eigenvalue, 1e-12);
    EXPECT_NO_THROW(store_factor(gram, folder_ / "enough", {.noise = 1e4 * e.jitter, .jitter = 0}));
  }
}

}  // namespace
}  // namespace ladon::stored_factor_test
