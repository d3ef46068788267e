#pragma once
// Timing of a row, and its line.

#include <nlohmann/json_fwd.hpp>

#include "row.h"

namespace ladon::bench {

/// Seconds of a call: the median of all, the fastest, and the slowest round's median.
struct Times {
  double median = 0, fastest = 0, slowest_round = 0;
};

/// Measurements of a row. `theirs` is 0 where there is no peer, and else of the number of
/// threads with which it is faster.
struct Measured {
  Times ours, theirs;
  int peer_threads = 0;
};

/// Rounds of ours, then theirs, on as many threads and on one, 2 calls to warm up and at least 7
/// that count, for at least 0.1 s.
Measured measure(const Sides& sides, int threads, int rounds);

void print_header();
void print(const Row& row, int threads, const Measured& m);
/// {"row", "threads", "unit", "ours", "theirs", "ours_range", "theirs_range", "theirs_threads",
/// "ratio", "share", "goal", "met"}; what a row has not is null.
nlohmann::json to_json(const Row& row, int threads, const Measured& m);

}  // namespace ladon::bench
