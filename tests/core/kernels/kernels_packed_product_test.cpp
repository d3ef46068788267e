#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/products/packed_product.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/tests/support.h"

namespace ladon::kernels_packed_product_test {
namespace {

using blas::Matrix;
using kernels::On;

/// A matrix with gaps: element (i, j) at data[i·row + j·column].
template <class T>
struct Held {
  std::vector<T> values;
  std::int64_t row, column;

  Held(std::int64_t rows, std::int64_t columns, int layout, std::uint64_t seed)
      : row(layout == 0   ? columns + 3
            : layout == 1 ? 1
                          : 3 * columns),
        column(layout == 0   ? 1
               : layout == 1 ? rows + 1
                             : 3) {
    Generator rng(seed);
    const std::int64_t count = rows * row + columns * column;
    for (const double x : normal({count}, rng, 0, 1, f64).to_vector())
      values.push_back(static_cast<T>(x));
  }
  Matrix<const T> view() const { return {values.data(), row, column}; }
  T operator()(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * row + j * column)];
  }
};

/// The largest error over its bound: n·ε of the sum of magnitudes.
template <class T>
double worst_error(std::int64_t m, std::int64_t n, std::int64_t k, const Held<T>& a,
                   const Held<T>& b, T alpha, T beta, const std::vector<T>* row,
                   const std::vector<T>& before, const std::vector<T>& after) {
  double worst = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(i * n + j);
      const double start = row         ? (*row)[static_cast<std::size_t>(j)]
                           : beta == 0 ? 0
                                       : beta * before[at];
      double sum = start, size = std::fabs(start);
      for (std::int64_t p = 0; p < k; ++p) {
        const double term = double{alpha} * a(i, p) * b(p, j);
        sum += term;
        size += std::fabs(term);
      }
      const double bound = (static_cast<double>(k) + 4) * std::numeric_limits<T>::epsilon() * size;
      worst = std::max(worst, std::fabs(after[at] - sum) / bound);
    }
  return worst;
}

template <class T>
void check(std::int64_t m, std::int64_t n, std::int64_t k, int a_layout, int b_layout, T alpha,
           T beta, bool with_row) {
  SCOPED_TRACE(detail::join(m, " x ", n, " x ", k, ", layouts ", a_layout, b_layout, ", alpha ",
                            alpha, ", beta ", beta, with_row ? ", row" : ""));
  const Held<T> a(m, k, a_layout, 1), b(k, n, b_layout, 2);
  const Held<T> start(m, n, 0, 3);
  std::vector<T> before(static_cast<std::size_t>(m * n)), row(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      before[static_cast<std::size_t>(i * n + j)] =
          beta == 0 ? std::numeric_limits<T>::quiet_NaN() : start(i, j);
  for (std::int64_t j = 0; j < n; ++j) row[static_cast<std::size_t>(j)] = start(0, j);
  std::vector<T> after = before, alone = before;
  const T* added = with_row ? row.data() : nullptr;
  kernels::packed_product<T>(On::all_threads, m, n, k, alpha, a.view(), b.view(), beta,
                             {after.data(), n, 1}, added);
  kernels::packed_product<T>(On::this_thread, m, n, k, alpha, a.view(), b.view(), beta,
                             {alone.data(), n, 1}, added);
  EXPECT_EQ(after, alone);
  EXPECT_LE(worst_error(m, n, k, a, b, alpha, beta, with_row ? &row : nullptr, before, after), 1);
}

template <class T>
class KernelsPackedProduct : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsPackedProduct, Reals);

// Around the sizes of blocks (up to 8 × 32), of stripes (128), and of a block of the sum (256).
TYPED_TEST(KernelsPackedProduct, OfAnySize) {
  using T = TypeParam;
  for (const std::int64_t m : {1, 7, 8, 33, 130})
    for (const std::int64_t n : {1, 15, 32, 65, 129})
      for (const std::int64_t k : {1, 17, 256, 300}) check<T>(m, n, k, 0, 0, T(1), T(0), false);
}

TYPED_TEST(KernelsPackedProduct, OfAnyLayout) {
  using T = TypeParam;
  for (const int a : {0, 1, 2})
    for (const int b : {0, 1, 2}) check<T>(45, 71, 290, a, b, T(1), T(0), false);
}

TYPED_TEST(KernelsPackedProduct, AddsToTheResultOrARow) {
  using T = TypeParam;
  for (const T alpha : {T(1), T(-0.5)})
    for (const T beta : {T(0), T(1), T(-2)}) check<T>(37, 50, 270, 0, 0, alpha, beta, false);
  check<T>(37, 50, 270, 0, 1, T(1), T(0), true);
  check<T>(64, 64, 600, 0, 0, T(2), T(0), true);
}

// More of B than is packed at a time: by columns, and by the sum.
TYPED_TEST(KernelsPackedProduct, InParts) {
  using T = TypeParam;
  check<T>(3, 150, 70'000, 0, 0, T(1), T(1), false);
  check<T>(2, 20, 300'000, 0, 1, T(1), T(0), true);
}

/// A·B in f32.
std::vector<float> product(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<const float> a,
                           Matrix<const float> b) {
  std::vector<float> c(static_cast<std::size_t>(m * n));
  kernels::packed_product<float>(On::all_threads, m, n, k, 1, a, b, 0, {c.data(), n, 1});
  return c;
}

// In 16 tasks and in 64, with B in the second-level cache and beyond it.
TEST(KernelsPackedProductThreads, HaveTheBitsOfOneThreadOnMany) {
  const int before = num_threads();
  for (const auto& sizes :
       {std::array<std::int64_t, 3>{500, 400, 300}, {1500, 520, 700}, {130, 2000, 900}}) {
    const std::int64_t m = sizes[0], n = sizes[1], k = sizes[2];
    Generator rng(5);
    const Tensor a = normal({m, k}, rng), b = normal({k, n}, rng);
    const auto on = [&](int threads) {
      set_num_threads(threads);
      return product(m, n, k, {a.data<float>(), k, 1}, {b.data<float>(), n, 1});
    };
    const auto one = on(1);
    for (const int threads : {2, 3, 16}) EXPECT_EQ(on(threads), one) << threads;
  }
  set_num_threads(before);
}

// Sums are not cut otherwise for a part of A's rows or of B's columns, whatever its tasks are.
TEST(KernelsPackedProductParts, HaveTheBitsOfTheWhole) {
  const std::int64_t m = 1500, n = 520, k = 700;
  Generator rng(6);
  const Tensor a = normal({m, k}, rng), b = normal({k, n}, rng);
  const Matrix<const float> left{a.data<float>(), k, 1}, right{b.data<float>(), n, 1};
  const auto whole = product(m, n, k, left, right);
  for (const auto& [row, rows, column, columns] : {std::array<std::int64_t, 4>{0, 700, 0, n},
                                                   {701, 65, 0, n},
                                                   {0, m, 130, 201},
                                                   {33, 1000, 7, 40}}) {
    const auto part =
        product(rows, columns, k, {left.data + row * k, k, 1}, {right.data + column, n, 1});
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        ASSERT_EQ(part[static_cast<std::size_t>(i * columns + j)],
                  whole[static_cast<std::size_t>((row + i) * n + column + j)])
            << rows << " x " << columns << " at " << i << ", " << j;
  }
}

}  // namespace
}  // namespace ladon::kernels_packed_product_test
