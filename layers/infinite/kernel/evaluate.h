#pragma once
// Evaluates a limit's graph in one walk, which visits its steps in order and computes for step i
// value[i] = step.map(pairs of the values of its input steps). The rest of this file saves work, or
// serves steps that average over random draws. Self-kernels (of each of N inputs with itself) are
// needed by all N² pairs, so they can be cached per step in one walk and read in later walks.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "ladon/layers/infinite/kernel/heads.h"
#include "ladon/layers/infinite/kernel/inputs.h"
#include "ladon/layers/infinite/kernel/roots.h"

namespace ladon::infinite {

/// Cache of self-kernels, indexed by the slots of the graph's steps (Placed::slot). Each slot holds
/// kernels [N], [N, T, T] or [N, T], or, for a step that averages over draws, coordinates of its
/// input's tokens (Root::common and Root::own), all f64. A slot that was not needed is undefined.
using Selves = std::vector<Tensor>;

/// Inputs whose tokens span the coordinates in which draws are made for all inputs (roots.h).
struct Landmarks {
  Pivots pivots;  ///< Tokens to use as pivots; if empty, the Cholesky factors choose them.
  std::vector<RootFactor> factors;
  Selves selves;
};

/// Sum and maximum, over the visible tokens that one layer sees, of the unexplained share: the part
/// of a token's variance that the coordinates shared by all inputs (with respect to the landmarks)
/// do not explain, divided by the variance.
struct Remainder {
  double sum = 0, worst = 0;
  std::int64_t tokens = 0;  ///< Number of tokens with variance > 0.
  void add(double share);
  double mean() const { return tokens > 0 ? sum / static_cast<double>(tokens) : 0; }
};

/// Source or destination of the self-kernels of one block of inputs. They are read from rows
/// [begin, end) of `known`, or computed. Computed ones are stored from row `begin` on in `kept`, if
/// it is not null; it is allocated for `count` inputs if it is undefined. If the block is all
/// `count` inputs, they are stored with their autograd history.
struct SelfRows {
  const Selves* known = nullptr;
  std::int64_t begin = 0, end = 0;
  Selves* kept = nullptr;
  std::int64_t count = 0;
};

/// Options of one walk over a graph's steps (evaluate()).
struct Walk {
  Entries wanted = Entries::full;  ///< Entries of the model's outputs, if they have positions.
  Get get = Get::ntk;              ///< Get::nngp leaves out the tangent kernels of a graph.
  /// Whether kernels between two blocks are computed, in addition to those of each input with
  /// itself.
  bool pairs = true;
  std::array<SelfRows, 2> selves = {};
  /// If set, the second block of inputs is these landmarks, and the coordinates of the first
  /// block's tokens (Root in roots.h) are computed from them.
  const Landmarks* landmarks = nullptr;
  /// If set, the inputs are the landmarks, and the Cholesky factors (RootFactor) for the steps that
  /// average over draws are stored here.
  Landmarks* found = nullptr;
  std::uint64_t replicate = 0;
  /// If set, holds one Remainder per RootFactor, to which the unexplained shares of the first
  /// block's tokens are added.
  std::vector<Remainder>* remainders = nullptr;
  /// For a graph with finitely many heads: gives the latents of each attention layer, in order.
  HeadSource heads = {};
  /// If set, receives the attention weights (as HeadMap) of these layers, in the same order.
  std::vector<HeadMap>* head_maps = nullptr;
};

/// Kernels of the model's outputs between inputs a and b, or (b null) of a with itself. Throws
/// Error naming the layer if a kernel is not finite or a map gives a wrong shape.
Kernel evaluate(const KernelGraph& graph, const Inputs& a, const Inputs* b, const Walk& walk);
/// Kernels of the outputs for given kernels of the inputs, which must be of the kind that the graph
/// was built for. Throws Error if a step averages over draws.
Kernel evaluate(const KernelGraph& graph, const Kernel& inputs);

/// Entries that the kernels of each step must have so that the last step can give `wanted`: the
/// diagonal, unless a later step needs all pairs of positions.
std::vector<Entries> layouts(const KernelGraph& graph, Entries wanted);
/// Shape of the block of one pair of inputs: [T, T] (full), [T] (diagonal), or [] for vectors.
Shape block_of(const Shape& positions, Entries layout);
/// Number of elements per input in the cache of self-kernels. `landmarks` may be null unless a step
/// averages over draws.
std::int64_t numbers_kept(const KernelGraph& graph, Entries wanted, const Landmarks* landmarks);

}  // namespace ladon::infinite
