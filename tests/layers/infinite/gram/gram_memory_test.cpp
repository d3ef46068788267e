// Memory for a Gram matrix: the estimate, compared with the memory that the computation takes.

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <memory>

#include "ladon/core/machine/allocator.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/gram/backward.h"
#include "ladon/tests/layers/infinite/gram/gram_networks.h"

namespace ladon::gram_memory_test {
namespace {

using infinite::gram;
using infinite::Gram;
using infinite::GramOptions;
using infinite::GramProgress;
using infinite::Inputs;
using infinite::limit;
using test::attention_net;
using test::draw;
using test::random_linear;
using test::relu_net;

constexpr std::int64_t unit = infinite::vector_unit;

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

Sequential drawing_net() {
  Generator rng(1);
  return Sequential(Linear(random_linear(20), rng), Activation(Nonlinearity::relu),
                    MultiHeadAttention({.dim = 2,
                                        .heads = 1,
                                        .prior = {.parameterization = Parameterization::ntk},
                                        .limit_draws = {.samples = 4}},
                                       rng),
                    MeanPositions());
}

// With layers that draw it is more for each tile, and less for each pair.
TEST(GramEstimate, BoundsTheMemoryOfDraws) {
  const Sequential net = drawing_net();
  for (const std::int64_t inputs : {1, 5, 40})
    for (const std::int64_t tile : {0, 1, 7, 40})
      expect_bound(net, draw({inputs, 6, 20}), {.tile = tile, .replicates = 2});
}

// Random matrices that all tiles share are counted, and released in the end.
TEST(GramEstimate, BoundsTheMemoryOfDrawsThatTilesShare) {
  Generator rng(1);
  const MultiHeadAttention net({.dim = 40,
                                .heads = 4,
                                .prior = {.parameterization = Parameterization::ntk},
                                .limit_draws = {.samples = 1000}},
                               rng);
  const Inputs x = draw({20, 4, 40});
  const double shared = 2 * 500 * 40 * 40 * 8;  // two replicates of 500 matrices
  const auto estimate = infinite::estimate_gram(limit(net), x, {.replicates = 2});
  EXPECT_GE(static_cast<double>(estimate.working_bytes), shared);
  expect_bound(net, x, {.replicates = 2});
  expect_bound(net, x, {.tile = 5, .replicates = 2});
  const std::size_t before = Storage::bytes_in_use();
  { const Gram g = gram(limit(net), x, {.replicates = 2}); }
  EXPECT_EQ(Storage::bytes_in_use(), before);
  // Less room, fewer of them; what is computed stays the same.
  const std::uint64_t little = estimate.bytes() - 6'000'000;
  const Gram g = gram(limit(net), x, {.memory_budget = little, .replicates = 2});
  EXPECT_TRUE(test::same_bits(g.ntk, gram(limit(net), x, {.replicates = 2}).ntk));
}

// The numbers told to be kept of an input are those kept: kernels, and roots of tokens.
TEST(GramEstimate, TellsHowManyNumbersAreKept) {
  const Sequential net = drawing_net();
  const Inputs x = draw({5, 6, 20});
  const auto by = limit(net);
  const auto graph = by.graph(kind_of(x));
  const infinite::Passes passes(by, graph, by.landmarks(x), infinite::Entries::full);
  std::int64_t kept = 0;
  for (const Tensor& step : passes.selves(x, 5))
    if (step.defined()) kept += step.count();
  EXPECT_EQ(5 * numbers_kept(*graph, infinite::Entries::full, passes.landmarks()), kept);
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

// One tile's pairs, whatever their number, and per input what layers make of it alone, with its
// gradient.
TEST(BackwardGram, HoldsNoMoreThanItTells) {
  Generator rng(1);
  Sequential net(Linear(random_linear(20), rng), Activation(Nonlinearity::relu),
                 MultiHeadAttention({.dim = 2,
                                     .heads = 1,
                                     .prior = {.parameterization = Parameterization::ntk},
                                     .limit_draws = {.samples = 2}},
                                    rng),
                 MeanPositions());
  for (const auto& [path, value] : net.hyperparameters())
    net.set_hyperparameter(path, clone(value).detach().set_requires_grad());
  const auto by = limit(net).with_landmarks(draw({4, 6, 20}, 3));
  const auto peak = [&](std::int64_t n) {
    const Inputs x = draw({n, 6, 20});
    const Tensor cotangent = ones({n, n}, f64);
    const std::size_t before = Storage::bytes_in_use();
    Storage::reset_peak();
    infinite::backward_gram(by, x, cotangent, {}, {.tile = 4, .replicates = 2});
    return Storage::peak_bytes() - before;
  };
  const infinite::Passes passes(by,
                                by.graph(infinite::kind_of(draw({1, 6, 20})), infinite::Get::nngp),
                                by.landmarks({}), infinite::Entries::full);
  std::size_t numbers = 0;  // of an input
  for (const Tensor& step : passes.selves(draw({1, 6, 20}), 1))
    numbers += static_cast<std::size_t>(step.count());
  constexpr std::int64_t few = 20, many = 100;
  const std::size_t matrices = 4 * 8 * (many * many - few * few);
  EXPECT_LE(peak(many), peak(few) + 16 * numbers * (many - few) + matrices);
}

TEST(GramEstimate, BoundsTheMemoryOfTheProcess) {
  const Sequential net = attention_net(16);
  const Tensor x = draw({100, 32, 16});  // 100² · 32² entries: 82 MB a matrix
  release_memory();                      // what other tests left would be taken first
  const pid_t child = fork();            // its high-water mark begins at what it has now
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
  test::expect_error([&] { gram(limit(net), x); }, "the machine's free memory is");
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
  test::expect_error(
      [&] {
        gram(limit(net), draw({2, 2}), {.tile = -1});
      },
      "tile, the side of a tile");
  test::expect_error(
      [&] {
        gram(limit(net), draw({2, 2}), {.replicates = 1});
      },
      "must be at least 2, got 1");
}

}  // namespace
}  // namespace ladon::gram_memory_test
