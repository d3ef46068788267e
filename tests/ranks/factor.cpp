// Cholesky factors that are distributed over ranks: they equal those of one process, up to
// rounding.

#include <cmath>
#include <iostream>

#include "ladon/core/extra/ranks/ranks_cholesky.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/extra/posterior/cg_solver.h"
#include "ladon/optim/extra/posterior/distributed_factor.h"
#include "ladon/optim/extra/posterior/stored_factor.h"
#include "ladon/tests/ranks/checks.h"

namespace ladon::test {
namespace {

double largest(const Tensor& x) { return max(reshape(abs(x), {x.count()}), 0).values.item(); }

bool near(const Tensor& a, const Tensor& b, double tolerance) {
  return a.shape() == b.shape() && largest(a - b) <= tolerance * largest(b);
}

Tensor normal_f64(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

ranks::Cholesky::Block blocks_of(const Tensor& a) {
  return [a](std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
    return at(a, {Slice{row, row + rows}, Slice{column, column + columns}});
  };
}

void of_any_matrix() {
  for (const std::int64_t n : {1, 7, 64, 203}) {
    const Tensor g = normal_f64({n, n}, 1), b = normal_f64({n, 3}, 2);
    const Tensor a = matmul(g, transpose(g)) * (1.0 / static_cast<double>(n));
    const Tensor l = lapack::cholesky(a + 0.5 * eye(n, f64));
    for (const std::int64_t side : {1, 16, 300}) {
      const ranks::Cholesky factor(n, 0.5, blocks_of(a), side);
      require(factor.size() == n, "its size");
      require(near(factor.solve(b), lapack::cholesky_solve(l, b), 1e-12), "it solves");
      require(std::abs(factor.log_determinant() - 2 * sum(log(diagonal(l))).item()) < 1e-9,
              "its determinant");
    }
  }
}

void indefinite() {
  const std::int64_t n = 90;
  const Tensor a = eye(n, f64) * concat({ones({n - 20}, f64), full({20}, -3.0, f64)}, 0);
  try {
    const ranks::Cholesky factor(n, 1, blocks_of(a), 16);
  } catch (const lapack::NotPositiveDefinite& e) {
    require(std::abs(e.smallest_eigenvalue + 2) < 1e-12 && e.jitter > 4, "what would do is told");
    require(std::string(e.what()).find("order 71 is not") != std::string::npos, e.what());
    return;
  }
  require(false, "an indefinite matrix is refused");
}

/// Predictions of a Gaussian process from a stored kernel.
void of_a_stored_gram() {
  Generator rng(1);
  const Sequential net(Linear({.in = 6, .out = 2}, rng), Activation(Nonlinearity::relu),
                       Linear({.in = 2, .out = 1}, rng));
  const Tensor x = normal_f64({633, 6}, 2), test = normal_f64({40, 6}, 3);
  const Tensor y = sum(sin(x), 1, keep_dims);
  const SharedFolder shared;
  const auto kernel = store_gram(infinite::limit(net), x, shared.path() / "kernel",
                                 {.get = infinite::Get::ntk, .tile = 128});
  const DistributedFactor factor = distribute_factor(kernel, {.noise = 0.1});
  const StoredFactor stored = store_factor(kernel, shared.path() / "factor", {.noise = 0.1});
  const Tensor cross = infinite::gram(infinite::limit(net), test, x).ntk;
  require(near(matmul(cross, factor.solve(y).x), matmul(cross, stored.solve(y).x), 1e-10),
          "predictions are those of one process");
  require(std::abs(factor.log_determinant() - stored.log_determinant()) <
              1e-10 * std::abs(stored.log_determinant()),
          "and so is the evidence");
  const auto held =
      store_gram(infinite::limit(net), x, {}, {.get = infinite::Get::ntk, .tile = 128});
  const DistributedFactor of_held = distribute_factor(held, {.noise = 0.1});
  require(same_bits(of_held.solve(y).x, factor.solve(y).x), "tiles in memory give the same");
  const CgSolver products(kernel_map(held), {.noise = 0.1}, {.rank = 20, .tolerance = 1e-12});
  require(near(matmul(cross, products.solve(y).x), matmul(cross, factor.solve(y).x), 1e-9),
          "and so do products with them");
}

}  // namespace

void check_factors() {
  if (ranks::count() > 1 && !ranks::has_cholesky()) {
    require_error([] { ranks::Cholesky(2, 0, blocks_of(eye(2, f64))); }, "without ScaLAPACK", "so");
    if (ranks::rank() == 0) std::cout << "built without ScaLAPACK: no factors\n";
    return;
  }
  of_any_matrix();
  indefinite();
  of_a_stored_gram();
}

}  // namespace ladon::test
