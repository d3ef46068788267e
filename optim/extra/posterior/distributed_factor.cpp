#include "ladon/optim/extra/posterior/distributed_factor.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

/// Largest side of a square block that divides the tile's side, so that each block is within one
/// tile.
std::int64_t block_side(std::int64_t tile) {
  std::int64_t side = std::min(tile, ranks::largest_block);
  while (tile % side != 0) --side;
  return side;
}

}  // namespace

DistributedFactor distribute_factor(const infinite::StoredGram& gram, const GpOptions& options) {
  const NoGrad off;
  const Tensor diagonal = gram.diagonal();
  const double ridge =
      kernel_blocks::ridge_of("distribute_factor", diagonal, options.noise, options.jitter).total();
  const std::int64_t tile = gram.estimate().tile;
  Tensor whole;  // the tile read last, which usually contains the next block too
  std::int64_t tile_row = -1, tile_column = -1;
  const auto block = [&](std::int64_t row, std::int64_t column, std::int64_t rows,
                         std::int64_t columns) {
    const std::int64_t i = row / tile, j = column / tile;
    if (i != tile_row || j != tile_column) {
      whole = Tensor();  // frees the old tile before reading the next one
      whole = gram.tile(i, j);
      tile_row = i;
      tile_column = j;
    }
    const std::int64_t r = row - i * tile, c = column - j * tile;
    return at(whole, {Slice{r, r + rows}, Slice{c, c + columns}});
  };
  return {ranks::Cholesky(gram.size(), ridge, block, block_side(tile)), diagonal + ridge, gram};
}

}  // namespace ladon
