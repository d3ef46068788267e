#pragma once
// Assignment of the tiles of a Gram matrix to the ranks (core/extra/ranks/ranks.h) that compute it.
// Internal to gram().

#include "ladon/layers/infinite/gram/work.h"

namespace ladon::infinite {

/// Assigns tiles to ranks in turn, `together` consecutive tiles at a time, because rows of tiles
/// differ in length, and tiles on the diagonal differ in work from others.
struct GramDeal {
  std::int64_t together = 1;

  int owner(std::int64_t tile) const;
  bool mine(std::int64_t tile) const;
};

/// Sends the tiles that each rank has computed to all other ranks, and mirrors the received tiles
/// if the plan is symmetric. Sends them in pieces, so that no rank holds many tiles twice.
void exchange(Gram& result, const GramPlan& plan, const GramDeal& deal);

}  // namespace ladon::infinite
