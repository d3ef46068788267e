#pragma once
// Memory of the system's own, for blocks that the allocator keeps (allocator.cpp).

#include <cstddef>

namespace ladon::detail {

/// Fresh pages, `bytes` of them all together; nullptr when there are none.
void* map_pages(std::size_t bytes);
void unmap_pages(void* memory, std::size_t bytes);

}  // namespace ladon::detail
