#include "ladon/autograd/ops/matmul.h"

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/linalg/einsum.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/random.h"
#include "ladon/core/storage.h"
#include "ladon/tests/support.h"

namespace ladon::test::matmul_test {
namespace {

/// Σ_k a_ik b_kj of two matrices, in the order of k.
std::vector<double> loops(const Tensor& a, const Tensor& b) {
  const auto x = a.to_vector(), y = b.to_vector();
  const std::int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  std::vector<double> out(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t l = 0; l < k; ++l)
        out[static_cast<std::size_t>(i * n + j)] +=
            x[static_cast<std::size_t>(i * k + l)] * y[static_cast<std::size_t>(l * n + j)];
  return out;
}

TEST(Matmul, ReadsEveryLayout) {
  Generator rng(4);
  const Tensor a = normal({6, 8}, rng, 0, 1, f64), b = normal({8, 5}, rng, 0, 1, f64);
  const auto layouts = [](const Tensor& x) {
    const Shape wide{2 * x.size(0), 2 * x.size(1)};
    Tensor sparse = slice(slice(zeros(wide, f64), 0, {.step = 2}), 1, {.step = 2});
    for (std::int64_t i = 0; i < x.size(0); ++i)
      for (std::int64_t j = 0; j < x.size(1); ++j)
        select(select(sparse, 0, i), 0, j).mutable_data<double>()[0] =
            select(select(x, 0, i), 0, j).item();
    return std::vector<Tensor>{x, transpose(clone(transpose(x))),
                               flip(clone(flip(x, {0, 1})), {0, 1}), sparse};
  };
  const std::vector<double> expected = loops(a, b);
  for (const Tensor& x : layouts(a))
    for (const Tensor& y : layouts(b)) {
      const auto got = matmul(x, y).to_vector();
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-13);
    }
}

TEST(Matmul, AnExpandedOperandIsReadOnce) {
  Generator rng(5);
  const Tensor row = normal({1, 4}, rng, 0, 1, f64), b = normal({4, 3}, rng, 0, 1, f64);
  const Tensor y = matmul(expand(row, {5, 4}), b);
  for (std::int64_t i = 0; i < 5; ++i)
    EXPECT_TRUE(all_close(select(y, 0, i), select(matmul(row, b), 0, 0)));
}

TEST(Matmul, TransposedOperandsAreNotCopied) {
  const Tensor a = ones({64, 512}), b = ones({4, 64, 512});
  const std::size_t before = Storage::bytes_in_use();
  const Tensor y = matmul(transpose(a), a), z = matmul(transpose(b), b);
  EXPECT_EQ(Storage::bytes_in_use() - before, 4u * (512 * 512 + 4 * 512 * 512));
}

TEST(Matmul, TheGradientOfASharedMatrixIsOneProductOfAllRows) {
  Generator rng(6);
  const Tensor x = normal({3, 5, 4}, rng, 0, 1, f64), g = normal({3, 5, 2}, rng, 0, 1, f64);
  Tensor w = normal({4, 2}, rng, 0, 1, f64);
  w.set_requires_grad();
  const Tensor got = grad(matmul(x, w), w, {.cotangents = {g}});
  EXPECT_TRUE(all_equal(got, matmul(transpose(reshape(x, {15, 4})), reshape(g, {15, 2}))));
}

TEST(Matmul, MixedDtypesComputeInTheLarger) {
  const Tensor y = matmul(ones({2, 3}), ones({3, 2}, f64));
  EXPECT_EQ(y.dtype(), f64);
  EXPECT_EQ(linear(ones({2, 3}), ones({2, 3}), ones({2}, f64)).dtype(), f64);
}

TEST(Einsum, IntegersContractExactly) {
  const Tensor a = arange(0, 6), y = einsum("ij,kj->ik", {reshape(a, {2, 3}), reshape(a, {2, 3})});
  EXPECT_EQ(y.to_vector<std::int64_t>(), (std::vector<std::int64_t>{5, 14, 14, 50}));
}

// The result of expanded views is asked for before they are copied: memory for it there is none.
TEST(Matmul, OfExpandedViewsTakesNoMemoryForAResultThatHasNone) {
  for (const auto& [exponent, why] :
       {std::pair(28, "[storage] out of memory"), std::pair(31, "more than 2^60 elements")}) {
    const std::int64_t n = std::int64_t{1} << exponent;
    const Tensor one = ones({1, 1});
    Storage::reset_peak();
    const std::size_t before = Storage::bytes_in_use();
    test::expect_error([&] { matmul(expand(one, {n, 1}), expand(one, {1, n})); }, why);
    EXPECT_LT(Storage::peak_bytes(), before + 1'000'000);
  }
}

}  // namespace
}  // namespace ladon::test::matmul_test
