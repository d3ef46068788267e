#include "ladon/optim/extra/penalties/similarity.h"

#include <cmath>
#include <limits>

#include "ladon/tests/optim/helpers.h"

namespace ladon::test::similarity_test {
namespace {

double tracing(const Tensor& a, const Tensor& b) { return sum(a * transpose(b)).item(); }

// ⟨HKH, L⟩/… with H = I − 11ᵀ/n and K = XXᵀ, L = YYᵀ.
TEST(LinearCka, IsTheAlignmentOfCentredGramMatrices) {
  const std::int64_t n = 7;
  const Tensor x = gaussian({n, 3}, 1) + 5, y = gaussian({n, 2}, 2) + slice(x, 1, {.stop = 2});
  const Tensor h = eye(n, f64) - ones({n, n}, f64) / double(n);
  const auto gram = [&](const Tensor& f) { return matmul(matmul(h, matmul(f, transpose(f))), h); };
  const Tensor k = gram(x), l = gram(y);
  const double expected = tracing(k, l) / std::sqrt(tracing(k, k) * tracing(l, l));
  EXPECT_NEAR(linear_cka(x, y), expected, 1e-13);
  EXPECT_GT(expected, 0.2);
  EXPECT_LT(expected, 0.9);
}

TEST(LinearCka, SeesRotationsAndMultiplesAsOne) {
  const Tensor x = gaussian({9, 2});
  const Tensor turn = tensor({0.6, 0.8, -0.8, 0.6}, {2, 2}, f64);
  EXPECT_NEAR(linear_cka(x, 3 * matmul(x, turn) + 2), 1, 1e-14);
  // A stretched direction is another matter.
  EXPECT_LT(linear_cka(x, x * tensor({1, 5}, {2}, f64)), 0.95);
  // Columns of a Hadamard matrix do not correlate.
  const Tensor a = tensor({1, 1, -1, -1}, {4, 1}), b = tensor({1, -1, 1, -1}, {4, 1});
  EXPECT_EQ(linear_cka(a, b), 0);
  // Constant features are like no others, also where its mean is not exact.
  const Tensor still = full({7, 3}, 0.1, f64);
  EXPECT_NE(amax(abs(still - mean(still, 0))).item(), 0);
  EXPECT_EQ(linear_cka(gaussian({7, 2}), still), 0);
  EXPECT_EQ(linear_cka(still, still), 0);
}

// HSIC without bias of Song et al.: of Gram matrices with zeros on the diagonal, not centred,
//   [tr KL + 1ᵀK1·1ᵀL1/((n−1)(n−2)) − 2/(n−2)·1ᵀKL1]/(n(n−3)).
double song(const Tensor& x, const Tensor& y) {
  const std::int64_t n = x.size(0);
  const Tensor off = 1.0 - eye(n, f64);
  const Tensor k = matmul(x, transpose(x)) * off, l = matmul(y, transpose(y)) * off;
  const double m = double(n);
  return (tracing(k, l) + sum(k).item() * sum(l).item() / ((m - 1) * (m - 2)) -
          2 / (m - 2) * sum(matmul(k, l)).item()) /
         (m * (m - 3));
}

TEST(LinearCka, HasNoScale) {
  const Tensor x = gaussian({9, 4}), y = gaussian({9, 3});
  for (const bool debiased : {false, true})
    for (const double scale : {1e-300, 1e-200, 1e-100, 1e-85, 1e85, 1e100, 1e200, 1e300})
      for (const double other : {1.0, scale, 1 / scale})
        EXPECT_NEAR(linear_cka(x * scale, y * other, {.debiased = debiased}),
                    linear_cka(x, y, {.debiased = debiased}), 1e-13)
            << scale;
  EXPECT_THROW(linear_cka(x * HUGE_VAL, y), Error);
}

TEST(LinearCka, DebiasedHasTheUnbiasedEstimates) {
  const Tensor x = gaussian({8, 3}, 1) + 1, y = gaussian({8, 4}, 2) + slice(x, 1, {.stop = 1});
  const double expected = song(x, y) / std::sqrt(song(x, x) * song(y, y));
  EXPECT_NEAR(linear_cka(x, y, {.debiased = true}), expected, 1e-13);
}

// Unrelated features, as many as examples: the plain estimate takes them for alike, the debiased
// one is 0 up to its error.
TEST(LinearCka, DebiasedIsZeroForUnrelatedFeatures) {
  Generator rng(3);
  const int repeats = 200;
  double plain = 0, mean = 0, squares = 0;
  for (int r = 0; r < repeats; ++r) {
    const Tensor x = normal({20, 20}, rng, 0, 1, f64), y = normal({20, 20}, rng, 0, 1, f64);
    const double debiased = linear_cka(x, y, {.debiased = true});
    plain += linear_cka(x, y) / repeats;
    mean += debiased / repeats;
    squares += debiased * debiased / repeats;
  }
  EXPECT_GT(plain, 0.4);
  EXPECT_LT(std::abs(mean), 4 * std::sqrt((squares - mean * mean) / repeats));
}

TEST(HeadCka, ComparesHeadsOverTokens) {
  const Tensor contexts = gaussian({2, 3, 4, 5});
  const Tensor mask = tensor({1, 1, 0, 1, 1, 0, 0, 1}, {2, 4}, boolean);
  const auto features = [&](int h, bool masked) {
    const Tensor rows = flatten(select(contexts, 1, h), 0, 1);
    return masked ? index_select(rows, 0, tensor({0, 1, 3, 4, 7}, i64)) : rows;
  };
  for (const bool masked : {false, true}) {
    const Tensor cka = head_cka(contexts, masked ? mask : Tensor());
    ASSERT_EQ(cka.shape(), Shape({3, 3}));
    for (int h = 0; h < 3; ++h)
      for (int g = 0; g < 3; ++g)
        EXPECT_NEAR(at(cka, {h, g}).item(), linear_cka(features(h, masked), features(g, masked)),
                    1e-14);
  }
  const PairSpread redundancy = off_diagonal(head_cka(contexts));
  EXPECT_NEAR(redundancy.mean,
              (linear_cka(features(0, false), features(1, false)) +
               linear_cka(features(0, false), features(2, false)) +
               linear_cka(features(1, false), features(2, false))) /
                  3,
              1e-14);
  EXPECT_LE(redundancy.min, redundancy.max);
}

// Heads of one layer: two equal ones, and one whose values are a rotation of theirs, are redundant
// though the weights of the third are far away.
TEST(HeadCka, FindsHeadsThatComputeTheSame) {
  Generator rng(4);
  MultiHeadAttention layer({.dim = 6, .heads = 4, .head_dim = 2, .bias = false}, rng);
  layer.to(f64);
  const Tensor turn = tensor({0, 1, -1, 0}, {2, 2}, f64);
  for (const int h : {1, 2}) {
    for (const Tensor& x : {layer.query, layer.key, layer.value})
      copy_(select(x.detach(), 0, h), select(x.detach(), 0, 0));
  }
  copy_(select(layer.value.detach(), 0, 2), matmul(turn, select(layer.value.detach(), 0, 0)));
  const Tensor x = gaussian({3, 5, 6});
  const Tensor cka = head_cka(layer.forward_with_weights(x, x, x).contexts);
  EXPECT_NEAR(at(cka, {0, 1}).item(), 1, 1e-12);
  EXPECT_NEAR(at(cka, {0, 2}).item(), 1, 1e-12);
  EXPECT_LT(at(cka, {0, 3}).item(), 0.9);
  const double number = effective_number(cka);
  EXPECT_GT(number, 1);
  EXPECT_LT(number, 2);
}

// Eigenvalues, divided by the trace: of I_4 four times ¼, of 11ᵀ one 1, of two pairs of equal heads
// ½, ½.
TEST(EffectiveNumber, CountsDifferentOnes) {
  const Tensor pairs = tensor({1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1}, {4, 4});
  for (const double order : {1.0, 1.5, 2.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_NEAR(effective_number(eye(4), order), 4, 1e-12) << order;
    EXPECT_NEAR(effective_number(ones({4, 4}), order), 1, 1e-6) << order;
    EXPECT_NEAR(effective_number(pairs, order), 2, 1e-6) << order;
  }
}

// [[1, c], [c, 1]] has eigenvalues 1 ± c: p = .9 and .1 at c = .8; a diagonal (3, 1) has p = .75,
// .25.
TEST(EffectiveNumber, HasClosedFormsOfTwo) {
  const Tensor two = tensor({1, 0.8, 0.8, 1}, {2, 2}, f64);
  EXPECT_NEAR(effective_number(two), std::exp(-0.9 * std::log(0.9) - 0.1 * std::log(0.1)), 1e-12);
  EXPECT_NEAR(effective_number(two, 2), 1 / (0.81 + 0.01), 1e-12);
  EXPECT_NEAR(effective_number(two, HUGE_VAL), 1 / 0.9, 1e-12);
  EXPECT_NEAR(effective_number(tensor({3, 0, 0, 1}, {2, 2}), 2), 1 / (0.5625 + 0.0625), 1e-12);
}

// Orders at which p^q underflows, and at which 1/(1 − q) is large.
TEST(EffectiveNumber, IsExactAtEveryOrder) {
  for (const double order : {1 + 1e-15, 1.999, 2.001, 100.0, 300.0, 2000.0, 1e300})
    EXPECT_NEAR(effective_number(eye(100), order), 100, 1e-9) << order;
  // p = 1/6, 1/3, 1/2: the derivative by the order at 1 is minus half the variance of ln p, times
  // the number.
  const Tensor three = tensor({1, 0, 0, 0, 2, 0, 0, 0, 3}, {3, 3}, f64);
  const double at_one = effective_number(three);
  EXPECT_NEAR(at_one, 2.7494592739972054, 1e-13);
  for (const double above : {1e-15, 1e-12, 1e-9})
    EXPECT_NEAR(effective_number(three, 1 + above), at_one, 1e-9 + above) << above;
  EXPECT_NEAR(effective_number(three, 1e300), 2, 1e-12);
}

TEST(Similarity, RefusesBadInput) {
  const Tensor x = gaussian({4, 2});
  expect_error([&] { linear_cka(x, gaussian({3, 2})); }, "got [4, 2] and [3, 2]");
  expect_error([&] { linear_cka(Tensor(), x); }, "undefined");
  expect_error([] { linear_cka(ones({1, 2}), ones({1, 2})); }, "needs at least 2 examples, got 1");
  expect_error(
      [] {
        linear_cka(ones({3, 2}), ones({3, 2}), {.debiased = true});
      },
      "needs at least 4");
  expect_error(
      [&] {
        linear_cka(x, full({4, 1}, std::nan("")));
      },
      "the sum of their squares is nan; look for NaN");
  expect_error([] { head_cka(ones({2, 3, 4})); }, "[B, H, T, d], got [2, 3, 4]");
  expect_error([] { head_cka(ones({2, 3, 4, 5}), ones({2, 4})); }, "got f32 [2, 4]");
  expect_error([] { effective_number(ones({2, 3})); }, "got f32 [2, 3]");
  expect_error([] { effective_number(-eye(3)); }, "must be positive semidefinite");
  expect_error([] { effective_number(tensor({1, 2, 2, 1}, {2, 2})); }, "smallest eigenvalue is -1");
  expect_error([] { effective_number(eye(2), 0.5); }, "the order is 0.5");
  expect_error([] { off_diagonal(ones({2, 3})); }, "[M, M], got [2, 3]");
}

}  // namespace
}  // namespace ladon::test::similarity_test
