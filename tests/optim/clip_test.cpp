#include "ladon/optim/clip.h"

#include <cmath>
#include <limits>

#include "ladon/tests/optim/helpers.h"

namespace ladon::test::clip_test {
namespace {

class ClipTest : public ::testing::Test {
 protected:
  ClipTest() {
    a.set_grad(tensor({3, 0, 0}, f32));
    b.set_grad(tensor({0, -4}, {2, 1}, f64));
  }
  Tensor a = leaf(zeros({3}, f32)), b = leaf(zeros({2, 1}, f64)), without = leaf(zeros({2}));
  std::vector<Tensor> all = {a, without, b};
};

TEST_F(ClipTest, ScalesToTheNorm) {
  EXPECT_EQ(clip_grad_norm(all, 1), 5);
  expect_values(a.grad(), {0.6, 0, 0}, 1e-7);
  expect_values(b.grad(), {0, -0.8}, 1e-16);
  EXPECT_FALSE(without.grad().defined());
}

TEST_F(ClipTest, LeavesSmallGradientsAlone) {
  EXPECT_EQ(clip_grad_norm(all, 5), 5);
  expect_values(a.grad(), {3, 0, 0}, 0);
  EXPECT_EQ(clip_grad_norm({without}, 1), 0);
}

TEST_F(ClipTest, SeesNormsThatOverflowTheirDtype) {
  a.set_grad(tensor({3e30, 0, 4e30}, f32));
  EXPECT_NEAR(clip_grad_norm({a}, 10) / 5e30, 1, 1e-7);
  expect_values(a.grad(), {6, 0, 8}, 1e-5);
}

TEST_F(ClipTest, SeesNormsWhoseSquaresOverflow) {
  for (const double scale : {1e200, 1e-200, 1e308 / 4}) {
    b.set_grad(tensor({3 * scale, 4 * scale}, {2, 1}, f64));
    EXPECT_NEAR(clip_grad_norm({b}, 0.1 * scale) / (5 * scale), 1, 1e-14);
    EXPECT_NEAR(select(b.grad(), 0, 0).item() / (0.06 * scale), 1, 1e-14);
    EXPECT_NEAR(select(b.grad(), 0, 1).item() / (0.08 * scale), 1, 1e-14);
  }
  a.set_grad(tensor({1e30, 0, 0}, f32));  // far below the rest, and scaled with it
  b.set_grad(tensor({3e200, 4e200}, {2, 1}, f64));
  clip_grad_norm({a, b}, 5e199);
  EXPECT_NEAR(select(a.grad(), 0, 0).item() / 1e29, 1, 1e-6);
  // The norm itself is beyond the range of f64; the gradients are scaled all the same.
  b.set_grad(tensor({1.5e308, 1.5e308}, {2, 1}, f64));
  clip_grad_norm({b}, std::sqrt(2.0));
  expect_values(b.grad(), {1, 1}, 1e-14);
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    b.set_grad(tensor({3e200, bad}, {2, 1}, f64));
    expect_error([&] { clip_grad_norm({b}, 1); }, "the norm of the gradients is ");
  }
}

// Of merged sets, as those of an encoder and a decoder that share their embedding.
TEST_F(ClipTest, TakesATensorOnce) {
  const std::vector<Tensor> twice = {a, b, a};
  const ParameterSet merged{{"encoder.weight", b}, {"decoder.weight", b}, {"decoder.bias", a}};
  EXPECT_EQ(clip_grad_norm(twice, 1), 5);
  expect_values(a.grad(), {0.6, 0, 0}, 1e-7);
  b.set_grad(tensor({0, -4}, {2, 1}, f64));
  a.set_grad(tensor({3, 0, 0}, f32));
  EXPECT_EQ(clip_grad_norm(merged, 2.5), 5);
  expect_values(b.grad(), {0, -2}, 1e-15);
  expect_values(a.grad(), {1.5, 0, 0}, 1e-7);
  clip_grad_value(merged, 1);
  expect_values(b.grad(), {0, -1}, 0);
}

TEST_F(ClipTest, SumsLongGradientsExactly) {
  const std::int64_t n = 200001;
  Tensor x = leaf(zeros({n}, f32));
  x.set_grad(full({n}, 0.1));
  const double tenth = 0.1F;
  EXPECT_NEAR(clip_grad_norm({x}, 1e9), tenth * std::sqrt(double(n)), 1e-11);
}

TEST_F(ClipTest, FindsNonFiniteNorms) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    a.set_grad(tensor({3, bad, 0}, f32));
    expect_error([&] { clip_grad_norm(all, 1); }, "the norm of the gradients is ");
    EXPECT_FALSE(std::isfinite(clip_grad_norm(all, 1, {.error_if_nonfinite = false})));
    expect_values(b.grad(), {0, -4}, 0);
  }
}

TEST_F(ClipTest, LimitsValues) {
  clip_grad_value(all, 3.5);
  expect_values(a.grad(), {3, 0, 0}, 0);
  expect_values(b.grad(), {0, -3.5}, 0);
}

TEST_F(ClipTest, RefusesBadLimits) {
  expect_error([&] { clip_grad_norm(all, 0); }, "max_norm is 0");
  expect_error([&] { clip_grad_value(all, std::nan("")); }, "max_value is nan");
}

}  // namespace
}  // namespace ladon::test::clip_test
