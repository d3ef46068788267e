#pragma once
// Properties of the machine.

#include <cstdint>

namespace ladon {

/// Bytes of memory that are free: Linux's own estimate, of which ranks on one machine (ranks.h)
/// have an equal share each, and what Ladon keeps (allocator.h). Without an estimate, the largest
/// number.
std::uint64_t free_memory();

}  // namespace ladon
