#pragma once
// Timing of a row of the comparison, and its line in the printed table.

#include <nlohmann/json_fwd.hpp>

#include "row.h"

namespace ladon::bench {

/// Seconds per call: median of all calls, fastest call, and median of the slowest round.
struct Times {
  double median = 0, fastest = 0, slowest_round = 0;
};

/// Measurements of a row. `theirs` is 0 if LibTorch has no such operation; else it was measured
/// with peer_threads, the number of threads (all or one) with which LibTorch is faster.
struct Measured {
  Times ours, theirs;
  int peer_threads = 0;
};

/// Measures in rounds: Ladon's side, then LibTorch's on as many threads and on one, each by 2 calls
/// to warm up and at least 7 timed calls, for at least 0.1 s.
Measured measure(const Sides& sides, int threads, int rounds);

void print_header();
void print(const Row& row, int threads, const Measured& m);
/// {"row", "threads", "unit", "ours", "theirs", "ours_range", "theirs_range", "theirs_threads",
/// "ratio", "share", "goal", "met"}; null for values that the row does not have.
nlohmann::json to_json(const Row& row, int threads, const Measured& m);

}  // namespace ladon::bench
