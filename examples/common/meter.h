#pragma once
// Measurement of the time and memory that a part of a run takes.

#include <chrono>
#include <cmath>
#include <fstream>
#include <string>

#include "ladon/core/machine/allocator.h"

namespace ladon::example {

/// Measures time and memory since its construction; use only one Meter at a time. The constructor
/// frees cached tensor memory and, where the system allows it (Linux: /proc/self), resets the
/// system's record of the peak.
class Meter {
 public:
  Meter() {
    release_memory();
    std::ofstream("/proc/self/clear_refs") << 5;
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  /// Largest resident memory of the process, in MB (10⁶ bytes); NaN if the system does not report
  /// it.
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
