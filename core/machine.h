#pragma once
// What the machine offers.

#include <cstdint>

namespace ladon {

/// Bytes of memory that are free (Linux's own estimate); without one, the largest number.
std::uint64_t free_memory();

}  // namespace ladon
