#pragma once
// Cost of a part of a run.

#include <chrono>
#include <cmath>
#include <fstream>
#include <string>

#include "ladon/core/machine/allocator.h"

namespace ladon::example {

/// Time and memory since it was made, one at a time: memory that is kept for later tensors is given
/// back and, where the system allows it (Linux: /proc/self), the peak so far is forgotten.
class Meter {
 public:
  Meter() {
    release_memory();
    std::ofstream("/proc/self/clear_refs") << 5;
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  /// The largest resident memory of the process, in MB (10⁶ bytes); NaN where nobody says.
  double peak_mb() const {
    std::ifstream status("/proc/self/status");
    double kibibytes;
    for (std::string word; status >> word;)
      if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024 / 1e6;
    return NAN;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ladon::example
