#include "ladon/tests/core/heap.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "ladon/core/storage.h"

namespace {

std::atomic<std::size_t> held{0}, peak{0};

void* allocate(std::size_t bytes) noexcept {
  void* block = std::malloc(bytes > 0 ? bytes : 1);
  if (!block) return nullptr;
  const std::size_t taken = malloc_usable_size(block), now = held += taken;
  for (std::size_t most = peak; now > most && !peak.compare_exchange_weak(most, now);) continue;
  return block;
}

void* allocate_or_throw(std::size_t bytes) {
  if (void* block = allocate(bytes)) return block;
  throw std::bad_alloc();
}

void release(void* block) noexcept {
  if (block) held -= malloc_usable_size(block);
  std::free(block);
}

}  // namespace

// All forms but those for over-aligned types, which stay the library's own.
void* operator new(std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* block) noexcept { release(block); }
void operator delete[](void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete[](void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { release(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { release(block); }

namespace ladon::test {

std::size_t heap_peak(const std::function<void()>& action) {
  const std::size_t before = held, storages = Storage::bytes_in_use();
  peak = before;
  Storage::reset_peak();
  action();
  return (peak - before) + (Storage::peak_bytes() - storages);
}

}  // namespace ladon::test
