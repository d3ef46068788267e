#include "ladon/examples/gp_classify/memory.h"

#include <cmath>
#include <fstream>
#include <string>

namespace ladon::example {

void start_memory_phase() { std::ofstream("/proc/self/clear_refs") << 5; }

double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes;
    if (word == "VmHWM:" && status >> kibibytes) return kibibytes * 1024 / 1e6;
  }
  return NAN;
}

}  // namespace ladon::example
