// A particle method of one's own: stochastic gradient Langevin dynamics (Welling and Teh 2011),
//   θ ← θ − ε·∇U(θ) + sqrt(2ε)·ξ,  ξ ~ N(0, 1),  every particle a chain of its own.
#include "expect.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/optim/particles/method.h"
#include "ladon/optim/sgd.h"

using namespace ladon;

class Sgld : public ParticleMethod {
 public:
  Sgld(Particles chains, Generator rng) : ParticleMethod(std::move(chains)), rng_(rng) {}
  std::string name() const override { return "sgld"; }

 protected:
  Forces forces(const std::string&, const Tensor&, const Tensor& gradient) const override {
    return {.driving = gradient};
  }
  Noise noise(const ParticleBlock& x) override {
    return {.unit = normal({x.count(), x.dim()}, rng_, 0, 1, x.dtype()), .diffusion = 1};
  }

 private:
  Generator rng_;
};

int main() {  // U = θ²/2 makes θ ← (1 − ε)θ + sqrt(2ε)ξ: at rest v = (1 − ε)²v + 2ε
  const double epsilon = 0.2, v = 1 / (1 - epsilon / 2), standard_error = v * std::sqrt(2 / 2e4);
  const Tensor theta = parameter(zeros({200, 100}));
  Sgld sgld(particles_of_rows(theta), Generator(1));
  Sgd sgd({theta}, {.lr = epsilon});
  for (int step = 0; step < 50; ++step) {
    sgd.zero_grad();
    backward(sum(square(theta)) / 2);
    sgld.apply();
    sgd.step();  // and adds the noise
  }
  expect_near("variance", var(theta.detach()).item(), v, 4 * standard_error);
}
