#include "ladon/core/extra/data/prefetch.h"

#include <atomic>
#include <thread>

#include "ladon/tests/core/io/damaged.h"

namespace ladon::prefetch_test {
namespace {

using test::expect_error;
using test::expect_same;

Loader<std::vector<Tensor>> some_tensors() {
  Generator rng(3);
  const Tensor x = normal({37, 4}, rng), y = randint({37}, rng, 0, 10);
  return tensor_loader({x, y}, {.batch_size = 5}, rng);
}

class Threads {
 public:
  explicit Threads(int n) : before_(num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(before_); }

 private:
  int before_;
};

TEST(Prefetch, GivesTheSourcesBatchesInItsOrder) {
  for (const int threads : {1, 2, 4}) {
    const Threads scope(threads);
    auto plain = some_tensors();
    auto ahead = prefetch(some_tensors());
    EXPECT_EQ(ahead.size(), plain.size());
    for (int i = 0; i < 30; ++i) {
      EXPECT_EQ(ahead.position(), plain.position());
      const auto expected = plain.next(), batch = ahead.next();
      for (std::size_t k = 0; k < 2; ++k) expect_same(batch[k], expected[k]);
    }
  }
}

TEST(Prefetch, SavesAndResumesAsItsSourceDoes) {
  auto plain = some_tensors(), whole = some_tensors();
  auto ahead = prefetch(some_tensors());
  for (int i = 0; i < 11; ++i) ahead.next();
  auto moved = std::move(ahead);
  plain.seek(moved.position());
  expect_same(moved.next()[0], plain.next()[0]);
  moved.seek({0, 2});
  whole.seek({0, 2});
  EXPECT_EQ(moved.position(), whole.position());
  for (int i = 0; i < 9; ++i) expect_same(moved.next()[1], whole.next()[1]);
  expect_error([&] { moved.seek({0, 100}); }, "there is no batch 100");
  EXPECT_EQ(moved.position(), whole.position());
  expect_same(moved.next()[0], whole.next()[0]);
}

TEST(Prefetch, IsSavedAndRestoredWhereTheProgramIs) {
  for (const int threads : {1, 2}) {
    const Threads scope(threads);
    auto plain = some_tensors();
    auto ahead = prefetch(some_tensors()), resumed = prefetch(some_tensors());
    for (int i = 0; i < 11; ++i) {
      plain.next();
      ahead.next();
    }
    const StateDict state = ahead.state_dict();
    EXPECT_EQ(state.at("epoch").item(), 1);
    EXPECT_EQ(state.at("batch").item(), 3);
    resumed.next();
    resumed.load_state_dict(state);
    for (int i = 0; i < 9; ++i) {
      const Tensor expected = plain.next()[0];
      expect_same(ahead.next()[0], expected);
      expect_same(resumed.next()[0], expected);
    }
    StateDict bad = state;
    bad.erase("batch");
    expect_error([&] { resumed.load_state_dict(bad); }, "no entry \"batch\"");
    expect_same(resumed.next()[0], plain.next()[0]);
  }
}

/// Gives 0, 1, 2, …, some of which fail once.
struct Counting {
  using Batch = std::int64_t;
  Batch next() {
    if (at % 3 == 2 && !failed) {
      failed = true;
      throw Error("no batch " + std::to_string(at));
    }
    failed = false;
    return at++;
  }
  std::int64_t size() const { return 1000; }
  DataPosition position() const { return {0, at}; }
  void seek(const DataPosition& position) { at = position.batch; }

  std::int64_t at = 0;
  bool failed = false;
};

TEST(Prefetch, ErrorsReachWhoAsksForTheBatch) {
  for (const int threads : {1, 2}) {
    const Threads scope(threads);
    auto ahead = prefetch(Counting());
    for (std::int64_t i = 0; i < 12; ++i) {
      if (i % 3 == 2) expect_error([&] { ahead.next(); }, "no batch " + std::to_string(i));
      EXPECT_EQ(ahead.position().batch, i);
      EXPECT_EQ(ahead.next(), i);
    }
  }
}

/// Tells which threads make, and that no two do at once.
struct Watched {
  using Batch = bool;
  Batch next() {
    EXPECT_EQ(inside->fetch_add(1), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const bool other = std::this_thread::get_id() != home;
    EXPECT_EQ(inside->fetch_sub(1), 1);
    ++*made;
    return other;
  }
  std::int64_t size() const { return 1000; }
  DataPosition position() const { return {0, *made}; }
  void seek(const DataPosition&) {}

  std::thread::id home = std::this_thread::get_id();
  std::shared_ptr<std::atomic<int>> inside = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<std::atomic<int>> made = std::make_shared<std::atomic<int>>(0);
};

#ifndef LADON_PORTABLE  // which has one thread
TEST(Prefetch, MakesOneBatchAheadOnAnotherThread) {
  const Threads scope(2);
  const Watched source;
  {
    auto ahead = prefetch(source);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(ahead.next());
  }
  EXPECT_EQ(*source.made, 6) << "the one that nobody took was waited for";
  EXPECT_EQ(*source.inside, 0);
}
#endif

TEST(Prefetch, AtOneThreadMakesABatchWhenItIsAskedFor) {
  const Threads scope(1);
  const Watched source;
  auto ahead = prefetch(source);
  EXPECT_EQ(*source.made, 0);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(ahead.next());
  EXPECT_EQ(*source.made, 5);
}

}  // namespace
}  // namespace ladon::prefetch_test
