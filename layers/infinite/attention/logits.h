#pragma once
// Softmax weights of inputs at drawn logits.
//
// With the root k = Φ·Φᵀ over the tokens of all inputs (kernel/roots.h) and one standard normal Z [R, R]
// for all of them, G(n) = QK·Φ_n·Z·Φ_nᵀ has Cov(G_ai(n), G_bj(m)) = QK²·k_ab·k_ij. Where the root
// leaves a remainder, k(n, n) = Φ_n·Φ_nᵀ + Ψ_n·Ψ_nᵀ, the input draws the rest for itself,
//   G(n) = QK·[F Ψ]·[· Z₁₂; Z₂₁ Z₂₂]·[F Ψ]ᵀ + QK·Φ·Z·Φᵀ,   F·Fᵀ = Φ_n·Φ_nᵀ,
// from numbers that its own kernel names: the same input draws the same wherever it stands. Each draw
// counts twice, as G and −G, whose law is the same.

#include <cstdint>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"
#include "ladon/layers/infinite/kernel/kernel.h"

namespace ladon::infinite {

/// One block of inputs, prepared for drawing.
class LogitDraws {
 public:
  /// cov: k(n, n) [N, T, T]; may: as visible() gives it for the block, [N, T, T] or [T, T].
  LogitDraws(const Root& root, const Tensor& cov, const Tensor& may, double query_key);

  std::int64_t inputs() const { return inputs_; }

  /// softmax(G) and softmax(−G) over what each query may see, for draws [begin, end) of all inputs:
  /// f64 [N, 2·(end − begin), T, T], blocks transposed where `turned`. One draw's numbers depend on
  /// `rng` and its number alone.
  Tensor weights(const Generator& rng, std::int64_t begin, std::int64_t end, bool turned) const;

 private:
  void draw(std::int64_t input, const double* shared, const Generator& rng, std::int64_t number,
            double* logits) const;

  std::int64_t inputs_, positions_, rank_;
  double query_key_;
  Tensor common_, turned_;          // Φ [N, T, R] and Φᵀ
  Tensor own_, spread_;             // Ψ and F [N, T, T]
  Tensor may_;                      // [N, T, T] or [T, T]
  std::vector<std::uint64_t> key_;  // of each input's own numbers; 0: it has no remainder
};

}  // namespace ladon::infinite
