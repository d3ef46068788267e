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

struct GramPlan {
  Inputs a, b;
  bool symmetric = false;  ///< b is a, and only tiles on or above the diagonal are computed.
  Shape shape;             ///< Of each matrix.
  int replicates = 1;
  GramEstimate estimate;
  std::vector<GramTile> tiles;
};

inline constexpr std::array gram_matrices = {&Gram::nngp, &Gram::ntk, &Gram::nngp_se,
                                             &Gram::ntk_se};

/// Takes the tile of the checkpoint if the options name none. Throws Error for what gram() does.
GramPlan plan_gram(const Limit& limit, const Inputs& a, const Inputs& b, bool symmetric,
                   const GramOptions& options);

/// The kernels of one tile, by the replicate of that number.
Kernel gram_tile(const Limit& limit, const GramPlan& plan, const GramTile& tile, Get get,
                 std::uint64_t replicate);

/// "12.3 MB", in units of 1000.
std::string in_bytes(double bytes);

}  // namespace ladon::infinite
