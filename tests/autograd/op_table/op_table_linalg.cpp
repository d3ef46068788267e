// Rows of linear algebra (autograd/ops/linalg/linalg.h). Symmetric inputs are computed from an
// arbitrary matrix inside the differentiated function, since finite differences of a single element
// would make them asymmetric.

#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "op_table.h"

namespace ladon::test {
namespace {

using Matrix = std::vector<std::vector<double>>;
using OfMatrices = std::function<Matrix(const std::vector<Matrix>&)>;

Matrix zero_matrix(std::size_t rows, std::size_t columns) {
  return Matrix(rows, std::vector<double>(columns));
}

/// The matrix of x at an index of leading axes that x may broadcast to; a vector is one column.
Matrix matrix_at(const Dense& x, const Shape& lead) {
  if (x.shape.rank() == 1) {
    Matrix column;
    for (const double v : x.values) column.push_back({v});
    return column;
  }
  const int own = x.shape.rank() - 2;
  Shape at = lead.sub(lead.rank() - own, lead.rank());
  for (int i = 0; i < own; ++i) at[i] = x.shape[i] == 1 ? 0 : at[i];
  at.append(0);
  at.append(0);
  Matrix m = zero_matrix(static_cast<std::size_t>(x.shape[own]),
                         static_cast<std::size_t>(x.shape[own + 1]));
  for (auto& row : m) {
    at[own + 1] = 0;
    for (double& v : row) {
      v = x(at);
      ++at[own + 1];
    }
    ++at[own];
  }
  return m;
}

/// f of the matrices at each index of the leading axes; `drop` axes of the result's last, of size
/// 1.
Reference each_matrix(OfMatrices f, int drop = 0) {
  return [=](const std::vector<Dense>& inputs) {
    Shape lead;
    for (const Dense& x : inputs)
      if (x.shape.rank() > 2)
        lead = broadcast_shapes("reference", lead, x.shape.sub(0, x.shape.rank() - 2));
    Dense y;
    for_each_index(lead, [&](const Shape& at) {
      std::vector<Matrix> matrices;
      for (const Dense& x : inputs) matrices.push_back(matrix_at(x, at));
      const Matrix result = f(matrices);
      y.shape = lead;
      y.shape.append(static_cast<std::int64_t>(result.size()));
      y.shape.append(static_cast<std::int64_t>(result[0].size()));
      for (const auto& row : result) y.values.insert(y.values.end(), row.begin(), row.end());
    });
    for (int i = 0; i < drop; ++i) y.shape.erase(y.shape.rank() - 1);
    return y;
  };
}

Matrix transposed(const Matrix& a) {
  Matrix t = zero_matrix(a[0].size(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[0].size(); ++j) t[j][i] = a[i][j];
  return t;
}

Matrix half_sum(const Matrix& a) {
  Matrix s = a;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j) s[i][j] = 0.5 * (a[i][j] + a[j][i]);
  return s;
}

/// L_ij = (A_ij − Σ_{k<j} L_ik·L_jk)/L_jj, and the root of the same on the diagonal.
Matrix factor(const Matrix& a) {
  Matrix l = zero_matrix(a.size(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = a[i][j];
      for (std::size_t k = 0; k < j; ++k) rest -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(rest) : rest / l[j][j];
    }
  return l;
}

/// A⁻¹·B by Gauss and Jordan, the largest pivot first.
Matrix solved(Matrix a, Matrix b) {
  const std::size_t n = a.size();
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t best = p;
    for (std::size_t i = p; i < n; ++i)
      if (std::abs(a[i][p]) > std::abs(a[best][p])) best = i;
    std::swap(a[p], a[best]);
    std::swap(b[p], b[best]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const double times = a[i][p] / a[p][p];
      for (std::size_t j = 0; j < n; ++j) a[i][j] -= times * a[p][j];
      for (std::size_t j = 0; j < b[i].size(); ++j) b[i][j] -= times * b[p][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (double& v : b[i]) v /= a[i][i];
  return b;
}

Matrix identity(std::size_t n) {
  Matrix one = zero_matrix(n, n);
  for (std::size_t i = 0; i < n; ++i) one[i][i] = 1;
  return one;
}

Matrix triangle(Matrix a, bool upper) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j)
      if (upper ? j < i : j > i) a[i][j] = 0;
  return a;
}

/// By Laplace's expansion along the first row.
double determinant(const Matrix& a) {
  if (a.empty()) return 1;
  double total = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    Matrix minor;
    for (std::size_t i = 1; i < a.size(); ++i) {
      minor.push_back(a[i]);
      minor.back().erase(minor.back().begin() + static_cast<std::ptrdiff_t>(j));
    }
    total += (j % 2 == 0 ? 1 : -1) * a[0][j] * determinant(minor);
  }
  return total;
}

/// Eigenvalues in ascending order, and the matrix of their vectors' rows, by Jacobi's rotations.
std::pair<std::vector<double>, Matrix> eigen(Matrix a) {
  const std::size_t n = a.size();
  Matrix v = identity(n);
  for (int sweep = 0; sweep < 60; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const double angle = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = a[k][p], kq = a[k][q];
          a[k][p] = c * kp - s * kq;
          a[k][q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = a[p][k], qk = a[q][k], vp = v[p][k], vq = v[q][k];
          a[p][k] = c * pk - s * qk;
          a[q][k] = s * pk + c * qk;
          v[p][k] = c * vp - s * vq;
          v[q][k] = s * vp + c * vq;
        }
      }
  std::vector<std::pair<double, std::vector<double>>> pairs;
  for (std::size_t i = 0; i < n; ++i) pairs.emplace_back(a[i][i], v[i]);
  std::sort(pairs.begin(), pairs.end());
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) {
    values.push_back(pairs[i].first);
    v[i] = pairs[i].second;
  }
  return {values, v};
}

const char* const not_square = "square matrices [.., n, n], got shape [2, 3]";

Tensor even(const Tensor& x) { return 0.5 * (x + transpose(x)); }

/// Symmetric positive definite, with eigenvalues of 1 and more.
Tensor definite(OpTable& t, const Shape& shape) {
  const Tensor x = t.random(shape, -1, 1);
  return matmul(x, transpose(x)) + eye(shape[-1], f64);
}

/// A matrix with a diagonal that is large beside the rest.
Tensor regular(OpTable& t, const Shape& shape) {
  return t.random(shape, -1, 1) + 3 * eye(shape[-1], f64);
}

OpSample one(const std::string& note, const Tensor& a, Tensor (*f)(const Tensor&),
             const Reference& reference) {
  return {.note = note,
          .inputs = {a},
          .apply = [f](const auto& x) { return f(x[0]); },
          .reference = reference};
}

void add(OpTable& t, OpRow row) {
  row.rtol = 1e-11;
  row.f32_rtol = 1e-5;
  t.add(std::move(row));
}

void add_factors(OpTable& t) {
  const auto symmetric_factor = [](const Tensor& x) { return cholesky(even(x)); };
  const Reference factored = each_matrix([](const auto& m) { return factor(half_sum(m[0])); });
  add(t, {.name = "cholesky",
          .samples = {one("a matrix", definite(t, {3, 3}), symmetric_factor, factored),
                      one("a batch", definite(t, {2, 2, 3, 3}), symmetric_factor, factored)},
          .empty = {one("no rows", zeros({2, 0, 0}, f64), symmetric_factor,
                        [](const auto&) {
                          return Dense(Shape{2, 0, 0});
                        }),
                    one("no matrices", zeros({0, 2, 2}, f64), symmetric_factor,
                        [](const auto&) {
                          return Dense(Shape{0, 2, 2});
                        })},
          .errors = {{not_square,
                      [] {
                        cholesky(ones({2, 3}));
                      }},
                     {"leading minor of order 2",
                      [] {
                        cholesky(tensor({1, 2, 2, 1}, {2, 2}));
                      }},
                     {"floating-point",
                      [] {
                        cholesky(ones({2, 2}, i64));
                      }},
                     {"is nan", [] {
                        cholesky(full({2, 2}, NAN));
                      }}}});
  const auto values_of = [](const Tensor& x) { return eigh(even(x)).values; };
  // Σ w_i·v_i·v_iᵀ with w = (1, 3, −2): no sign of a vector is in it.
  const auto vectors_of = [](const Tensor& x) {
    const Tensor v = eigh(even(x)).vectors;
    return matmul(v * tensor({1, 3, -2}, v.dtype()), transpose(v));
  };
  const Reference values =
      each_matrix([](const auto& m) { return transposed({eigen(half_sum(m[0])).first}); }, 1);
  const Reference vectors = each_matrix([](const auto& m) {
    const Matrix v = eigen(half_sum(m[0])).second;
    const std::vector<double> w{1, 3, -2};
    Matrix y = zero_matrix(3, 3);
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) y[i][j] += w[k] * v[k][i] * v[k][j];
    return y;
  });
  const Tensor apart = tensor({2, 0, 0, 0, -1, 0, 0, 0, 0.5}, {3, 3}, f64);
  add(t, {.name = "eigh",
          .samples = {one("values", t.random({3, 3}), values_of, values),
                      one("values of a batch", t.random({2, 4, 4}), values_of, values),
                      one("vectors", apart + t.random({3, 3}, -0.5, 0.5), vectors_of, vectors),
                      one("vectors of a batch", apart + t.random({2, 3, 3}, -0.5, 0.5), vectors_of,
                          vectors)},
          .empty = {one("no rows", zeros({2, 0, 0}, f64), values_of,
                        [](const auto&) {
                          return Dense(Shape{2, 0});
                        })},
          .errors = {{not_square,
                      [] {
                        eigh(ones({2, 3}));
                      }},
                     {"floating-point",
                      [] {
                        eigh(ones({2, 2}, boolean));
                      }},
                     {"is inf", [] {
                        eigh(full({1, 1}, HUGE_VAL));
                      }}}});
  const auto alone = [](const Tensor& x) { return eigenvalues(even(x)); };
  add(t, {.name = "eigenvalues",
          .samples = {one("one matrix", t.random({3, 3}), alone, values),
                      one("a batch", t.random({2, 4, 4}), alone, values)},
          .empty = {one("no rows", zeros({2, 0, 0}, f64), alone,
                        [](const auto&) {
                          return Dense(Shape{2, 0});
                        })},
          .errors = {{not_square,
                      [] {
                        eigenvalues(ones({2, 3}));
                      }},
                     {"floating-point",
                      [] {
                        eigenvalues(ones({2, 2}, boolean));
                      }},
                     {"is inf", [] {
                        eigenvalues(full({1, 1}, HUGE_VAL));
                      }}}});
}

void add_systems(OpTable& t) {
  const auto general = [](const auto& x) { return solve(x[0], x[1]); };
  const Reference both = each_matrix([](const auto& m) { return solved(m[0], m[1]); });
  const Reference vector = each_matrix([](const auto& m) { return solved(m[0], m[1]); }, 1);
  add(t,
      {.name = "solve",
       .samples =
           {{"a matrix", {regular(t, {3, 3}), t.random({3, 2})}, general, both},
            {"a vector", {regular(t, {2, 3, 3}), t.random({3})}, general, vector},
            {"one matrix of many sides", {regular(t, {3, 3}), t.random({2, 3, 1})}, general, both},
            {"batches", {regular(t, {2, 1, 2, 2}), t.random({3, 2, 2})}, general, both}},
       .empty = {{"no sides",
                  {regular(t, {2, 2}), zeros({2, 0}, f64)},
                  general,
                  [](const auto&) {
                    return Dense(Shape{2, 0});
                  }}},
       .errors = {{not_square,
                   [] {
                     solve(ones({2, 3}), ones({3}));
                   }},
                  {"pivot 1 of 2 is 0",
                   [] {
                     solve(tensor({1, 2, 3, 6}, {2, 2}), ones({2}));
                   }},
                  {"must have 2 rows",
                   [] {
                     solve(ones({2, 2}), ones({3}));
                   }},
                  {"do not broadcast", [] {
                     solve(ones({2, 2, 2}), ones({3, 2, 1}));
                   }}}});

  std::vector<OpSample> triangular;
  for (const bool upper : {false, true})
    for (const bool flipped : {false, true})
      for (const bool left : {true, false})
        triangular.push_back(
            {.note = detail::join(upper ? "upper" : "lower", flipped ? ", transposed" : "",
                                  left ? "" : ", on the right"),
             .inputs = {regular(t, {2, 3, 3}), t.random(left ? Shape{3, 2} : Shape{2, 3})},
             .apply =
                 [=](const auto& x) {
                   return solve_triangular(x[0], x[1],
                                           {.upper = upper, .transposed = flipped, .left = left});
                 },
             .reference = each_matrix([=](const auto& m) {
               const Matrix a = triangle(m[0], upper), op = flipped ? transposed(a) : a;
               return left ? solved(op, m[1])
                           : transposed(solved(transposed(op), transposed(m[1])));
             })});
  triangular.push_back(
      {.note = "a vector on the right",  // x·A = b
       .inputs = {regular(t, {3, 3}), t.random({3})},
       .apply = [](const auto& x) { return solve_triangular(x[0], x[1], {.left = false}); },
       .reference = each_matrix(
           [](const auto& m) { return solved(transposed(triangle(m[0], false)), m[1]); }, 1)});
  add(t, {.name = "solve_triangular",
          .samples = triangular,
          .empty = {{"no rows",
                     {zeros({0, 0}, f64), zeros({0, 2}, f64)},
                     [](const auto& x) { return solve_triangular(x[0], x[1]); },
                     [](const auto&) {
                       return Dense(Shape{0, 2});
                     }}},
          .errors = {{not_square,
                      [] {
                        solve_triangular(ones({2, 3}), ones({3}));
                      }},
                     {"[1, 1] is 0",
                      [] {
                        solve_triangular(tensor({1, 5, 5, 0}, {2, 2}), ones({2}));
                      }},
                     {"must have 2 rows", [] {
                        solve_triangular(ones({2, 2}), ones({3, 2}));
                      }}}});
  add(t, {.name = "cholesky_solve",
          .samples = {{"a vector",
                       {regular(t, {3, 3}), t.random({3})},
                       [](const auto& x) { return cholesky_solve(x[0], x[1]); },
                       each_matrix(
                           [](const auto& m) {
                             const Matrix l = triangle(m[0], false);
                             return solved(transposed(l), solved(l, m[1]));
                           },
                           1)}},
          .errors = {{not_square,
                      [] {
                        cholesky_solve(ones({2, 3}), ones({3}));
                      }},
                     {"is 0", [] {
                        cholesky_solve(zeros({2, 2}), ones({2}));
                      }}}});
}

void add_inverse_and_determinants(OpTable& t) {
  const Reference inverted =
      each_matrix([](const auto& m) { return solved(m[0], identity(m[0].size())); });
  add(t, {.name = "inverse",
          .samples = {one("a matrix", regular(t, {3, 3}), inverse, inverted),
                      one("a batch", regular(t, {2, 2, 2}), inverse, inverted)},
          .errors = {{not_square,
                      [] {
                        inverse(ones({2, 3}));
                      }},
                     {"pivot 0 of 2 is 0", [] {
                        inverse(zeros({2, 2}));
                      }}}});
  const auto number = [](double (*f)(double)) {
    return each_matrix([f](const auto& m) { return Matrix{{f(determinant(m[0]))}}; }, 2);
  };
  const Reference determinants = number([](double d) { return d; });
  const Reference logs = number([](double d) { return std::log(std::abs(d)); });
  OpSample singular = one("singular", tensor({1, 2, 2, 4}, {2, 2}, f64), det, determinants);
  singular.differentiable = false;
  add(t, {.name = "det",
          .samples = {one("a matrix", t.random({4, 4}), det, determinants),
                      one("a batch", t.random({2, 3, 3}), det, determinants), singular},
          .empty = {one("of nothing", zeros({0, 0}, f64), det,
                        [](const auto&) {
                          Dense y((Shape()));
                          y.values[0] = 1;
                          return y;
                        })},
          .errors = {{not_square,
                      [] {
                        det(ones({2, 3}));
                      }},
                     {"is nan", [] {
                        det(full({1, 1}, NAN));
                      }}}});
  const auto sign_of = [](const Tensor& x) { return slogdet(x).sign; };
  const auto log_of = [](const Tensor& x) { return slogdet(x).log; };
  OpSample signs =
      one("signs", t.random({5, 3, 3}), sign_of, number([](double d) { return d > 0 ? 1. : -1.; }));
  OpSample of_singular = one("log of a singular one", zeros({2, 2}, f64), log_of, logs);
  signs.differentiable = of_singular.differentiable = false;
  add(t,
      {.name = "slogdet",
       .samples = {one("log", t.random({3, 3}), log_of, logs),
                   one("logs of a batch", t.random({2, 2, 2}), log_of, logs), signs, of_singular},
       .errors = {{not_square, [] {
                     slogdet(ones({2, 3}));
                   }}}});
  const auto of_even = [](const Tensor& x) { return logdet(even(x)); };
  const Reference of_half_sum =
      each_matrix([](const auto& m) { return Matrix{{std::log(determinant(half_sum(m[0])))}}; }, 2);
  add(t, {.name = "logdet",
          .samples = {one("a matrix", definite(t, {3, 3}), of_even, of_half_sum),
                      one("a batch", definite(t, {2, 2, 2}), of_even, of_half_sum)},
          .errors = {{not_square,
                      [] {
                        logdet(ones({2, 3}));
                      }},
                     {"not positive definite", [] {
                        logdet(zeros({2, 2}));
                      }}}});
}

void add_linalg_rows(OpTable& t) {
  add_factors(t);
  add_systems(t);
  add_inverse_and_determinants(t);
}

const Family family(add_linalg_rows);

}  // namespace
}  // namespace ladon::test
