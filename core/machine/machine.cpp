#include "ladon/core/machine/machine.h"

#include <fstream>
#include <limits>
#include <string>

#include "ladon/core/machine/allocator.h"

namespace ladon {

std::uint64_t free_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kilobytes = 0;
  while (file >> name) {
    if (name == "MemAvailable:" && file >> kilobytes)
      return kilobytes * 1024 / static_cast<std::uint64_t>(detail::processes_here()) +
             memory_use().kept;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::numeric_limits<std::uint64_t>::max();
}

}  // namespace ladon
