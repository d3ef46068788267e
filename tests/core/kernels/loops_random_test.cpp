// Random numbers at every level of the instruction set: the same bits at each, and normals against
// long double.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "ladon/core/kernels/loops.h"
#include "ladon/core/random.h"
#include "ladon/tests/core/kernels/ulp.h"

namespace ladon::kernels::loops_random_test {
namespace {

using Exact = long double;
using Words = std::vector<std::uint32_t>;

constexpr std::uint64_t seed = 0x299f31d0a4093822, stream = 0x0370734413198a2e;

Words words_of(const Level& level, std::uint64_t position, std::int64_t blocks) {
  Words w(static_cast<std::size_t>(4 * blocks));
  level.loops->random.words(seed, stream, position, blocks, w.data());
  return w;
}

// Across the carry from the low to the high word of the position.
TEST(LoopsRandom, WordsAreThoseOfBlocks) {
  constexpr std::uint64_t start = 0x500000000 - 40;
  const Generator rng(seed, stream);
  for (const Level& level : levels()) {
    const Words w = words_of(level, start, 96);
    for (std::size_t i = 0; i < w.size(); ++i)
      ASSERT_EQ(w[i], rng.block(start + i / 4)[i % 4]) << i << ' ' << level.name;
  }
}

// Words of both ends, and others.
Words sample() {
  Words w;
  for (const std::uint32_t low : {0u, ~0u, 0x7fu, 0x80u, 0xffffff80u})
    for (const std::uint32_t high : {0u, ~0u, 1u << 31, (1u << 31) - 1, 1u << 30, 3u << 30})
      w.insert(w.end(), {low, high, high, low});
  const Words more = words_of(levels().list[0], 0, 20000);
  w.insert(w.end(), more.begin(), more.end());
  return w;
}

template <class T>
void check_same_bits() {
  const Words w = sample();
  const auto n = static_cast<std::int64_t>(w.size() * 4 / sizeof(T));
  std::vector<T> uniforms, normals;
  for (const Level& level : levels()) {
    std::vector<T> u(static_cast<std::size_t>(n)), z(u);
    level.loops->of<T>().draw.uniform(w.data(), T(-0.3), T(0.7), T(0.35), u.data(), n);
    level.loops->of<T>().draw.normal(w.data(), T(0.1), T(1.3), z.data(), n);
    if (uniforms.empty()) uniforms = u, normals = z;
    EXPECT_EQ(u, uniforms) << level.name;
    EXPECT_EQ(z, normals) << level.name;
  }
}

TEST(LoopsRandom, NumbersHaveTheSameBitsAtEveryLevel) {
  check_same_bits<float>();
  check_same_bits<double>();
}

TEST(LoopsRandom, UniformsAreTheTopBits) {
  const Words w = sample();
  std::vector<float> x(w.size());
  std::vector<double> y(w.size() / 2);
  for (const Level& level : levels()) {
    level.loops->f32.draw.uniform(w.data(), 0, 1, 1, x.data(), std::int64_t(x.size()));
    level.loops->f64.draw.uniform(w.data(), 0, 1, 1, y.data(), std::int64_t(y.size()));
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(x[i], static_cast<float>(w[i] >> 8) * 0x1p-24f) << level.name;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::uint64_t pair = w[2 * i] | std::uint64_t{w[2 * i + 1]} << 32;
      ASSERT_EQ(y[i], static_cast<double>(pair >> 11) * 0x1p-53) << level.name;
    }
  }
}

// u and πv of the pairs, as core/random.h says.
void uniforms_of(const std::uint32_t* w, float& u, float& angle) {
  u = static_cast<float>(w[0]) * 0x1p-32f + 0x1p-33f;
  const double v = (static_cast<double>(static_cast<std::int32_t>(w[1])) + 0.5) * 0x1p-31;
  angle = static_cast<float>(std::numbers::pi * v);
}
void uniforms_of(const std::uint32_t* w, double& u, double& angle) {
  const std::uint64_t a = w[0] | std::uint64_t{w[1]} << 32, b = w[2] | std::uint64_t{w[3]} << 32;
  u = static_cast<double>(a >> 11) * 0x1p-53 + 0x1p-54;
  angle = std::numbers::pi *
          ((static_cast<double>(static_cast<std::int64_t>(b) >> 11) + 0.5) * 0x1p-52);
}

template <class T>
void check_normals(double limit) {
  const Words w = sample();
  std::vector<T> z(w.size() * 4 / sizeof(T));
  levels().list[0].loops->of<T>().draw.normal(w.data(), 0, 1, z.data(), std::int64_t(z.size()));
  double worst = 0;
  for (std::size_t i = 0; i < z.size(); i += 2) {
    T u, angle;
    uniforms_of(&w[i * sizeof(T) / 4], u, angle);
    const Exact radius = std::sqrt(-2 * std::log(Exact(u)));
    const Exact exact[2] = {radius * std::cos(Exact(angle)), radius * std::sin(Exact(angle))};
    for (std::size_t j = 0; j < 2; ++j)
      worst = std::max(worst, static_cast<double>(std::fabs(z[i + j] - exact[j])) /
                                  test::ulp(static_cast<T>(exact[j])));
  }
  EXPECT_LE(worst, limit);
}

TEST(LoopsRandom, NormalsAreAccurate) {
  check_normals<float>(2.5);
  check_normals<double>(2.5);
}

TEST(LoopsRandom, TruthHasItsProbabilityAtBothEnds) {
  const Words w = sample();
  const auto n = static_cast<std::int64_t>(w.size());
  const auto count = [&](const Level& level, std::uint64_t threshold) {
    std::vector<unsigned char> y(w.size());
    level.loops->random.bernoulli(w.data(), threshold, reinterpret_cast<bool*>(y.data()), n);
    std::int64_t sum = 0;
    for (const unsigned char v : y) sum += v;
    return sum;
  };
  for (const Level& level : levels())
    for (const std::uint64_t threshold :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 31, (std::uint64_t{1} << 32) - 1,
          std::uint64_t{1} << 32}) {
      std::int64_t below = 0;
      for (const std::uint32_t word : w) below += word < threshold;
      EXPECT_EQ(count(level, threshold), below) << threshold << ' ' << level.name;
    }
}

}  // namespace
}  // namespace ladon::kernels::loops_random_test
