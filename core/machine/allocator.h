#pragma once
// Allocator of the memory of tensors. Blocks below 1 MB come from parallel::allocate. Larger blocks
// are mapped on huge pages if the system has them, and kept for reuse when a tensor frees them: a
// training step requests the same sizes over and over, and memory that was returned to the system
// comes back page by page, cleared, which costs more than most operations on it.
//
// Sizes are rounded up to eight classes per power of two, so that a block can be reused for similar
// sizes. The memory in use and the memory kept are together at most 1.25 times the most that was in
// use at once since the last release_memory(); above this limit, blocks are returned to the system
// in the order in which they were freed.

#include <cstddef>

namespace ladon {

/// Bytes of large blocks, with rounded sizes; small blocks are not counted.
struct MemoryUse {
  std::size_t in_use;  ///< Held by tensors.
  std::size_t kept;    ///< Free, and kept for reuse.
  std::size_t most;    ///< Largest value of in_use since the last release_memory().
};
MemoryUse memory_use();

/// Gives the kept memory back to the system, for a program that will need less memory or will wait.
/// Returns the number of bytes given back. May be called while other threads run.
std::size_t release_memory();

namespace detail {

/// Memory aligned to 64 bytes; nullptr if there is not enough memory. It must be freed with the
/// same size.
void* allocate_memory(std::size_t bytes);
void free_memory(void* memory, std::size_t bytes);

}  // namespace detail

}  // namespace ladon
