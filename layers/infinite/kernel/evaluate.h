#pragma once
// Evaluates a limit's graph in one walk over its steps. Without draws the walk is, for each step in
// order, value[i] = step.map(the pairs of its inputs' values); the rest saves work, or serves steps
// that draw. Self-kernels (of each of N inputs with itself), which all N² pairs need, can be kept
// from one walk and read in others; they are stored per step.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "ladon/layers/infinite/kernel/heads.h"
#include "ladon/layers/infinite/kernel/inputs.h"
#include "ladon/layers/infinite/kernel/roots.h"

namespace ladon::infinite {

/// Cache of self-kernels, in the slots of the graph: kernels [N], [N, T, T] or [N, T], and for
/// steps that draw also the roots of tokens. Undefined where nothing asked for them. f64.
using Selves = std::vector<Tensor>;

/// Inputs whose tokens span the coordinates in which draws are made for all inputs (roots.h).
struct Landmarks {
  Pivots pivots;  ///< Pivots to use; empty: each factor finds its own.
  std::vector<RootFactor> factors;
  Selves selves;
};

/// Unexplained shares of the tokens of one layer that draws: for each visible token, the part of
/// its variance outside the common coordinates.
struct Remainder {
  double sum = 0, worst = 0;
  std::int64_t tokens = 0;  ///< Number of tokens with variance > 0.
  void add(double share);
  double mean() const { return tokens > 0 ? sum / static_cast<double>(tokens) : 0; }
};

/// Selves of one block: read from rows [begin, end) of `known`, or stored in rows [begin, ..) of
/// `kept`, which is made for `count` inputs if it is undefined; if the block is all inputs, with
/// the graph for their gradients. With neither they are computed and dropped.
struct SelfRows {
  const Selves* known = nullptr;
  std::int64_t begin = 0, end = 0;
  Selves* kept = nullptr;
  std::int64_t count = 0;
};

/// Options of one walk.
struct Walk {
  Entries wanted = Entries::full;  ///< Entries of the model's outputs, if they have positions.
  Get get = Get::ntk;              ///< Get::nngp leaves out the tangent kernels of a graph.
  bool pairs = true;               ///< Kernels between two blocks; else of each input with itself.
  std::array<SelfRows, 2> selves = {};
  const Landmarks* landmarks = nullptr;  ///< The second block, to compute coordinates from.
  Landmarks* found = nullptr;  ///< The inputs are landmarks: factors of steps that draw go here.
  std::uint64_t replicate = 0;
  std::vector<Remainder>* remainders =
      nullptr;            ///< Each step that draws adds the tokens of the first block to it.
  HeadSource heads = {};  ///< For a graph with finitely many heads: called step by step.
  std::vector<HeadMap>* head_maps = nullptr;  ///< Receives the maps of those steps, unless null.
};

/// Kernels between inputs a and b, or (b null) of a with itself. Throws Error naming the layer if a
/// kernel is not finite or a map gives a wrong shape.
Kernel evaluate(const KernelGraph& graph, const Inputs& a, const Inputs* b, const Walk& walk);
/// Output kernels for given kernels of inputs of the graph's kind. Throws Error if a step draws.
Kernel evaluate(const KernelGraph& graph, const Kernel& inputs);

/// Layout of the kernels of each step, if the last step gives `wanted`: the diagonal unless a later
/// step needs more.
std::vector<Entries> layouts(const KernelGraph& graph, Entries wanted);
/// Shape of a pair's block in that layout: [T, T], [T], or [] for vectors.
Shape block_of(const Shape& positions, Entries layout);
/// Number of elements per input in the cache of self-kernels. `landmarks` may be null unless a step
/// draws.
std::int64_t numbers_kept(const KernelGraph& graph, Entries wanted, const Landmarks* landmarks);

}  // namespace ladon::infinite
