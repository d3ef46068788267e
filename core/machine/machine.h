#pragma once
// Properties of the machine.

#include <cstdint>

namespace ladon {

/// Bytes of free memory: Linux's estimate, divided equally among the ranks on this machine
/// (ranks.h), plus what Ladon keeps (allocator.h). The largest possible number if there is no
/// estimate.
std::uint64_t free_memory();

namespace detail {

/// Counts the processes of one computation that share this machine.
using CountProcesses = int (*)();
/// 1, unless a session of ranks (ranks.h) has begun, which replaces it.
inline constinit CountProcesses processes_here = [] { return 1; };

}  // namespace detail

}  // namespace ladon
