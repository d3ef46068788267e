#pragma once
// One step of a recurrent cell (core/extra/kernels/recurrent/recurrent_cell.h) for one row.

#include <cstdint>
#include <type_traits>

namespace ladon::kernels {

template <class T>
struct RecurrentLoops {
  /// The state after the step from a, b and the state before it; n numbers per gate.
  void (*step[4])(const T* a, const T* b, const T* before, T* after, std::int64_t n);
  /// From the gradient g of the state after the step: the gradients of a, of b, and of the state
  /// before it, without its part through b. All cells but gru write only `da`, as `db` is the same.
  void (*gradient[4])(const T* g, const T* a, const T* b, const T* before, T* da, T* db, T* dbefore,
                      std::int64_t n);
};

/// Those of one level of the instruction set.
struct RecurrentTable {
  RecurrentLoops<float> f32;
  RecurrentLoops<double> f64;

  template <class T>
  const RecurrentLoops<T>& of() const {
    if constexpr (std::is_same_v<T, float>)
      return f32;
    else
      return f64;
  }
};

/// Those of the level in use (core/kernels/loops.h).
const RecurrentTable& recurrent_loops();

}  // namespace ladon::kernels
