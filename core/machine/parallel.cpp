#include "ladon/core/machine/parallel.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/scalable_allocator.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "ladon/core/error.h"
#include "ladon/core/modes.h"

#ifdef LADON_TSAN
extern "C" void __tsan_acquire(void*);
extern "C" void __tsan_release(void*);
// TBB's library clears memory that its threads hand to each other, which the sanitizer would report
// as a race.
extern "C" const char* __tsan_default_suppressions() { return "called_from_lib:libtbb.so"; }
#endif

namespace ladon {
namespace {

// One arena for each number of threads that was ever set. Arenas are never destroyed: a loop may
// still run on an old arena while another thread changes the number, and destroying them while the
// process exits would not be safe.
class Pool {
 public:
  static Pool& instance() {
    static Pool* pool = new Pool;
    return *pool;
  }

  tbb::task_arena* current() const { return current_.load(std::memory_order_acquire); }
  int threads() const { return threads_.load(std::memory_order_acquire); }

  void resize(int n) {
    if (forked_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    auto& arena = arenas_[n];
    if (!arena) arena = std::make_unique<tbb::task_arena>(n);
    // By default TBB starts no more threads than there are cores.
    limit_.reset();
    if (n > tbb::info::default_concurrency())
      limit_ = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                     static_cast<std::size_t>(n));
    current_.store(arena.get(), std::memory_order_release);
    threads_.store(n, std::memory_order_release);
  }

 private:
  Pool() {
    resize(std::max(1, tbb::info::default_concurrency()));
    // A forked child has none of the threads, and may have a lock that one of the threads held.
    pthread_atfork(nullptr, nullptr, [] {
      instance().forked_.store(true, std::memory_order_release);
      instance().threads_.store(1, std::memory_order_release);
    });
  }

  std::mutex mutex_;
  std::map<int, std::unique_ptr<tbb::task_arena>> arenas_;
  std::unique_ptr<tbb::global_control> limit_;
  std::atomic<tbb::task_arena*> current_{nullptr};
  std::atomic<int> threads_{1};
  std::atomic<bool> forked_{false};
};

// The thread sanitizer does not see TBB's own synchronization; these functions tell it what TBB
// guarantees.
void happens_before([[maybe_unused]] void* point) {
#ifdef LADON_TSAN
  __tsan_release(point);
#endif
}
void happens_after([[maybe_unused]] void* point) {
#ifdef LADON_TSAN
  __tsan_acquire(point);
#endif
}

}  // namespace

void set_num_threads(int n) {
  constexpr int most = 1024;  // few systems can start tens of thousands of threads
  LADON_CHECK(n >= 1 && n <= most, "set_num_threads", "needs from 1 to ", most, " threads, got ",
              n);
  Pool::instance().resize(n);
}

int num_threads() { return Pool::instance().threads(); }

namespace parallel {

void for_range(std::int64_t n, std::int64_t grain,
               const std::function<void(std::int64_t, std::int64_t)>& body) {
  detail::require(grain >= 1, "for_range needs a grain of at least 1");
  if (n <= 0) return;
  if (n <= grain) return body(0, n);
  const std::int64_t pieces = 1 + (n - 1) / grain;
  const auto piece = [&, modes = detail::modes.of_task()](std::int64_t i) {
    const detail::Bracket scope(detail::modes, modes);
    body(i * grain, i == pieces - 1 ? n : (i + 1) * grain);
  };
  Pool& pool = Pool::instance();
  if (pool.threads() == 1) {
    for (std::int64_t i = 0; i < pieces; ++i) piece(i);
    return;
  }
  char start = 0, finish = 0;
  // The sanitizer's functions are called by destructors, so that an exception does not skip them.
  struct Before {
    void* point;
    ~Before() { happens_before(point); }
  };
  struct After {
    void* point;
    ~After() { happens_after(point); }
  };
  const After all{&finish};
  happens_before(&start);
  // Isolated: a thread that waits here does not take up work of another loop, so a body is never
  // interrupted by the body of another loop, which might use the same thread-local memory or locks.
  const auto loop = [&] {
    tbb::parallel_for(std::int64_t{0}, pieces, [&](std::int64_t i) {
      happens_after(&start);
      const Before end{&finish};
      piece(i);
    });
  };
  pool.current()->execute([&] { tbb::this_task_arena::isolate(loop); });
}

#ifdef LADON_SANITIZED
// Sanitizers track only allocations by the C library's allocator.
void* allocate(std::size_t bytes, std::size_t alignment) {
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void deallocate(void* memory) { std::free(memory); }
#else
void* allocate(std::size_t bytes, std::size_t alignment) {
  return scalable_aligned_malloc(bytes, alignment);
}
void deallocate(void* memory) { scalable_aligned_free(memory); }
#endif

}  // namespace parallel
}  // namespace ladon
