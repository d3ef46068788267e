// Compound assignments such as x += y: which tensors are edited in place, which operations are
// recorded, and which calls are errors.

#include <gtest/gtest.h>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/tests/support.h"

namespace ladon::assignment_test {
namespace {

using Numbers = std::vector<double>;

TEST(Assignment, EditsWhatOthersSeeWhereNothingIsRecorded) {
  Tensor x = tensor({1, 2, 3, 4}, {2, 2});
  const Tensor same = x;
  Tensor row = at(x, {1});
  row *= 10;
  x -= tensor({1, 1});
  EXPECT_EQ(same.to_vector(), (Numbers{0, 1, 29, 39}));
  x += x;  // reads all before it writes
  EXPECT_EQ(same.to_vector(), (Numbers{0, 2, 58, 78}));
}

TEST(Assignment, StepsALeafUnderNoGrad) {
  // ½w² has gradient w: a step of 0.1 takes it to 0.9·w, seen by who holds the same parameter.
  Tensor w = tensor({2, -4}).set_requires_grad();
  const Tensor held = w;
  backward(sum(0.5 * square(w)));
  {
    const NoGrad no_grad;
    w -= 0.1 * w.grad();
  }
  EXPECT_TRUE(all_close(held.detach(), tensor({1.8, -3.6})));
  EXPECT_TRUE(w.requires_grad());
  test::expect_error([&] { w -= held; }, "is a leaf");
}

// A loader may write the next batch over the targets before the gradient is taken.
TEST(Assignment, OfTargetsAfterTheLossChangesNoGradient) {
  const Tensor x = tensor({1, 2, 3, 0.5, -1, 0}, {2, 3}, f64).set_requires_grad();
  Tensor target = tensor({2, 0}, i64);
  const Tensor loss = cross_entropy(x, target);
  const Tensor want = grad({cross_entropy(x, tensor({2, 0}, i64))}, {x})[0];
  target *= 0;
  EXPECT_EQ(grad({loss}, {x})[0].to_vector(), want.to_vector());
}

TEST(Assignment, SumsLossesWithTheirHistory) {
  const Tensor w = tensor({2, 3}, f64).set_requires_grad();
  Tensor total = zeros({}, f64);
  for (int i = 1; i <= 3; ++i) total += sum(static_cast<double>(i) * square(w));  // 6·Σw²
  total /= 2;
  EXPECT_EQ(grad(total, w).to_vector(), (Numbers{12, 18}));
}

TEST(Assignment, RecordedResultsLeaveSavedValuesAlone) {
  const Tensor w = tensor({0, 1}, f64).set_requires_grad();
  Tensor y = exp(w);  // saves y for its gradient
  const Tensor before = y;
  y *= y;
  EXPECT_EQ(before.to_vector(), exp(w.detach()).to_vector());
  EXPECT_TRUE(all_close(grad(sum(y), w), 2 * exp(2 * w.detach())));
}

TEST(Assignment, KeepsDtypeAndShape) {
  Tensor x = ones({2}, f32);
  x += tensor({1, 2}, f64);
  EXPECT_EQ(x.dtype(), f32);
  Tensor n = tensor({4, 6}, i64);
  n += 1;
  EXPECT_EQ(n.to_vector(), (Numbers{5, 7}));
  test::expect_error([&] { n /= 2; }, "the result is f32, but x i64");
  test::expect_error([&] { n += 0.5; }, "is not representable as i64");
  EXPECT_EQ(n.to_vector(), (Numbers{5, 7}));
}

}  // namespace
}  // namespace ladon::assignment_test
