#include "ladon/layers/infinite/gram/exchange.h"

#include <cstring>

#include "ladon/core/ranks.h"

namespace ladon::infinite {
namespace {

constexpr double piece_bytes = 64e6;

/// The end of the tiles from `begin` on that go in one piece.
std::int64_t end_of_piece(const Gram& result, const GramPlan& plan, std::int64_t begin) {
  double bytes = 0;
  std::int64_t end = begin;
  for (; end < plan.tiles.count() && bytes < piece_bytes; ++end)
    for_each_row(result, plan.tiles[end], [&](const double*, std::int64_t length) {
      bytes += sizeof(double) * static_cast<double>(length);
    });
  return end;
}

}  // namespace

int GramDeal::owner(std::int64_t tile) const {
  return static_cast<int>(tile / together % ranks::count());
}

bool GramDeal::mine(std::int64_t tile) const { return owner(tile) == ranks::rank(); }

void exchange(Gram& result, const GramPlan& plan, const GramDeal& deal) {
  if (ranks::count() == 1) return;
  for (std::int64_t begin = 0, end = 0; begin < plan.tiles.count(); begin = end) {
    end = end_of_piece(result, plan, begin);
    std::vector<std::byte> own;
    for (std::int64_t i = begin; i < end; ++i)
      if (deal.mine(i))
        for_each_row(result, plan.tiles[i], [&](const double* row, std::int64_t length) {
          const auto* bytes = reinterpret_cast<const std::byte*>(row);
          own.insert(own.end(), bytes, bytes + sizeof(double) * static_cast<std::size_t>(length));
        });
    const auto all = ranks::all_gather(own);
    std::vector<std::size_t> at(all.size(), 0);  // read so far of each rank's
    for (std::int64_t i = begin; i < end; ++i) {
      if (deal.mine(i)) continue;
      const auto from = static_cast<std::size_t>(deal.owner(i));
      for_each_row(result, plan.tiles[i], [&](double* row, std::int64_t length) {
        const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(length);
        std::memcpy(row, all[from].data() + at[from], bytes);
        at[from] += bytes;
      });
      mirror(result, plan, plan.tiles[i]);
    }
  }
}

}  // namespace ladon::infinite
