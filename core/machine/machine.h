#pragma once
// Properties of the machine: its free memory, and the number of processes that share it.

#include <cstdint>

namespace ladon {

/// Bytes of free memory: Linux's estimate, divided equally among the ranks on this machine
/// (ranks.h), plus the memory that Ladon keeps for reuse (allocator.h). The largest 64-bit number
/// if there is no estimate.
std::uint64_t free_memory();

namespace detail {

/// Counts the processes of one computation that share this machine.
using CountProcesses = int (*)();
/// Returns 1 until a session of ranks (ranks.h) begins, which replaces this function.
inline constinit CountProcesses processes_here = [] { return 1; };

}  // namespace detail

}  // namespace ladon
