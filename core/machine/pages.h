#pragma once
// Memory directly from the system, for blocks that the allocator keeps (allocator.cpp).

#include <cstddef>

namespace ladon::detail {

/// Fresh pages of `bytes` bytes in total; nullptr if there is not enough memory.
void* map_pages(std::size_t bytes);
void unmap_pages(void* memory, std::size_t bytes);

}  // namespace ladon::detail
