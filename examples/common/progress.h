#pragma once
// Progress line of a long run: the share of work done and the time left; shown only on a terminal.

#include <chrono>
#include <string>

namespace ladon::example {

class Progress {
 public:
  /// `total`: number of steps of the whole run, in any unit of work.
  explicit Progress(double total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts one step (or `steps`) as done and shows `what`, a description of the current work.
  /// Throws Interrupted after Ctrl-C (interrupt.h).
  void step(const std::string& what, double steps = 1);
  /// Clears the progress line and prints `line` to stdout.
  void say(const std::string& line) const;

 private:
  double total_, done_ = 0;
  bool terminal_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace ladon::example
