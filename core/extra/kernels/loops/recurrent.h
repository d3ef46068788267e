#pragma once
// One step of a recurrent cell (core/extra/kernels/recurrent/recurrent_cell.h) for one sequence.

#include <cstdint>
#include <type_traits>

namespace ladon::kernels {

template <class T>
struct RecurrentLoops {
  /// One entry per RecurrentCell: computes the state `after` the step from a, b (recurrent_cell.h)
  /// and the state `before` it; n elements per gate.
  void (*step[4])(const T* a, const T* b, const T* before, T* after, std::int64_t n);
  /// One entry per RecurrentCell: computes, from the gradient g of the state after the step, the
  /// gradients of a, of b, and of the state before the step; the last one lacks the contribution
  /// through b. Only gru writes `db`; in the other cells the gradient of b equals `da`.
  void (*gradient[4])(const T* g, const T* a, const T* b, const T* before, T* da, T* db, T* dbefore,
                      std::int64_t n);
};

/// The loops of one instruction level.
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

/// The loops of the instruction level in use (core/kernels/loops.h).
const RecurrentTable& recurrent_loops();

}  // namespace ladon::kernels
