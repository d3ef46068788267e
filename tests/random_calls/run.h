#pragma once
// Makes random calls, one after the other, and stops at the first that ends in anything but a
// result or a ladon::Error.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ladon::test {

struct RunOptions {
  std::uint64_t seed = 1;
  std::int64_t calls = 100'000;
  /// Repeats what led to the call of this number, and tells each call in words.
  std::optional<std::int64_t> only = {};
  /// Processor time that a call may take; under a sanitizer it takes five to ten times as long.
#ifdef LADON_SANITIZED
  double seconds = 20;
#else
  double seconds = 2;
#endif
};

struct RunReport {
  std::int64_t results = 0, errors = 0, sweeps = 0;
  double slowest_seconds = 0;
  std::string slowest;                         ///< In words.
  std::map<std::string, std::int64_t> by_row;  ///< Results of rows of that name.
};

/// Calls come in episodes of episode_calls. An episode begins with no tensors and a state of its
/// own, drawn from seed and number alone; so a call is repeated by the few before it.
inline constexpr std::int64_t episode_calls = 50;

/// Throws std::runtime_error that tells seed, number and the call in words, where one ends in an
/// exception other than Error, an Error without the operation's name, a tensor that is no window on
/// its storage, or too late. A signal, a sanitizer's report and a call that does not end print them
/// and end the process.
RunReport run_random_calls(const RunOptions& options);

}  // namespace ladon::test
