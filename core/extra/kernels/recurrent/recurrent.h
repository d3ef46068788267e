#pragma once
// Recurrence over the steps of sequences, forward and backward. No gradients are recorded: see
// autograd/extra/recurrent/recurrent.h, which also checks what is assumed here.

#include "ladon/core/extra/kernels/recurrent/recurrent_cell.h"
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

/// From the gradient g [B, T, S] of `states`: the gradients of the gates; of the state's part of
/// them, b = h·weightᵀ + bias, [B, T, G] (the same tensor for all cells but gru); of the initial
/// state; and `hidden`, the h [B, T, n] from which each b was computed.
struct RecurrenceGradients {
  Tensor gates, hidden_gates, initial, hidden;
};
RecurrenceGradients recurrence_backward(const Recurrence& r, const Tensor& states, const Tensor& g);

}  // namespace ladon::kernels
