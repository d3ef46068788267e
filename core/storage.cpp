#include "ladon/core/storage.h"

#include <limits>
#include <new>

#include "ladon/core/error.h"
#include "ladon/core/machine/allocator.h"

namespace ladon {
namespace {
std::atomic<std::size_t> in_use{0}, peak{0};
}

Storage::Block* Storage::allocate(std::size_t bytes) {
  LADON_CHECK(bytes <= std::numeric_limits<std::size_t>::max() / 2, "storage", "cannot allocate ",
              bytes, " bytes: more than half the address space");
  void* memory = detail::allocate_memory(sizeof(Block) + bytes);
  LADON_CHECK(memory != nullptr, "storage", "out of memory: could not allocate ", bytes, " bytes; ",
              bytes_in_use(), " are in use");
  auto* block = new (memory) Block;
  block->size = bytes;
  block->data = reinterpret_cast<std::byte*>(block + 1);
  return block;
}

Storage::Storage(std::size_t bytes) : block_(allocate(bytes)) {
  const std::size_t now = in_use.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::size_t most = peak.load(std::memory_order_relaxed);
  while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

Storage::Storage(void* data, std::size_t bytes, std::function<void()> release)
    : block_(allocate(0)) {
  block_->size = bytes;
  block_->data = static_cast<std::byte*>(data);
  block_->release = std::move(release);
}

void Storage::free_block(Block* block) {
  std::size_t own = 0;
  if (block->borrowed()) {
    if (block->release) block->release();
  } else {
    own = block->size;
    in_use.fetch_sub(own, std::memory_order_relaxed);
  }
  block->~Block();
  detail::free_memory(block, sizeof(Block) + own);
}

std::size_t Storage::bytes_in_use() { return in_use.load(std::memory_order_relaxed); }
std::size_t Storage::peak_bytes() { return peak.load(std::memory_order_relaxed); }
void Storage::reset_peak() { peak.store(bytes_in_use(), std::memory_order_relaxed); }

}  // namespace ladon
