// Draws that Collect keeps, drops, saves and refuses.

#include "ladon/optim/samplers/collect.h"

#include <limits>

#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::collect_test {
namespace {

/// Runs steps [from, to); the draw of a step is (step, −step).
void run(Collect& kept, int from, int to) {
  for (int step = from; step < to; ++step)
    if (kept.due(step)) kept.add(tensor({double(step), -double(step)}, f64));
}

/// The steps whose draws are held.
std::vector<double> steps(const Collect& kept) { return select(kept.draws(), 1, 0).to_vector(); }

TEST(Collect, KeepsOneStepOfSomeAfterTheFirst) {
  Collect kept({.after = 3, .every = 4});
  run(kept, 0, 16);
  EXPECT_EQ(steps(kept), (std::vector<double>{3, 7, 11, 15}));
  EXPECT_EQ(kept.count(), 4);
  EXPECT_TRUE(kept.draws().shape() == Shape({4, 2}));
  Collect all;
  run(all, 0, 3);
  EXPECT_EQ(steps(all), (std::vector<double>{0, 1, 2}));
}

TEST(Collect, CoversTheRunEvenlyUnderABound) {
  for (const std::int64_t most : {2, 3, 4, 5, 8}) {
    Collect kept({.after = 5, .every = 3, .most = most});
    for (int step = 0; step < 500; ++step) {
      run(kept, step, step + 1);
      ASSERT_LE(kept.count(), most);
      if (step < 5) continue;
      // every step of the present grid so far is held, and no other
      std::vector<double> grid;
      for (std::int64_t s = 5; s <= step; s += kept.every()) grid.push_back(double(s));
      ASSERT_EQ(steps(kept), grid) << "most " << most << ", step " << step;
    }
    EXPECT_GT(kept.every(), 3);
    EXPECT_GE(2 * kept.count(), most);
  }
}

TEST(Collect, HoldsCopiesWithoutHistory) {
  Tensor x = leaf(tensor({1, 2}, f32));
  Collect kept;
  kept.add(x);
  kept.add(2.0 * x);
  fill_(x.detach(), 7);
  EXPECT_EQ(kept.draws().to_vector(), (std::vector<double>{1, 2, 2, 4}));
  EXPECT_FALSE(kept.draws().requires_grad());
  fill_(kept.draws(), 0);
  EXPECT_EQ(kept.draws().to_vector()[0], 1);
}

TEST(Collect, ResumesFromAFile) {
  TemporaryFolder folder;
  const std::string path = (folder / "draws.safetensors").string();
  const CollectOptions options{.after = 2, .every = 3, .most = 5};
  for (const int stop : {1, 9, 40}) {
    Collect whole(options), first(options), second(options);
    run(whole, 0, 100);
    run(first, 0, stop);
    save_safetensors(path, first.state_dict());
    second.load_state_dict(load_safetensors(path));
    EXPECT_EQ(second.count(), first.count());
    run(second, stop, 100);
    EXPECT_TRUE(same_bits(whole.draws(), second.draws())) << stop;
    EXPECT_EQ(whole.every(), second.every());
  }
}

TEST(Collect, RefusesWhatDoesNotFitAndKeepsItsOwn) {
  Collect kept({.every = 2, .most = 4});
  expect_error([&] { kept.draws(); }, "there is no draw yet");
  expect_error([&] { kept.add(Tensor()); }, "draw 0 is undefined");
  expect_error([&] { kept.due(-1); }, "`step` is -1");
  run(kept, 0, 11);  // 0, 4, 8 at a distance of 4
  expect_error([&] { kept.add(zeros({3}, f64)); },
               "draw 3 is f64 [3], and earlier draws are f64 [2]");
  expect_error([&] { kept.add(zeros({2}, f32)); }, "draw 3 is f32 [2]");
  const StateDict good = kept.state_dict();
  const auto refuse = [&](const std::string& message, const std::function<void(StateDict&)>& edit) {
    StateDict bad = good;
    bad["every"] = scalar(8, i64);
    bad["draws"] = zeros({2, 2}, f64);
    edit(bad);
    expect_error([&] { kept.load_state_dict(bad); }, message);
    EXPECT_EQ(steps(kept), (std::vector<double>{0, 4, 8}));
    EXPECT_EQ(kept.every(), 4);
  };
  refuse("no entry \"every\"", [](StateDict& s) { s.erase("every"); });
  refuse("the state has entries that this collection does not know",
         [](StateDict& s) { s["lr"] = scalar(1); });
  refuse("expected i64 of shape []", [](StateDict& s) { s["every"] = scalar(8, f64); });
  for (const double every : {0., 1., 6., 7.})
    refuse("must be the option `every`, 2, times a power of two",
           [=](StateDict& s) { s["every"] = scalar(every, i64); });
  refuse("\"every\" is -2", [](StateDict& s) { s["every"] = scalar(-2, i64); });
  refuse("at most 4", [](StateDict& s) { s["draws"] = zeros({5, 2}, f64); });
  refuse("S at least 1", [](StateDict& s) { s["draws"] = zeros({0, 2}, f64); });
  refuse("has shape []", [](StateDict& s) { s["draws"] = scalar(1); });
  Collect free({.every = 2});
  expect_error(
      [&] {
        free.load_state_dict({{"every", scalar(4, i64)}});
      },
      "must be the option `every`, 2");
  free.load_state_dict({{"every", scalar(2, i64)}});
  EXPECT_EQ(free.count(), 0);
}

TEST(Collect, RefusesBadSettings) {
  expect_error([] { Collect c({.after = -1}); }, "`after` is -1");
  expect_error([] { Collect c({.every = 0}); }, "`every` is 0");
  expect_error([] { Collect c({.most = 1}); }, "`most` is 1");
  Collect rare({.every = std::numeric_limits<std::int64_t>::max(), .most = 2});
  rare.add(scalar(0));
  rare.add(scalar(1));
  expect_error([&] { rare.add(scalar(2)); }, "cannot be doubled");
  EXPECT_EQ(rare.count(), 2);
}

}  // namespace
}  // namespace ladon::test::collect_test
