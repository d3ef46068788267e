// Prints the machine's peak speeds of fused multiply-adds and of dgemm, and its memory bandwidth.

#include "measure.h"

namespace {

using namespace ladon::bench;

void report(benchmark::State& state, const char* unit, double (*value)(int), int threads) {
  for (auto _ : state) benchmark::DoNotOptimize(value(threads));  // measured once, then remembered
  state.counters[unit] = value(threads);
}

}  // namespace

int main(int argc, char** argv) {
  for (const int threads : {1, 2}) {
    const std::string on = "/threads:" + std::to_string(threads);
    benchmark::RegisterBenchmark((std::string("fma ") + vector_level() + on).c_str(), report,
                                 "GFLOP/s", peak_gflops, threads)
        ->Iterations(1);
    benchmark::RegisterBenchmark(("dgemm" + on).c_str(), report, "GFLOP/s", dgemm_gflops, threads)
        ->Iterations(1);
    benchmark::RegisterBenchmark(("memory" + on).c_str(), report, "GB/s", memory_gbytes, threads)
        ->Iterations(1);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
