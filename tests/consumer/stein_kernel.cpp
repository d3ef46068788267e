// A Stein kernel of one's own, by its profile: the rational quadratic kernel
//   k(θ, θ′) = (1 + d²/(2a·h²))^−a,  d = ‖θ − θ′‖
// (Rasmussen and Williams 2006, eq. 4.19). Ladon differentiates it.
#include <cmath>

#include "expect.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/optim/particles/svgd.h"

using namespace ladon;

SteinKernel rational_quadratic(double a, BandwidthOptions options = {}) {
  return radial("rational_quadratic", options,
                [a](const Tensor& t) { return pow(1 + t / (2 * a), -a); });
}

int main() {
  // Two particles at ±1 under U = θ²/2, with h² = 1, a = 2, α = 3.
  Tensor theta = parameter(tensor({1, -1}, {2, 1}, f64));
  Svgd svgd(particles_of_rows(theta),
            {.kernel = rational_quadratic(2, {.bandwidth = Bandwidth::fixed}), .alpha = 3});
  backward(sum(square(theta)) / 2);
  svgd.apply();

  // d² = 4, so t = 4: k = (1 + 4/4)^−2 = 1/4, and κ′(t) = −½(1 + t/4)^−3 = −1/16 gives
  // R = −2κ′·(θ − θ′) = 2/16·2 = 1/4. Of the first particle −φ = ½[1 − k − αR] = ½[3/4 − 3/4] = 0.
  expect_near("−φ where the forces cancel", theta.grad().to_vector()[0], 0, 1e-15);
  expect_near("the repulsive force", svgd.report()[0].repulsive, 3.0 / 8, 1e-15);
}
