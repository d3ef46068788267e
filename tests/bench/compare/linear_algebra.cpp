// Rows of factorizations and solutions of linear systems, in f64.

#include "both.h"
#include "ladon/autograd/ops.h"
#include "ladon/autograd/ops/linalg/linalg.h"
#include "ladon/core/random.h"

namespace ladon::bench {
namespace {

/// X·Xᵀ/n + I.
Tensor positive(std::int64_t n) {
  Generator rng(1);
  const Tensor x = normal({n, n}, rng, 0, 1, f64);
  return matmul(x, transpose(x)) * (1 / double(n)) + eye(n, f64);
}

Sides factor(std::int64_t n) {
  const Tensor a = positive(n);
  return sides([=] { return cholesky(a); },
               in_inference_mode([peer_a = to_peer(a)] { return at::linalg_cholesky(peer_a); }));
}

Sides solve_many(std::int64_t n, std::int64_t right_sides) {
  Generator rng(2);
  const Tensor l = cholesky(positive(n)), b = normal({n, right_sides}, rng, 0, 1, f64);
  return sides([=] { return cholesky_solve(l, b); },
               in_inference_mode([peer_l = to_peer(l), peer_b = to_peer(b)] {
                 return at::cholesky_solve(peer_b, peer_l);
               }));
}

/// Signs of eigenvectors are LAPACK's choice: eigenvalues are compared.
Sides eigen(std::int64_t n) {
  const Tensor a = positive(n);
  return sides([=] { return eigh(a).values; }, in_inference_mode([peer_a = to_peer(a)] {
                 return std::get<0>(at::linalg_eigh(peer_a));
               }));
}

}  // namespace

std::vector<Row> linear_algebra_rows() {
  const double n = 2000, m = 4000, k = 10;
  return {{.name = "cholesky N 2000",
           .ceiling = Ceiling::dgemm,
           .needed = n * n * n / 3,
           .tolerance = 1e-9,
           .make = [] { return factor(2000); }},
          {.name = "cholesky_solve N 4000, 10 right sides",
           .ceiling = Ceiling::dgemm,
           .needed = 2 * m * m * k,
           .tolerance = 1e-9,
           .make = [] { return solve_many(4000, 10); }},
          {.name = "eigh N 500", .tolerance = 1e-9, .make = [] { return eigen(500); }},
          {.name = "eigh N 1000", .tolerance = 1e-9, .make = [] { return eigen(1000); }}};
}

}  // namespace ladon::bench
