// Memory that the caller owns and passes by from_blob() is only read: a gradient in such memory is
// never edited in place, whichever function it is passed to or comes from.

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/extra/io/memory.h"
#include "ladon/tests/support.h"

namespace ladon::lent_memory_test {
namespace {

/// Four ones that a caller owns.
struct Lent {
  std::vector<double> memory = std::vector<double>(4, 1.0);
  Tensor tensor() { return from_blob(memory.data(), {4}, f64); }
  bool untouched() const { return memory == std::vector<double>(4, 1.0); }
};

Tensor leaf() {
  Tensor x = zeros({4}, f64);
  return x.set_requires_grad();
}

/// Twice x, with the lent tensor as its gradient: nobody else holds that.
Tensor with_lent_gradient(const Tensor& x, Lent& lent) {
  const CustomFunction f{
      .name = "lent",
      .forward = [](const std::vector<Tensor>& in) { return in[0] * 2.0; },
      .gradient = [&lent](const Tensor&, const std::vector<Tensor>&,
                          const Tensor&) { return std::vector<Tensor>{lent.tensor()}; }};
  return f({x});
}

/// How a lent gradient comes to a leaf x: each ends with a gradient in x.grad().
struct Giver {
  const char* name;
  std::function<void(const Tensor& x, Lent& lent)> give;
};
const std::vector<Giver>& givers() {
  static const std::vector<Giver> all{
      {"set_grad", [](const Tensor& x, Lent& lent) { Tensor(x).set_grad(lent.tensor()); }},
      {"cotangent of a leaf", [](const Tensor& x, Lent& lent) { backward(x, lent.tensor()); }},
      {"cotangent",
       [](const Tensor& x, Lent& lent) { backward(reshape(x, {4}) + 0.0, lent.tensor()); }},
      {"custom function",
       [](const Tensor& x, Lent& lent) { backward(sum(with_lent_gradient(x, lent))); }},
      {"hook of a leaf",
       [](const Tensor& x, Lent& lent) {
         HookHandle hook = register_hook(x, [&lent](const Tensor&) { return lent.tensor(); });
         backward(sum(x));
         hook.remove();
       }},
      {"hook of a result",
       [](const Tensor& x, Lent& lent) {
         const Tensor y = x + 0.0;
         register_hook(y, [&lent](const Tensor&) { return lent.tensor(); });
         backward(sum(y));
       }},
      {"custom function and pieces",
       [](const Tensor& x, Lent& lent) {
         const Tensor y = x * 1.0;
         backward(sum(with_lent_gradient(y, lent)) + sum(slice(y, 0, {.start = 0, .stop = 2})) +
                  sum(select(y, 0, 3)));
       }},
      {"pieces of a leaf",
       [](const Tensor& x, Lent& lent) {
         backward(sum(with_lent_gradient(x, lent)) + sum(slice(x, 0, {.start = 0, .stop = 2})));
       }},
      {"hook and pieces",
       [](const Tensor& x, Lent& lent) {
         const Tensor y = x * 1.0;
         register_hook(y * 1.0, [](const Tensor&) { return Tensor(); });
         HookHandle hook = register_hook(x, [&lent](const Tensor&) { return lent.tensor(); });
         backward(sum(slice(y, 0, {.start = 0, .stop = 2})) + sum(y));
         hook.remove();
       }},
      {"create_graph",
       [](const Tensor& x, Lent& lent) {
         const Tensor y = x * x;
         backward(y, lent.tensor(), {.create_graph = true});
         Tensor(x).set_grad(x.grad().detach());
       }},
      {"vjp",
       [](const Tensor& x, Lent& lent) {
         const auto f = [](const std::vector<Tensor>& in) { return in[0] + 0.0; };
         Tensor(x).set_grad(vjp(f, {x.detach()}, lent.tensor()).gradients[0]);
       }},
  };
  return all;
}

/// What then writes to the gradient of a leaf.
struct Taker {
  const char* name;
  std::function<void(const Tensor& x)> take;
};
const std::vector<Taker>& takers() {
  static const std::vector<Taker> all{
      {"another backward", [](const Tensor& x) { backward(sum(x * 3.0)); }},
      {"pieces", [](const Tensor& x) { backward(sum(slice(x, 0, {.start = 0, .stop = 1}))); }},
      {"in place", [](const Tensor& x) { mul_(x.grad(), 7.0); }},
      {"operator",
       [](const Tensor& x) {
         const NoGrad no_grad;
         Tensor g = x.grad();
         g += 1.0;
       }},
      {"pointer", [](const Tensor& x) { x.grad().mutable_data<double>()[0] = 9; }},
  };
  return all;
}

TEST(LentMemory, IsNeverWrittenToAsAGradient) {
  for (const Giver& giver : givers())
    for (const Taker& taker : takers()) {
      SCOPED_TRACE(std::string(giver.name) + ", then " + taker.name);
      const Tensor x = leaf();
      Lent lent;
      giver.give(x, lent);
      EXPECT_TRUE(lent.untouched()) << "by the sweep";
      ASSERT_TRUE(x.grad().defined());
      taker.take(x);
      EXPECT_TRUE(lent.untouched()) << "by who took the gradient";
    }
}

TEST(LentMemory, IsAddedToPiecesOfItsOwn) {
  const Tensor x = leaf(), y = x * 1.0;
  Lent lent;
  backward(sum(with_lent_gradient(y, lent)) + sum(slice(y, 0, {.start = 0, .stop = 2})));
  EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{2, 2, 1, 1}));
}

TEST(LentMemory, IsWrittenToWhereThatIsAsked) {
  Lent lent;
  add_(lent.tensor(), ones({4}, f64));
  EXPECT_EQ(lent.memory, std::vector<double>(4, 2.0));
}

}  // namespace
}  // namespace ladon::lent_memory_test
