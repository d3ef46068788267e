#pragma once
// Memory of the heap that a piece of code takes, counted and not sampled: operator new and delete
// of the program are replaced (heap.cpp), and storages count themselves.

#include <cstddef>
#include <functional>

namespace ladon::test {

/// The most bytes that `action` held at once, on all threads, beside those held before. An
/// exception comes out of it, with the peak forgotten.
std::size_t heap_peak(const std::function<void()>& action);

}  // namespace ladon::test
