#pragma once
// Cost of a Gram matrix's tiles. It is measured on a block of the first inputs, from which memory
// and time follow for any side of a tile. Internal to plan.cpp.

#include <limits>

#include "ladon/layers/infinite/gram/plan.h"

namespace ladon::infinite::cost {

inline constexpr double probe_bytes = 16e6;  // approximate memory that measuring may take

/// Measurements on a block of the first inputs.
struct Probe {
  Shape block;                              // shape of a pair's block of outputs
  double pair_bytes = 0, pair_seconds = 0;  // per pair of inputs
  double tile_bytes = 0, tile_seconds = 0;  // per tile, independent of its pairs
  double input_seconds = 0;                 // per input in a tile's rows or columns, for its draws
  // per input, for its kernels with itself (self-kernels); 0 if these are not cached
  double self_bytes = 0, self_seconds = 0;
  double draw_bytes = 0;      // per replicate, for random matrices that all tiles share
  double landmark_bytes = 0;  // per replicate, for data of the landmarks that passes over pairs use
  Kernel whole = {};          // kernels of all pairs, if the block has all inputs
};

/// Lower bound of the memory for one pair of inputs: the bytes of its kernels, and of the kernel of
/// each of the two inputs with itself.
double least_bytes(const Inputs& in, Entries entries, Get get);

/// Measures the kernels of the first inputs, on blocks that grow until measuring takes about a
/// tenth of a second or the block is large enough. If `may_be_whole`, and all pairs together take
/// little memory, the block has all inputs, and its kernels are kept (Probe::whole).
Probe probe(const GramPlan& plan, Get get, double budget, bool may_be_whole);

/// Memory and number of tiles as functions of the side of a tile. Keeps references to the plan and
/// the probe.
class Sizes {
 public:
  Sizes(const GramPlan& plan, const Probe& p, Get get, double budget);

  /// Bytes of the random matrices that tiles share and that are cached: at most half of what the
  /// budget leaves besides the result and the smallest tiles.
  double draw_bytes() const { return draw_bytes_; }
  double result_bytes() const;
  /// Bytes of all memory but the result. Sums over replicates take three more numbers per entry of
  /// each matrix, temporaries included.
  double working_bytes(std::int64_t side) const;
  double tiles(std::int64_t side) const;
  /// The side of a tile that the user asks for, rounded up to a multiple of vector_unit if inputs
  /// are vectors; at most the side of the whole matrix.
  std::int64_t rounded(std::int64_t side) const;
  /// Side at which the tensors of a tile stay in cache and there are enough tiles for all threads,
  /// but tiles are so large that the work done once per tile costs little.
  std::int64_t chosen(double budget) const;
  /// The largest side, up to `side`, that fits the budget; if none does, the smallest side.
  std::int64_t fitting(std::int64_t side, double budget) const;

 private:
  const GramPlan& plan_;
  const Probe& probe_;
  std::int64_t unit_, largest_ = std::numeric_limits<std::int64_t>::max();
  double matrices_, block_, draw_bytes_ = 0;
};

/// The plan's estimate with memory, tiles and time for this side of a tile.
GramEstimate estimated(const GramPlan& plan, const Probe& found, const Sizes& sizes,
                       std::int64_t side);

}  // namespace ladon::infinite::cost
