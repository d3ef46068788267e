#pragma once
// Allocator of the memory of tensors. Blocks below 1 MB come from parallel::allocate. Larger ones
// are mapped on huge pages if the system has them, and kept when a tensor frees them: a training
// step requests the same sizes over and over, and memory that was returned to the system comes back
// page by page, cleared, which costs more than most operations on it.
//
// Sizes are rounded up to eight classes per power of two, so that similar sizes share blocks.
// Memory that is kept or in use is at most a quarter more than was ever in use at once; beyond
// that, the blocks that were freed first are returned to the system.

#include <cstddef>

namespace ladon {

/// Bytes of large blocks, as rounded; small ones are not counted.
struct MemoryUse {
  std::size_t in_use;  ///< Held by tensors.
  std::size_t kept;    ///< Free, and kept for reuse.
  std::size_t most;    ///< The most that was in use at once since the last release_memory().
};
MemoryUse memory_use();

/// Returns the kept memory to the system, for a program that continues with something smaller, or
/// waits. Returns the number of bytes. May be called while other threads run.
std::size_t release_memory();

namespace detail {

/// Memory aligned to 64 bytes; nullptr when there is none. It must be freed with the same size.
void* allocate_memory(std::size_t bytes);
void free_memory(void* memory, std::size_t bytes);

}  // namespace detail

}  // namespace ladon
