#pragma once
// Assignment of the tiles of a Gram matrix to the ranks (core/ranks/ranks.h) that compute it.
// Internal to gram.cpp and stored.cpp.

#include "ladon/layers/infinite/gram/work.h"

namespace ladon::infinite {

/// Tiles are assigned to ranks in turn, `together` consecutive ones at a time: rows of tiles differ
/// in length, and tiles on the diagonal in work.
struct GramDeal {
  std::int64_t together = 1;

  int owner(std::int64_t tile) const;
  bool mine(std::int64_t tile) const;
};

/// Completes the matrices, in which each rank has its own tiles, with those of the others, and
/// mirrors these if the plan is symmetric. Works in pieces, so that no rank holds many tiles twice.
void exchange(Gram& result, const GramPlan& plan, const GramDeal& deal);

}  // namespace ladon::infinite
