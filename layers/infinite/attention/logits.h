#pragma once
// Softmax weights of inputs for drawn logits.
//
// With a root Φ of the kernel over the tokens of all inputs, k = Φ·Φᵀ (kernel/roots.h), and one
// standard normal Z [R, R] for all of them, the logits G(n) = QK·Φ_n·Z·Φ_nᵀ of input n have the
// right covariance, Cov(G_ai(n), G_bj(m)) = QK²·k_ab·k_ij. If Φ leaves a remainder, k(n, n) =
// Φ_n·Φ_nᵀ + Ψ_n·Ψ_nᵀ, the part of the logits that contains Ψ is drawn independently for each
// input,
//   G(n) = QK·[F Ψ]·[0 Z₁₂; Z₂₁ Z₂₂]·[F Ψ]ᵀ + QK·Φ·Z·Φᵀ,   F·Fᵀ = Φ_n·Φ_nᵀ,
// where Z₁₂, Z₂₁ and Z₂₂ are random numbers keyed by the input's content, so that an input draws
// the same numbers in any block.
//
// Two techniques reduce the variance of the mean without changing the distribution of a draw. Each
// draw is used twice, as G and as −G. And the matrices Z of a group of R² draws are orthogonal as
// vectors of R² elements, with lengths distributed as for independent ones (as in the orthogonal
// random features of Yu et al. 2016): with R² draws or more the standard error is 2 to 4 times
// smaller. With more than 12 coordinates, Z is orthogonal only in the first 12, which explain most
// of the variance.

#include <cstdint>
#include <mutex>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"
#include "ladon/layers/infinite/kernel/kernel.h"

namespace ladon::infinite {

class KeptDraws;

/// The matrices Z that all inputs share, one per draw.
class SharedDraws {
 public:
  /// With `kept`, matrices are taken from that cache and put into it (kept_draws.h).
  SharedDraws(const Generator& rng, std::int64_t rank, KeptDraws* kept = nullptr);
  /// Z [R, R] of the draw with this index. It depends only on the index and on the generator. Safe
  /// to call from several threads at once.
  Tensor operator[](std::int64_t number);
  /// Z of draws [begin, end), made on all threads.
  std::vector<Tensor> of(std::int64_t begin, std::int64_t end);
  const Generator& generator() const { return rng_; }

 private:
  Tensor drawn(std::int64_t number);
  Tensor orthogonal(std::int64_t group);

  Generator rng_;
  std::int64_t rank_, first_;
  KeptDraws* kept_;
  std::mutex mutex_;  // protects the members below
  std::int64_t group_ = -1;
  Tensor orthogonal_;  // [r², r, r]: the first r = first_ rows and columns of a group's Z
};

/// Standard normal matrices Z₁₂, Z₂₁ and Z₂₂ (above), which are drawn separately for each input
/// with a nonzero residual root Ψ. They depend only on the generator, the index of the draw and the
/// hash of the input (Root::names). Visible tokens take the numbers in order, masked ones get
/// zeros, so that an input draws the same numbers with any padding.
class OwnNumbers {
 public:
  /// Numbers for the inputs of `root`, whose residual roots Ψ are [.., T, T].
  explicit OwnNumbers(const Root& root);
  /// Numbers for inputs whose queries and keys see different tokens: [3, Tq, Tk], keyed by the
  /// hashes of both.
  OwnNumbers(const Root& queries, const Root& keys);
  /// Whether this input draws numbers, which it does if its Ψ is not 0.
  bool any(std::int64_t input) const { return key_[static_cast<std::size_t>(input)] != 0; }
  /// Z₁₂, Z₂₁ and Z₂₂ of an input whose Ψ is not 0: [3, T, T].
  Tensor of(std::int64_t input, const Generator& rng, std::int64_t number) const;
  /// Z₁₂, Z₂₁ and Z₂₂ of all inputs: [.., 3, T, T]; 0 for inputs whose Ψ is 0.
  Tensor operator()(const Generator& rng, std::int64_t number) const;

 private:
  using Places = std::vector<std::vector<std::int64_t>>;
  static Places places_of(const Root& root);

  Shape shape_;                     // shape of operator()'s result
  std::vector<std::uint64_t> key_;  // one per input; 0 if the input draws no numbers
  Places queries_, keys_;           // indices of each input's visible tokens; empty without masks
};

/// Sides of pairs for which a block's inputs are needed: the left, the right, or both, if the block
/// is paired with itself.
enum class Sides { left, right, both };

/// Attention weights P = softmax(G) of a block of inputs at S draws, in the layouts that the
/// products for pairs need; null for a side that was not requested.
struct DrawnWeights {
  /// P of an input on the left, [T, S, T] (query, draw, key).
  const double* left(std::int64_t input) const { return of(by_query, input); }
  /// For an input on the right: P [S, T, T] (draw, query, key) and Pᵀ [S, T, T] (draw, key, query).
  const double* right(std::int64_t input) const { return of(by_draw, input); }
  const double* turned(std::int64_t input) const { return of(by_key, input); }

  Tensor by_query, by_draw, by_key;  // f64 [N, …]

 private:
  static const double* of(const Tensor& x, std::int64_t input) {
    return x.defined() ? x.data<double>() + input * x.size(1) : nullptr;
  }
};

/// Draws the attention weights of one block of inputs.
class LogitDraws {
 public:
  /// `cov` is k(n, n) [N, T, T]; `may` is 1 where a query may attend to a key, else 0 (visible() in
  /// limit.h), [N, T, T] or [T, T].
  LogitDraws(const Root& root, const Tensor& cov, const Tensor& may, double query_key);

  std::int64_t inputs() const { return inputs_; }

  std::int64_t rank() const { return rank_; }
  /// Whether the coordinates Φ that all inputs share give this input's kernel k(n, n) up to
  /// rounding, so that Ψ = 0.
  bool explained(std::int64_t input) const { return !numbers_.any(input); }
  /// Φ of an input, [T, R], and Φᵀ.
  const double* common(std::int64_t input) const;
  const double* common_turned(std::int64_t input) const;

  /// softmax(G) and softmax(−G) over each query's visible keys, for the draws with indices from
  /// `begin` on: one for each matrix in `z`, which all inputs share. `rng` draws the numbers of
  /// single inputs.
  DrawnWeights weights(const std::vector<Tensor>& z, const Generator& rng, std::int64_t begin,
                       Sides sides) const;

 private:
  void draw(std::int64_t input, const double* shared, const Generator& rng, std::int64_t number,
            double* logits) const;

  std::int64_t inputs_, positions_, rank_;
  double query_key_;
  Tensor common_, turned_;  // Φ [N, T, R] and Φᵀ
  Tensor own_, spread_;     // Ψ and F [N, T, T] (top of this file)
  Tensor may_;              // [N, T, T] or [T, T]
  OwnNumbers numbers_;
};

}  // namespace ladon::infinite
