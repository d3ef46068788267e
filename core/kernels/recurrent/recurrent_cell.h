#pragma once
// The list of recurrent cells, apart from what computes them.

namespace ladon {

/// The cell: how the next state follows from a (the input's part of the gates), b (the part of the
/// state before says) and that state; gates stand side by side in a and b, [.., gates·n].
enum class RecurrentCell {
  tanh,  ///< h' = tanh(a + b)
  relu,  ///< h' = max(a + b, 0)
  lstm,  ///< Gates i f g o; the state is h and then c, [.., 2n]: c' = σ(f)∘c + σ(i)∘tanh(g),
         ///< h' = σ(o)∘tanh(c')   (Hochreiter and Schmidhuber 1997; Gers et al. 2000)
  gru  ///< Gates r z n: h' = (1 − σ(z))∘tanh(a_n + σ(r)∘b_n) + σ(z)∘h   (Cho et al. 2014)
};

}  // namespace ladon
