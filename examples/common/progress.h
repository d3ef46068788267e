#pragma once
// A line that says how far a long run is and how long it will take. Only on a terminal.

#include <chrono>
#include <cstdint>
#include <string>

namespace ladon::example {

class Progress {
 public:
  /// `total` steps of equal length.
  explicit Progress(std::int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts one step (or as many as it took) and shows `what` is being done.
  void step(const std::string& what, std::int64_t steps = 1);

 private:
  std::int64_t total_, done_ = 0;
  bool terminal_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace ladon::example
