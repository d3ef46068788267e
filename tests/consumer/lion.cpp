// An optimizer of one's own: Lion (Chen et al. 2023, arXiv 2302.06675),
//   x ← x − lr·(sign(β₁m + (1 − β₁)g) + λx),  m ← β₂m + (1 − β₂)g.
#include "expect.h"
#include "ladon/autograd/ops.h"
#include "ladon/optim/optimizer.h"

using namespace ladon;

struct LionOptions {
  double lr = 1e-4, beta1 = 0.9, beta2 = 0.99, weight_decay = 0;
};

class Lion : public Optimizer {
 public:
  explicit Lion(ParameterGroups groups, LionOptions options = {})
      : Optimizer(std::move(groups), options.lr, options.weight_decay, {"momentum"}),
        options_(options) {}

 protected:
  void update(Item& item, const Tensor& g, double lr) override {
    Tensor &x = item.parameter, &m = item.moments[0];
    const Tensor direction = sign(options_.beta1 * m + (1 - options_.beta1) * g);
    add_(x, direction + item.weight_decay * x, -lr);
    m = options_.beta2 * m + (1 - options_.beta2) * g;
  }

 private:
  LionOptions options_;
};

int main() {
  Tensor x = parameter(tensor({1, -2}, f64));
  Lion lion({x}, {.lr = 0.1, .weight_decay = 0.5});
  x.set_grad(tensor({1, -3}, f64));  // signs 1, −1: x ← (1 − 0.1·1.5, −2 + 0.1·2)
  lion.step();
  x.set_grad(tensor({-0.05, -1}, f64));  // of 0.9·(0.01, −0.03) + 0.1·g the signs are still 1, −1
  lion.step();
  expect_near("x after two steps", x.to_vector()[0], 0.85 - 0.1 * (1 + 0.5 * 0.85), 1e-15);
  expect_near("x after two steps", x.to_vector()[1], -1.8 + 0.1 * (1 + 0.5 * 1.8), 1e-15);
}
