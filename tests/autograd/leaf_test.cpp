// Leaf tensors: gradients to which several threads add, gradients that were set, leaves that were
// replaced.

#include "ladon/autograd/leaf.h"

#include <gtest/gtest.h>

#include <thread>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/tests/support.h"

namespace ladon::leaf_test {
namespace {

Tensor leaf(std::initializer_list<double> values) {
  return tensor(values, f64).set_requires_grad();
}

void in_threads(int n, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back(body, i);
  for (std::thread& t : threads) t.join();
}

TEST(Leaf, LosesNothingThatSeveralThreadsAdd) {
  Tensor x = leaf({1, 2, 3});
  constexpr int sweeps = 5000;
  in_threads(4, [&](int) {
    for (int i = 0; i < sweeps; ++i) backward(sum(x));
  });
  EXPECT_EQ(x.grad().to_vector(), std::vector<double>(3, 4.0 * sweeps));
}

TEST(Leaf, LosesNothingThroughACommonGraph) {
  Tensor w = leaf({1, 2});
  const Tensor common = w * w;
  constexpr int sweeps = 500;
  in_threads(4, [&](int i) {
    for (int k = 0; k < sweeps; ++k) backward(sum(common * double(i)), {.retain_graph = true});
  });
  EXPECT_EQ(w.grad().to_vector(), (std::vector<double>{2.0 * 6 * sweeps, 4.0 * 6 * sweeps}));
}

TEST(Leaf, GivesGradientsThatTheCallerMayEdit) {
  Tensor x = leaf({1, 2});
  const Tensor c = tensor({3, 4}, f64);
  backward(x * 1.0, c);
  backward(x * 1.0, c);
  EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{6, 8}));
  EXPECT_EQ(c.to_vector(), (std::vector<double>{3, 4}));
}

TEST(Leaf, ARewrittenGradientIsNotMixed) {
  Tensor x = leaf({1, 2}), other = leaf({5});
  backward(sum(x));
  Leaf::of(x)->set_rewrite({.by = "svgd"});
  const Tensor loss = sum(x) + sum(other);
  test::expect_error([&] { backward(loss); }, "was rewritten by svgd");
  EXPECT_FALSE(other.grad().defined()) << "thrown before anything is added";
  test::expect_error([&] { Leaf::of(x)->set_rewrite({.by = "wgd"}); }, "[wgd] the gradient");
  EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{1, 1}));
  x.set_grad({});
  backward(loss);
  EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{1, 1}));
  EXPECT_EQ(Leaf::of(x)->rewrite().by, "");
}

TEST(Leaf, HandsOutWhatTheStepDoesOnce) {
  Tensor x = leaf({1});
  backward(sum(x));
  double rate = 0;
  Leaf::of(x)->set_rewrite({.by = "spos", .at_step = [&](double r) { rate += r; }});
  Leaf::of(x)->use()(0.5);
  EXPECT_EQ(rate, 0.5);
  EXPECT_FALSE(Leaf::of(x)->use());
  EXPECT_EQ(Leaf::of(x)->rewrite().by, "spos");
}

TEST(Leaf, KnowsThatAStepUsedItsGradient) {
  Tensor x = leaf({1});
  backward(sum(x));
  EXPECT_FALSE(Leaf::of(x)->used());
  Leaf::of(x)->use();
  EXPECT_TRUE(Leaf::of(x)->used());
  x.set_grad({});
  backward(sum(x));
  EXPECT_FALSE(Leaf::of(x)->used());
}

TEST(Leaf, AReplacedOneSaysSo) {
  const Tensor x = leaf({1});
  Leaf::of(x)->check_in_place("step");
  Leaf::of(x)->replace("Module::to(f32)");
  test::expect_error([&] { Leaf::of(x)->check_in_place("step"); },
                     "[step] a parameter of shape [1] (f64) was replaced by Module::to(f32)");
}

TEST(Leaf, IsFoundBelowAnOutput) {
  Tensor a = leaf({1}), b = leaf({2});
  const auto uses = leaves_of(exp(a * 2.0) + a + b);
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_TRUE(leaves_of(ones({2})).empty());
}

}  // namespace
}  // namespace ladon::leaf_test
