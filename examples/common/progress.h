#pragma once
// A line that says how far a long run is and how long it will take. Only on a terminal.

#include <chrono>
#include <string>

namespace ladon::example {

class Progress {
 public:
  /// `total` steps: any measure of work, as long as all of it is measured alike.
  explicit Progress(double total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Counts one step (or as many as it took) and shows `what` is being done. Throws Interrupted
  /// where the user wants the run to end.
  void step(const std::string& what, double steps = 1);
  /// Prints a line to stdout, where no progress stands.
  void say(const std::string& line) const;

 private:
  double total_, done_ = 0;
  bool terminal_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace ladon::example
