#include "ladon/core/machine/allocator.h"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <vector>

#include "ladon/core/machine/pages.h"
#include "ladon/core/machine/parallel.h"

namespace ladon {
namespace {

constexpr std::size_t large = std::size_t{1} << 20, page = 4096;

/// Rounds `bytes` up to a size class. A page is set aside for the block's header, because the sizes
/// of most tensors are powers of two; the remaining bytes are rounded up to a multiple of one
/// eighth of the largest power of two that does not exceed them.
std::size_t class_of(std::size_t bytes) {
  const std::size_t step = std::bit_floor(bytes - page) / 8;
  return (bytes - page + step - 1) / step * step + page;
}

class Cache {
 public:
  /// The only cache. It is never destroyed, because static tensors may be destroyed after any other
  /// static object.
  static Cache& instance() {
    static Cache& cache = *new Cache;
    return cache;
  }

  Cache() {
    // In a forked child, the lock must not be held by a thread that exists only in the parent.
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] { instance().mutex_.unlock(); });
  }

  void* allocate(std::size_t bytes) {
    const std::size_t size = class_of(bytes);
    const std::lock_guard lock(mutex_);
    if (void* kept = take(size)) return kept;
    const std::size_t most = std::max(use_.most, use_.in_use + size);
    give_back_beyond(most + most / 4 - size);
    void* memory = detail::map_pages(size);
    if (!memory) {
      give_back_beyond(0);
      memory = detail::map_pages(size);
    }
    if (memory) count(size);
    return memory;
  }

  void free(void* memory, std::size_t bytes) {
    const std::size_t size = class_of(bytes);
    const std::lock_guard lock(mutex_);
    use_.in_use -= size;
    use_.kept += size;
    kept_.push_back({memory, size});
  }

  std::size_t release() {
    const std::lock_guard lock(mutex_);
    const std::size_t before = use_.kept;
    give_back_beyond(0);
    use_.most = use_.in_use;
    return before;
  }

  MemoryUse use() {
    const std::lock_guard lock(mutex_);
    return use_;
  }

 private:
  struct Kept {
    void* memory;
    std::size_t size;
  };

  /// Takes the block of this size that was freed last, which is most likely to be in the cache;
  /// nullptr if there is no such block.
  void* take(std::size_t size) {
    const auto found = std::find_if(kept_.rbegin(), kept_.rend(),
                                    [=](const Kept& block) { return block.size == size; });
    if (found == kept_.rend()) return nullptr;
    void* memory = found->memory;
    kept_.erase(std::next(found).base());
    use_.kept -= size;
    count(size);
    return memory;
  }

  /// Returns kept blocks to the system, in the order in which they were freed, until memory in use
  /// and memory kept are together at most `limit` bytes.
  void give_back_beyond(std::size_t limit) {
    auto block = kept_.begin();
    for (; block != kept_.end() && use_.in_use + use_.kept > limit; ++block) {
      detail::unmap_pages(block->memory, block->size);
      use_.kept -= block->size;
    }
    kept_.erase(kept_.begin(), block);
  }

  void count(std::size_t size) {
    use_.in_use += size;
    use_.most = std::max(use_.most, use_.in_use);
  }

  std::mutex mutex_;
  std::vector<Kept> kept_;  // in the order in which they were freed
  MemoryUse use_{};
};

#ifdef LADON_SANITIZED
constexpr bool cached = false;  // sanitizers watch the C library's allocator
#else
constexpr bool cached = true;
#endif

}  // namespace

MemoryUse memory_use() { return Cache::instance().use(); }
std::size_t release_memory() { return Cache::instance().release(); }

void* detail::allocate_memory(std::size_t bytes) {
  return cached && bytes >= large ? Cache::instance().allocate(bytes)
                                  : parallel::allocate(bytes, 64);
}

void detail::free_memory(void* memory, std::size_t bytes) {
  if (cached && bytes >= large)
    Cache::instance().free(memory, bytes);
  else
    parallel::deallocate(memory);
}

}  // namespace ladon
