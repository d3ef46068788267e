#pragma once
// List of recurrent cells, in a separate header from the code that computes them.

namespace ladon {

/// Kind of cell: how the next state (h', and c' for lstm) depends on a (the input's contribution to
/// the gates), b (the contribution of the previous state) and the previous state. The gates are
/// side by side in a and b, [.., gates·n] for a hidden state h of n elements.
enum class RecurrentCell {
  tanh,  ///< h' = tanh(a + b)
  relu,  ///< h' = max(a + b, 0)
  lstm,  ///< Gates i f g o; the state is h and then c, [.., 2n]: c' = σ(f)∘c + σ(i)∘tanh(g),
         ///< h' = σ(o)∘tanh(c')   (Hochreiter and Schmidhuber 1997; Gers et al. 2000)
  gru  ///< Gates r z n: h' = (1 − σ(z))∘tanh(a_n + σ(r)∘b_n) + σ(z)∘h   (Cho et al. 2014)
};

}  // namespace ladon
