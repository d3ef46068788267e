#pragma once
// Kernels of infinitely wide networks.
//
// As a layer grows wide, its output at initialization becomes a Gaussian process. The covariance of
// one channel, E[f(x) f(x')], is the NNGP kernel (Neal 1994; Lee et al. 2018); ⟨∂f(x)/∂θ,
// ∂f(x')/∂θ⟩, which becomes deterministic, is the neural tangent kernel, NTK (Jacot et al. 2018).
// Each layer maps the kernels of its inputs to those of its outputs (Layer::limit, which describes
// the maps as steps of a graph, graph.h); this file defines the kernels.
//
// All of it is f64 and computes every pair of inputs by the same instructions, whatever else is in
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
/// needs the covariance of position 3 of one image and position 7 of another: T numbers suffice.
enum class Entries : int {
  full,     ///< All pairs of positions: blocks [T, T].
  diagonal  ///< Each position with the same position of the other input: blocks [T].
};

/// Kernels between two blocks of N1 and N2 inputs. An input is a vector, or has T positions
/// (tokens, pixels), each with a vector: then every pair of inputs has a block of pairs of
/// positions. For single inputs (no pairs), nngp, ntk and the members that end in 2 are undefined.
struct Kernel {
  Tensor nngp;          ///< [N1, N2]; with positions [N1, N2, T, T], or [N1, N2, T].
  Tensor ntk;           ///< As nngp; undefined unless wanted.
  Tensor cov1, cov2;    ///< NNGP of each input with itself: [N], [N, T, T] or [N, T].
  Tensor mask1, mask2;  ///< bool [N, T], true = token; undefined: all are.
  Tensor mean1,
      mean2;        ///< [N] or [N, T], N = 1 if the same for all inputs: means over channels, of
                    ///< data and of fixed tables; undefined: 0, or unknown (law).
  Tensor same;      ///< bool [N1, N2], true where both are the same input (for layers that draw
                    ///< once per input, such as dropout); undefined: none is.
  Shape positions;  ///< {} for vectors, {T} for sequences, {H, W} for images (T = H·W).
  Entries entries = Entries::full;  ///< Entries of the blocks.
  Law law;                          ///< Distribution of the channels, as far as it is known.
  /// Standard errors of nngp and ntk, in their shapes, without history, if they are means over
  /// independent estimates (Limit::replicates); undefined: closed form, or one estimate.
  Tensor nngp_se, ntk_se;

  bool has_positions() const { return positions.rank() > 0; }
  std::int64_t position_count() const { return positions.count(); }  ///< 1 for vectors
  /// Throws Error naming `operation` if a defined tensor does not fit n1 and n2 inputs, and if a
  /// number is not finite: which one, and between which inputs.
  void check(std::string_view operation, std::int64_t n1, std::int64_t n2) const;
  /// This kernel with only the diagonals of its blocks [T, T]; without such blocks unchanged.
  Kernel diagonal() const;
};

/// Coordinates of the tokens of a block of inputs, for layers that draw (roots.h).
struct Root {
  Tensor common;  ///< Φ [N, T, R], in the coordinates that all inputs share
  Tensor own;  ///< Ψ [N, T, T], in separate coordinates:  k(n, n) = Φ·Φᵀ + Ψ·Ψᵀ; undefined: 0
  /// i64 [N], never 0: hashes of the network's inputs, which key the draws in their separate
  /// coordinates.
  Tensor names;
  Tensor mask;  ///< bool [N, T], true = token; undefined: all are. Φ and Ψ are 0 at padding.
};

/// Random numbers of a step that draws, in addition to the coordinates of the tokens.
struct Drawn {
  std::uint64_t number = 0;     ///< Index among the model's draws, different for each step.
  std::uint64_t replicate = 0;  ///< Index of the independent estimate.
  std::shared_ptr<const HeadLatents> heads = {};  ///< Finitely many given heads; null: infinite.
};

/// Kernels of pairs after a layer; ntk is undefined if the inputs have none.
struct PairKernels {
  Tensor nngp, ntk;
};

/// A list of pairs (x, x') of inputs, which a layer's limit maps. P stands for the axes of pairs;
/// the two sides broadcast against them.
struct Pairs {
  Tensor nngp, ntk;    ///< [P], or with positions [P, T, T] or [P, T]; ntk may be undefined
  Tensor left, right;  ///< NNGP of x with itself, and of x' with itself; shaped as nngp.
  Tensor left_mask, right_mask;  ///< bool [P, T], or undefined
  Tensor same;                   ///< bool [P]; undefined: none is
  Tensor left_mean, right_mean;  ///< [P] or [P, T], or undefined, as Kernel::mean1
  bool has_positions = false;
  Entries entries = Entries::full;
  Root left_root,
      right_root;    ///< Roots for draws; their first axis is that of left and right.
  Drawn drawn = {};  ///< Random numbers, for a step that draws.

  /// The variances p of x and q of x', in the layout of nngp: [P], [P, T, 1] and [P, 1, T], or
  /// [P, T].
  Tensor left_variance() const;
  Tensor right_variance() const;

  /// The pairs with the means of channels subtracted, to be divided by their variances + eps.
  /// Throws Error if a visible token's mean is so large compared with these that rounding leaves
  /// few digits.
  Pairs centered(const char* operation, double eps) const;

  /// A block with zeros in the rows and columns of masked positions.
  Tensor visible(const Tensor& block) const;
  /// Part of a table [T, T] over positions that blocks have entries for: all of it, or its
  /// diagonal.
  Tensor of_positions(const Tensor& table) const;
  /// Diagonals [P, T] of blocks [P, T, T] or [P, T]: each position of x with the same one of x'.
  Tensor own(const Tensor& block) const;
  /// Applies `map` to nngp and, where it is defined, to ntk.
  PairKernels each(const std::function<Tensor(const Tensor&)>& map) const;
};

/// All pairs between the two blocks of k, or pairs of each input of block 0 or 1 with itself.
/// (`roots` are those of both blocks, undefined if nothing is drawn.)
Pairs cross_pairs(const Kernel& k, const std::array<Root, 2>& roots = {});
Pairs self_pairs(const Kernel& k, int block, const Root& root = {});

}  // namespace ladon::infinite
