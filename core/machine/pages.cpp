#include "ladon/core/machine/pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace ladon::detail {

// The memory begins at the start of a huge page.
void* map_pages(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t{1} << 21;
  const std::size_t room = bytes + huge_page;
  void* mapped = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t from = (begin + huge_page - 1) / huge_page * huge_page;
  if (from > begin) munmap(mapped, from - begin);
  auto* memory = reinterpret_cast<std::byte*>(from);
  const std::size_t rest = begin + room - (from + bytes);
  if (rest > 0) munmap(memory + bytes, rest);
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);  // if the system refuses, pages are small
#endif
  return memory;
}

void unmap_pages(void* memory, std::size_t bytes) { munmap(memory, bytes); }

}  // namespace ladon::detail
