#pragma once
// Kernels of infinitely wide networks.
//
// As a layer grows wide, its output at initialization becomes a Gaussian process. The covariance of
// one channel, E[f(x) f(x')], is the NNGP kernel (Neal 1994; Lee et al. 2018); ⟨∂f(x)/∂θ,
// ∂f(x')/∂θ⟩, which becomes deterministic, is the neural tangent kernel, NTK (Jacot et al. 2018).
// Each layer maps the kernels of its inputs to those of its outputs (Layer::limit); this file holds
// what is mapped.
//
// All of it is f64 and treats every pair of inputs by the same instructions, whatever else is in
// the block: a Gram matrix does not depend on how it is cut into blocks, bit for bit.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/layers/infinite/kernel/call.h"
#include "ladon/layers/infinite/kernel/law.h"

namespace ladon::infinite {

/// What there is of the T × T block that two inputs with T positions make. What ends in Flatten never
/// asks how position 3 of one image varies with position 7 of another: T numbers do for T².
enum class Entries : int {
  full,     ///< All pairs of positions: blocks [T, T].
  diagonal  ///< Each position with the same of the other input: blocks [T].
};

/// Coordinates of the tokens of a block of inputs, for layers that draw (roots.h).
struct Root {
  Tensor common;  ///< Φ [N, T, R], in the coordinates of all inputs
  Tensor own;  ///< Ψ [N, T, T], in the input's own:  k(n, n) = Φ·Φᵀ + Ψ·Ψᵀ; undefined: 0
  Tensor names;  ///< Kernel::names1, by which an input draws in its own; undefined where none draws
};

/// Kernels between two blocks of inputs of N1 and N2. An input is a vector, or has T positions
/// (tokens, pixels), each with a vector: then every pair of inputs has a block of its positions. A
/// pass over inputs alone (Selves) has no second block and no pairs: nngp, ntk and what ends in 2 are
/// undefined.
struct Kernel {
  Tensor nngp;          ///< [N1, N2]; with positions [N1, N2, T, T], or [N1, N2, T].
  Tensor ntk;           ///< As nngp; undefined where it is not wanted.
  Tensor cov1, cov2;    ///< NNGP of each input with itself: [N], [N, T, T] or [N, T].
  Tensor mask1, mask2;  ///< bool [N, T], true = token; undefined: all are.
  /// i64 [N], never 0: numbers that stand for the network's inputs themselves, and so name what these
  /// draw for themselves. Of a pass in which layers may draw; undefined otherwise.
  Tensor names1, names2;
  Tensor mean1,
      mean2;        ///< [N] or [N, T], N = 1 where it is the same of all inputs: the mean over the
                    ///< channels, of data and of fixed tables; undefined: 0, or not known (law).
  Tensor same;      ///< bool [N1, N2], true where both are the same input (for layers that draw
                    ///< once an input, as dropout); undefined: none is.
  Shape positions;  ///< {} for vectors, {T} for sequences, {H, W} for images (T = H·W).
  Entries entries = Entries::full;  ///< What blocks hold.
  Entries wanted = Entries::full;   ///< What the next layer is asked for; it may give more.
  Law law;                          ///< What is known of the channels besides.
  int depth = 0;                    ///< Branches (of sums, products) that this is computed within.
  Root root1,
      root2;  ///< While a layer draws; and of inputs as they are, where heads are finitely many.
  std::shared_ptr<Call> call;  ///< The pass that this is part of; null: none in particular.

  bool has_positions() const { return positions.rank() > 0; }
  std::int64_t position_count() const { return positions.count(); }  ///< 1 for vectors
  /// Throws Error unless inputs have positions; `layer` is named.
  void need_positions(std::string_view layer) const;
  /// Throws Error where shapes do not fit each other, and where a number is not finite: which, and
  /// between which inputs.
  void check(std::string_view layer) const;
  /// The first block's inputs with themselves, without pairs.
  Kernel alone() const;
  /// Of blocks [T, T] their diagonals; anything else as it is.
  Kernel diagonal() const;
};

/// What a layer makes of pairs; ntk is undefined where they have none.
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
  Root left_root, right_root;  ///< While a layer draws; their first axis as that of left and right.

  /// The variances p of x and q of x', in the layout of nngp: [P], [P, T, 1] and [P, 1, T], or [P, T].
  Tensor left_variance() const;
  Tensor right_variance() const;

  /// The pairs of channels less their means, to be divided by their variances + eps. Throws Error
  /// where a visible token's mean is so large beside those that rounding leaves few digits.
  Pairs centered(const char* operation, double eps) const;

  /// A block with zeros in the rows and columns of masked positions.
  Tensor visible(const Tensor& block) const;
  /// Of a table [T, T] of positions what blocks hold of it: all, or its diagonal.
  Tensor of_positions(const Tensor& table) const;
  /// Of blocks [P, T, T] or [P, T] each position with the same of x': [P, T].
  Tensor own(const Tensor& block) const;
  /// The same map of nngp and, where there is one, of ntk.
  PairKernels each(const std::function<Tensor(const Tensor&)>& map) const;
};

/// Applies a layer's map to the pairs between the blocks and to the pairs of each input with itself
/// (once an input, where its call knows them already). The result has the law that the layer says it
/// makes and k's masks, if it has positions. The layer leaves channels at their positions, and their
/// means as they are.
Kernel map_pairs(const Kernel& k, const Law& makes,
                 const std::function<PairKernels(const Pairs&)>& layer);
/// The same of a layer that mixes positions, into `positions`: means are not known behind it, unless
/// they were 0.
Kernel map_pairs(const Kernel& k, const Law& makes, const Shape& positions,
                 const std::function<PairKernels(const Pairs&)>& layer);

/// The same of a layer of two inputs, a and b of the same N1 and N2: the result has a's positions and
/// masks. Throws Error where they are not of the same inputs.
Kernel map_pairs(const Kernel& a, const Kernel& b, const Law& makes,
                 const std::function<PairKernels(const Pairs&, const Pairs&)>& layer);

/// Combines the kernels of several branches that see the same inputs, block by block. The result has
/// no means.
Kernel combine(const std::vector<Kernel>& branches, const Law& makes,
               const std::function<PairKernels(const std::vector<PairKernels>&)>& rule);
/// The laws of branches, in order.
std::vector<Law> laws_of(const std::vector<Kernel>& branches);

}  // namespace ladon::infinite
