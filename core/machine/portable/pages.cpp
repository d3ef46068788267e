#include "ladon/core/machine/pages.h"

#include "ladon/core/machine/parallel.h"

namespace ladon::detail {

void* map_pages(std::size_t bytes) { return parallel::allocate(bytes, 64); }
void unmap_pages(void* memory, std::size_t) { parallel::deallocate(memory); }

}  // namespace ladon::detail
