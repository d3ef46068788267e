#pragma once
// The only door to oneTBB: threads, and its caching allocator.
//
// Work is cut by its size alone, never by the number of threads, and partial results are combined
// in the order of the cuts; so every result is the same, bit for bit, at any number of threads.

#include <cstddef>
#include <cstdint>
#include <functional>

namespace ladon {

/// Sets how many threads Ladon uses, from 1 to 1024; the default is the number of cores, which it
/// may exceed. Throws Error outside. A forked child stays at one thread.
void set_num_threads(int n);
int num_threads();

namespace parallel {

/// Calls body(begin, end) on consecutive pieces of [0, n), each of `grain` items (the last may be
/// shorter), on all threads. Runs inline when there is one piece. Nesting is safe. An exception of
/// a body is rethrown here.
void for_range(std::int64_t n, std::int64_t grain,
               const std::function<void(std::int64_t, std::int64_t)>& body);

/// Aligned memory from the caching allocator; nullptr when there is none.
void* allocate(std::size_t bytes, std::size_t alignment);
void deallocate(void* memory);

}  // namespace parallel
}  // namespace ladon
