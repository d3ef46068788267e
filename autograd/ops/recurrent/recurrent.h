#pragma once
// Recurrent cells, and the recurrence over the steps of sequences. The layers
// (layers/sequence/recurrent.h) are made of these. Gates stand in PyTorch's order: i f g o of an
// LSTM, r z n of a GRU.

#include "ladon/core/kernels/recurrent/recurrent_cell.h"
#include "ladon/core/tensor.h"

namespace ladon {

struct LstmState {
  Tensor h, c;
};
/// One step: input_gates (of the input) and hidden_gates (of h) [.., 4n], c [.., n], which
/// broadcast → both [.., n]. With a the sum of the gates, c' = σ(a_f)∘c + σ(a_i)∘tanh(a_g),
/// h' = σ(a_o)∘tanh(c')   (Hochreiter and Schmidhuber 1997; forget gate: Gers et al. 2000).
///
///   auto [h, c] = lstm_cell(linear(x, weight_ih, bias), linear(h0, weight_hh), c0);
LstmState lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& c);

/// One step: gates [.., 3n], h [.., n] → [.., n]:  r, z = σ(a_r + b_r), σ(a_z + b_z) of the input's
/// a and the state's b, h' = (1 − z)∘tanh(a_n + r∘b_n) + z∘h   (Cho et al. 2014, with the reset
/// behind the product, as cuDNN has it).
Tensor gru_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& h);

struct RecurrenceOptions {
  Tensor bias = {};      ///< [G], of hidden_gates.
  Tensor initial = {};   ///< The state before the first step, [batch, S]; undefined: zeros.
  Tensor mask = {};      ///< bool [batch, T]: a step where it is false leaves the state as it was.
  bool reverse = false;  ///< From the last step to the first.
};
/// The state after each step, [batch, T, S], at the step's place. A cell with n units has G gates
/// and S numbers of state: tanh and relu n and n, gru 3n and n, lstm 4n and 2n (h, then c).
/// input_gates [batch, T, G], weight [G, n]:  state_t = cell(input_gates_t, h·weightᵀ + bias,
/// state). One product a step, and all gates in one loop; the gradient runs back through time
/// likewise, and gathers the weight's in one product. A derivative of that gradient is composed
/// step by step. Throws Error where shapes do not fit.
Tensor recurrence(RecurrentCell cell, const Tensor& input_gates, const Tensor& weight,
                  const RecurrenceOptions& options = {});

}  // namespace ladon
