#pragma once
// Properties of the machine.

#include <cstdint>

namespace ladon {

/// Bytes of free memory: Linux's estimate, divided equally among the ranks on this machine
/// (ranks.h), plus what Ladon keeps (allocator.h). The largest possible number if there is no
/// estimate.
std::uint64_t free_memory();

}  // namespace ladon
