// Linear algebra in cases that its rows in the table of operations do not cover: known values,
// batches, equal eigenvalues, singular matrices.

#include "ladon/autograd/ops/linalg/linalg.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/tests/support.h"

namespace ladon::linalg_test {
namespace {

using test::expect_error;
using Numbers = std::vector<double>;

void expect_near(const Tensor& got, const Numbers& want, double close) {
  const Numbers values = got.to_vector();
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], close) << i;
}

Tensor leaf(Tensor x) { return x.set_requires_grad(); }

Tensor definite(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  const Tensor x = normal(shape, rng, 0, 1, f64);
  return matmul(x, transpose(x)) + eye(shape[-1], f64);
}

TEST(Linalg, CholeskyOfTwoByTwo) {
  // [[4, 2], [2, 3]] = L·Lᵀ with L = [[2, 0], [1, √2]]. L₁₁² = c − b²/a for [[a, b], [b, c]]:
  // ∂L₁₁/∂c = 1/(2√2), ∂/∂a = b²/a²/(2√2) = 1/(8√2), ∂/∂b = −2b/a/(2√2) = −1/(2√2), which both
  // triangles share.
  const Tensor a = leaf(tensor({4, 2, 2, 3}, {2, 2}, f64));
  const Tensor l = cholesky(a);
  expect_near(l, {2, 0, 1, std::sqrt(2)}, 1e-15);
  const double s = 1 / std::sqrt(2);
  expect_near(grad(at(l, {1, 1}), a), {s / 8, -s / 4, -s / 4, s / 2}, 1e-15);
}

TEST(Linalg, GradientOfLogDeterminantIsTheInverse) {
  const Tensor a = leaf(definite({6, 6}, 1));
  const Numbers want = inverse(a.detach()).to_vector();
  expect_near(grad(logdet(a), a), want, 1e-13);
  expect_near(grad(slogdet(a).log, a), want, 1e-13);
  EXPECT_NEAR(logdet(a).item(), slogdet(a).log.item(), 1e-13);
  EXPECT_EQ(slogdet(a).sign.item(), 1);
}

TEST(Linalg, BatchesAreTheirMatricesBitForBit) {
  const int threads = num_threads();
  for (const std::int64_t n : {3, 40}) {
    const Tensor a = definite({5, n, n}, 2);
    Generator rng(3);
    const Tensor b = normal({5, n, 4}, rng, 0, 1, f64);
    for (const int t : {1, 3}) {
      set_num_threads(t);
      for (std::int64_t i = 0; i < 5; ++i) {
        const Tensor one = at(a, {i}), side = at(b, {i});
        EXPECT_TRUE(all_equal(at(cholesky(a), {i}), cholesky(one)));
        EXPECT_TRUE(all_equal(at(solve(a, b), {i}), solve(one, side)));
        EXPECT_TRUE(all_equal(at(inverse(a), {i}), inverse(one)));
        EXPECT_TRUE(all_equal(at(eigh(a).values, {i}), eigh(one).values));
        EXPECT_TRUE(all_equal(at(eigh(a).vectors, {i}), eigh(one).vectors));
        EXPECT_TRUE(all_equal(at(slogdet(a).log, {i}), slogdet(one).log));
      }
    }
  }
  set_num_threads(threads);
}

TEST(Linalg, EqualEigenvaluesHaveTheGradientsThatExist) {
  // A = Q·diag(1, 1, 1, 3)·Qᵀ. The last vector's projection P = v·vᵀ moves by
  // dP = ((I − P)·dA·P + P·dA·(I − P))/(3 − 1); so ∂tr(PB)/∂A is the same with B in dA's place.
  Generator rng(5);
  const Tensor q = eigh(definite({4, 4}, 4)).vectors;
  const Tensor x = normal({4, 4}, rng, 0, 1, f64), b = x + transpose(x);
  const Tensor a = leaf(matmul(q * tensor({1, 1, 1, 3}, f64), transpose(q)));
  const Tensor last = slice(eigh(a).vectors, 1, {.start = 3});
  const Tensor p = matmul(last, transpose(last)).detach(), rest = eye(4, f64) - p;
  const Tensor half = 0.5 * matmul(matmul(rest, b), p);
  expect_near(grad(dot(matmul(last, transpose(last)), b), a), (half + transpose(half)).to_vector(),
              1e-12);

  // ∂Σe^λ/∂A = e^A, which is e²·I at 2·I.
  const Tensor two = leaf(2 * eye(3, f64));
  expect_near(grad(sum(exp(eigh(two).values)), two), (std::exp(2) * eye(3, f64)).to_vector(),
              1e-14);

  // tr(A²B), by all vectors: the derivative exists, but not by way of vectors that do not.
  const EigenResult e = eigh(a);
  const Tensor squared = matmul(e.vectors * square(e.values), transpose(e.vectors));
  expect_error([&] { grad(dot(squared, b), a); }, "two eigenvalues are equal");
}

TEST(Linalg, SingularMatrices) {
  const Tensor a = leaf(tensor({1, 2, 2, 4}, {2, 2}, f64));
  EXPECT_EQ(det(a).item(), 0);
  EXPECT_EQ(slogdet(a).sign.item(), 0);
  EXPECT_EQ(slogdet(a).log.item(), -HUGE_VAL);
  expect_error([&] { backward(det(a)); }, "pivot 1 of 2 is 0");
  expect_error([&] { backward(slogdet(a).log); }, "pivot 1 of 2 is 0");
}

TEST(Linalg, OneBadMatrixOfABatchIsAnError) {
  const Tensor a = stack({eye(2, f64), tensor({1, 2, 2, 1}, {2, 2}, f64)});
  try {
    cholesky(a);
    ADD_FAILURE() << "no error";
  } catch (const lapack::NotPositiveDefinite& e) {  // its eigenvalues are −1 and 3
    EXPECT_NEAR(e.smallest_eigenvalue, -1, 1e-12);
  }
}

TEST(Linalg, MixedDtypesComputeInTheLarger) {
  EXPECT_EQ(solve(eye(2, f32), ones({2}, f64)).dtype(), f64);
  EXPECT_EQ(solve_triangular(eye(2, f32), ones({2}, f32)).dtype(), f32);
}

}  // namespace
}  // namespace ladon::linalg_test
