#include "ladon/core/linalg/blas.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#ifndef LADON_PORTABLE
#include "ladon/core/linalg/openblas/one_thread.h"

extern "C" char* openblas_get_corename();
#endif

namespace ladon::blas_test {
namespace {

using blas::Matrix;

template <class T>
std::vector<T> draw(std::int64_t n, std::uint64_t seed) {
  Generator rng(seed);
  const Tensor x = normal({n}, rng, 0, 1, dtype_of<T>());
  return {x.data<T>(), x.data<T>() + n};
}

// C ← alpha·A·B + beta·C, or its lower triangle, in double, and the sum of magnitudes that bounds
// the rounding error.
template <class T>
void expect_product(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Matrix<const T> a,
                    Matrix<const T> b, T beta, const T* before, Matrix<T> c, bool lower = false) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < (lower ? i + 1 : n); ++j) {
      const T old = before[i * c.row + j];
      double sum = beta == 0 ? 0 : double{beta} * old, size = std::abs(sum);
      for (std::int64_t p = 0; p < k; ++p) {
        const double term =
            double{alpha} * a.data[i * a.row + p * a.column] * b.data[p * b.row + j * b.column];
        sum += term;
        size += std::abs(term);
      }
      const double bound = size * std::numeric_limits<T>::epsilon() * (2 + std::sqrt(k) / 2);
      ASSERT_NEAR(c.data[i * c.row + j], sum, bound)
          << m << "x" << n << "x" << k << " at " << i << ", " << j;
    }
  }
}

// A rows × columns matrix in a buffer: row-major or transposed, with `gap` elements between lines.
template <class T>
Matrix<const T> layout(const T* data, std::int64_t rows, std::int64_t columns, bool transposed,
                       std::int64_t gap) {
  if (transposed) return {data, 1, rows + gap};
  return {data, columns + gap, 1};
}

template <class T>
class Blas : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Blas, Reals);

struct Case {
  std::int64_t m, n, k;
};

TYPED_TEST(Blas, EqualsTheNaiveProductInEveryLayout) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  for (const Case& s : {Case{1, 1, 1},
                        {2, 3, 4},
                        {1, 7, 5},
                        {7, 1, 5},
                        {5, 6, 1},
                        {1, 1, 9},
                        {17, 33, 65},
                        {64, 64, 64},
                        {130, 70, 90},
                        {300, 5, 20},
                        {150, 130, 60}}) {
    const auto x = draw<T>(4 * (s.m + 3) * (s.k + 3), 1), y = draw<T>(4 * (s.k + 3) * (s.n + 3), 2);
    for (int flags = 0; flags < 16; ++flags) {
      const std::int64_t gap = flags & 4 ? 3 : 0;
      const auto a = layout(x.data(), s.m, s.k, flags & 1, gap);
      const auto b = layout(y.data(), s.k, s.n, flags & 2, gap);
      const T beta = flags & 8 ? T{0} : T(-0.5);
      for (const bool serial : {false, true}) {
        auto c = draw<T>(s.m * (s.n + gap), 3);
        if (beta == 0) std::fill(c.begin(), c.end(), nan);
        const auto before = c;
        const Matrix<T> out{c.data(), s.n + gap, 1};
        if (serial)
          blas::gemm_serial<T>(s.m, s.n, s.k, T(1.5), a, b, beta, out);
        else
          blas::gemm<T>(s.m, s.n, s.k, T(1.5), a, b, beta, out);
        expect_product<T>(s.m, s.n, s.k, T(1.5), a, b, beta, before.data(), out);
        for (std::int64_t i = 0; i < s.m; ++i)  // what lies between the rows is untouched
          for (std::int64_t j = s.n; j < s.n + gap; ++j) {
            const T now = c[i * out.row + j], then = before[i * out.row + j];
            ASSERT_TRUE(now == then || (std::isnan(now) && std::isnan(then)));
          }
      }
    }
  }
}

TYPED_TEST(Blas, PacksStridesThatBlasDoesNotTake) {
  using T = TypeParam;
  const std::int64_t m = 6, n = 5, k = 7;
  const auto x = draw<T>(1000, 1), y = draw<T>(1000, 2);
  // Every second column; overlapping rows; one row for all; one element for all; reversed.
  const Matrix<const T> lefts[] = {{x.data(), 20, 2},
                                   {x.data(), 1, 1},
                                   {x.data(), 0, 1},
                                   {x.data(), 0, 0},
                                   {x.data() + 500, -30, -2}};
  const Matrix<const T> rights[] = {{y.data(), 20, 2},
                                    {y.data(), 2, 1},
                                    {y.data(), 1, 0},
                                    {y.data(), 0, 0},
                                    {y.data() + 500, -30, -2}};
  for (const auto& a : lefts)
    for (const auto& b : rights)
      for (const Case& s : {Case{m, n, k}, {1, n, k}, {m, 1, k}, {m, n, 1}, {1, 1, k}}) {
        auto c = draw<T>(m * n, 3);
        const auto before = c;
        blas::gemm<T>(s.m, s.n, s.k, 1, a, b, 1, {c.data(), s.n, 1});
        expect_product<T>(s.m, s.n, s.k, 1, a, b, 1, before.data(), {c.data(), s.n, 1});
      }
}

TYPED_TEST(Blas, SymmetricProductsAreTheLowerTriangleOfProducts) {
  using T = TypeParam;
  for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                             {7, 3},
                             {131, 20},
                             {300, 257},
                             {260, 600},
                             {5, 0}})
    for (const bool turned : {false, true})
      for (const T beta : {T(0), T(1), T(-0.5)}) {
        const auto x = draw<T>(n * k, 1);
        const Matrix<const T> a = layout(x.data(), n, k, turned, 0);
        auto c = draw<T>(n * (n + 3), 2);
        const auto expected = c;
        blas::syrk<T>(n, k, T(1.5), a, beta, {c.data(), n + 3, 1});
        expect_product<T>(n, n, k, T(1.5), a, a.transposed(), beta, expected.data(),
                          {c.data(), n + 3, 1}, true);
        for (std::int64_t i = 0; i < n; ++i)  // what is beside C stays
          for (std::int64_t j = n; j < n + 3; ++j)
            ASSERT_EQ(c[i * (n + 3) + j], expected[i * (n + 3) + j]);
      }
}

TYPED_TEST(Blas, SizesOfZero) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> c{1, 2, nan, 4};
  const Matrix<const T> none{nullptr, 1, 1};
  blas::gemm<T>(0, 2, 2, 1, none, none, 0, {c.data(), 2, 1});
  blas::gemm<T>(2, 0, 2, 1, none, none, 0, {c.data(), 2, 1});
  blas::gemm_batched<T>(0, 2, 2, 2, 1, none, 0, none, 0, 0, {c.data(), 2, 1}, 4);
  EXPECT_EQ(c[0], 1);
  EXPECT_EQ(c[3], 4);
  blas::gemm<T>(2, 1, 0, 1, none, none, 3, {c.data(), 3, 1});  // column of a wider matrix
  EXPECT_EQ(c[0], 3);
  EXPECT_EQ(c[1], 2);
  EXPECT_EQ(c[3], 12);
  blas::gemm<T>(2, 2, 0, 1, none, none, 0, {c.data(), 2, 1});
  for (const T value : c) EXPECT_EQ(value, 0);
}

TYPED_TEST(Blas, BatchesShareOperandsByStrideZero) {
  using T = TypeParam;
  for (const Case& s : {Case{4, 5, 6}, {1, 5, 6}, {70, 130, 64}, {64, 30, 2100}}) {
    const std::int64_t count = s.k > 1000 ? 2 : 5;
    const auto x = draw<T>(count * s.m * s.k, 1), y = draw<T>(count * s.k * s.n, 2);
    for (int flags = 0; flags < 16; ++flags) {
      const auto a = layout(x.data(), s.m, s.k, flags & 1, 0);
      const auto b = layout(y.data(), s.k, s.n, flags & 2, 0);
      const std::int64_t a_batch = flags & 4 ? 0 : s.m * s.k, b_batch = flags & 8 ? 0 : s.k * s.n;
      auto c = draw<T>(count * s.m * s.n, 3);
      const auto before = c;
      blas::gemm_batched<T>(count, s.m, s.n, s.k, T(0.5), a, a_batch, b, b_batch, T(2),
                            {c.data(), s.n, 1}, s.m * s.n);
      for (std::int64_t i = 0; i < count; ++i)
        expect_product<T>(s.m, s.n, s.k, T(0.5), {a.data + i * a_batch, a.row, a.column},
                          {b.data + i * b_batch, b.row, b.column}, T(2),
                          before.data() + i * s.m * s.n, {c.data() + i * s.m * s.n, s.n, 1});
    }
  }
}

TYPED_TEST(Blas, LongSumsAreCut) {
  using T = TypeParam;
  for (const Case& s : {Case{3, 40, 70000}, {40, 40, 20000}, {1, 1, 100000}}) {
    const auto x = draw<T>(s.m * s.k, 1), y = draw<T>(s.k * s.n, 2);
    auto c = draw<T>(s.m * (s.n + 2), 3);
    const auto before = c;
    const Matrix<const T> a{x.data(), 1, s.m}, b{y.data(), s.n, 1};
    blas::gemm<T>(s.m, s.n, s.k, 1, a, b, 2, {c.data(), s.n + 2, 1});
    expect_product<T>(s.m, s.n, s.k, 1, a, b, 2, before.data(), {c.data(), s.n + 2, 1});
  }
}

TYPED_TEST(Blas, SameBitsAtAnyNumberOfThreads) {
  using T = TypeParam;
  const int threads = num_threads();
  for (const Case& s : {Case{300, 500, 200},
                        {64, 64, 30000},
                        {5000, 64, 64},
                        {1, 3000, 700},
                        {3000, 1, 700},
                        {128, 128, 128}}) {
    const auto x = draw<T>(3 * s.m * s.k, 1), y = draw<T>(3 * s.k * s.n, 2);
    std::vector<T> expected;
    for (const int n : {1, 2, 4}) {
      set_num_threads(n);
      for (const std::int64_t count : {1, 3}) {
        std::vector<T> c(static_cast<std::size_t>(3 * s.m * s.n));
        blas::gemm_batched<T>(count, s.m, s.n, s.k, 1, {x.data(), s.k, 1}, s.m * s.k,
                              {y.data(), s.n, 1}, s.k * s.n, 0, {c.data(), s.n, 1}, s.m * s.n);
        if (n == 1) {
          expected.insert(expected.end(), c.begin(), c.end());
        } else {
          const T* same = expected.data() + (count == 1 ? 0 : c.size());
          ASSERT_TRUE(std::equal(c.begin(), c.end(), same));
        }
      }
    }
  }
  set_num_threads(threads);
}

TYPED_TEST(Blas, ManyCallersAtOnce) {
  using T = TypeParam;
  const std::int64_t n = 150;
  const auto x = draw<T>(n * n, 1), y = draw<T>(n * n, 2);
  std::vector<std::vector<T>> results(8, std::vector<T>(static_cast<std::size_t>(n * n)));
  std::vector<std::thread> callers;
  for (auto& c : results)
    callers.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        blas::gemm<T>(n, n, n, 1, {x.data(), n, 1}, {y.data(), n, 1}, 0, {c.data(), n, 1});
    });
  for (auto& caller : callers) caller.join();
  for (const auto& c : results) ASSERT_EQ(c, results[0]);
  const std::vector<T> before(static_cast<std::size_t>(n * n));
  expect_product<T>(n, n, n, 1, {x.data(), n, 1}, {y.data(), n, 1}, 0, before.data(),
                    {results[0].data(), n, 1});
}

// Strides beyond 32 bits, on memory that is promised but never touched between the rows.
TYPED_TEST(Blas, StridesBeyondTheIntegersOfBlas) {
  using T = TypeParam;
  const std::int64_t stride = (std::int64_t{1} << 31) + 5, m = 3, k = 4;
  const std::size_t bytes = static_cast<std::size_t>(stride * 3 + k) * sizeof(T);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "cannot reserve " << bytes << " bytes of addresses";
  T* wide = static_cast<T*>(memory);
  const auto x = draw<T>(m * k, 1), y = draw<T>(k * k, 2);
  std::vector<T> before(static_cast<std::size_t>(m * k)), c(before);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < k; ++j) wide[i * stride + j] = x[i * k + j];
  const Matrix<const T> a{wide, stride, 1}, b{y.data(), k, 1};
  blas::gemm<T>(m, k, k, 1, a, b, 0, {c.data(), k, 1});
  expect_product<T>(m, k, k, 1, a, b, 0, before.data(), {c.data(), k, 1});
  blas::gemm<T>(m, k, k, 1, {x.data(), k, 1}, b, 0, {wide, stride, 1});
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < k; ++j)
      EXPECT_NEAR(wide[i * stride + j], c[i * k + j], 1e-5 * (1 + std::abs(c[i * k + j])));
  munmap(memory, bytes);
}

#if defined(__x86_64__) && !defined(LADON_PORTABLE)
TEST(OpenBlas, HasNoKernelsOf2004OnALaterProcessor) {
  if (std::getenv("OPENBLAS_CORETYPE") || std::getenv("LADON_ISA"))
    GTEST_SKIP() << "kernels are chosen by OPENBLAS_CORETYPE or LADON_ISA";
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "an old processor";
  EXPECT_STRNE(openblas_get_corename(), "Prescott");
  EXPECT_FALSE(routines::choose_kernels()) << "chosen before main";
}
#endif

}  // namespace
}  // namespace ladon::blas_test
