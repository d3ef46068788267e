#pragma once
// One step of a recurrent cell (core/kernels/recurrent/recurrent_cell.h) for one row.

#include <cstdint>

namespace ladon::kernels {

template <class T>
struct RecurrentLoops {
  /// a and b, and the state before, to the state after; n numbers per gate.
  void (*step[4])(const T* a, const T* b, const T* before, T* after, std::int64_t n);
  /// From the gradient g of the state after those of a, of b, and of the state before as far as it
  /// is not by way of b. Of `da` and `db` all but
  /// gru write the first alone: there they are equal.
  void (*gradient[4])(const T* g, const T* a, const T* b, const T* before, T* da, T* db, T* dbefore,
                      std::int64_t n);
};

}  // namespace ladon::kernels
