#pragma once
// Recurrence over the steps of sequences, forward and backward. No gradients are recorded: see
// autograd/ops/recurrent/recurrent.h, which also checks what is taken for granted here.

#include "ladon/core/kernels/recurrent/recurrent_cell.h"
#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// Operands of a recurrence, G = gates·n, S numbers of state: gates [B, T, G], weight [G, n], bias
/// [G] or undefined, initial [B, S], of one dtype; mask (bool [B, T]) or undefined. A masked step
/// keeps the state. With `reverse` the recurrence begins at the last step.
struct Recurrence {
  RecurrentCell cell;
  Tensor gates, weight, bias, initial, mask;
  bool reverse = false;
};

/// The state after each step: [B, T, S].
Tensor recurrence(const Recurrence& r);

/// From the gradient g [B, T, S] of `states`: that of the gates; of what the state says to them,
/// b = h·weightᵀ + bias, [B, T, G] (the same tensor for all cells but gru); of the initial state;
/// and the h [B, T, n] that each b was computed from.
struct RecurrenceGradients {
  Tensor gates, hidden_gates, initial, hidden;
};
RecurrenceGradients recurrence_backward(const Recurrence& r, const Tensor& states, const Tensor& g);

}  // namespace ladon::kernels
