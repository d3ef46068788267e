#include "watch.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <barrier>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <thread>
#include <vector>

#include "ladon/core/kernels/products/matmul.h"
#include "ladon/core/machine/parallel.h"

#ifdef LADON_SANITIZED
#include <sanitizer/common_interface_defs.h>

// Options of the address sanitizer, by which it returns null for too much memory, as malloc does.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=64:print_summary=1";
}
// The undefined-behaviour sanitizer ends the process without calling any callback, unless it is
// told to abort.
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }
extern "C" const char* __tsan_default_options() {
  return "allocator_may_return_null=1:max_allocation_size_mb=64";
}
#endif

namespace ladon::test {
namespace {

// Output of the handlers: they may run when nothing else works any more.
const RunOptions* watched_options = nullptr;
const Draw* watched_draw = nullptr;
std::int64_t watched_number = 0;

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void tell(const char* what) {
  if (!watched_draw) return;
  const std::string text = detail::join(
      "\n", how_to_repeat(*watched_options, watched_number, *watched_draw), "\n", what, "\n");
  const auto written = write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(written);
}

extern "C" void on_signal(int signal) {
  tell(signal == SIGPROF ? "it does not end" : strsignal(signal));
  if (signal == SIGPROF) _exit(1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void set_alarm(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - timer.it_value.tv_sec) * 1e6);
  setitimer(ITIMER_PROF, &timer, nullptr);
}

void install_handlers() {
  static const bool once = [] {
    std::signal(SIGPROF, on_signal);
    std::signal(SIGABRT, on_signal);
#ifdef LADON_SANITIZED
    __sanitizer_set_death_callback([] { tell("a sanitizer's report stands above"); });
#else
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, on_signal);
#endif
    return true;
  }();
  static_cast<void>(once);
}

#ifndef LADON_SANITIZED
/// OpenBLAS keeps a buffer for each product that runs at one time, and where it is denied one it
/// asks again for ever (seen with 0.3.29): all of them are to be there before memory is short.
/// A product of 1024³ takes long enough for all threads to meet in theirs.
void take_product_buffers() {
  const int threads = num_threads() + 1;
  std::barrier together(threads);
  std::vector<std::jthread> products;
  for (int i = 0; i < threads; ++i)
    products.emplace_back([&] {
      const Tensor x = ones({1024, 1024}, f64);
      together.arrive_and_wait();
      matmul(x, x);
    });
}

/// Memory of the process that RLIMIT_DATA counts.
rlim_t data_bytes() {
  std::ifstream pages("/proc/self/statm");
  rlim_t size = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
  pages >> size >> resident >> shared >> text >> library >> data;
  return data * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}
#endif

}  // namespace

std::string how_to_repeat(const RunOptions& options, std::int64_t number, const Draw& draw) {
  return detail::join("call ", number, " of seed ", options.seed, ": ", draw.words(),
                      "\nrepeat it: random_calls --seed=", options.seed, " --only=", number);
}

Watch::Watch(std::int64_t number, const RunOptions& options, const Draw& draw)
    : begin_(processor_seconds()) {
  install_handlers();
  watched_options = &options;
  watched_draw = &draw;
  watched_number = number;
  set_alarm(5 * options.seconds);
}

Watch::~Watch() {
  set_alarm(0);
  watched_draw = nullptr;
}

double Watch::seconds() const { return processor_seconds() - begin_; }

void limit_memory() {
#ifndef LADON_SANITIZED
  static const rlim_t taken = (take_product_buffers(), data_bytes());
  const rlimit limit{taken + (1 << 29), taken + (1 << 29)};
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

}  // namespace ladon::test
