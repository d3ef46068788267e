#pragma once
// Recurrent layers over sequences [batch, T, in], batch first.
//
//   Lstm lstm({.in = 64, .hidden = 128, .layers = 2, .bidirectional = true}, rng);
//   Tensor y = lstm(x, tokens);                       // [batch, T, 2·128]; tokens: bool [batch, T]
//   auto [output, state] = lstm.forward_with_state(x, {.mask = tokens});
//
// A masked step keeps the state and outputs zero; so the reverse direction begins at the last
// token, wherever the padding is. Recurrent layers have no limit().

#include "ladon/autograd/extra/recurrent/recurrent.h"
#include "ladon/layers/dropout.h"
#include "ladon/layers/layer.h"

namespace ladon {

struct RecurrentOptions {
  std::int64_t in, hidden;
  std::int64_t layers = 1;
  bool bidirectional = false;  ///< Each layer also runs from the last token to the first.
  bool bias = true;
  /// Dropout of the outputs of all layers but the last, in training mode; needs at least 2 layers.
  double dropout = 0;
};

/// State of all layers, [layers·directions, batch, hidden]; layer l and direction d (1: reverse)
/// have index l·directions + d. c is the state of an LSTM's cells, and undefined for other cells.
struct RecurrentState {
  Tensor h = {}, c = {};
};

/// Further inputs: the initial state (zeros if undefined), and the mask of tokens (if undefined,
/// all positions are tokens).
struct RecurrentInputs {
  RecurrentState state = {};
  Tensor mask = {};  ///< bool [batch, T].
};

struct RecurrentResult {
  Tensor output;         ///< h of the last layer: [batch, T, directions·hidden].
  RecurrentState state;  ///< State after the last token (reverse direction: after the first).
};

/// Stacked layers of one cell. The input of each layer is the output of the layer below, in which
/// both directions are concatenated, forward first. Lstm, Gru and Rnn set the cell. State dict:
/// weight_ih_l0 [gates·hidden, in], weight_hh_l0 [gates·hidden, hidden], bias_ih_l0, bias_hh_l0
/// [gates·hidden], …_l0_reverse, …_l1, …, with the gates in PyTorch's order, so that files from
/// PyTorch can be loaded.
struct Recurrent : Layer {
  struct Direction {
    Tensor weight_ih, weight_hh, bias_ih, bias_hh;  ///< Biases are undefined when bias = false.
  };
  RecurrentCell cell;
  RecurrentOptions options;
  std::vector<Direction> directions;  ///< Per layer and direction, in RecurrentState's order.
  Dropout dropout;

  /// Draws weights and biases from U(±1/sqrt(hidden)). Throws Error if a size is not positive, and
  /// for dropout with a single layer.
  Recurrent(RecurrentCell cell, const RecurrentOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override { return forward_masked(x, {}); }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override;
  /// Runs from the initial state in `inputs`, and also returns the last state, which is the initial
  /// one if there are no tokens. Throws Error if shapes do not fit.
  RecurrentResult forward_with_state(const Tensor& x, const RecurrentInputs& inputs = {}) const;
  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  int sides() const { return options.bidirectional ? 2 : 1; }
  void check(const Tensor& x, const RecurrentInputs& inputs) const;
  Tensor initial(const RecurrentState& state, std::int64_t index) const;
  void report(const Tensor& gates, const Tensor& weight, const RecurrenceOptions& how,
              const Tensor& states) const;
  Tensor run(const Tensor& x, const RecurrentInputs& inputs, std::int64_t index) const;
};

/// Long short-term memory (Hochreiter and Schmidhuber 1997; see lstm_cell).
struct Lstm : Recurrent {
  Lstm(const RecurrentOptions& o, Generator& rng) : Recurrent(RecurrentCell::lstm, o, rng) {}
};

/// Gated recurrent units (Cho et al. 2014; see gru_cell).
struct Gru : Recurrent {
  Gru(const RecurrentOptions& o, Generator& rng) : Recurrent(RecurrentCell::gru, o, rng) {}
};

/// h' = φ(W_ih·x + W_hh·h + b), φ = tanh (Elman 1990) or relu.
struct Rnn : Recurrent {
  /// Throws Error unless the cell is tanh or relu.
  Rnn(const RecurrentOptions& o, Generator& rng, RecurrentCell which = RecurrentCell::tanh);
};

}  // namespace ladon
