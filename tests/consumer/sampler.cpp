// A sampler of one's own: Langevin dynamics with a mass m for each entry, as large as its curvature
// say,
//   θ ← θ − (r/m)·(g + (λ/N)θ) + sqrt(2rT/(Nm))·ξ,  ξ ~ N(0, 1).
// Masses that do not depend on θ leave the density as it is.
#include "ladon/optim/samplers/sampler.h"

#include "expect.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"

using namespace ladon;

class MassiveSgld : public Sampler {
 public:
  MassiveSgld(ParameterGroups groups, std::vector<Tensor> masses, double lr,
              const TargetDensity& target, Generator rng)
      : Sampler(std::move(groups), lr, target, rng, {}), masses_(std::move(masses)) {}

 protected:
  void update(Item& item, const Tensor& gradient, double lr) override {
    const Tensor inverse = 1 / masses_[item.index];
    add_(item.parameter, inverse * slope(item, gradient), -lr);
    add_noise(item.parameter, item, std::sqrt(2 * heat(lr)), sqrt(inverse));
  }

 private:
  std::vector<Tensor> masses_;
};

int main() {  // loss Σ κθ²/2, masses κ: every entry is a chain θ ← (1 − r)θ + sqrt(2rT/(Nκ))ξ
  const double r = 0.2, n = 10, t = 0.5;
  const Tensor kappa = tensor({1, 100}, {2, 1}), theta = parameter(zeros({2, 20000}));
  MassiveSgld sgld({theta}, {kappa}, r, {.count = n, .temperature = t}, Generator(1));
  for (int step = 0; step < 50; ++step) {
    sgld.zero_grad();
    backward(sum(kappa * square(theta)) / 2);
    sgld.step();
  }
  const Tensor v = n * var(theta.detach(), 1) * select(kappa, 1, 0) / t;  // at rest: 1/(1 − r/2)
  const double rest = 1 / (1 - r / 2), standard_error = rest * std::sqrt(2 / 2e4);
  expect_near("variance of the light", v.to_vector()[0], rest, 4 * standard_error);
  expect_near("variance of the heavy", v.to_vector()[1], rest, 4 * standard_error);
}
