#include "ladon/core/linalg/lapack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/core/view.h"
#include "ladon/tests/support.h"

namespace ladon::lapack_test {
namespace {

// Row-major double copies, for references in plain loops.
struct Dense {
  std::int64_t rows, columns;
  std::vector<double> values;

  explicit Dense(const Tensor& x)
      : rows(x.shape()[0]), columns(x.shape()[1]), values(x.to_vector()) {}
  Dense(std::int64_t r, std::int64_t c)
      : rows(r), columns(c), values(static_cast<std::size_t>(r * c)) {}
  double& operator()(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
  double operator()(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
};

Dense transpose(const Dense& a) {
  Dense t(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
  return t;
}

Dense operator*(const Dense& a, const Dense& b) {
  Dense c(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t p = 0; p < a.columns; ++p)
      for (std::int64_t j = 0; j < b.columns; ++j) c(i, j) += a(i, p) * b(p, j);
  return c;
}

double largest_difference(const Dense& a, const Dense& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.columns, b.columns);
  double most = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    most = std::max(most, std::abs(a.values[i] - b.values[i]));
  return most;
}

Tensor tensor_of(const Dense& a, DType dtype) {
  Tensor x = empty({a.rows, a.columns}, dtype);
  visit_floating("tensor_of", dtype, [&]<class T>() {
    T* p = x.mutable_data<T>();
    for (std::size_t i = 0; i < a.values.size(); ++i) p[i] = static_cast<T>(a.values[i]);
  });
  return x;
}

// Symmetric with 3 on the diagonal, and N(0, 1/n)/3 beside it, so that the eigenvalues are within
// about 2/3 of 3 (Wigner's semicircle).
Tensor positive(std::int64_t n, DType dtype) {
  Generator rng(7);
  Dense a(normal({n, n}, rng, 0, 1 / (3 * std::sqrt(1.0 + static_cast<double>(n))), f64));
  for (std::int64_t i = 0; i < n; ++i) {
    a(i, i) = 3;
    for (std::int64_t j = 0; j < i; ++j) a(j, i) = a(i, j);
  }
  return tensor_of(a, dtype);
}

double tolerance(DType dtype, std::int64_t n) {
  return (dtype == f32 ? 1e-6 : 1e-14) * (4 + static_cast<double>(n));
}

// A tensor of the same values whose rows and columns are both strided.
Tensor strided(const Tensor& x) {
  const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
  Dense wide(2 * columns, 3 * rows);
  const Dense values(x);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) wide(2 * j, 3 * i) = values(i, j);
  Tensor y = view::transpose(tensor_of(wide, x.dtype()), 0, 1);
  y = view::slice(y, 0, 0, rows, 3);
  return view::slice(y, 1, 0, columns, 2);
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "no Error";
  return "";
}

void expect_error(const std::function<void()>& action, const std::vector<std::string>& fragments) {
  for (const auto& fragment : fragments) test::expect_error(action, fragment);
}

class Lapack : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Reals, Lapack, testing::Values(f32, f64),
                         [](const auto& each) { return std::string(to_string(each.param)); });

TEST_P(Lapack, CholeskyMultipliesBack) {
  for (const std::int64_t n : {0, 1, 2, 5, 127, 128, 129, 300}) {
    const Tensor a = positive(n, GetParam());
    const Dense l(lapack::cholesky(a));
    for (std::int64_t i = 0; i < n; ++i) {
      EXPECT_GT(l(i, i), 0);
      for (std::int64_t j = i + 1; j < n; ++j) ASSERT_EQ(l(i, j), 0);
    }
    EXPECT_LE(largest_difference(l * transpose(l), Dense(a)), tolerance(GetParam(), n)) << n;
  }
}

TEST_P(Lapack, OnlyTheLowerTriangleIsRead) {
  const Tensor a = positive(5, GetParam());
  Dense broken(a);
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = i + 1; j < 5; ++j) broken(i, j) = std::nan("");
  const Tensor b = tensor_of(broken, GetParam());
  EXPECT_EQ(lapack::cholesky(a).to_vector(), lapack::cholesky(b).to_vector());
  EXPECT_EQ(lapack::eigh(a).first.to_vector(), lapack::eigh(b).first.to_vector());
  EXPECT_EQ(lapack::solve_triangular(a, a).to_vector(), lapack::solve_triangular(b, a).to_vector());
}

TEST_P(Lapack, StridedOperands) {
  const Tensor a = positive(6, GetParam()), b = positive(6, GetParam());
  const Tensor wide = strided(a);
  ASSERT_FALSE(wide.contiguous());
  EXPECT_EQ(lapack::cholesky(a).to_vector(), lapack::cholesky(wide).to_vector());
  EXPECT_EQ(lapack::eigh(a).second.to_vector(), lapack::eigh(wide).second.to_vector());
  EXPECT_EQ(lapack::solve_triangular(a, b).to_vector(),
            lapack::solve_triangular(wide, strided(b)).to_vector());
}

TEST_P(Lapack, SolvesMultiplyBack) {
  Generator rng(3);
  for (const std::int64_t n : {1, 4, 70, 140})
    for (const std::int64_t k : {0, 1, 3, 130}) {
      const Tensor a = positive(n, GetParam()), b = normal({n, k}, rng, 0, 1, GetParam());
      const Tensor l = lapack::cholesky(a);
      const double close = 10 * tolerance(GetParam(), n);
      EXPECT_LE(largest_difference(Dense(l) * Dense(lapack::solve_triangular(l, b)), Dense(b)),
                close);
      EXPECT_LE(largest_difference(
                    transpose(Dense(l)) * Dense(lapack::solve_triangular(l, b, true)), Dense(b)),
                close);
      EXPECT_LE(largest_difference(Dense(a) * Dense(lapack::cholesky_solve(l, b)), Dense(b)),
                close);
    }
  EXPECT_EQ(lapack::solve_triangular(empty({0, 0}, GetParam()), empty({0, 3}, GetParam())).shape(),
            (Shape{0, 3}));
}

TEST_P(Lapack, EliminationMultipliesBack) {
  Generator rng(4);
  for (const std::int64_t n : {0, 1, 2, 9, 140}) {
    const Tensor a = normal({n, n}, rng, 0, 1, GetParam());
    const lapack::Lu lu = lapack::lu(a);
    const Dense packed(lu.factors);
    Dense l(n, n), u(n, n), exchanged(a);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) (i <= j ? u : l)(i, j) = packed(i, j);
    for (std::int64_t i = 0; i < n; ++i) l(i, i) = 1;
    const auto swaps = lu.swaps.to_vector<std::int64_t>();
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        std::swap(exchanged(i, j), exchanged(swaps[static_cast<std::size_t>(i)], j));
    EXPECT_LE(largest_difference(l * u, exchanged), tolerance(GetParam(), n)) << n;
    for (const std::int64_t k : {0, 1, 130}) {
      const Tensor x = normal({n, k}, rng, 0, 1, GetParam());
      const Tensor b = tensor_of(Dense(a) * Dense(x), GetParam());
      const Tensor c = tensor_of(transpose(Dense(a)) * Dense(x), GetParam());
      const double close = 1e3 * tolerance(GetParam(), n);  // of matrices that are not so regular
      EXPECT_LE(largest_difference(Dense(lapack::lu_solve(lu, b)), Dense(x)), close);
      EXPECT_LE(largest_difference(Dense(lapack::lu_solve(lu, c, true)), Dense(x)), close);
    }
  }
}

TEST_P(Lapack, EliminationOfASingularMatrixHasAPivotOfZero) {
  // Rows are exchanged: [[3, 6], [1, 2]]; the second pivot is 2 − 6/3 = 0.
  const lapack::Lu lu = lapack::lu(tensor({1, 2, 3, 6}, {2, 2}, GetParam()));
  EXPECT_EQ(lu.swaps.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(Dense(lu.factors)(1, 1), 0);
  const Tensor b = ones({2, 1}, GetParam());
  expect_error([&] { lapack::lu_solve(lu, b); }, {"[lu_solve]", "[1, 1] is 0"});
  expect_error([&] { lapack::lu(b); }, {"[lu]", "[2, 1]"});
  const lapack::Lu wrong{eye(2, GetParam()), tensor({0, 2}, i64)};
  expect_error([&] { lapack::lu_solve(wrong, b); }, {"swaps[1] is 2", "must be a row in [1, 2)"});
  expect_error([&] { lapack::lu_solve({wrong.factors, b}, b); }, {"swaps must be i64 [2]"});
  const Tensor bad = tensor({1, NAN, 0, 1}, {2, 2}, GetParam());
  expect_error([&] { lapack::lu(bad); }, {"[lu]", "[0, 1] is nan"});
}

TEST_P(Lapack, InverseMultipliesBackAndIsSymmetric) {
  for (const std::int64_t n : {0, 1, 2, 63, 64, 65, 128, 300}) {
    const Tensor a = positive(n, GetParam());
    const Dense x(lapack::cholesky_inverse(lapack::cholesky(a)));
    Dense identity(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      identity(i, i) = 1;
      for (std::int64_t j = 0; j < i; ++j) ASSERT_EQ(x(i, j), x(j, i)) << n;
    }
    EXPECT_LE(largest_difference(Dense(a) * x, identity), 10 * tolerance(GetParam(), n)) << n;
  }
  // [[2, 1], [1, 2]]⁻¹ = [[2, −1], [−1, 2]]/3.
  const Dense x(
      lapack::cholesky_inverse(lapack::cholesky(tensor({2, 1, 1, 2}, {2, 2}, GetParam()))));
  EXPECT_NEAR(x(0, 0), 2.0 / 3, 1e-6);
  EXPECT_NEAR(x(0, 1), -1.0 / 3, 1e-6);
}

TEST_P(Lapack, EigenvaluesAreThoseOfEigh) {
  EXPECT_EQ(lapack::eigenvalues(empty({0, 0}, GetParam())).shape(), (Shape{0}));
  const Tensor a = positive(120, GetParam());
  const auto alone = lapack::eigenvalues(a).to_vector();
  const auto both = lapack::eigh(a).first.to_vector();
  ASSERT_EQ(alone.size(), both.size());
  for (std::size_t i = 0; i < alone.size(); ++i)
    EXPECT_NEAR(alone[i], both[i], 10 * tolerance(GetParam(), 120));
}

TEST_P(Lapack, EigenvectorsOfLargeAndSmallNumbers) {
  const std::int64_t n = 260;
  for (const double scale :
       GetParam() == f32 ? std::vector{1e-30, 1e30} : std::vector{1e-250, 1e250}) {
    const Tensor a = positive(n, GetParam()), b = kernels::binary(kernels::Binary::mul, a, scale);
    const auto plain = lapack::eigh(a).first.to_vector(),
               scaled = lapack::eigh(b).first.to_vector();
    for (std::size_t i = 0; i < plain.size(); ++i)
      EXPECT_NEAR(scaled[i] / scale, plain[i], 10 * tolerance(GetParam(), n));
  }
}

TEST_P(Lapack, EigenvectorsHaveTheSameBitsAtAnyNumberOfThreads) {
  const Tensor a = positive(420, GetParam());  // products with vectors by two tasks
  const int before = num_threads();
  set_num_threads(1);
  const auto one = lapack::eigh(a);
  set_num_threads(2);
  const auto two = lapack::eigh(a);
  set_num_threads(before);
  EXPECT_EQ(one.first.to_vector(), two.first.to_vector());
  EXPECT_EQ(one.second.to_vector(), two.second.to_vector());
}

// Eigenvalues ascend, eigenvectors are orthonormal columns, and A·V = V·diag(w) to a tolerance
// times the largest element of A.
void check_eigenvectors(const Tensor& a) {
  const std::int64_t n = a.shape()[0];
  const auto [values, vectors] = lapack::eigh(a);
  ASSERT_EQ(values.shape(), (Shape{n}));
  const std::vector<double> w = values.to_vector();
  EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));
  const Dense v(vectors);
  Dense scaled = v, identity(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    identity(j, j) = 1;
    for (std::int64_t i = 0; i < n; ++i) scaled(i, j) *= w[static_cast<std::size_t>(j)];
  }
  const Dense given(a);
  const double size = largest_difference(given, Dense(n, n));
  const double close = 10 * tolerance(a.dtype(), n);
  EXPECT_LE(largest_difference(given * v, scaled), close * size);
  EXPECT_LE(largest_difference(transpose(v) * v, identity), close);
}

TEST_P(Lapack, EigenvectorsOfMatricesOfLowRank) {
  const std::int64_t n = 290, rank = 3;
  Generator rng(3);
  const Dense factor(normal({n, rank}, rng, 0, 1, f64));
  Dense a = factor * transpose(factor);
  // The remainder beyond rank 3 is rounding, whose squares are below the least number of single
  // precision.
  for (const double scale : {1.0, 1e-11}) {
    Dense scaled = a;
    for (double& x : scaled.values) x *= scale;
    check_eigenvectors(tensor_of(scaled, GetParam()));
  }
  check_eigenvectors(zeros({n, n}, GetParam()));
  Dense diagonal(n, n);
  for (std::int64_t i = 0; i < n; ++i) diagonal(i, i) = static_cast<double>(i * i % 37) - 18;
  check_eigenvectors(tensor_of(diagonal, GetParam()));
  for (std::int64_t i = 1; i < n; ++i) diagonal(i, i - 1) = diagonal(i - 1, i) = i % 5 == 0 ? 0 : 1;
  check_eigenvectors(tensor_of(diagonal, GetParam()));
}

TEST_P(Lapack, EigenvectorsAreColumns) {
  for (const std::int64_t n : {0, 1, 2, 9, 120, 256, 300, 420})
    check_eigenvectors(positive(n, GetParam()));
  // [[2, 1], [1, 2]] has eigenvalues 1 and 3 along (1, −1) and (1, 1).
  const auto [values, vectors] = lapack::eigh(tensor({2, 1, 1, 2}, {2, 2}, GetParam()));
  EXPECT_NEAR(values.to_vector()[0], 1, 1e-6);
  EXPECT_NEAR(values.to_vector()[1], 3, 1e-6);
  const Dense v(vectors);
  EXPECT_NEAR(v(0, 0), -v(1, 0), 1e-6);
  EXPECT_NEAR(v(0, 1), v(1, 1), 1e-6);
}

TEST_P(Lapack, SameBitsAtAnyNumberOfThreads) {
  const int threads = num_threads();
  Generator rng(5);
  const Tensor a = positive(300, GetParam()), b = normal({300, 150}, rng, 0, 1, GetParam());
  set_num_threads(1);
  const auto l = lapack::cholesky(a).to_vector();
  const auto x = lapack::cholesky_solve(lapack::cholesky(a), b).to_vector();
  const auto inverse = lapack::cholesky_inverse(lapack::cholesky(a)).to_vector();
  const auto general = lapack::lu_solve(lapack::lu(a), b).to_vector();
  for (const int n : {2, 4}) {
    set_num_threads(n);
    EXPECT_EQ(lapack::cholesky(a).to_vector(), l);
    EXPECT_EQ(lapack::cholesky_inverse(lapack::cholesky(a)).to_vector(), inverse);
    EXPECT_EQ(lapack::cholesky_solve(lapack::cholesky(a), b).to_vector(), x);
    EXPECT_EQ(lapack::lu_solve(lapack::lu(a), b).to_vector(), general);
  }
  set_num_threads(threads);
}

TEST_P(Lapack, IndefiniteMatrixNamesMinorEigenvalueAndJitter) {
  // diag(3, 2, −1) fails at order 3. Its mean is 4/3.
  const Tensor a = tensor({3, 0, 0, 0, 2, 0, 0, 0, -1}, {3, 3}, GetParam());
  expect_error([&] { lapack::cholesky(a); },
               {"[cholesky]", "order 3", "eigenvalue is -1;", "jitter", "mean 1.33333"});
  try {
    lapack::cholesky(a);
    ADD_FAILURE() << "no error";
  } catch (const lapack::NotPositiveDefinite& e) {
    EXPECT_NEAR(e.smallest_eigenvalue, -1, 1e-6);
    EXPECT_NEAR(e.jitter, 2, 1e-4);
  }
  // Past the first panel as well; the jitter that the message suggests is enough.
  for (const std::int64_t n : {3, 300}) {
    Dense d(positive(n, GetParam()));
    d(n - 2, n - 2) = -2;
    const std::string message = message_of([&] { lapack::cholesky(tensor_of(d, GetParam())); });
    EXPECT_NE(message.find(detail::join("order ", n - 1)), std::string::npos) << message;
    const double jitter = std::stod(message.substr(message.find("at least ") + 9));
    for (std::int64_t i = 0; i < n; ++i) d(i, i) += jitter;
    EXPECT_NO_THROW(lapack::cholesky(tensor_of(d, GetParam())));
  }
  expect_error(
      [&] {
        lapack::cholesky(zeros({2, 2}, GetParam()));
      },
      {"order 1", "eigenvalue is 0;"});
}

TEST_P(Lapack, BadOperands) {
  const Tensor a = positive(3, GetParam()), b = ones({3, 2}, GetParam());
  expect_error([&] { lapack::cholesky(b); }, {"[cholesky]", "[3, 2]"});
  expect_error([&] { lapack::eigh(ones({3}, GetParam())); }, {"[eigh]", "[3]"});
  expect_error([&] { lapack::eigenvalues(ones({3}, GetParam())); }, {"[eigenvalues]", "[3]"});
  expect_error([&] { lapack::cholesky_inverse(b); }, {"[cholesky_inverse]", "[3, 2]"});
  expect_error(
      [&] {
        lapack::solve_triangular(a, ones({4, 2}, GetParam()));
      },
      {"[solve_triangular]", "[3, 3]", "[4, 2]"});
  expect_error([&] { lapack::solve_triangular(a, ones({3}, GetParam())); }, {"[3]"});
  const DType other = GetParam() == f32 ? f64 : f32;
  expect_error([&] { lapack::solve_triangular(a, ones({3, 2}, other)); }, {"f32", "f64"});
  expect_error([&] { lapack::cholesky(ones({2, 2}, i64)); }, {"[cholesky]", "i64"});
  const Tensor singular = tensor({1, 0, 5, 0}, {2, 2}, GetParam());
  expect_error(
      [&] {
        lapack::solve_triangular(singular, ones({2, 1}, GetParam()));
      },
      {"[1, 1]", "singular"});
  expect_error([&] { lapack::cholesky_inverse(singular); }, {"[1, 1]", "singular"});
}

TEST_P(Lapack, NotFiniteIsAnError) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const Tensor a = tensor({1, 0, bad, 1}, {2, 2}, GetParam()), b = ones({2, 2}, GetParam());
    expect_error([&] { lapack::cholesky(a); }, {"[cholesky]", "[1, 0]", "finite"});
    expect_error([&] { lapack::eigh(a); }, {"[eigh]", "[1, 0]", "finite"});
    expect_error([&] { lapack::eigenvalues(a); }, {"[eigenvalues]", "[1, 0]", "finite"});
    expect_error([&] { lapack::cholesky_inverse(a); }, {"[cholesky_inverse]", "[1, 0]"});
    expect_error([&] { lapack::solve_triangular(a, b); }, {"[1, 0]", "finite"});
    expect_error([&] { lapack::solve_triangular(b, a); }, {"[1, 0]", "finite"});
  }
}

// Expanded tensors of stride 0 have the size without the memory.
TEST_P(Lapack, SizesBeyondTheIntegersOfLapack) {
  const std::int64_t huge = std::int64_t{1} << 31;
  const Tensor one = ones({1, 1}, GetParam());
  expect_error([&] { lapack::eigh(view::expand(one, {40000, 40000})); }, {"40000"});
  expect_error(
      [&] {
        lapack::solve_triangular(one, view::expand(one, {1, huge}));
      },
      {"2147483648"});
}

}  // namespace
}  // namespace ladon::lapack_test
