#pragma once
// Makes random calls of the library, one after the other, until one ends in anything but a result
// or a ladon::Error.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ladon::test {

struct RunOptions {
  std::uint64_t seed = 1;
  std::int64_t calls = 100'000;
  /// Number of a call to repeat, together with the earlier calls of its episode; each is printed.
  std::optional<std::int64_t> only = {};
  /// Processor time in seconds that a call may take. Under a sanitizer calls take five to ten times
  /// as long.
#ifdef LADON_SANITIZED
  double seconds = 20;
#else
  double seconds = 2;
#endif
};

struct RunReport {
  std::int64_t results = 0, errors = 0, sweeps = 0;
  double slowest_seconds = 0;
  std::string slowest;                         ///< The slowest call, in words.
  std::map<std::string, std::int64_t> by_row;  ///< Number of results per row's name.
};

/// Number of calls per episode. An episode begins without tensors and with a random state that
/// depends only on the seed and its number, so a call can be repeated after only the earlier calls
/// of its episode.
inline constexpr std::int64_t episode_calls = 50;

/// Throws std::runtime_error, with the seed, the call's number and the call in words, if a call
/// ends in an exception other than Error, in an Error without the operation's name, with a tensor
/// that reaches beyond its storage, or too late. If a call causes a signal or a sanitizer's report,
/// or does not end, prints the same words and ends the process.
RunReport run_random_calls(const RunOptions& options);

}  // namespace ladon::test
