#pragma once
// Kernels of infinitely wide networks.
//
// As a layer grows wide, its output at initialization becomes a Gaussian process. The covariance of
// one channel, E[f(x) f(x')], is the NNGP kernel (Neal 1994; Lee et al. 2018); ⟨∂f(x)/∂θ,
// ∂f(x')/∂θ⟩, which becomes deterministic, is the neural tangent kernel, NTK (Jacot et al. 2018).
// Each layer maps the kernels of its inputs to those of its outputs (Layer::limit, which describes
// the maps as steps of a graph, graph.h); this file holds what is mapped.
//
// All of it is f64 and treats every pair of inputs by the same instructions, whatever else is in
// the block: a Gram matrix does not depend on how it is cut into blocks, bit for bit.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "ladon/core/tensor.h"
#include "ladon/layers/infinite/kernel/heads.h"
#include "ladon/layers/infinite/kernel/law.h"

namespace ladon::infinite {

/// Entries of the T × T block of two inputs with T positions. A network that ends in Flatten never
/// asks how position 3 of one image varies with position 7 of another: T numbers do for T².
enum class Entries : int {
  full,     ///< All pairs of positions: blocks [T, T].
  diagonal  ///< Each position with the same of the other input: blocks [T].
};

/// Kernels between two blocks of inputs of N1 and N2. An input is a vector, or has T positions
/// (tokens, pixels), each with a vector: then every pair of inputs has a block of its positions.
/// Of single inputs (no pairs), nngp, ntk and the members that end in 2 are undefined.
struct Kernel {
  Tensor nngp;          ///< [N1, N2]; with positions [N1, N2, T, T], or [N1, N2, T].
  Tensor ntk;           ///< As nngp; undefined where it is not wanted.
  Tensor cov1, cov2;    ///< NNGP of each input with itself: [N], [N, T, T] or [N, T].
  Tensor mask1, mask2;  ///< bool [N, T], true = token; undefined: all are.
  Tensor mean1,
      mean2;        ///< [N] or [N, T], N = 1 where it is the same of all inputs: the mean over the
                    ///< channels, of data and of fixed tables; undefined: 0, or not known (law).
  Tensor same;      ///< bool [N1, N2], true where both are the same input (for layers that draw
                    ///< once per input, as dropout); undefined: none is.
  Shape positions;  ///< {} for vectors, {T} for sequences, {H, W} for images (T = H·W).
  Entries entries = Entries::full;  ///< Entries of the blocks.
  Law law;                          ///< Law of the channels, as far as it is known.
  /// Standard errors of nngp and ntk where they are means over independent estimates
  /// (Limit::replicates), in their layout, without history; undefined: closed, or one estimate.
  Tensor nngp_se, ntk_se;

  bool has_positions() const { return positions.rank() > 0; }
  std::int64_t position_count() const { return positions.count(); }  ///< 1 for vectors
  /// Throws Error where what is defined is not of n1 and n2 inputs, and where a number is not
  /// finite: which, and between which inputs; `operation` is named.
  void check(std::string_view operation, std::int64_t n1, std::int64_t n2) const;
  /// This kernel with the diagonals of its blocks [T, T]; without such blocks as it is.
  Kernel diagonal() const;
};

/// Coordinates of the tokens of a block of inputs, for layers that draw (roots.h).
struct Root {
  Tensor common;  ///< Φ [N, T, R], in the coordinates of all inputs
  Tensor own;  ///< Ψ [N, T, T], in the input's own:  k(n, n) = Φ·Φᵀ + Ψ·Ψᵀ; undefined: 0
  /// i64 [N], never 0: numbers that stand for the network's inputs themselves, and so
  /// name what these draw in their own coordinates.
  Tensor names;
  Tensor mask;  ///< bool [N, T], true = token; undefined: all are. Of others Φ and Ψ have zeros.
};

/// Random numbers of a step that draws, beside the coordinates of the tokens.
struct Drawn {
  std::uint64_t number = 0;     ///< Which of the model's draws: another for each step.
  std::uint64_t replicate = 0;  ///< Which of independent estimates.
  std::shared_ptr<const HeadLatents> heads = {};  ///< Finitely many, given; null: infinitely many.
};

/// Kernels of pairs behind a layer; ntk is undefined where they have none.
struct PairKernels {
  Tensor nngp, ntk;
};

/// A list of pairs (x, x') of inputs: what a layer's limit is written for. P stands for the axes
/// that count pairs; the two sides broadcast against them.
struct Pairs {
  Tensor nngp, ntk;    ///< [P], or with positions [P, T, T] or [P, T]; ntk may be undefined
  Tensor left, right;  ///< NNGP of x with itself, and of x': as nngp.
  Tensor left_mask, right_mask;  ///< bool [P, T], or undefined
  Tensor same;                   ///< bool [P]; undefined: none is
  Tensor left_mean, right_mean;  ///< [P] or [P, T], or undefined, as Kernel::mean1
  bool has_positions = false;
  Entries entries = Entries::full;
  Root left_root,
      right_root;    ///< Roots for draws; their first axis as that of left and right.
  Drawn drawn = {};  ///< Of a step that draws.

  /// The variances p of x and q of x', in the layout of nngp: [P], [P, T, 1] and [P, 1, T], or [P,
  /// T].
  Tensor left_variance() const;
  Tensor right_variance() const;

  /// The pairs of channels less their means, to be divided by their variances + eps. Throws Error
  /// where a visible token's mean is so large beside those that rounding leaves few digits.
  Pairs centered(const char* operation, double eps) const;

  /// A block with zeros in the rows and columns of masked positions.
  Tensor visible(const Tensor& block) const;
  /// Part of a table [T, T] of positions that blocks hold: all of it, or its diagonal.
  Tensor of_positions(const Tensor& table) const;
  /// Diagonals [P, T] of blocks [P, T, T] or [P, T]: each position of x with the same one of x'.
  Tensor own(const Tensor& block) const;
  /// Applies `map` to nngp and, where it is defined, to ntk.
  PairKernels each(const std::function<Tensor(const Tensor&)>& map) const;
};

/// All pairs between the two blocks of k, and those of the inputs of block 0 or 1 with themselves.
/// (The roots are of both blocks; undefined ones where nothing is drawn.)
Pairs cross_pairs(const Kernel& k, const std::array<Root, 2>& roots = {});
Pairs self_pairs(const Kernel& k, int block, const Root& root = {});

}  // namespace ladon::infinite
