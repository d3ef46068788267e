#pragma once
// Recurrence over the steps of sequences, forward and backward. No gradients are recorded: see
// autograd/extra/recurrent/recurrent.h, which also checks the operands (these functions do not).

#include "ladon/core/extra/kernels/recurrent/recurrent_cell.h"
#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// Operands of a recurrence of B sequences of T steps. The hidden state h has n elements; the whole
/// state has S elements (2n for lstm, n for other cells); and G is the number of gates times n.
/// `gates` [B, T, G] is the contribution of the inputs. weight is [G, n], bias [G] or undefined,
/// and the initial state [B, S]; all have the same dtype. mask is bool [B, T] or undefined; where
/// it is false, the step keeps the state. With `reverse` the recurrence begins at the last step.
struct Recurrence {
  RecurrentCell cell;
  Tensor gates, weight, bias, initial, mask;
  bool reverse = false;
};

/// The state after each step: [B, T, S].
Tensor recurrence(const Recurrence& r);

/// Gradients, given the gradient g [B, T, S] of `states`. `gates` [B, T, G] is the gradient of the
/// inputs' contribution, `hidden_gates` [B, T, G] is the gradient of the state's contribution
/// b = h·weightᵀ + bias (the same tensor as `gates` for all cells but gru), and `initial` the
/// gradient of the initial state. `hidden` is no gradient, but the h [B, T, n] from which each b
/// was computed.
struct RecurrenceGradients {
  Tensor gates, hidden_gates, initial, hidden;
};
RecurrenceGradients recurrence_backward(const Recurrence& r, const Tensor& states, const Tensor& g);

}  // namespace ladon::kernels
