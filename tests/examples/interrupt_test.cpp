#include "ladon/examples/common/interrupt.h"

#include <csignal>

#include "ladon/tests/support.h"

namespace ladon::interrupt_test {
namespace {

class InterruptDeathTest : public testing::Test {
 protected:
  InterruptDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(InterruptDeathTest, TheFirstLeavesAMarkAndTheSecondEnds) {
  EXPECT_EXIT(
      {
        example::catch_interrupts();
        example::stop_if_interrupted();
        std::raise(SIGTERM);
        const bool complete = example::ran_to_the_end([] { example::stop_if_interrupted(); });
        _exit(complete ? 1 : 0);
      },
      testing::ExitedWithCode(0), "once more ends at once");
  EXPECT_EXIT(
      {
        example::catch_interrupts();
        std::raise(SIGTERM);
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST_F(InterruptDeathTest, WhatWasToBeIgnoredStaysIgnored) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_IGN);
        example::catch_interrupts();
        std::raise(SIGINT);
        std::raise(SIGINT);
        example::stop_if_interrupted();
        _exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ladon::interrupt_test
