#pragma once
// Which tiles of a Gram matrix are whose, where ranks (core/ranks/ranks.h) work on it together.
// Internal to gram.cpp and stored.cpp.

#include "ladon/layers/infinite/gram/tiles/work.h"

namespace ladon::infinite {

/// Tiles are dealt out in turn, `together` consecutive ones at a time: rows of tiles differ in
/// length, and tiles on the diagonal in work.
struct GramDeal {
  std::int64_t together = 1;

  int owner(std::int64_t tile) const;
  bool mine(std::int64_t tile) const;
};

/// The matrices, in which each rank has its own tiles, are completed by those of the others,
/// mirrored where the plan is symmetric. In pieces: no rank holds many tiles twice.
void exchange(Gram& result, const GramPlan& plan, const GramDeal& deal);

}  // namespace ladon::infinite
