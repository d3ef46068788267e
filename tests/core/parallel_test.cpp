#include "ladon/core/machine/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/levels.h"
#include "ladon/core/machine/background.h"
#include "ladon/core/modes.h"
#include "ladon/core/random.h"
#include "ladon/tests/core/one_thread.h"
#include "ladon/tests/support.h"

namespace ladon::parallel_test {
namespace {

class Parallel : public testing::Test {
 protected:
  ~Parallel() override { set_num_threads(before_); }

 private:
  int before_ = num_threads();
};

TEST_F(Parallel, PiecesAreConsecutiveAndCutByGrainAlone) {
  for (const int threads : {1, 2, 4}) {
    set_num_threads(threads);
    EXPECT_EQ(num_threads(), test::one_thread ? 1 : threads);
    for (const auto& [n, grain] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {1, 1}, {10, 3}, {9, 3}, {10, 100}, {1000, 1}, {5, INT64_MAX}}) {
      std::mutex mutex;
      std::set<std::pair<std::int64_t, std::int64_t>> pieces, expected;
      parallel::for_range(n, grain, [&](std::int64_t begin, std::int64_t end) {
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(pieces.emplace(begin, end).second);
      });
      for (std::int64_t begin = 0; begin < n; begin += std::min(grain, n))
        expected.emplace(begin, grain < n - begin ? begin + grain : n);
      EXPECT_EQ(pieces, expected);
    }
  }
}

TEST_F(Parallel, AnEmptyRangeCallsNothing) {
  parallel::for_range(0, 1, [](std::int64_t, std::int64_t) { FAIL(); });
  parallel::for_range(-3, 1, [](std::int64_t, std::int64_t) { FAIL(); });
}

TEST_F(Parallel, RefusesFewerThanOneThreadAndGrainsBelowOne) {
  test::expect_error([] { set_num_threads(0); }, "got 0");
  test::expect_error([] { set_num_threads(-2); }, "got -2");
  test::expect_error([] { set_num_threads(100000); }, "from 1 to 1024 threads, got 100000");
  EXPECT_THROW(parallel::for_range(5, 0, [](std::int64_t, std::int64_t) {}), InternalError);
}

#ifndef LADON_PORTABLE  // which has one thread
// Each body waits until all have started, so this ends only where each has a thread of its own.
TEST_F(Parallel, RunsOnAsManyThreadsAsAskedEvenBeyondTheCores) {
  for (const int threads : {2, 4, 3}) {
    set_num_threads(threads);
    std::atomic<int> started{0};
    std::atomic<bool> late{false};
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    parallel::for_range(threads, 1, [&](std::int64_t, std::int64_t) {
      ++started;
      while (started < threads && !late) {
        std::this_thread::yield();
        if (std::chrono::steady_clock::now() > deadline) late = true;
      }
    });
    EXPECT_FALSE(late) << started << " of " << threads << " threads came";
  }
}
#endif

TEST_F(Parallel, OneThreadRunsInlineInOrder) {
  set_num_threads(1);
  const auto caller = std::this_thread::get_id();
  std::vector<std::int64_t> order;
  parallel::for_range(10, 2, [&](std::int64_t begin, std::int64_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(begin);
  });
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 2, 4, 6, 8}));
}

TEST_F(Parallel, NestedLoopsVisitEachPairOnce) {
  set_num_threads(4);
  constexpr std::int64_t n = 30;
  std::vector<std::atomic<int>> visits(n * n * n);
  parallel::for_range(n, 1, [&](std::int64_t i, std::int64_t) {
    parallel::for_range(n, 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j = begin; j < end; ++j)
        parallel::for_range(n, 7, [&](std::int64_t from, std::int64_t to) {
          for (std::int64_t k = from; k < to; ++k) ++visits[(i * n + j) * n + k];
        });
    });
  });
  for (const auto& count : visits) ASSERT_EQ(count, 1);
}

// A body that waits for an inner loop takes up no other piece of the outer one meanwhile.
TEST_F(Parallel, ABodyIsNotInterruptedByAnother) {
  set_num_threads(4);
  static thread_local int inside = 0;
  std::atomic<int> most{0};
  parallel::for_range(200, 1, [&](std::int64_t, std::int64_t) {
    if (++inside > most) most = inside;
    parallel::for_range(8, 1, [](std::int64_t, std::int64_t) { std::this_thread::yield(); });
    --inside;
  });
  EXPECT_EQ(most, 1);
}

TEST_F(Parallel, RethrowsAndStaysUsable) {
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    test::expect_error(
        [] {
          parallel::for_range(100, 1, [](std::int64_t begin, std::int64_t) {
            parallel::for_range(10, 1, [&](std::int64_t inner, std::int64_t) {
              LADON_CHECK(begin != 40 || inner != 3, "body", "stopped at 40");
            });
          });
        },
        "[body] stopped at 40");
    std::atomic<std::int64_t> sum{0};
    parallel::for_range(100, 1, [&](std::int64_t begin, std::int64_t) { sum += begin; });
    EXPECT_EQ(sum, 4950);
  }
}

TEST_F(Parallel, WritesAreSeenAfterwards) {
  set_num_threads(4);
  std::vector<std::int64_t> values(10000, 1);
  for (int round = 0; round < 50; ++round)
    parallel::for_range(10000, 100, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) values[9999 - i] += i;
    });
  for (std::int64_t i = 0; i < 10000; ++i) ASSERT_EQ(values[9999 - i], 1 + 50 * i);
}

TEST_F(Parallel, ManyCallersWhileTheNumberOfThreadsChanges) {
  std::atomic<std::int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; ++t)
    callers.emplace_back([&, t] {
      for (int round = 0; round < 100; ++round) {
        if (t == 0) set_num_threads(1 + round % 5);
        parallel::for_range(50, 3,
                            [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
      }
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sum, 6 * 100 * 50);
}

TEST_F(Parallel, AForkedChildFinishesItsLoopsOnOneThread) {
  set_num_threads(2);
  parallel::for_range(100, 1, [](std::int64_t, std::int64_t) {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(30);
    set_num_threads(4);
    int count = 0;
    parallel::for_range(100, 1, [&](std::int64_t, std::int64_t) { ++count; });
    _exit(count == 100 && num_threads() == 1 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// Every mode that a thread has, in the pieces of its loops, in loops within them and in its tasks;
// and no watcher, which two threads would write to.
TEST_F(Parallel, PiecesAndTasksHaveTheModesOfTheirCaller) {
  const mapped::Levels levels({mapped::new_level(3)});
  const auto* packed = reinterpret_cast<const PackedWeights*>(&levels);  // is not looked at
  const auto are_ours = [&](const detail::Modes& m) {
    return !m.recording && m.detecting && m.composing && m.rowwise && m.packed == packed &&
           m.pushing && m.tangents_below == 5 && *m.mapped_levels == levels && m.looking &&
           m.sweeping == std::string("softmax") && m.evaluating.operation == std::string("jvp") &&
           m.evaluating.examples_alone && !m.watchers.recorder;
  };
  detail::DrawTape tape;
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    const detail::Modes before = detail::modes;
    {
      const detail::Bracket ours(detail::modes, {.recording = false,
                                                 .detecting = true,
                                                 .composing = true,
                                                 .rowwise = true,
                                                 .packed = packed,
                                                 .pushing = true,
                                                 .tangents_below = 5,
                                                 .mapped_levels = &levels,
                                                 .looking = true,
                                                 .sweeping = "softmax",
                                                 .evaluating = {"jvp", true}});
      const detail::RecordDraws watching(tape);
      std::atomic<int> wrong{0};
      parallel::for_range(64, 1, [&](std::int64_t, std::int64_t) {
        wrong += !are_ours(detail::modes);
        const detail::Bracket own(detail::modes.rowwise, false);
        parallel::for_range(4, 1, [&](std::int64_t, std::int64_t) {
          wrong += detail::modes.rowwise || detail::modes.recording;
        });
        wrong += detail::modes.rowwise;
      });
      EXPECT_EQ(wrong, 0);
      EXPECT_TRUE(parallel::in_background([&] { return are_ours(detail::modes); }).get());
      EXPECT_TRUE(detail::modes.watchers.recorder == &watching);
    }
    EXPECT_EQ(detail::modes.recording, before.recording);
    EXPECT_FALSE(detail::modes.rowwise || detail::modes.watchers.recorder);
    std::atomic<int> left{0};  // on the threads that worked for us
    parallel::for_range(64, 1,
                        [&](std::int64_t, std::int64_t) { left += !detail::modes.recording; });
    EXPECT_EQ(left, 0);
  }
}

TEST_F(Parallel, MemoryIsAligned) {
  for (const std::size_t alignment : {16, 64, 4096})
    for (const std::size_t bytes : {1, 100, 5'000'000}) {
      auto* memory = static_cast<unsigned char*>(parallel::allocate(bytes, alignment));
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0u);
      memory[0] = memory[bytes - 1] = 1;
      parallel::deallocate(memory);
    }
  parallel::deallocate(nullptr);
}

}  // namespace
}  // namespace ladon::parallel_test
