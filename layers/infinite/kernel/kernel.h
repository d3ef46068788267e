#pragma once
// Kernels of infinitely wide networks.
//
// As a layer grows wide, its output at initialization becomes a Gaussian process. The covariance of
// one channel, E[f(x) f(x')], is the NNGP kernel (Neal 1994; Lee et al. 2018); ⟨∂f(x)/∂θ,
// ∂f(x')/∂θ⟩, which becomes deterministic, is the neural tangent kernel, NTK (Jacot et al. 2018).
// Each layer maps the kernels of its inputs to those of its outputs (Layer::limit, which describes
// the maps as steps of a graph, graph.h); this file defines the kernels.
//
// All kernels are f64, and every pair of inputs is computed by the same instructions, whatever the
// other inputs of its block are: a Gram matrix has the same bits however it is divided into blocks.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "ladon/core/tensor.h"
#include "ladon/layers/infinite/kernel/heads.h"
#include "ladon/layers/infinite/kernel/law.h"

namespace ladon::infinite {

/// Which entries of the T × T block of two inputs with T positions are computed. A network that
/// ends in Flatten never needs the covariance of position 3 of one image with position 7 of
/// another: the T diagonal entries suffice.
enum class Entries : int {
  full,     ///< All pairs of positions: blocks [T, T].
  diagonal  ///< Each position with the same position of the other input: blocks [T].
};

/// Kernels between two blocks of N1 and N2 inputs. An input is a vector, or has T positions
/// (tokens, pixels), each with a vector: then every pair of inputs has a block with an entry per
/// pair of positions. If only single inputs are evaluated, without pairs, then nngp, ntk and the
/// members whose names end in 2 are undefined.
struct Kernel {
  Tensor nngp;          ///< [N1, N2]; with positions [N1, N2, T, T], or [N1, N2, T].
  Tensor ntk;           ///< Same shape as nngp; undefined unless requested.
  Tensor cov1, cov2;    ///< NNGP kernel of each input with itself: [N], [N, T, T] or [N, T].
  Tensor mask1, mask2;  ///< bool [N, T], true = token; undefined without padding.
  /// Means over the channels, if these contain data or a fixed table of positions: [N] or [N, T],
  /// with N = 1 if all inputs have the same means. Undefined if the means are 0 or unknown (see
  /// `law`).
  Tensor mean1, mean2;
  /// bool [N1, N2], true where both are the same input, for layers such as dropout, whose random
  /// numbers are the same for equal inputs only; undefined if false everywhere.
  Tensor same;
  Shape positions;  ///< {} for vectors, {T} for sequences, {H, W} for images (T = H·W).
  Entries entries = Entries::full;  ///< Which entries the blocks have.
  Law law;                          ///< Distribution of the channels, as far as it is known.
  /// Standard errors of nngp and ntk, of the same shapes, without autograd history, if the kernels
  /// are means over independent estimates (Limit::replicates). Undefined for closed forms and for a
  /// single estimate.
  Tensor nngp_se, ntk_se;

  bool has_positions() const { return positions.rank() > 0; }
  std::int64_t position_count() const { return positions.count(); }  ///< 1 for vectors
  /// Throws Error naming `operation` if a defined tensor does not have the shape for n1 and n2
  /// inputs, or holds a value that is not finite; the message then gives the value and its inputs.
  void check(std::string_view operation, std::int64_t n1, std::int64_t n2) const;
  /// Copy of this kernel that keeps only the diagonals of its blocks [T, T]. A kernel without such
  /// blocks is returned unchanged.
  Kernel diagonal() const;
};

/// Coordinates of the tokens of a block of inputs, for layers that average over random draws
/// (roots.h). The kernel of an input n with itself is k(n, n) = Φ·Φᵀ + Ψ·Ψᵀ.
struct Root {
  Tensor common;  ///< Φ [N, T, R], in the R coordinates that all inputs share.
  Tensor own;     ///< Ψ [N, T, T], in T coordinates of each input alone; undefined if 0.
  /// i64 [N], never 0: hashes of the network's inputs. They key the random numbers for Ψ, which
  /// each input draws separately.
  Tensor names;
  Tensor mask;  ///< bool [N, T], true = token; undefined without padding. Φ and Ψ are 0 at padding.
};

/// Selects the random numbers of a step that averages over draws.
struct Drawn {
  std::uint64_t number = 0;     ///< Different for each such step of a model.
  std::uint64_t replicate = 0;  ///< Index of the independent estimate.
  /// Latents of finitely many heads; null for infinitely many.
  std::shared_ptr<const HeadLatents> heads = {};
};

/// NNGP kernel and NTK of pairs of inputs, after a layer; ntk is undefined if the layer's inputs
/// have none.
struct PairKernels {
  Tensor nngp, ntk;
};

/// Kernels of a list of pairs (x, x') of inputs, to which a layer's limit is applied. P stands for
/// one or two axes that enumerate the pairs; the tensors of x and of x' alone broadcast to them.
struct Pairs {
  Tensor nngp, ntk;    ///< [P], or with positions [P, T, T] or [P, T]; ntk may be undefined
  Tensor left, right;  ///< NNGP of x with itself, and of x' with itself; broadcast to nngp.
  Tensor left_mask, right_mask;  ///< bool [P, T], or undefined
  Tensor same;  ///< bool [P], whether x and x' are the same input; undefined if never.
  Tensor left_mean, right_mean;  ///< [P] or [P, T], or undefined, as Kernel::mean1
  bool has_positions = false;
  Entries entries = Entries::full;
  /// Coordinates of the tokens of x and x', for a step that averages over draws; their first axes
  /// are those of left and right.
  Root left_root, right_root;
  Drawn drawn = {};  ///< Selects the random numbers, for a step that averages over draws.

  /// Variances p of x and q of x', in shapes that broadcast to nngp: [P] for vectors; with
  /// positions [P, T, 1] and [P, 1, T] (Entries::full), or [P, T] (Entries::diagonal).
  Tensor left_variance() const;
  Tensor right_variance() const;

  /// These pairs after the means over channels are subtracted, for a layer that then divides by the
  /// variances + eps. Throws Error naming `operation` if a visible token's mean² is so large
  /// compared with variance + eps that rounding leaves few digits of the variance.
  Pairs centered(const char* operation, double eps) const;

  /// Copy of `block` with zeros in the rows and columns of masked positions.
  Tensor visible(const Tensor& block) const;
  /// The part of a table [T, T] over pairs of positions that matches the blocks: the whole table,
  /// or its diagonal for Entries::diagonal.
  Tensor of_positions(const Tensor& table) const;
  /// Diagonals [P, T] of blocks [P, T, T]: each position of x with the same position of x'. Blocks
  /// [P, T] are returned unchanged.
  Tensor own(const Tensor& block) const;
  /// Applies `map` to nngp and, if it is defined, to ntk.
  PairKernels each(const std::function<Tensor(const Tensor&)>& map) const;
};

/// cross_pairs() returns all pairs between the two blocks of k, self_pairs() each input of block 0
/// (cov1) or 1 (cov2) with itself. `roots` and `root`, the coordinates of the tokens, are undefined
/// if no step averages over draws.
Pairs cross_pairs(const Kernel& k, const std::array<Root, 2>& roots = {});
Pairs self_pairs(const Kernel& k, int block, const Root& root = {});

}  // namespace ladon::infinite
