#include "ladon/layers/extra/tiles/exchange.h"

#include <algorithm>
#include <span>
#include <vector>

#include "ladon/core/extra/ranks/ranks.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::infinite {
namespace {

constexpr std::int64_t piece_numbers = std::int64_t{1} << 20;  // 8 MB, which fit in the caches

std::int64_t numbers_of(const Gram& result, const GramTile& tile) {
  std::int64_t numbers = 0;
  for_each_row(result, tile, [&](const double*, std::int64_t length) { numbers += length; });
  return numbers;
}

/// Tiles of one rank that are sent in one message, and the start of each tile in the message; the
/// last element of `starts` is the message's length.
struct Piece {
  std::vector<std::int64_t> tiles, starts = {0};
};

std::vector<Piece> pieces_of(const Gram& result, const GramPlan& plan, const GramDeal& deal,
                             int rank) {
  std::vector<Piece> pieces;
  for (std::int64_t i = 0; i < plan.tiles.count(); ++i) {
    if (deal.owner(i) != rank) continue;
    if (pieces.empty() || pieces.back().starts.back() >= piece_numbers) pieces.emplace_back();
    Piece& piece = pieces.back();
    piece.tiles.push_back(i);
    piece.starts.push_back(piece.starts.back() + numbers_of(result, plan.tiles[i]));
  }
  return pieces;
}

/// Calls f(tile, its start in the message) for each tile, on all threads.
template <class F>
void for_each_tile(const Piece& piece, const F& f) {
  parallel::for_range(std::ssize(piece.tiles), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto at = static_cast<std::size_t>(begin); at < static_cast<std::size_t>(end); ++at)
      f(piece.tiles[at], piece.starts[at]);
  });
}

}  // namespace

int GramDeal::owner(std::int64_t tile) const {
  return static_cast<int>(tile / together % ranks::count());
}

bool GramDeal::mine(std::int64_t tile) const { return owner(tile) == ranks::rank(); }

void exchange(Gram& result, const GramPlan& plan, const GramDeal& deal) {
  if (ranks::count() == 1) return;
  std::vector<std::vector<Piece>> pieces;  // per rank
  std::size_t rounds = 0;
  for (int r = 0; r < ranks::count(); ++r)
    rounds = std::max(rounds, pieces.emplace_back(pieces_of(result, plan, deal, r)).size());
  const auto mine = static_cast<std::size_t>(ranks::rank());
  std::vector<std::vector<double>> messages(pieces.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto has_one = [&](std::size_t r) { return round < pieces[r].size(); };
    for (std::size_t r = 0; r < pieces.size(); ++r)
      if (has_one(r)) messages[r].resize(pieces[r][round].starts.back());
    if (has_one(mine))
      for_each_tile(pieces[mine][round], [&](std::int64_t tile, std::int64_t start) {
        double* to = messages[mine].data() + start;
        for_each_row(result, plan.tiles[tile],
                     [&](const double* row, std::int64_t n) { to = std::copy_n(row, n, to); });
      });
    for (std::size_t r = 0; r < pieces.size(); ++r)
      if (has_one(r))
        ranks::broadcast(std::as_writable_bytes(std::span(messages[r])), static_cast<int>(r));
    for (std::size_t r = 0; r < pieces.size(); ++r)
      if (r != mine && has_one(r))
        for_each_tile(pieces[r][round], [&](std::int64_t tile, std::int64_t start) {
          const double* from = messages[r].data() + start;
          for_each_row(result, plan.tiles[tile], [&](double* row, std::int64_t n) {
            std::copy_n(from, n, row);
            from += n;
          });
          mirror(result, plan, plan.tiles[tile]);
        });
  }
}

}  // namespace ladon::infinite
