#pragma once
// The only interface to oneTBB: threads, and its caching allocator (with LADON_PORTABLE: one
// thread, and malloc).
//
// Work is cut into pieces by its size alone, never by the number of threads, and partial results
// are combined in the order of the pieces; so every result is the same, bit for bit, at any number
// of threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ladon {

/// Sets the number of threads that Ladon uses, from 1 to 1024; the default is the number of cores,
/// and n may be larger than that. Throws Error for other numbers. A forked child and a portable
/// build always use one thread.
void set_num_threads(int n);
int num_threads();

namespace parallel {

/// Calls body(begin, end) on consecutive pieces of [0, n), each of `grain` items (the last may be
/// shorter), on all threads. Each call runs under the modes of this thread (modes.h), such as
/// NoGrad. A single piece runs on this thread. A body may call for_range() again. An exception of a
/// body is rethrown here.
void for_range(std::int64_t n, std::int64_t grain,
               const std::function<void(std::int64_t, std::int64_t)>& body);

/// Calls use(make(i)) for i = 0 … n − 1, in rounds of `held` indices: in each round all threads
/// run make(), and then this thread calls use() in the order of i. A result is kept until one of
/// the next round replaces it.
template <class Make, class Use>
void in_order(std::int64_t n, std::int64_t held, const Make& make, const Use& use) {
  std::vector<decltype(make(n))> made(static_cast<std::size_t>(std::min(n, held)));
  for (std::int64_t start = 0; start < n; start += held) {
    const std::int64_t count = std::min(held, n - start);
    for_range(count, 1, [&made, &make, start](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) made[static_cast<std::size_t>(i)] = make(start + i);
    });
    for (std::int64_t i = 0; i < count; ++i) use(made[static_cast<std::size_t>(i)]);
  }
}

/// Aligned memory from the caching allocator; nullptr if there is not enough memory.
void* allocate(std::size_t bytes, std::size_t alignment);
void deallocate(void* memory);

}  // namespace parallel
}  // namespace ladon
