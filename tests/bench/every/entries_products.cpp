// Products and linear algebra (autograd/ops/matmul.h, linalg/).

#include "entries.h"
#include "ladon/autograd/ops.h"

namespace ladon::bench::every {
namespace {

using X = Tensors;

/// Of outputs that are sums of `terms` products each.
Traits sums_of(std::function<std::int64_t(const X&)> terms) {
  return {.products = [terms](const X& x, const X& y) {
    return 2.0 * double(y[0].count()) * double(terms(x));
  }};
}
std::int64_t columns(const X& x) { return x[0].size(-1 + x[0].rank()); }

void add_matmuls(Table& t) {
  const Traits counted = sums_of(columns);
  const auto square = [](Draw& d) -> X {
    const std::int64_t n = d.of(8, 128, 1024);
    return {d.normal({n, n}), d.normal({n, n})};
  };
  t.add(
      "matmul", square, [](const X& x) { return matmul(x[0], x[1]); }, counted);
  t.add(
      "matmul, left transposed", square, [](const X& x) { return matmul(transpose(x[0]), x[1]); },
      counted);
  t.add(
      "matmul, right transposed", square, [](const X& x) { return matmul(x[0], transpose(x[1])); },
      counted);
  const auto few_rows = [](Draw& d) -> X {
    const std::int64_t n = d.of(8, 128, 1024);
    return {d.normal({16, n}), d.normal({n, 4 * n})};
  };
  t.add(
      "matmul, 16 rows", few_rows, [](const X& x) { return matmul(x[0], x[1]); }, counted);
  const auto by_vector = [](Draw& d) -> X {
    const std::int64_t n = d.of(8, 256, 2048);
    return {d.normal({n, n}), d.normal({n})};
  };
  t.add(
      "matmul, by a vector", by_vector, [](const X& x) { return matmul(x[0], x[1]); }, counted);
  const auto batch = [](Draw& d) -> X {
    const std::int64_t b = d.of(2, 16, 256), n = d.of(4, 32, 64);
    return {d.normal({b, n, n}), d.normal({b, n, n})};
  };
  t.add(
      "matmul, a batch", batch, [](const X& x) { return matmul(x[0], x[1]); }, counted);
  const auto layer = [](Draw& d) -> X {
    const std::int64_t in = d.of(8, 128, 512), out = 4 * in;
    return {d.normal({d.of(4, 64, 2048), in}), d.normal({out, in}), d.normal({out})};
  };
  t.add(
      "linear", layer, [](const X& x) { return linear(x[0], x[1], x[2]); }, counted);
  const auto one_row = [](Draw& d) -> X {
    const std::int64_t in = d.of(8, 256, 2048);
    return {d.normal({1, in}), d.normal({in, in}), d.normal({in})};
  };
  t.add(
      "linear, one row", one_row, [](const X& x) { return linear(x[0], x[1], x[2]); }, counted);
  t.add("dot", lines, [](const X& x) { return dot(x[0], x[1]); });
  t.add(
      "einsum", batch, [](const X& x) { return einsum("bij,bkj->bik", x); }, counted);
  const auto heads = [](Draw& d) -> X {
    const std::int64_t b = d.of(1, 2, 4), n = d.of(4, 32, 256), h = d.of(2, 4, 8),
                       w = d.of(4, 16, 64);
    return {d.normal({b, n, h, w}), d.normal({b, n, h, w})};
  };
  t.add(
      "einsum, heads in the middle", heads, [](const X& x) { return einsum("bihd,bjhd->bhij", x); },
      counted);
  t.add(
      "einsum, outer",
      [](Draw& d) -> X {
        return {d.normal({d.of(8, 256, 2048)}), d.normal({d.of(8, 256, 2048)})};
      },
      [](const X& x) { return einsum("i,j->ij", x); });
}

std::int64_t side(Draw& d) { return d.of(4, 64, 512); }
Tensors definite(Draw& d) { return {d.positive_definite(side(d))}; }
/// A well-conditioned square matrix and right sides.
Tensors system(Draw& d) {
  return {d.positive_definite(side(d)), d.normal({side(d), d.of(2, 8, 64)})};
}
/// A lower triangle with its right sides.
Tensors triangle(Draw& d) {
  return {cholesky(d.positive_definite(side(d))), d.normal({side(d), d.of(2, 8, 64)})};
}
Tensors small_matrices(Draw& d) {
  const Tensor a = d.normal({d.of(2, 64, 1024), 8, 8});
  return {matmul(a, transpose(a)) + 4 * eye(8, d.dtype())};
}
Traits cubes(double factor) {
  return {.products = [factor](const X& x, const X&) {
    const double n = double(x[0].size(-1 + x[0].rank()));
    return factor * n * n * double(x[0].count()) / n;
  }};
}

}  // namespace

void add_products(Table& t) {
  t.family("products");
  add_matmuls(t);
}

void add_linear_algebra(Table& t) {
  t.family("linear algebra");
  const Traits squares{.products = [](const X& x, const X&) {
    return 2.0 * double(x[0].size(0)) * double(x[1].count());
  }};
  t.add(
      "cholesky", definite, [](const X& x) { return cholesky(x[0]); }, cubes(1. / 3));
  t.add(
      "cholesky, many small", small_matrices, [](const X& x) { return cholesky(x[0]); },
      cubes(1. / 3));
  t.add("solve_triangular", triangle, [](const X& x) { return solve_triangular(x[0], x[1]); },
        {.products = [](const X& x, const X&) {
          return double(x[0].size(0)) * double(x[1].count());
        }});
  t.add(
      "cholesky_solve", triangle, [](const X& x) { return cholesky_solve(x[0], x[1]); }, squares);
  t.add(
      "solve", system, [](const X& x) { return solve(x[0], x[1]); }, cubes(2. / 3));
  t.add(
      "inverse", definite, [](const X& x) { return inverse(x[0]); }, cubes(2));
  t.add(
      "inverse, many small", small_matrices, [](const X& x) { return inverse(x[0]); }, cubes(2));
  Traits values = cubes(4. / 3);
  values.compared = 1;  // the signs of vectors are LAPACK's choice
  values.gradient = false;
  Traits of_values = cubes(4. / 3);
  of_values.tolerance = 20;  // of gradients, where eigenvalues are near each other
  const auto eigen = [](const X& x) -> Results {
    const EigenResult e = eigh(x[0]);
    return Tensors{e.values, e.vectors};
  };
  t.add("eigh", definite, eigen, values);
  t.add("eigh, many small", small_matrices, eigen, values);
  t.add(
      "eigenvalues", definite, [](const X& x) { return eigenvalues(x[0]); }, of_values);
  t.add(
      "logdet", definite, [](const X& x) { return logdet(x[0]); }, cubes(1. / 3));
  t.add(
      "slogdet", definite, [](const X& x) { return slogdet(x[0]).log; }, cubes(2. / 3));
  t.add(
      "det", small_matrices, [](const X& x) { return det(x[0]); }, cubes(2. / 3));
}

}  // namespace ladon::bench::every
