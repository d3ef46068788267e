#pragma once
// Peak of the memory that a piece of code holds, counted byte by byte: the program's operator new
// and delete are replaced by counting ones (heap.cpp), and tensor storages report their bytes.

#include <cstddef>
#include <functional>

namespace ladon::test {

/// Bytes that `action` held at its peak, on all threads, in addition to those held before: the peak
/// of the heap plus the peak of tensor storages, which may be at different moments. Exceptions of
/// `action` pass through.
std::size_t heap_peak(const std::function<void()>& action);

}  // namespace ladon::test
