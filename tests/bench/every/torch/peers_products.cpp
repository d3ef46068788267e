#include "peers.h"

namespace ladon::bench::every {
namespace {

void add_matmuls(PeerTable& t) {
  for (const char* name : {"matmul", "matmul, 16 rows", "matmul, by a vector", "matmul, a batch"})
    t.add(name, [](const P& x) { return at::matmul(x[0], x[1]); });
  t.add("matmul, left transposed", [](const P& x) { return at::matmul(x[0].t(), x[1]); });
  t.add("matmul, right transposed", [](const P& x) { return at::matmul(x[0], x[1].t()); });
  for (const char* name : {"linear", "linear, one row"})
    t.add(name, [](const P& x) { return at::linear(x[0], x[1], x[2]); });
  t.add("dot", [](const P& x) { return at::dot(x[0], x[1]); });
  t.add("einsum", [](const P& x) { return at::matmul(x[0], x[1].transpose(1, 2)); });
  t.add("einsum, heads in the middle", [](const P& x) {
    return at::matmul(x[0].transpose(1, 2), x[1].permute({0, 2, 3, 1}));
  });
  t.add("einsum, outer", [](const P& x) { return at::outer(x[0], x[1]); });
}

at::Tensor factor(const at::Tensor& a) { return at::linalg_cholesky(a); }

void add_linear_algebra(PeerTable& t) {
  for (const char* name : {"cholesky", "cholesky, many small"})
    t.add(name, [](const P& x) { return factor(x[0]); });
  t.add("solve_triangular",
        [](const P& x) { return at::linalg_solve_triangular(x[0], x[1], false); });
  t.add("cholesky_solve", [](const P& x) {  // whose gradient would else fill the other triangle
    return at::cholesky_solve(x[1], x[0].tril());
  });
  t.add("solve", [](const P& x) { return at::linalg_solve(x[0], x[1]); });
  for (const char* name : {"inverse", "inverse, many small"})
    t.add(name, [](const P& x) { return at::linalg_inv(x[0]); });
  for (const char* name : {"eigh", "eigh, many small"})
    t.add(name, [](const P& x) { return at::linalg_eigh(x[0]); });
  t.add("eigenvalues", [](const P& x) { return at::linalg_eigvalsh(x[0]); });
  t.add("logdet", [](const P& x) { return factor(x[0]).diagonal().log().sum() * 2; });
  t.add("slogdet", [](const P& x) { return std::get<1>(at::linalg_slogdet(x[0])); });
  t.add("det", [](const P& x) { return at::linalg_det(x[0]); });
}

}  // namespace

void add_products(PeerTable& t) {
  add_matmuls(t);
  add_linear_algebra(t);
}

}  // namespace ladon::bench::every
