// Copies between layouts and dtypes, and updates in place.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/unary.h"
#include "ladon/tests/core/kernels/layouts.h"

namespace ladon::kernels::kernels_copy_test {
namespace {

using layout::element;
using layout::layouts;
using layout::sample;

constexpr DType dtypes[] = {boolean, i64, f16, f32, f64};  // f16 holds all samples

TEST(KernelsCopy, CastsBetweenAllDTypesOnEveryLayout) {
  for (DType from : dtypes)
    for (DType to : dtypes)
      for (const Tensor& x : layouts(sample({40, 70}, from))) {
        const Tensor y = cast(x, to);
        ASSERT_EQ(y.dtype(), to);
        for (std::int64_t j = 0; j < x.count(); ++j) {
          const double v = element(x, j);
          ASSERT_EQ(element(y, j), to == boolean ? v != 0 : to == i64 ? std::trunc(v) : v);
        }
      }
}

TEST(KernelsCopy, FloatsOutsideTheIntegersSaturate) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Tensor y = cast(tensor({1e30, -1e30, inf, -inf, std::nan(""), -2.9}, f64), i64);
  constexpr auto low = std::numeric_limits<std::int64_t>::min();
  constexpr auto high = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(y.to_vector<std::int64_t>(), (std::vector<std::int64_t>{high, low, high, low, 0, -2}));
  EXPECT_EQ(cast(tensor({0, std::nan(""), 0.25}), boolean).to_vector<int>(),
            (std::vector{0, 1, 1}));
}

TEST(KernelsCopy, ContiguousKeepsWhatIsAndCloneNeverShares) {
  const Tensor x = sample({40, 70}), t = view::transpose(x, 0, 1);
  EXPECT_TRUE(contiguous(x).storage() == x.storage());
  EXPECT_TRUE(cast(x, f32).storage() == x.storage());
  EXPECT_FALSE(clone(x).storage() == x.storage());
  const Tensor y = contiguous(t);
  ASSERT_TRUE(y.contiguous());
  for (std::int64_t j = 0; j < y.count(); ++j) ASSERT_EQ(element(y, j), element(t, j));
}

TEST(KernelsCopy, WritesStridedDestinations) {
  for (DType from : dtypes)
    for (const Tensor& destination : layouts(sample({40, 70}, f64)))
      for (const Tensor& source : layouts(sample({70}, from, 2))) {
        copy(destination, source);
        const Tensor wide = view::expand(source, destination.shape());
        for (std::int64_t j = 0; j < destination.count(); ++j)
          ASSERT_EQ(element(destination, j), element(wide, j));
      }
}

TEST(KernelsCopy, LeavesWhatItDoesNotWrite) {
  const Tensor x = zeros({4, 5});
  fill(view::slice(view::select(x, 0, 1), 0, 0, 3, 2), 7);
  EXPECT_EQ(x.to_vector<int>(),
            (std::vector{0, 0, 0, 0, 0, 7, 0, 7, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  const Tensor square = zeros({40, 40}), inner = view::slice(square, 0, 3, 30, 1);
  copy(view::transpose(inner, 0, 1), sample({40, 30}));
  for (std::int64_t j = 0; j < 3 * 40; ++j) ASSERT_EQ(element(square, j), 0);
  for (std::int64_t j = 33 * 40; j < square.count(); ++j) ASSERT_EQ(element(square, j), 0);
}

TEST(KernelsCopy, OverlapIsAsIfTheSourceWereCopiedFirst) {
  const Tensor x = arange(0, 6, 1, f32);
  copy(view::slice(x, 0, 1, 5, 1), view::slice(x, 0, 0, 5, 1));
  EXPECT_EQ(x.to_vector<int>(), (std::vector{0, 0, 1, 2, 3, 4}));
  const Tensor y = arange(0, 6, 1, f32);
  copy(y, view::slice(y, 0, 5, 6, -1));
  EXPECT_EQ(y.to_vector<int>(), (std::vector{5, 4, 3, 2, 1, 0}));
  const Tensor z = arange(1, 4, 1, f32);
  axpby(1, z, 1, view::select(z, 0, 0));
  EXPECT_EQ(z.to_vector<int>(), (std::vector{2, 3, 4}));
}

TEST(KernelsCopy, AxpbyOnEveryLayout) {
  for (DType dtype : {f32, f64, i64})
    for (const Tensor& x : layouts(sample({30, 50}, dtype)))
      for (const Tensor& y : layouts(sample({30, 1}, dtype, 2))) {
        const Tensor before = clone(x), wide = view::expand(y, x.shape());
        axpby(2, x, -3, y);
        for (std::int64_t j = 0; j < x.count(); ++j)
          ASSERT_EQ(element(x, j), 2 * element(before, j) - 3 * element(wide, j));
      }
}

TEST(KernelsCopy, InPlaceEditsCount) {
  const Tensor x = sample({4, 4}), t = view::transpose(x, 0, 1);
  std::uint32_t version = x.storage().version();
  const auto bumped = [&] { return std::exchange(version, x.storage().version()) != version; };
  fill(x, 1);
  EXPECT_TRUE(bumped());
  fill(t, 1);
  EXPECT_TRUE(bumped());
  copy(t, sample({4}));
  EXPECT_TRUE(bumped());
  axpby(1, x, 1, sample({4, 4}));
  EXPECT_TRUE(bumped());
  axpby(1, t, 1, sample({4}));
  EXPECT_TRUE(bumped());
  unary(Unary::exp, t);
  EXPECT_FALSE(bumped());
}

TEST(KernelsCopy, RefusesWhatItCannotWrite) {
  const Tensor expanded = view::expand(sample({1, 4}), {3, 4});
  EXPECT_THROW(copy(expanded, sample({4})), Error);
  EXPECT_THROW(fill(expanded, 0), Error);
  EXPECT_THROW(axpby(1, expanded, 1, sample({4})), Error);
  EXPECT_THROW(copy(sample({4}), sample({3, 4})), Error);
  EXPECT_THROW(copy(sample({4}), sample({3})), Error);
  EXPECT_THROW(axpby(1, sample({4}), 1, sample({4}, f64)), Error);
  EXPECT_THROW(axpby(1, sample({4}, boolean), 1, sample({4}, boolean)), Error);
  EXPECT_THROW(clone(Tensor()), Error);
  EXPECT_THROW(contiguous(Tensor()), Error);
  EXPECT_THROW(copy(sample({4}), Tensor()), Error);
}

}  // namespace
}  // namespace ladon::kernels::kernels_copy_test
