#pragma once
// Allocator of the memory of tensors. Blocks below 1 MB: parallel::allocate. Larger ones
// are mapped on huge pages where the system has them, and kept when a tensor is done with them: a
// training step asks for the same sizes over and over, and memory that was given back to the system
// comes again page by page, cleared, which costs more than most operations on it.
//
// Sizes are rounded up to eight classes a power of two, so that near sizes share blocks. What is
// kept and what is in use are together at most a quarter more than was ever in use at once; beyond
// that the blocks that were freed first go back to the system.

#include <cstddef>

namespace ladon {

/// Bytes of large blocks, as rounded; small ones do not count.
struct MemoryUse {
  std::size_t in_use;  ///< Held by tensors.
  std::size_t kept;    ///< Free, and kept for the next that asks.
  std::size_t most;    ///< The most that was in use at once since the last release_memory().
};
MemoryUse memory_use();

/// Gives what is kept back to the system: for a program that goes on with something smaller, or
/// waits. Returns how many bytes that was. Safe beside other threads.
std::size_t release_memory();

namespace detail {

/// Memory aligned to 64 bytes; nullptr when there is none. It is freed with the same size.
void* allocate_memory(std::size_t bytes);
void free_memory(void* memory, std::size_t bytes);

}  // namespace detail

}  // namespace ladon
