#include "ladon/autograd/ops/shape.h"

#include <limits>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/random.h"
#include "ladon/tests/support.h"

namespace ladon::test::shape_test {
namespace {

bool shares(const Tensor& a, const Tensor& b) { return a.storage() == b.storage(); }

TEST(Views, ShareStorageWithTheirInput) {
  const Tensor x = ones({2, 3, 4});
  for (const Tensor& y :
       {reshape(x, {6, 4}), flatten(x), permute(x, {2, 0, 1}), transpose(x), unsqueeze(x, 0),
        expand(unsqueeze(x, 0), {5, 2, 3, 4}), slice(x, 1, {.start = 1}), select(x, 2, -1),
        at(x, {0, all_of, 1}), split(x, 2, 2)[1], flip(x, {0, 2}), diagonal(x), contiguous(x),
        reshape(transpose(x, 0, 1), {3, 2, 2, 2})})
    EXPECT_TRUE(shares(x, y)) << y.shape();
}

TEST(Views, CopiesHaveStorageOfTheirOwn) {
  const Tensor x = ones({2, 3});
  for (const Tensor& y : {clone(x), concat({x}, 0), pad(x, {0, 0}, {0, 0}), tril(x),
                          contiguous(transpose(x)), reshape(transpose(x), {6})})
    EXPECT_FALSE(shares(x, y)) << y.shape();
}

TEST(Slice, ExtremeBoundsAreClipped) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                     most = std::numeric_limits<std::int64_t>::max();
  const Tensor x = arange(0, 5);
  const auto sliced = [&](Slice range) { return slice(x, 0, range).to_vector<std::int64_t>(); };
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ(sliced({.start = least, .stop = most}), (Values{0, 1, 2, 3, 4}));
  EXPECT_EQ(sliced({.start = most, .stop = least, .step = -1}), (Values{4, 3, 2, 1, 0}));
  EXPECT_EQ(sliced({.start = 3, .step = most}), (Values{3}));
  EXPECT_EQ(sliced({.start = 3, .step = least}), (Values{3}));
  EXPECT_EQ(sliced({.start = -1, .stop = 0, .step = -2}), (Values{4, 2}));
  EXPECT_EQ(sliced({.step = -1}), (Values{4, 3, 2, 1, 0}));
}

TEST(Concat, PromotesDtypes) {
  const Tensor y = concat({arange(0, 2), tensor({0.5}, f64)}, 0);
  EXPECT_EQ(y.dtype(), f64);
  EXPECT_EQ(y.to_vector(), (std::vector<double>{0, 1, 0.5}));
}

TEST(Shapes, TheLargestRankIsAnError) {
  const Tensor x = ones(Shape::filled(8, 1));
  expect_error([&] { unsqueeze(x, 0); }, "at most 8 axes");
  EXPECT_EQ(tile(x, {2, 1, 1, 1, 1, 1, 1, 3}).count(), 6);
}

// Many rows, of parts that are dense or one that is not, and of bytes as of numbers.
TEST(Concat, JoinsManyRows) {
  Generator rng(4);
  for (const DType dtype : {f32, i64, boolean})
    for (const bool dense : {true, false}) {
      const auto part = [&](const Shape& shape) { return cast(randint(shape, rng, 0, 2), dtype); };
      const Tensor a = part({5, 7, 3}), c = part({5, 7, 4}),
                   b = dense ? part({5, 7, 2}) : transpose(part({5, 2, 7}), 1, 2);
      const Tensor y = concat({a, b, c}, -1);
      ASSERT_EQ(y.shape(), (Shape{5, 7, 9}));
      EXPECT_TRUE(all_equal(slice(y, 2, {.stop = 3}), a));
      EXPECT_TRUE(all_equal(slice(y, 2, {.start = 3, .stop = 5}), b));
      EXPECT_TRUE(all_equal(slice(y, 2, {.start = 5}), c));
    }
}

}  // namespace
}  // namespace ladon::test::shape_test
