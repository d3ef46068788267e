#include "ladon/core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <vector>

#include "ladon/core/machine/parallel.h"
#include "ladon/tests/support.h"

namespace ladon::random_test {
namespace {

using Words = std::array<std::uint32_t, 4>;

double normal_cdf(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

// The largest distance between the empirical and the given distribution function, times √n. Its
// limit law is Kolmogorov's: above 2.3 with probability 5e-5.
double kolmogorov(std::vector<double> x, const std::function<double(double)>& cdf) {
  std::sort(x.begin(), x.end());
  const double n = static_cast<double>(x.size());
  double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double f = cdf(x[i]), at = static_cast<double>(i);
    most = std::max({most, f - at / n, (at + 1) / n - f});
  }
  return most * std::sqrt(n);
}

// Expects the sample mean of f(x) within 4.5 standard errors of `mean`.
void expect_mean(const std::vector<double>& x, const std::function<double(double)>& f,
                 double mean) {
  const double n = static_cast<double>(x.size());
  double sum = 0, squares = 0;
  for (const double value : x) {
    const double y = f(value) - mean;
    sum += y;
    squares += y * y;
  }
  const double error = std::sqrt(squares) / n;
  EXPECT_LT(std::abs(sum / n), 4.5 * error);
  EXPECT_GT(std::abs(sum / n), 1e-6 * error);  // not too good to be random
}

// χ² of counts against equal probabilities, in standard deviations from its mean (k−1, var 2(k−1)).
double chi_square(const std::vector<double>& counts) {
  const double k = static_cast<double>(counts.size());
  const double expected = std::accumulate(counts.begin(), counts.end(), 0.0) / k;
  double sum = 0;
  for (const double c : counts) sum += (c - expected) * (c - expected) / expected;
  return (sum - (k - 1)) / std::sqrt(2 * (k - 1));
}

// Vectors published with the Random123 library.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t all = 0xffffffff;
  EXPECT_EQ(philox4x32({all, all, all, all}, {all, all}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The layout that the header states, by its known answer: counter and key in halves.
TEST(Generator, LayoutOfTheCounter) {
  const Generator rng(0x299f31d0a4093822, 0x0370734413198a2e);
  EXPECT_EQ(rng.block(0x85a308d3243f6a88), (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Generator, ScalarDrawsUseOneBlockEach) {
  Generator rng(5, 6);
  const Words w0 = rng.block(0), w1 = rng.block(1);
  EXPECT_EQ(rng.bits(), w0[0]);
  EXPECT_EQ(rng.position(), 1u);
  const std::uint64_t pair = w1[0] | std::uint64_t{w1[1]} << 32;
  EXPECT_EQ(rng.uniform(), static_cast<double>(pair >> 11) * 0x1p-53);
  rng.normal();
  rng.below(10);
  EXPECT_EQ(rng.position(), 4u);
  Generator again(5, 6);
  again.set_position(4);
  EXPECT_EQ(again.bits(), rng.bits());
}

TEST(Generator, RestoresFromThreeIntegers) {
  Generator rng(11, 12);
  normal({7}, rng);
  rng.bits();
  Generator restored(rng.seed(), rng.stream());
  restored.set_position(rng.position());
  EXPECT_EQ(uniform({9}, rng).to_vector(), uniform({9}, restored).to_vector());
  EXPECT_EQ(rng.normal(), restored.normal());
}

TEST(Generator, SplitsAreDistinctAndDependOnIndexAlone) {
  Generator parent(1, 2);
  const Generator before = parent.split(7);
  parent.bits();
  const Generator after = parent.split(7);
  EXPECT_EQ(before.seed(), after.seed());
  EXPECT_EQ(before.stream(), after.stream());
  EXPECT_EQ(before.position(), 0u);
  std::map<std::uint64_t, int> firsts;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Generator child = parent.split(i), grandchild = child.split(i);
    ++firsts[child.bits() | std::uint64_t{child.bits()} << 32];
    ++firsts[grandchild.bits() | std::uint64_t{grandchild.bits()} << 32];
  }
  EXPECT_EQ(firsts.size(), 2000u);
}

TEST(Generator, StreamsAndSeedsAreUncorrelated) {
  constexpr std::int64_t n = 20000;
  Generator a(1), b(2), c(1, 1), d = Generator(1).split(0);
  const auto x = normal({n}, a).to_vector();
  for (Generator* other : {&b, &c, &d}) {
    auto y = normal({n}, *other).to_vector();
    for (std::size_t i = 0; i < y.size(); ++i) y[i] *= x[i];
    expect_mean(
        y, [](double v) { return v; }, 0);
  }
}

class Draws : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Reals, Draws, testing::Values(f32, f64),
                         [](const auto& each) { return std::string(to_string(each.param)); });

TEST_P(Draws, Uniform) {
  Generator rng(3);
  const auto x = uniform({300, 1000}, rng, -2, 3, GetParam()).to_vector();
  EXPECT_LT(kolmogorov(x, [](double v) { return (v + 2) / 5; }), 2.3);
  expect_mean(
      x, [](double v) { return v; }, 0.5);
  expect_mean(
      x, [](double v) { return (v - 0.5) * (v - 0.5); }, 25.0 / 12);
  for (const double v : x) ASSERT_TRUE(v >= -2 && v < 3);
}

TEST_P(Draws, UniformStaysBelowHighWhereSumsRoundUp) {
  Generator rng(4);
  // In f32 every value of [1e7, 1e7 + 1) is 1e7; in f64 the same holds near 1e16, in steps of 2.
  const double low = GetParam() == f32 ? 1e7 : 1e16, high = low + (GetParam() == f32 ? 1 : 2);
  for (const double v : uniform({5000}, rng, low, high, GetParam()).to_vector()) ASSERT_EQ(v, low);
}

TEST(Draw, UniformHasTheStatedBits) {
  Generator rng(5);
  bool fine32 = false, fine64 = false;
  for (const double v : uniform({1000}, rng).to_vector()) {
    EXPECT_EQ(v * 0x1p24, std::floor(v * 0x1p24));
    fine32 = fine32 || v * 0x1p23 != std::floor(v * 0x1p23);
  }
  for (const double v : uniform({1000}, rng, 0, 1, f64).to_vector()) {
    EXPECT_EQ(v * 0x1p53, std::floor(v * 0x1p53));
    fine64 = fine64 || v * 0x1p52 != std::floor(v * 0x1p52);
  }
  EXPECT_TRUE(fine32 && fine64);
}

TEST_P(Draws, Normal) {
  Generator rng(6);
  const auto x = normal({300000}, rng, 0, 1, GetParam()).to_vector();
  EXPECT_LT(kolmogorov(x, normal_cdf), 2.3);
  const double moments[] = {0, 1, 0, 3, 0, 15};
  for (int p = 1; p <= 6; ++p)
    expect_mean(
        x, [p](double v) { return std::pow(v, p); }, moments[p - 1]);
  // Neighbours come from one Box–Muller pair: neither they nor their squares are correlated.
  std::vector<double> products, squares;
  for (std::size_t i = 0; i + 1 < x.size(); i += 2) {
    products.push_back(x[i] * x[i + 1]);
    squares.push_back((x[i] * x[i] - 1) * (x[i + 1] * x[i + 1] - 1));
  }
  expect_mean(
      products, [](double v) { return v; }, 0);
  expect_mean(
      squares, [](double v) { return v; }, 0);
  Generator same(6);
  const auto y = normal({300000}, same, 10, 0.5, GetParam()).to_vector();
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_NEAR(y[i], 10 + 0.5 * x[i], 1e-5);
}

TEST(Draw, ScalarNormalUniformAndTensorAgreeInLaw) {
  Generator rng(8);
  std::vector<double> normals, uniforms;
  for (int i = 0; i < 50000; ++i) {
    normals.push_back(rng.normal());
    uniforms.push_back(rng.uniform());
  }
  EXPECT_LT(kolmogorov(normals, normal_cdf), 2.3);
  EXPECT_LT(kolmogorov(uniforms, [](double v) { return v; }), 2.3);
}

TEST_P(Draws, TruncatedNormal) {
  Generator rng(9);
  for (const double bound : {0.01, 0.5, 2.0, 5.0}) {
    const double tail = normal_cdf(-bound), mass = 1 - 2 * tail;
    const auto x = truncated_normal({200000}, rng, 1, 3, bound, GetParam()).to_vector();
    EXPECT_LT(kolmogorov(x,
                         [&](double v) {
                           const double z = std::clamp((v - 1) / 3, -bound, bound);
                           return (normal_cdf(z) - tail) / mass;
                         }),
              2.3)
        << bound;
    // Var z = 1 − 2 b φ(b)/mass.
    const double density = std::exp(-bound * bound / 2) / std::sqrt(2 * std::numbers::pi);
    expect_mean(
        x, [](double v) { return v; }, 1);
    expect_mean(
        x, [](double v) { return (v - 1) * (v - 1); }, 9 * (1 - 2 * bound * density / mass));
    for (const double v : x) ASSERT_LE(std::abs(v - 1), 3 * bound * (1 + 1e-6));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const auto whole = truncated_normal({100000}, rng, 0, 1, infinity, GetParam()).to_vector();
  EXPECT_LT(kolmogorov(whole, normal_cdf), 2.3);
}

TEST(Draw, Bernoulli) {
  Generator rng(10);
  for (const double p : {0.3, 0.001}) {
    const auto x = bernoulli({200000}, rng, p).to_vector();
    expect_mean(
        x, [](double v) { return v; }, p);
  }
  for (const double v : bernoulli({1000}, rng, 0).to_vector()) ASSERT_EQ(v, 0);
  for (const double v : bernoulli({1000}, rng, 1).to_vector()) ASSERT_EQ(v, 1);
}

TEST(Draw, IntegersAreUniform) {
  Generator rng(11);
  for (const std::int64_t n : {1, 2, 7, 1000}) {
    std::vector<double> scalars(static_cast<std::size_t>(n)), elements(scalars);
    for (int i = 0; i < 100000; ++i) ++scalars[static_cast<std::size_t>(rng.below(n))];
    for (const double v : randint({100000}, rng, -5, n - 5).to_vector())
      ++elements.at(static_cast<std::size_t>(v + 5));
    if (n == 1) continue;
    EXPECT_LT(chi_square(scalars), 5);
    EXPECT_LT(chi_square(elements), 5);
  }
}

// n = 3·2⁶¹ is 3/8 of 2⁶⁴: without rejection ⌊3x/8⌋ would give the residues mod 3 with odds 3:3:2.
TEST(Draw, IntegersAreUnbiasedWhereRejectionIsFrequent) {
  Generator rng(12);
  constexpr std::int64_t third = std::int64_t{1} << 61;
  const Tensor x = randint({90000}, rng, 0, 3 * third);
  std::vector<double> thirds(3), residues(3);
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const std::int64_t v = x.data<std::int64_t>()[i];
    ++thirds.at(static_cast<std::size_t>(v / third));
    ++residues.at(static_cast<std::size_t>(v % 3));
  }
  EXPECT_LT(chi_square(thirds), 5);
  EXPECT_LT(chi_square(residues), 5);
}

TEST(Draw, IntegersOverTheWholeRange) {
  Generator rng(13);
  const std::int64_t low = std::numeric_limits<std::int64_t>::min();
  const std::int64_t high = std::numeric_limits<std::int64_t>::max();
  std::vector<double> signs(2);
  const Tensor x = randint({10000}, rng, low, high);
  for (std::int64_t i = 0; i < x.count(); ++i) ++signs[x.data<std::int64_t>()[i] < 0];
  EXPECT_LT(chi_square(signs), 5);
}

TEST(Draw, PermutationsAreEquallyLikely) {
  Generator rng(14);
  std::map<std::vector<double>, double> counts;
  for (int i = 0; i < 24000; ++i) ++counts[permutation(4, rng).to_vector()];
  ASSERT_EQ(counts.size(), 24u);
  std::vector<double> values;
  for (const auto& [order, count] : counts) values.push_back(count);
  EXPECT_LT(chi_square(values), 5);
  auto x = permutation(10000, rng).to_vector();
  EXPECT_FALSE(std::is_sorted(x.begin(), x.end()));
  std::sort(x.begin(), x.end());
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], static_cast<double>(i));
  EXPECT_EQ(permutation(0, rng).shape(), (Shape{0}));
  EXPECT_EQ(permutation(1, rng).to_vector(), std::vector<double>{0});
}

// Every function, as values in double.
std::vector<double> draw_all(Generator rng, const Shape& shape) {
  std::vector<double> all;
  const auto add = [&](const Tensor& x) {
    const auto values = x.to_vector();
    all.insert(all.end(), values.begin(), values.end());
  };
  for (const DType dtype : {f32, f64}) {
    add(uniform(shape, rng, 0, 1, dtype));
    add(normal(shape, rng, 0, 1, dtype));
    add(truncated_normal(shape, rng, 0, 1, 2, dtype));
  }
  add(bernoulli(shape, rng, 0.4));
  add(randint(shape, rng, 0, 1000));
  add(permutation(shape.count(), rng));
  return all;
}

TEST(Draw, SameBitsAtAnyNumberOfThreadsAndInAnyShape) {
  const int threads = num_threads();
  set_num_threads(1);
  const auto expected = draw_all(Generator(15), {50001});
  for (const int n : {1, 2, 4}) {
    set_num_threads(n);
    EXPECT_EQ(draw_all(Generator(15), {50001}), expected);
    EXPECT_EQ(draw_all(Generator(15), {3, 7, 2381}), expected);
  }
  set_num_threads(threads);
}

TEST(Draw, ElementsDoNotDependOnHowManyAreDrawn) {
  Generator few(16), many(16);
  const auto x = normal({10}, few).to_vector(), y = normal({11}, many).to_vector();
  EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin()));
  EXPECT_EQ(few.position(), 3u);
  normal({0}, few);
  EXPECT_EQ(few.position(), 3u);
}

TEST(Draw, BadParameters) {
  Generator rng(17);
  using test::expect_error;
  const double nan = std::nan("");
  expect_error([&] { uniform({2}, rng, 1, 1); }, "[uniform] needs finite low < high");
  expect_error([&] { uniform({2}, rng, 0, nan); }, "[uniform]");
  expect_error([&] { uniform({2}, rng, 1, 1 + 1e-12); }, "differ when rounded to f32");
  expect_error([&] { uniform({2}, rng, 0, 1, i64); }, "i64");
  expect_error([&] { normal({2}, rng, 0, -1); }, "got 0 and -1");
  expect_error([&] { normal({2}, rng, nan, 1); }, "[normal]");
  expect_error([&] { normal({2, -3}, rng); }, "-3");
  expect_error([&] { truncated_normal({2}, rng, 0, 1, 0); }, "[truncated_normal]");
  expect_error([&] { bernoulli({2}, rng, 1.5); }, "got 1.5");
  expect_error([&] { bernoulli({2}, rng, nan); }, "[bernoulli]");
  expect_error([&] { randint({2}, rng, 3, 3); }, "got 3 and 3");
  expect_error([&] { permutation(-1, rng); }, "got -1");
  expect_error([&] { rng.below(0); }, "got 0");
  EXPECT_EQ(rng.position(), 0u);
}

}  // namespace
}  // namespace ladon::random_test
