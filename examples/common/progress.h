#pragma once
// A line that shows how far a long run is and how long it will take; only on a terminal.

#include <chrono>
#include <string>

namespace ladon::example {

class Progress {
 public:
  /// `total` number of steps, in any unit of work that is used throughout.
  explicit Progress(double total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts one step (or `steps`) and shows `what` is being done. Throws Interrupted if the user
  /// asked the run to end.
  void step(const std::string& what, double steps = 1);
  /// Prints a line to stdout, after clearing the progress line.
  void say(const std::string& line) const;

 private:
  double total_, done_ = 0;
  bool terminal_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace ladon::example
