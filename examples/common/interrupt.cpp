#include "ladon/examples/common/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

namespace ladon::example {
namespace {

std::atomic<bool> marked{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not wait");

constexpr int signals[] = {SIGINT, SIGTERM};

/// Signal handler; uses only async-signal-safe functions (signal-safety(7)).
void mark(int) {
  for (const int each : signals) std::signal(each, SIG_DFL);
  marked = true;
  constexpr std::string_view note =
      "\nends after the current step; pressing Ctrl-C once more ends at once\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, note.data(), note.size());
}

}  // namespace

void catch_interrupts() {
  for (const int each : signals)
    if (std::signal(each, mark) == SIG_IGN) std::signal(each, SIG_IGN);
}

void stop_if_interrupted() {
  if (marked) throw Interrupted{};
}

}  // namespace ladon::example
