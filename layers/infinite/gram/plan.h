#pragma once
// Plan of a Gram matrix: its tiles, and their cost. Internal to gram(), backward_gram() and
// store_gram().

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "ladon/layers/infinite/gram/gram.h"

namespace ladon::infinite {

class KeptDraws;
struct PassSample;

/// A block of the matrix: rows [row, row + rows) by columns [column, column + columns).
struct GramTile {
  std::int64_t row, column, rows, columns;
};

/// All tiles, row by row; for a symmetric matrix those on and above the diagonal.
class GramTiles {
 public:
  GramTiles() = default;
  GramTiles(std::int64_t rows, std::int64_t columns, std::int64_t side, bool symmetric);
  std::int64_t count() const { return before(across(rows_)); }
  /// Number of pairs of inputs in all tiles together.
  double pairs() const;
  GramTile operator[](std::int64_t index) const;

 private:
  std::int64_t across(std::int64_t inputs) const { return (inputs + side_ - 1) / side_; }
  std::int64_t before(std::int64_t row) const;

  std::int64_t rows_ = 0, columns_ = 0, side_ = 1;
  bool symmetric_ = false;
};

struct GramPlan {
  Inputs a, b;
  bool symmetric = false;  ///< b is a, and only tiles on or above the diagonal are computed.
  Entries wanted = Entries::full;
  Shape shape;                       ///< Shape of each matrix.
  std::optional<double> held_bytes;  ///< Bytes of the result in memory at a time; nullopt for all.
  int replicates = 1;
  int processes = 1;  ///< Number of processes that share the tiles.
  GramEstimate estimate;
  GramTiles tiles;
  bool keeps_selves = false;         ///< Whether compute_selves() computes self-kernels beforehand.
  std::vector<Passes> passes;        ///< One per replicate.
  std::shared_ptr<KeptDraws> draws;  ///< Random matrices that all passes share.
  Kernel whole;  ///< The only tile, if measuring the cost computed it; otherwise empty.
  std::vector<Selves> selves_a, selves_b;  ///< Self-kernels per replicate; empty if not kept.
  /// Per layer that averages over draws: the shares of tokens' variances that the landmarks'
  /// coordinates do not explain, from compute_selves().
  std::vector<Remainder> remainders;
};

/// Pointers to all matrices of a Gram, defined or not.
inline std::array<Tensor*, 4> matrices_of(Gram& g) {
  return {&g.nngp, &g.ntk, &g.nngp_se, &g.ntk_se};
}
inline std::array<const Tensor*, 4> matrices_of(const Gram& g) {
  return {&g.nngp, &g.ntk, &g.nngp_se, &g.ntk_se};
}

class GramExecutor;
/// Plans the tiles and estimates their cost. The side of the tiles is that in the options; if they
/// set none, that of the tiles stored already; if there are none, one that suits the caches and the
/// budget. `held_bytes` is the number of bytes of the result in memory at a time; nullopt stands
/// for all. Throws the Errors of gram().
GramPlan plan_gram(const Limit& limit, const Inputs& a, const Inputs& b, bool symmetric,
                   const GramOptions& options, const GramExecutor& executor,
                   std::optional<double> held_bytes = {});

/// Computes the self-kernels of all inputs, in blocks of as many inputs as a tile has pairs.
void compute_selves(GramPlan& plan);

/// The kernels of one tile for one replicate. If `sample` is given, layers that average over draws
/// make only a few of them, and write the estimated cost of the rest to `sample`; the kernels must
/// then not be used.
Kernel gram_tile(const GramPlan& plan, const GramTile& tile, std::size_t replicate,
                 PassSample* sample = nullptr);

/// The plan for the first `rows` and `columns` inputs of the two blocks, with the first replicate
/// only.
GramPlan of_first(const GramPlan& plan, std::int64_t rows, std::int64_t columns,
                  PassSample* sample = nullptr);

/// A number of bytes as text, such as "12.3 MB"; 1 kB is 1000 bytes.
std::string in_bytes(double bytes);

/// Text such as "about 52 s: 120 tiles of 256 × 256 inputs".
std::string time_and_tiles(double seconds, std::int64_t tiles, std::int64_t side);

}  // namespace ladon::infinite
