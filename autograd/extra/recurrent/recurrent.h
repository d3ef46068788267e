#pragma once
// Recurrent cells, and the recurrence over the steps of sequences, from which the layers
// (layers/extra/sequence/recurrent.h) are built. Gates are in PyTorch's order: i f g o for an LSTM,
// r z n for a GRU.

#include "ladon/core/extra/kernels/recurrent/recurrent_cell.h"
#include "ladon/core/tensor.h"

namespace ladon {

struct LstmState {
  Tensor h, c;
};
/// One step: input_gates (from the input) and hidden_gates (from h) [.., 4n], c [.., n], broadcast
/// → h and c, each [.., n]. With a the sum of the gates, c' = σ(a_f)∘c + σ(a_i)∘tanh(a_g), h' =
/// σ(a_o)∘tanh(c')   (Hochreiter and Schmidhuber 1997; forget gate: Gers et al. 2000).
///
///   auto [h, c] = lstm_cell(linear(x, weight_ih, bias), linear(h0, weight_hh), c0);
LstmState lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& c);

/// One step: gates [.., 3n], h [.., n] → [.., n]:  with input gates a and hidden gates b, r = σ(a_r
/// + b_r), z = σ(a_z + b_z), h' = (1 − z)∘tanh(a_n + r∘b_n) + z∘h   (Cho et al. 2014, with the
/// reset gate applied after the matrix product, as in cuDNN).
Tensor gru_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& h);

struct RecurrenceOptions {
  Tensor bias = {};      ///< [G], added to hidden_gates.
  Tensor initial = {};   ///< State before the first step, [batch, S]; default zeros.
  Tensor mask = {};      ///< bool [batch, T]: a step where it is false keeps the state.
  bool reverse = false;  ///< Run from the last step to the first.
};
/// The state after each step, [batch, T, S], at the index of the step. A cell with n units has G
/// gates and a state of size S: tanh and relu n and n, gru 3n and n, lstm 4n and 2n (h, then c).
/// input_gates [batch, T, G], weight [G, n]:  state_t = cell(input_gates_t, h·weightᵀ + bias,
/// state). Each step takes one matrix product and one loop over all gates; so does the backward
/// pass, which computes the weight's gradient in one product over all steps. Second derivatives are
/// composed step by step. Throws Error where shapes do not fit.
Tensor recurrence(RecurrentCell cell, const Tensor& input_gates, const Tensor& weight,
                  const RecurrenceOptions& options = {});

}  // namespace ladon
