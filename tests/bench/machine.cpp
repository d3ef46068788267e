#include "machine.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <limits>
#include <map>
#include <numeric>
#include <thread>
#include <vector>

#include "ladon/core/linalg/blas.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::bench {
namespace {

// Short runs and many of them: on a busy machine one at least is not disturbed.
constexpr int steps = 50'000, runs = 1000;

// Enough independent chains to cover the latency of an instruction on every port, few enough to
// stay in registers. The values stay at 1.
#define LADON_CHAINS(Name, target_options, bytes, chains)                             \
  target_options double Name() {                                                      \
    typedef float Lanes __attribute__((vector_size(bytes)));                          \
    Lanes x[chains], scale = Lanes{} + 1.0f, shift = Lanes{};                         \
    asm volatile("" : "+x"(scale), "+x"(shift));                                      \
    for (Lanes & chain : x) chain = scale;                                            \
    for (int i = 0; i < steps; ++i)                                                   \
      _Pragma("GCC unroll 16") for (Lanes & chain : x) chain = chain * scale + shift; \
    for (Lanes & chain : x) asm volatile("" : : "x"(chain));                          \
    return 2.0 * steps * chains * (bytes / sizeof(float));                            \
  }

LADON_CHAINS(baseline_chains, , 16, 10)
#ifdef __x86_64__
LADON_CHAINS(avx2_chains, [[gnu::target("avx2,fma")]], 32, 12)
LADON_CHAINS(avx512_chains, [[gnu::target("avx512f")]], 64, 12)
#endif
#undef LADON_CHAINS

struct Level {
  const char* name;
  double (*chains)();  ///< Returns the operations done.
};

Level level() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return {"AVX-512", avx512_chains};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {"AVX2 and FMA", avx2_chains};
#endif
  return {"baseline", baseline_chains};
}

/// Seconds of the fastest of several runs.
template <class F>
double fastest(int repetitions, const F& work) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (int r = 0; r < repetitions; ++r) {
    const auto start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

/// The sum of what measure() gives on so many threads at once.
template <class F>
double on_each(int threads, const F& measure) {
  std::vector<double> reached(static_cast<std::size_t>(threads));
  std::barrier together(threads);
  std::vector<std::jthread> running;
  for (double& r : reached)
    running.emplace_back([&] {
      together.arrive_and_wait();
      r = measure();
    });
  running.clear();  // joins
  return std::accumulate(reached.begin(), reached.end(), 0.0);
}

/// measure() with that many threads, remembered.
template <class F>
double once(std::map<int, double>& known, int threads, const F& measure) {
  const auto [at, is_new] = known.try_emplace(threads, 0.0);
  if (is_new) {
    const int before = num_threads();
    set_num_threads(threads);
    at->second = measure();
    set_num_threads(before);
  }
  return at->second;
}

}  // namespace

double peak_gflops(int threads) {
  static std::map<int, double> known;
  return once(known, threads, [threads] {
    return on_each(threads, [] {
      double operations = 0;
      const double seconds = fastest(runs, [&] { operations = level().chains(); });
      return operations / seconds * 1e-9;
    });
  });
}

double dgemm_gflops(int threads) {
  static std::map<int, double> known;
  return once(known, threads, [threads] {
    return on_each(threads, [] {
      constexpr std::int64_t n = 512;
      const std::vector<double> a(n * n, 1), b(n * n, 1);
      std::vector<double> c(n * n);
      const double seconds = fastest(200, [&] {
        blas::gemm_serial<double>(n, n, n, 1, {a.data(), n, 1}, {b.data(), n, 1}, 0,
                                  {c.data(), n, 1});
      });
      return 2.0 * n * n * n / seconds * 1e-9;
    });
  });
}

double memory_gbytes(int threads) {
  static std::map<int, double> known;
  return once(known, threads, [] {
    constexpr std::int64_t count = std::int64_t{1} << 25, grain = std::int64_t{1} << 18;
    std::vector<float> x(count, 1), y(count, 1);
    const double seconds = fastest(10, [&] {
      parallel::for_range(count, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          y[static_cast<std::size_t>(i)] += x[static_cast<std::size_t>(i)];
      });
    });
    return 3.0 * count * sizeof(float) / seconds * 1e-9;
  });
}

const char* vector_level() { return level().name; }

}  // namespace ladon::bench
