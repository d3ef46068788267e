// Kernels of a finite network between many inputs, in tiles.

#include <algorithm>

#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/finite/empirical.h"

namespace ladon::infinite {
namespace {

/// k [N1, N2, (T, T), (O, O)] with its two inputs exchanged: the two axes of each pair change
/// places.
Tensor exchanged(const Tensor& k) {
  Tensor y = k;
  for (int axis = 0; axis + 1 < k.rank(); axis += 2) y = transpose(y, axis, axis + 1);
  return y;
}

class Tiles {
 public:
  Tiles(std::int64_t rows, std::int64_t columns) : rows_(rows), columns_(columns) {}

  void put(const EmpiricalKernel& tile, std::int64_t i, std::int64_t j, bool mirrored) {
    place(all_.nngp, tile.nngp, i, j);
    place(all_.ntk, tile.ntk, i, j);
    if (!mirrored) return;
    place(all_.nngp, exchanged(tile.nngp), j, i);
    if (tile.ntk.defined()) place(all_.ntk, exchanged(tile.ntk), j, i);
  }
  void put_outputs(const Tensor& outputs, std::int64_t i) {
    if (!all_.outputs.defined()) all_.outputs = like(outputs, 1, {rows_});
    copy_(slice(all_.outputs, 0, {.start = i, .stop = i + outputs.size(0)}), outputs);
  }
  const EmpiricalKernel& all() const { return all_; }

 private:
  static Tensor like(const Tensor& tile, int axes, Shape shape) {
    for (int axis = axes; axis < tile.rank(); ++axis) shape.append(tile.size(axis));
    return empty(shape, f64);
  }
  void place(Tensor& to, const Tensor& tile, std::int64_t i, std::int64_t j) const {
    if (!tile.defined()) return;
    if (!to.defined()) to = like(tile, 2, {rows_, columns_});
    const Slice rows{.start = i, .stop = i + tile.size(0)},
        columns{.start = j, .stop = j + tile.size(1)};
    copy_(slice(slice(to, 0, rows), 1, columns), tile);
  }

  std::int64_t rows_, columns_;
  EmpiricalKernel all_;
};

EmpiricalKernel in_tiles(Layer& network, const Inputs& a, const Inputs& b, bool symmetric,
                         std::int64_t tile, EmpiricalOptions options) {
  LADON_CHECK(tile >= 1, "empirical_gram", "the tile is ", tile, "; it must be at least 1");
  const std::int64_t n = a.count(), m = b.count();
  if (n == 0 || m == 0) return empirical_kernel(network, a, b, options);
  if (options.verify && tile == 1 && std::max(n, m) > 1)  // no tile has two examples
    empirical_kernel(network, (n > 1 ? a : b).rows(0, 2), {.get = Get::nngp});
  Tiles tiles(n, m);
  for (std::int64_t i = 0; i < n; i += tile) {
    const Inputs row = a.rows(i, std::min(n, i + tile));
    for (std::int64_t j = symmetric ? i : 0; j < m; j += tile) {
      const EmpiricalKernel k =
          symmetric && i == j
              ? empirical_kernel(network, row, options)
              : empirical_kernel(network, row, b.rows(j, std::min(m, j + tile)), options);
      options.verify = false;  // the first tile has been verified
      tiles.put(k, i, j, symmetric && i != j);
      if (j == (symmetric ? i : 0)) tiles.put_outputs(k.outputs, i);
    }
  }
  return tiles.all();
}

}  // namespace

EmpiricalKernel empirical_gram(Layer& network, const Inputs& a, const Inputs& b, std::int64_t tile,
                               const EmpiricalOptions& options) {
  return in_tiles(network, a, b, false, tile, options);
}

EmpiricalKernel empirical_gram(Layer& network, const Inputs& a, std::int64_t tile,
                               const EmpiricalOptions& options) {
  return in_tiles(network, a, a, true, tile, options);
}

}  // namespace ladon::infinite
