#pragma once
// Kernels out of a limit's graph: one walk over its steps. Without draws it is, for each step in
// order, value[i] = step.map(the pairs of its inputs' values); all else here saves work, or serves
// steps that draw. Kernels of each of N inputs with itself, which all N² pairs need, can be kept
// from one walk and read in others; they are stored by step.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "ladon/layers/infinite/kernel/heads.h"
#include "ladon/layers/infinite/kernel/inputs.h"
#include "ladon/layers/infinite/kernel/roots.h"

namespace ladon::infinite {

/// Cache of self-kernels, in the slots of the graph: kernels [N], [N, T, T] or [N, T], and of
/// steps that draw the roots of tokens. Undefined where nothing asked for it. f64.
using Selves = std::vector<Tensor>;

/// Inputs whose tokens span the coordinates in which draws are made for all inputs (roots.h).
struct Landmarks {
  Pivots pivots;  ///< Pivots that are given; empty: each factor finds its own.
  std::vector<RootFactor> factors;
  Selves selves;
};

/// Unexplained shares of the tokens of one layer that draws: for each visible token, the part of
/// its own variance that the common coordinates leave out.
struct Remainder {
  double sum = 0, worst = 0;
  std::int64_t tokens = 0;  ///< Of variance > 0.
  void add(double share);
  double mean() const { return tokens > 0 ? sum / static_cast<double>(tokens) : 0; }
};

/// Selves of one block: read from rows [begin, end) of `known`, or kept in rows [begin, ..) of
/// `kept`, which is made for `count` inputs where it is not there yet; of all inputs at once with
/// the graph of their gradients. With neither they are computed and dropped.
struct SelfRows {
  const Selves* known = nullptr;
  std::int64_t begin = 0, end = 0;
  Selves* kept = nullptr;
  std::int64_t count = 0;
};

/// Options of one walk.
struct Walk {
  Entries wanted = Entries::full;  ///< Of the model's outputs, which may have positions.
  Get get = Get::ntk;              ///< A graph of tangent kernels can be walked without.
  bool pairs = true;               ///< Between the blocks; otherwise of inputs alone (cov1).
  std::array<SelfRows, 2> selves = {};
  const Landmarks* landmarks = nullptr;  ///< The second block, where coordinates are to be found.
  Landmarks* found = nullptr;  ///< The inputs are landmarks: factors of steps that draw go here.
  std::uint64_t replicate = 0;
  std::vector<Remainder>* remainders =
      nullptr;            ///< To which each step that draws adds the tokens of block 1.
  HeadSource heads = {};  ///< Of a graph with finitely many heads: called step after step.
  std::vector<HeadMap>* head_maps = nullptr;  ///< Output of those steps' maps; null: none.
};

/// Between inputs a and b, or (b null) of a with itself. Throws Error naming the layer where a
/// kernel is not finite or a map makes the wrong shape.
Kernel evaluate(const KernelGraph& graph, const Inputs& a, const Inputs* b, const Walk& walk);
/// Output kernels for any kernels of inputs of the graph's kind. Throws Error where a step draws.
Kernel evaluate(const KernelGraph& graph, const Kernel& inputs);

/// In which layout each step gives its kernels, if the last gives `wanted`: the diagonal wherever
/// no later step needs more.
std::vector<Entries> layouts(const KernelGraph& graph, Entries wanted);
/// Shape of a pair's block in that layout: [T, T], [T], or [] of vectors.
Shape block_of(const Shape& positions, Entries layout);
/// Numbers per input in the cache of self-kernels. `landmarks`, of steps that draw, may otherwise
/// be null.
std::int64_t numbers_kept(const KernelGraph& graph, Entries wanted, const Landmarks* landmarks);

}  // namespace ladon::infinite
