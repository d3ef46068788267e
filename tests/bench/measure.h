#pragma once
// Timing and report that all benchmarks of computations share.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "ladon/core/machine/parallel.h"
#include "machine.h"

namespace ladon::bench {

/// Seconds of each call of work() on `threads` threads, sorted; prepare() runs before each and is
/// not timed.
template <class Prepare, class Work>
std::vector<double> times(benchmark::State& state, int threads, const Prepare& prepare,
                          const Work& work) {
  using Clock = std::chrono::steady_clock;
  const int before = num_threads();
  set_num_threads(threads);
  prepare();
  work();  // the first run fills the allocator's caches
  std::vector<double> seconds;
  for (auto _ : state) {
    prepare();
    const auto start = Clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    state.SetIterationTime(seconds.back());
  }
  set_num_threads(before);
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

/// Times work(), which has `flops` operations, and reports GFLOP/s and the percentage of the peak
/// (%peak), of the median call and of the fastest call, which other programs disturb least.
template <class Prepare, class Work>
void measure(benchmark::State& state, int threads, double flops, const Prepare& prepare,
             const Work& work) {
  const double peak = peak_gflops(threads);
  const std::vector<double> seconds = times(state, threads, prepare, work);
  const double median = flops / seconds[seconds.size() / 2] * 1e-9;
  const double fastest = flops / seconds.front() * 1e-9;
  state.counters["GFLOP/s"] = median;
  state.counters["%peak"] = 100 * median / peak;
  state.counters["GFLOP/s_best"] = fastest;
  state.counters["%peak_best"] = 100 * fastest / peak;
}

template <class Work>
void measure(benchmark::State& state, int threads, double flops, const Work& work) {
  measure(
      state, threads, flops, [] {}, work);
}

/// Registers a benchmark that runs for 1 thread and for 2, for at least `seconds` each.
template <class F>
void for_threads(const std::string& name, const F& body, double seconds = 1) {
  for (const int threads : {1, 2})
    benchmark::RegisterBenchmark((name + "/threads:" + std::to_string(threads)).c_str(),
                                 [=](benchmark::State& state) { body(state, threads); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->MinTime(seconds);
}

}  // namespace ladon::bench
