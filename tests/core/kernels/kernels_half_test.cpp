// Tensors of half-precision dtypes: conversion, and which operations accept them.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ladon/autograd/ops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/view.h"
#include "ladon/tests/support.h"

namespace ladon::kernels_half_test {
namespace {

using test::expect_error;

constexpr double inf = std::numeric_limits<double>::infinity();

/// A format of `precision` bits with `bits` bits of exponent, by its definition.
struct Format {
  DType dtype;
  int precision, bits;

  int bias() const { return (1 << (bits - 1)) - 1; }
  int infinity() const { return ((1 << bits) - 1) << (precision - 1); }
  /// The number whose bits are h: (1 + f/2^(p−1))·2^(e − bias), and f/2^(p−1)·2^(1 − bias) at e =
  /// 0. At the place of ∞ the number that would follow the largest: rounding knows no other bound.
  double value(int h) const {
    const int e = h >> (precision - 1), f = h & ((1 << (precision - 1)) - 1);
    return e == 0 ? std::ldexp(f, 2 - bias() - precision)
                  : std::ldexp(f + (1 << (precision - 1)), e - bias() + 1 - precision);
  }
};
constexpr Format formats[] = {{f16, 11, 5}, {bf16, 8, 8}};

/// A tensor of the halves with these bits.
Tensor of_bits(DType dtype, const std::vector<int>& list) {
  Tensor x = empty({static_cast<std::int64_t>(list.size())}, dtype);
  auto* to = reinterpret_cast<std::uint16_t*>(x.storage().bytes());
  for (const int h : list) *to++ = static_cast<std::uint16_t>(h);
  return x;
}
std::vector<int> bits_of(const Tensor& x) {
  const auto* from = reinterpret_cast<const std::uint16_t*>(x.storage().bytes());
  return {from, from + x.count()};
}

TEST(KernelsHalf, WidensEveryOne) {
  for (const Format& format : formats) {
    std::vector<int> all(65536);
    for (int h = 0; h < 65536; ++h) all[static_cast<std::size_t>(h)] = h;
    const Tensor x = of_bits(format.dtype, all);
    const std::vector<float> wide = kernels::cast(x, f32).to_vector<float>();
    EXPECT_EQ(bits_of(kernels::clone(x)), all);
    for (int h = 0; h < 65536; ++h) {
      const float y = wide[static_cast<std::size_t>(h)];
      const int size = h & 0x7fff;
      if (size > format.infinity())
        ASSERT_TRUE(std::isnan(y)) << h;
      else
        ASSERT_EQ(std::abs(y), size == format.infinity() ? inf : format.value(size)) << h;
      ASSERT_EQ(std::signbit(y), h >= 0x8000) << h;
    }
  }
}

// Between two neighbours a < b: a itself, the middle (to the even one of them), and what is next to
// the middle in f64, which f32 would round to the middle.
TEST(KernelsHalf, NarrowsToTheNearestAndTiesToEven) {
  for (const Format& format : formats)
    for (const DType from : {f32, f64}) {
      std::vector<double> values;
      std::vector<int> expected;
      for (int h = 0; h < format.infinity(); ++h) {
        const double a = format.value(h), b = format.value(h + 1), middle = (a + b) / 2;
        const auto beside = [&](double to) {
          if (from == f64) return std::nextafter(middle, to);
          return double{std::nextafter(static_cast<float>(middle), static_cast<float>(to))};
        };
        const int even = h + (h & 1);
        for (const auto& [value, bits] : {std::pair(a, h), std::pair(middle, even),
                                          std::pair(beside(a), h), std::pair(beside(b), h + 1)}) {
          values.insert(values.end(), {value, -value});
          expected.insert(expected.end(), {bits, bits | 0x8000});
        }
      }
      const Tensor x =
          kernels::cast(from_vector(values, {static_cast<std::int64_t>(values.size())}), from);
      const std::vector<int> got = bits_of(kernels::cast(x, format.dtype));
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], expected[i]) << values[i] << " " << from << " to " << format.dtype;
    }
}

TEST(KernelsHalf, NarrowsWhatIsBeyondThem) {
  for (const Format& format : formats)
    for (const DType from : {f32, f64}) {
      const Tensor x = kernels::cast(tensor({inf, -inf, 3.4028234e38, 1e-45, -1e-45}, f64), from);
      const int infinity = format.infinity();
      EXPECT_EQ(bits_of(kernels::cast(x, format.dtype)),
                (std::vector{infinity, infinity | 0x8000, infinity, 0, 0x8000}));
      const Tensor nan = kernels::cast(full({3}, std::nan(""), from), format.dtype);
      for (const double y : nan.to_vector()) EXPECT_TRUE(std::isnan(y));
    }
  EXPECT_EQ(bits_of(kernels::cast(full({1}, 1e300, f64), bf16)), std::vector{0x7f80});
}

// 2^61 + 2^53 lies in the middle of two bf16, whose steps are 2^54 there; f64 does not hold the 1.
TEST(KernelsHalf, IntegersRoundOnce) {
  const std::int64_t base = std::int64_t{1} << 61, middle = std::int64_t{1} << 53;
  const Tensor x = from_vector(
      std::vector<std::int64_t>{base + middle, base + middle + 1, base + middle - 1, -base - middle,
                                -base - middle - 1, INT64_MIN, 0, -3, 65519, 65520},
      {10});
  const double step = 0x1p54, b = 0x1p61;
  EXPECT_EQ(kernels::cast(x, bf16).to_vector(),
            (std::vector<double>{b, b + step, b, -b, -b - step, -0x1p63, 0, -3, 65536, 65536}));
  EXPECT_EQ(kernels::cast(x, f16).to_vector(),
            (std::vector<double>{inf, inf, inf, -inf, -inf, -inf, 0, -3, 65504, inf}));
  EXPECT_EQ(kernels::cast(tensor({0, 1}, boolean), bf16).to_vector(), (std::vector<double>{0, 1}));
  EXPECT_EQ(kernels::cast(tensor({-2.5, 0, 3}, f16), i64).to_vector(),
            (std::vector<double>{-2, 0, 3}));
  EXPECT_EQ(kernels::cast(tensor({-2.5, 0, 3}, bf16), boolean).to_vector(),
            (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(kernels::cast(tensor({65504, 0x1p-24}, f16), bf16).to_vector(),
            (std::vector<double>{65536, 0x1p-24}));
}

TEST(KernelsHalf, AreMadeViewedCopiedAndPrinted) {
  for (const DType t : {f16, bf16}) {
    const Tensor x = tensor({1, -2.5, 0.5, 4, 0, 7}, {2, 3}, t), turned = transpose(x, 0, 1);
    EXPECT_EQ(item_size(t), 2u);
    EXPECT_EQ(x.storage().size(), 12u);
    EXPECT_EQ(turned.to_vector(), (std::vector<double>{1, 4, -2.5, 0, 0.5, 7}));
    EXPECT_EQ(kernels::contiguous(turned).dtype(), t);
    EXPECT_EQ(to_string(x), detail::join("[[1, -2.5, 0.5],\n [4, 0, 7]] [2, 3] ", t));
    EXPECT_EQ(at(x, {0, 1}).item(), -2.5);
    EXPECT_EQ(full({}, 0.5, t).item(), 0.5);
    EXPECT_EQ(ones({2}, t).to_vector<int>(), (std::vector{1, 1}));
    EXPECT_TRUE(equal(x, x).to_vector<bool>() == std::vector<bool>(6, true));
    EXPECT_EQ(embedding(x, tensor({1, 0}, i64)).dtype(), t);
    EXPECT_EQ(embedding(x, tensor({1, 0}, i64)).to_vector(),
              (std::vector<double>{4, 0, 7, 1, -2.5, 0.5}));
    EXPECT_EQ(concat({x, x}, 0).dtype(), t);
    EXPECT_EQ(gather(x, 1, tensor({2, 0}, {2, 1}, i64)).to_vector(), (std::vector<double>{0.5, 4}));
  }
}

TEST(KernelsHalf, ComputeAsF32WhereIntegersDo) {
  const Tensor x = tensor({1.5, -2.5}, bf16), y = tensor({0.25, 2}, f16), w = tensor({2, 3}, f32);
  for (const Tensor& z : {x + x, x + y, x * 0.75, exp(x), where(less(x, w), x, y), x * w})
    EXPECT_EQ(z.dtype(), f32);
  EXPECT_EQ((x * 0.75).to_vector(), (std::vector<double>{1.125, -1.875}));
  EXPECT_EQ(ceil(x).to_vector(), (std::vector<double>{2, -2}));
  EXPECT_EQ(round(x).to_vector(), (std::vector<double>{2, -2}));
  EXPECT_EQ(clamp(x, -0.5, 1.25).to_vector(), (std::vector<double>{1.25, -0.5}));
  EXPECT_EQ((x + tensor({1, 2}, i64)).to_vector(), (std::vector<double>{2.5, -0.5}));
  EXPECT_EQ((x + tensor({1, 2}, f64)).dtype(), f64);
  const Tensor a = ones({2, 2}), b = tensor({1, 2, 3, 4}, {2, 2}, bf16);
  EXPECT_EQ(matmul(a, b).to_vector(), (std::vector<double>{4, 6, 4, 6}));
}

TEST(KernelsHalf, RefuseToComputeWithAHint) {
  Tensor x = tensor({1, 2, 3, 4}, {2, 2}, bf16);
  expect_error([&] { sum(x); },
               "bf16 elements are for storage, not to compute with; convert them with cast(x, "
               "f32)");
  expect_error([&] { matmul(x, x); }, "needs floating-point operands, got bf16 and bf16");
  expect_error([&] { softmax(x, -1); },
               "needs a floating-point tensor, got bf16; convert it with cast(x, f32)");
  expect_error([&] { sort(x); }, "bf16 elements are for storage");
  expect_error([&] { x.set_requires_grad(); },
               "only floating-point tensors have gradients, got bf16");
  expect_error([] { arange(0, 3, 1, f16); }, "f16 elements are for storage");
  Tensor leaf = ones({2}).set_requires_grad();
  EXPECT_FALSE(cast(leaf, bf16).requires_grad());
}

}  // namespace
}  // namespace ladon::kernels_half_test
