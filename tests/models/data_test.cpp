// Classes that collect or distribute data (Loader, Collect, RankHistogram, FirstOrder), compared
// with models of them that use plain lists.

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/data/loader.h"
#include "ladon/core/extra/data/prefetch.h"
#include "ladon/optim/extra/diagnostics/calibration.h"
#include "ladon/optim/extra/posterior/first_order.h"
#include "ladon/optim/samplers/collect.h"
#include "ladon/tests/support.h"

namespace ladon::data_test {
namespace {

using Batch = std::pair<ItemIndices, double>;  // items, and a number that was drawn with them

/// Takes a source of batches, and a twin of it, through random operations; what it gives must be
/// what stands in `all` at its position.
template <class Source>
void expect_batches(Source source, Source twin, const std::vector<Batch>& all,
                    std::atomic<bool>& broken) {
  std::mt19937_64 rng(5);
  const auto random = [&rng](std::int64_t n) {
    return static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(n));
  };
  const std::int64_t size = source.size(), end = static_cast<std::int64_t>(all.size());
  std::int64_t at = 0;  // its position, counted through
  const auto position = [&] { return DataPosition{at / size, at % size}; };
  for (int i = 0; i < 300; ++i) {
    const std::int64_t what = random(7);
    if (what < 3 && at + 1 < end) {
      EXPECT_EQ(source.next(), all[static_cast<std::size_t>(at++)]);
    } else if (what == 3) {
      broken = true;
      source.seek(position());  // a batch may have been made already
      EXPECT_THROW(source.next(), std::runtime_error);
      broken = false;
    } else if (what == 4) {
      at = random(end - 1);
      source.seek(position());
      EXPECT_THROW(source.seek({0, size}), Error);
      EXPECT_THROW(source.seek({-1, 0}), Error);
    } else if (what == 5) {  // goes on in another, and comes back
      twin.load_state_dict(source.state_dict());
      if (random(2) == 0) {
        EXPECT_EQ(twin.next(), all[static_cast<std::size_t>(at++)]);
      }
      source.load_state_dict(twin.state_dict());
      if (at + 1 >= end) source.seek({0, at = 0});
    } else if (what == 6) {
      StateDict state = source.state_dict();
      state["batches"] = scalar(99, i64);
      EXPECT_THROW(source.load_state_dict(state), Error);
      state = source.state_dict();
      state.erase("generator");
      EXPECT_THROW(source.load_state_dict(state), Error);
    }
    ASSERT_EQ(source.position(), position()) << i;
  }
}

TEST(DataModel, LoadersGiveWhatStandsAtTheirPosition) {
  for (const LoaderOptions& options :
       {LoaderOptions{.batch_size = 3}, LoaderOptions{.batch_size = 3, .drop_last = true},
        LoaderOptions{.batch_size = 4, .shuffle = false}}) {
    std::atomic<bool> broken = false;
    const auto make = [&broken](const ItemIndices& items, Generator& own) {
      if (broken) throw std::runtime_error("a damaged item");
      return Batch(items, own.uniform());
    };
    const auto loader = [&](std::uint64_t seed) {
      Generator rng(seed);
      return Loader<Batch>(BatchPlan(11, options, rng), make);
    };
    Loader<Batch> straight = loader(3);
    std::vector<Batch> all;  // of five epochs
    for (std::int64_t i = 0; i < 5 * straight.size(); ++i) all.push_back(straight.next());
    expect_batches(loader(3), loader(9), all, broken);
    expect_batches(Prefetch<Loader<Batch>>(loader(3)), Prefetch<Loader<Batch>>(loader(9)), all,
                   broken);
  }
}

TEST(DataModel, CollectKeepsWhatItWasGiven) {
  Generator rng(1);
  Collect collect;
  std::vector<double> kept;
  std::map<std::size_t, StateDict> states;
  for (int i = 0; i < 300; ++i) {
    const double what = rng.uniform(), x = rng.uniform();
    if (what < 0.5) {
      collect.add(scalar(x, f64));
      kept.push_back(x);
    } else if (what < 0.7) {
      EXPECT_THROW(collect.add(Tensor()), Error);
      if (!kept.empty()) {
        EXPECT_THROW(collect.add(ones({2}, f64)), Error);
        EXPECT_THROW(collect.add(scalar(x)), Error);
      }
    } else if (what < 0.8) {
      states[kept.size()] = collect.state_dict();
    } else if (what < 0.9 && !states.empty()) {
      const auto& [count, state] = *states.begin();
      collect.load_state_dict(state);
      kept.assign(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count));
      states.clear();
    } else if (what >= 0.9) {
      EXPECT_THROW(collect.load_state_dict({{"every", scalar(3, i64)}}), Error);
    }
    ASSERT_EQ(collect.count(), static_cast<std::int64_t>(kept.size()));
    if (!kept.empty()) {
      ASSERT_EQ(collect.draws().to_vector(), kept);
    }
  }
}

TEST(DataModel, RanksAreCountedUnlessRefused) {
  Generator rng(1);
  RankHistogram histogram({.quantities = 2, .draws = 4});
  std::vector<std::vector<std::int64_t>> counts(2, std::vector<std::int64_t>(5));
  std::int64_t added = 0;
  for (int i = 0; i < 200; ++i) {
    const Tensor truth = normal({2}, rng), draws = normal({4, 2}, rng);
    if (rng.uniform() < 0.6) {
      histogram.add(truth, draws, rng);
      ++added;
      for (std::int64_t q = 0; q < 2; ++q) {
        std::int64_t rank = 0;
        for (std::int64_t l = 0; l < 4; ++l)
          rank += at(draws, {l, q}).item() < at(truth, {q}).item();
        ++counts[static_cast<std::size_t>(q)][static_cast<std::size_t>(rank)];
      }
    } else {
      Tensor bad = clone(draws);
      fill_(at(bad, {2, 1}), std::nan(""));
      EXPECT_THROW(histogram.add(truth, bad, rng), Error);
      EXPECT_THROW(histogram.add(truth, normal({3, 2}, rng), rng), Error);
    }
    ASSERT_EQ(histogram.count(), added);
    for (std::int64_t q = 0; q < 2; ++q)
      ASSERT_EQ(histogram.ranks(q), counts[static_cast<std::size_t>(q)]);
  }
}

TEST(DataModel, FirstOrderPassesOverWhatItRefuses) {
  Generator rng(1);
  const auto kernel = [&] {
    const Tensor a = normal({4, 6}, rng, 0, 1, f64);
    return matmul(a, transpose(a)) + eye(4, f64);
  };
  const Tensor limit = kernel(), targets = normal({3}, rng, 0, 1, f64);
  FirstOrder disturbed(limit, targets, {.noise = 0.1}), plain(limit, targets, {.noise = 0.1});
  for (std::int64_t i = 1; i < 40; ++i) {
    const Tensor draw = kernel();
    disturbed.add(draw);
    plain.add(draw);
    Tensor bad = clone(draw);
    fill_(at(bad, {0, 1}), i % 2 == 0 ? std::nan("") : 100.0);
    EXPECT_THROW(disturbed.add(bad), Error);
    EXPECT_THROW(disturbed.add(eye(3, f64)), Error);
    ASSERT_EQ(disturbed.draws(), i);
    if (i < 2) continue;
    ASSERT_EQ(disturbed.coefficients().mean.to_vector(), plain.coefficients().mean.to_vector());
    ASSERT_EQ(disturbed.coefficients().log_evidence.value, plain.coefficients().log_evidence.value);
  }
}

}  // namespace
}  // namespace ladon::data_test
