#include "ladon/core/kernels/reductions/symmetry.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ladon/core/error.h"
#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/reductions/reduction.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::kernels {
namespace {

using std::int64_t;

constexpr int64_t side = 32;  // a tile and its mirror image fit in the first-level cache

/// The larger of two magnitudes; NaN is larger than all.
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// The largest magnitude max |x_i| of n numbers.
double magnitude(const double* x, int64_t n) {
  const auto& reduce = loops().f64.reduce;
  return larger(std::abs(reduce[int(Reduce::max)](x, n)), std::abs(reduce[int(Reduce::min)](x, n)));
}

Symmetry larger(Symmetry a, Symmetry b) {
  return {larger(a.largest, b.largest), larger(a.difference, b.difference)};
}

/// Symmetry of the tile of x [n, n] at row i and column j, together with its mirror image.
Symmetry symmetry_of_tile(int64_t n, const double* x, int64_t i, int64_t j) {
  const int64_t rows = std::min(side, n - i), columns = std::min(side, n - j), all = rows * columns;
  double tile[side * side], mirror[side * side];
  for (int64_t r = 0; r < rows; ++r) std::copy_n(x + (i + r) * n + j, columns, tile + r * columns);
  loops().f64.transpose(columns, rows, x + j * n + i, n, mirror, columns);
  const double largest = larger(magnitude(tile, all), magnitude(mirror, all));
  loops().f64.binary[int(Binary::sub)](tile, mirror, tile, all);
  return {largest, magnitude(tile, all)};
}

}  // namespace

Symmetry symmetry(const Tensor& x) {
  constexpr int64_t grain = 64;
  const int64_t n = x.size(0), across = (n + side - 1) / side, tiles = across * (across + 1) / 2;
  detail::require(x.contiguous() && x.shape() == Shape{n, n}, "symmetry is that of a dense matrix");
  const double* data = x.data<double>();
  std::vector<Symmetry> parts(static_cast<std::size_t>((tiles + grain - 1) / grain),
                              Symmetry{0, 0});
  parallel::for_range(tiles, grain, [&](int64_t t, int64_t end) {
    Symmetry& part = parts[t / grain];
    int64_t row = 0, column = t;
    while (column > row) column -= ++row;
    for (; t < end; ++t) {
      part = larger(part, symmetry_of_tile(n, data, row * side, column * side));
      if (++column > row) ++row, column = 0;
    }
  });
  return std::accumulate(parts.begin(), parts.end(), Symmetry{0, 0},
                         [](Symmetry a, Symmetry b) { return larger(a, b); });
}

}  // namespace ladon::kernels
