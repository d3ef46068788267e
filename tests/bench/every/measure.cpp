#include "measure.h"

#include <time.h>

#include <algorithm>
#include <map>

#include "../machine.h"

namespace ladon::bench::every {
namespace {

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// Of calls in a row, seconds each.
template <class Work>
double timed(const Work& work, int calls, int threads) {
  const clockid_t clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  const double start = seconds(clock);
  for (int i = 0; i < calls; ++i) work();
  return (seconds(clock) - start) / calls;
}

/// Calls that take a millisecond; they warm up as well.
template <class Work>
int calls_of_a_round(const Work& work, int threads) {
  constexpr double round = 1e-3;
  int calls = 1;
  work();
  while (calls < 100'000) {
    const double each = timed(work, calls, threads);
    if (each * calls >= round) break;
    calls = std::clamp(int(round / std::max(each, 1e-9)) + 1, calls + 1, calls * 10);
  }
  return calls;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Seconds that the work takes at the machine's peaks. Bytes bound large rows alone: smaller ones
/// lie in caches.
double least_seconds(const Row& row, const Work& work, int threads) {
  const double fma = peak_gflops(threads) * 1e9 / (row.dtype == f64 ? 2 : 1);
  const double in_memory = work.bytes > 16e6 ? work.bytes : 0;
  return std::max(work.products / fma, in_memory / (memory_gbytes(threads) * 1e9));
}

}  // namespace

Measured measure(const Row& row, const Call& call, const std::optional<Peer>& peer,
                 const Work& work, int threads, int rounds) {
  turn_to_ours(threads);
  const int calls = calls_of_a_round(call.run, threads);
  std::map<int, int> peer_calls;  // by number of threads
  if (peer)
    for (const int n : {threads, 1}) {
      if (peer_calls.contains(n)) continue;
      turn_to_peer(n);
      peer_calls[n] = calls_of_a_round(peer->run, threads);
    }
  std::vector<double> ours;
  std::map<int, std::vector<double>> theirs;
  for (int i = 0; i < rounds; ++i) {
    turn_to_ours(threads);
    ours.push_back(timed(call.run, calls, threads));
    for (const auto& [n, count] : peer_calls) {
      turn_to_peer(n);
      theirs[n].push_back(timed(peer->run, count, threads));
    }
  }
  turn_to_ours(threads);
  Measured m{.row = row, .ours = median(ours)};
  for (const auto& [n, times] : theirs)
    if (const double t = median(times); m.theirs == 0 || t < m.theirs)
      m.theirs = t, m.peer_threads = n;
  // Above: views and lookups, which do not move all of their numbers.
  if (const double share = least_seconds(row, work, threads) / m.ours; share < 2) m.share = share;
  return m;
}

}  // namespace ladon::bench::every
