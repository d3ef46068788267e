// Gradients, states and values in memory that the caller owns (from_blob()): training writes only
// to its own memory.

#include <gtest/gtest.h>

#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/io/memory.h"
#include "ladon/layers/linear.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/clip.h"
#include "ladon/optim/extra/training/average.h"
#include "ladon/optim/extra/training/data_parallel.h"
#include "ladon/optim/particles/particles.h"
#include "ladon/optim/particles/svgd.h"
#include "ladon/optim/sgd.h"
#include "ladon/tests/support.h"

namespace ladon::lent_memory_test {
namespace {

struct Lent {
  std::vector<double> memory = std::vector<double>(6, 1.0);
  Tensor tensor(const Shape& shape) { return from_blob(memory.data(), shape, f64); }
  bool untouched() const { return memory == std::vector<double>(6, 1.0); }
};

TEST(LentMemory, IsNotClippedSummedOrStepped) {
  Lent lent;
  Tensor x = zeros({3, 2}, f64);
  x.set_requires_grad();
  const auto lend = [&] { x.set_grad(lent.tensor({3, 2})); };
  lend();
  clip_grad_norm({x}, 0.5);
  EXPECT_TRUE(lent.untouched());
  EXPECT_NEAR(sum(square(x.grad())).item(), 0.25, 1e-12);
  lend();
  clip_grad_value({x}, 0.5);
  EXPECT_TRUE(lent.untouched());
  lend();
  sum_gradients({x});
  Sgd sgd({x}, {.lr = 0.1, .momentum = 0.9});
  Adam adam({x}, {.lr = 0.1});
  for (int i = 0; i < 3; ++i) {
    sgd.step();
    adam.step();
  }
  EXPECT_TRUE(lent.untouched());
  lend();
  Svgd svgd(particles_of_rows(x), {.alpha = 0.5});
  svgd.apply();
  EXPECT_TRUE(lent.untouched());
}

TEST(LentMemory, IsNotAStateThatGoesOn) {
  Lent lent;
  Tensor x = zeros({3, 2}, f64);
  x.set_requires_grad();
  x.set_grad(ones({3, 2}, f64));
  const auto goes_on = [&](auto& part, const auto& step) {
    step();
    StateDict state = part.state_dict();
    for (auto& [name, value] : state)
      if (value.shape() == Shape({3, 2})) value = lent.tensor({3, 2});
    part.load_state_dict(state);
    step();
    EXPECT_TRUE(lent.untouched());
  };
  Sgd sgd({x}, {.lr = 0.1, .momentum = 0.9});
  goes_on(sgd, [&] { sgd.step(); });
  Adam adam({x}, {.lr = 0.1});
  goes_on(adam, [&] { adam.step(); });
  WeightAverage average(ParameterSet({x}));
  goes_on(average, [&] { average.update(); });
  Generator rng(1);
  Linear layer({.in = 2, .out = 3, .bias = false}, rng);
  layer.to(f64);
  layer.load_state_dict({{"weight", lent.tensor({3, 2})}});
  fill_(layer.weight.detach(), 4);
  EXPECT_TRUE(lent.untouched());
}

}  // namespace
}  // namespace ladon::lent_memory_test
