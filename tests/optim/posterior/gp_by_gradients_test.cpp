// A Gaussian process that a user writes in differentiable operations, compared with
// GaussianProcess: its marginal likelihood, the gradient by its hyper-parameters, and
// hyper-parameters learned from data.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon::gp_by_gradients_test {
namespace {

/// Noisy values of a sine at 30 places.
struct Data {
  Tensor x = linspace(-3, 3, 30, f64), y;
  Data() {
    Generator rng(7);
    y = sin(1.5 * x) + 0.2 * normal({30}, rng, 0, 1, f64);
  }
};

/// k(x, x') = exp(−(x − x')²/(2ℓ²)).
Tensor rbf(const Tensor& x, const Tensor& log_length) {
  const Tensor d = (unsqueeze(x, 1) - unsqueeze(x, 0)) * exp(-log_length);
  return exp(-0.5 * square(d));
}

/// −ln p(y) = ½·yᵀ(K + σ²)⁻¹y + ½·ln det(K + σ²) + n/2·ln 2π (Rasmussen and Williams 2006, eq.
/// 2.30), for p = (ln ℓ, ln σ²).
Tensor surprise(const Data& data, const Tensor& p) {
  const std::int64_t n = data.x.count();
  const Tensor k = rbf(data.x, at(p, {0})) + exp(at(p, {1})) * eye(n, f64);
  const Tensor l = cholesky(k);
  return 0.5 * dot(data.y, cholesky_solve(l, data.y)) + sum(log(diagonal(l))) +
         0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi);
}

/// The same by GaussianProcess, which no gradient passes through.
double surprise(const Data& data, double log_length, double log_noise) {
  const Tensor k = rbf(data.x, scalar(log_length, f64));
  const GaussianProcess gp(k, data.y, {.noise = std::exp(log_noise), .jitter = 0});
  return -gp.log_marginal_likelihood();
}

TEST(GpByGradients, LikelihoodIsThatOfGaussianProcess) {
  const Data data;
  for (const double length : {-0.7, 0.0, 0.4})
    for (const double noise : {-4.0, -1.0})
      EXPECT_NEAR(surprise(data, tensor({length, noise}, f64)).item(),
                  surprise(data, length, noise), 1e-9);
}

TEST(GpByGradients, GradientIsThatOfDifferencesOfGaussianProcess) {
  const Data data;
  Tensor p = tensor({-0.3, -2}, f64);
  p.set_requires_grad();
  const std::vector<double> g = grad(surprise(data, p), p).to_vector();
  constexpr double h = 1e-5;
  EXPECT_NEAR(g[0], (surprise(data, -0.3 + h, -2) - surprise(data, -0.3 - h, -2)) / (2 * h), 1e-6);
  EXPECT_NEAR(g[1], (surprise(data, -0.3, -2 + h) - surprise(data, -0.3, -2 - h)) / (2 * h), 1e-6);
  const auto f = [&](const std::vector<Tensor>& in) { return surprise(data, in[0]); };
  EXPECT_TRUE(gradcheck(f, {p}));
  EXPECT_TRUE(gradgradcheck(f, {p}));
}

TEST(GpByGradients, LearnsLengthAndNoise) {
  const Data data;
  Tensor p = tensor({1, 0}, f64);
  p.set_requires_grad();
  Adam adam({p}, {.lr = 0.1});
  for (int step = 0; step < 200; ++step) {
    adam.zero_grad();
    backward(surprise(data, p));
    adam.step();
  }
  // No point of a grid of step 0.1 is likelier, and the best one is a step away at most.
  double best = HUGE_VAL, length = 0, noise = 0;
  for (double u = -1.5; u < 1.5; u += 0.1)
    for (double v = -6; v < 1; v += 0.1)
      if (const double s = surprise(data, u, v); s < best) {
        best = s;
        length = u;
        noise = v;
      }
  EXPECT_LE(surprise(data, p.detach()).item(), best + 1e-6);
  EXPECT_NEAR(p.to_vector()[0], length, 0.1);
  EXPECT_NEAR(p.to_vector()[1], noise, 0.1);
  EXPECT_NEAR(std::exp(p.to_vector()[1] / 2), 0.2, 0.06);  // σ; its standard error is about 0.03
}

}  // namespace
}  // namespace ladon::gp_by_gradients_test
