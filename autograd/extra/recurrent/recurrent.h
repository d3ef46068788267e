#pragma once
// Recurrent cells, and the recurrence over the steps of sequences, from which the layers
// (layers/extra/sequence/recurrent.h) are built. Gates are in PyTorch's order: i f g o (input,
// forget, cell, output) for an LSTM, r z n (reset, update, new) for a GRU.

#include "ladon/core/extra/kernels/recurrent/recurrent_cell.h"
#include "ladon/core/tensor.h"

namespace ladon {

struct LstmState {
  Tensor h, c;
};
/// One step of an LSTM with n units: input_gates (linear in the input) and hidden_gates (linear in
/// h) [.., 4n], c [.., n], which broadcast → the new h and c, each [.., n]. With a = input_gates +
/// hidden_gates and its parts a_i, a_f, a_g, a_o [.., n],
///   c' = σ(a_f)∘c + σ(a_i)∘tanh(a_g),  h' = σ(a_o)∘tanh(c')
/// (Hochreiter and Schmidhuber 1997; forget gate: Gers et al. 2000).
///
///   auto [h, c] = lstm_cell(linear(x, weight_ih, bias), linear(h0, weight_hh), c0);
LstmState lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& c);

/// One step of a GRU with n units: gates [.., 3n], h [.., n] → the new h [.., n]. With a =
/// input_gates, b = hidden_gates, and the parts a_r, a_z, a_n and b_r, b_z, b_n [.., n] of each,
///   r = σ(a_r + b_r),  z = σ(a_z + b_z),  h' = (1 − z)∘tanh(a_n + r∘b_n) + z∘h
/// (Cho et al. 2014, with the reset gate applied after the matrix product, as in cuDNN).
Tensor gru_cell(const Tensor& input_gates, const Tensor& hidden_gates, const Tensor& h);

struct RecurrenceOptions {
  Tensor bias = {};      ///< [G], added to the hidden gates h·weightᵀ.
  Tensor initial = {};   ///< State before the first step, [batch, S]; default zeros.
  Tensor mask = {};      ///< bool [batch, T]: where it is false, the step keeps the state.
  bool reverse = false;  ///< Run from the last step to the first.
};
/// Runs a recurrent cell over T steps and returns the state after each step, [batch, T, S]:
/// state_t = cell(input_gates_t, h·weightᵀ + bias, state), where h is part of the previous state.
/// input_gates [batch, T, G], weight [G, n], for n units, G gate values and a state of S values:
/// G = S = n for tanh and relu; G = 3n, S = n for gru; G = 4n, S = 2n for lstm (h, then c). Each
/// step takes one matrix product and one loop over all gates, forward and backward; the gradient of
/// `weight` is one product over all steps. Second derivatives are computed by public operations,
/// step by step. Throws Error if shapes do not fit.
Tensor recurrence(RecurrentCell cell, const Tensor& input_gates, const Tensor& weight,
                  const RecurrenceOptions& options = {});

}  // namespace ladon
