#pragma once
// How a Gram matrix is cut into tiles, and what that will take. Internal to gram.cpp.

#include <array>
#include <vector>

#include "ladon/layers/infinite/gram/gram.h"

namespace ladon::infinite {

/// A block of the matrix: rows [row, row + rows) by columns [column, column + columns).
struct GramTile {
  std::int64_t row, column, rows, columns;
};

/// All tiles, row after row; of a symmetric matrix those on and above the diagonal.
class GramTiles {
 public:
  GramTiles() = default;
  GramTiles(std::int64_t rows, std::int64_t columns, std::int64_t side, bool symmetric);
  std::int64_t count() const { return before(across(rows_)); }
  /// Of inputs, in all tiles together.
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
  Shape shape;  ///< Of each matrix.
  int replicates = 1;
  GramEstimate estimate;
  GramTiles tiles;
  bool keeps_selves = false;  ///< Whether selves are computed beforehand, …
  Selves selves_a, selves_b;  ///< … by compute_selves.
};

inline constexpr std::array gram_matrices = {&Gram::nngp, &Gram::ntk, &Gram::nngp_se,
                                             &Gram::ntk_se};

/// Takes the tile of the checkpoint if the options name none. Throws Error for what gram() does.
GramPlan plan_gram(const Limit& limit, const Inputs& a, const Inputs& b, bool symmetric,
                   const GramOptions& options);

/// Computes the selves of all inputs, in blocks of as many as a tile has pairs.
void compute_selves(const Limit& limit, GramPlan& plan);

/// The kernels of one tile, by the replicate of that number.
Kernel gram_tile(const Limit& limit, const GramPlan& plan, const GramTile& tile, Get get,
                 std::uint64_t replicate);

/// "12.3 MB", in units of 1000.
std::string in_bytes(double bytes);

}  // namespace ladon::infinite
