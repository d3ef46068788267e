// Stationary distributions of samplers with a step size that is not small, compared with the exact
// stationary distributions of these discrete chains.
//
// The loss is ½κ_loss·θ², and the prior has precision λ, so the gradient is κθ with κ = κ_loss +
// λ/N. The coordinates of a parameter are independent chains. Each gives a mean of θ² over time,
// and the spread of these means gives the standard error.

#include <cmath>
#include <numbers>

#include "ladon/tests/optim/helpers.h"

namespace ladon::test::stationary_test {
namespace {

constexpr TargetDensity target{.count = 50, .prior_precision = 20, .temperature = 2};
constexpr double kappa_loss = 1.5, kappa = kappa_loss + 20.0 / 50, heat = 2.0 / 50;  // T/N
constexpr std::int64_t chains = 1 << 14;

struct Estimate {
  double value, standard_error;
};
Estimate estimate(const Tensor& independent) {
  const double n = static_cast<double>(independent.count());
  return {mean(independent).item(), std::sqrt(var(independent).item() / n)};
}

/// Each coordinate's mean of θ² over `steps`, after a time that forgets the start.
Tensor squares(Optimizer& sampler, Tensor x, const Gradient& slope, int forget, int steps) {
  Tensor sum = zeros_like(x);
  for (int t = 0; t < forget + steps; ++t) {
    x.set_grad(slope(x.detach()));
    sampler.step();
    if (t >= forget) add_(sum, square(x.detach()));
  }
  return sum / double(steps);
}

/// Within 5 standard errors, which must resolve 1 %.
void expect_estimate(const Estimate& found, double exact) {
  EXPECT_LT(5 * found.standard_error, 0.01 * exact);
  EXPECT_LT(std::abs(found.value - exact), 5 * found.standard_error)
      << found.value << " ± " << found.standard_error << ", exact " << exact;
}

Tensor quadratic(const Tensor& x) { return kappa_loss * x; }

// θ' = (1 − rκ)θ + sqrt(2rT/N)·ξ: v = (1 − rκ)²v + 2rT/N. (Small steps would give T/(Nκ), a fifth
// less.)
TEST(Sgld, HasTheVarianceOfItsChain) {
  const double r = 0.2, rho = 1 - r * kappa, exact = 2 * r * heat / (1 - rho * rho);
  EXPECT_NEAR(exact, heat / kappa / (1 - r * kappa / 2), 1e-15);
  Tensor x = leaf(zeros({chains}, f64));
  Sgld sgld({x}, {.lr = r, .target = target}, Generator(1));
  expect_estimate(estimate(squares(sgld, x, quadratic, 30, 200)), exact);
}

// Rows on a correlated Gaussian, slope xA: Σ = (1 − rA)Σ(1 − rA) + 2rT/N, Σ = T/N·A⁻¹(1 − rA/2)⁻¹.
// A has the eigenvalues 0.5 and 2 along (1, 1)/√2 and (1, −1)/√2.
TEST(Sgld, HasTheCovarianceOfItsChain) {
  const double r = 0.3, n = 4, t = 0.5;
  const auto along = [&](double a) { return t / n / a / (1 - r * a / 2); };
  Tensor x = leaf(zeros({chains, 2}, f64));
  Sgld sgld({x}, {.lr = r, .target = {.count = n, .temperature = t}}, Generator(2));
  const Tensor a = tensor({1.25, -0.75, -0.75, 1.25}, {2, 2}, f64);
  const Tensor turn = tensor({1, 1, 1, -1}, {2, 2}, f64) / std::numbers::sqrt2;
  Tensor sum = zeros({chains, 2}, f64);
  const int steps = 300;
  for (int s = -60; s < steps; ++s) {
    x.set_grad(matmul(x.detach(), a));
    sgld.step();
    if (s >= 0) add_(sum, square(matmul(x.detach(), turn)));
  }
  expect_estimate(estimate(select(sum / double(steps), 1, 0)), along(0.5));
  expect_estimate(estimate(select(sum / double(steps), 1, 1)), along(2));
}

// A preconditioner that does not move: beta next to 1, V from a state. It is Sgld with the rate rG.
TEST(Psgld, HasTheVarianceOfItsChainWhereGRests) {
  const double r = 0.1, eps = 0.1;
  Tensor x = leaf(zeros({3, chains}, f64));
  Psgld psgld({x}, {.lr = r, .beta = 1 - 1e-12, .eps = eps, .target = target}, Generator(3));
  const Tensor v = tensor({0.01, 0.16, 4}, {3, 1}, f64);
  psgld.load_state_dict({{"lr", scalar(r, f64)},
                         {"steps", scalar(1, i64)},
                         {"temperature", scalar(2, f64)},
                         {"parameter.0.steps", scalar(1, i64)},
                         {"parameter.0.second_moment", v * ones({3, chains}, f64)}});
  const Tensor found = squares(psgld, x, quadratic, 300, 400);
  for (int row = 0; row < 3; ++row) {
    const double g = 1 / (eps + std::sqrt(v.to_vector()[row]));
    expect_estimate(estimate(select(found, 0, row)), heat / kappa / (1 - r * g * kappa / 2));
  }
}

// Stationary density without Γ, if V follows θ at once: exp(−U)/G. On N(0, 1) with β = 0,
// 1/G = e + |θ|: with ∫e^{−θ²/2} = ∫θ²e^{−θ²/2} = √(2π), ∫|θ|e^{−θ²/2} = 2 and ∫|θ|³e^{−θ²/2} = 4,
// E θ² = (e√(2π) + 4)/(e√(2π) + 2). Of order r the chain differs from its limit: r itself is
// allowed.
TEST(Psgld, WithoutGammaHasTheDensityThatItsDocumentationSays) {
  const double e = 0.5, r = 0.01, root = std::sqrt(2 * std::numbers::pi);
  const double exact = (e * root + 4) / (e * root + 2);
  Generator rng(4);
  Tensor x = leaf(normal({chains}, rng, 0, 1, f64));
  Psgld psgld({x}, {.lr = r, .beta = 0, .eps = e}, Generator(4));
  const Estimate found = estimate(squares(psgld, x, standard_normal, 800, 1500));
  EXPECT_LT(5 * found.standard_error, 0.02 * exact);
  EXPECT_LT(std::abs(found.value - exact), r * exact + 5 * found.standard_error);
}

/// E θ², E θv and E v² of v' = (1−a)v − ωθ + sξ, θ' = θ + v'.
struct Moments {
  double theta2 = 0, cross = 0, v2 = 0;
};
/// At rest: the map of the moments, repeated.
Moments moments_at_rest(double a, double omega, double noise_variance) {
  Moments m;
  for (int i = 0; i < 20000; ++i) {
    const double keep = 1 - a;
    const double v2 =
        keep * keep * m.v2 - 2 * keep * omega * m.cross + omega * omega * m.theta2 + noise_variance;
    const double cross = keep * m.cross - omega * m.theta2;  // E θv'
    m = {m.theta2 + 2 * cross + v2, cross + v2, v2};
  }
  return m;
}

TEST(Sghmc, HasTheVarianceOfItsChain) {
  for (const double a : {0.3, 1.0}) {
    const double r = 0.25, omega = r * kappa;
    const double exact = moments_at_rest(a, omega, 2 * a * r * heat).theta2;
    EXPECT_NEAR(exact, heat / kappa * (2 - a) / (2 - a - omega / 2), 1e-14);  // as documented
    Tensor x = leaf(zeros({chains}, f64));
    Sghmc sghmc({x}, {.lr = r, .friction = a, .target = target}, Generator(5));
    expect_estimate(estimate(squares(sghmc, x, quadratic, 100, 200)), exact);
  }
}

// With n large the friction is nearly constant. E v² = rT/N exactly, or it would drift; so it is
// the a at which the moments say so, found by bisection, whatever the noise of the gradients: with
// variance σ² that adds r²σ² to the velocity's. In closed form a(2 − a − ω/2) = 2a₀ + rNσ²/T.
// 32 thermostats, of 512 coordinates each. (Coordinates of one share its energy; their squares'
// mean varies less than its standard error says.)
TEST(Sgnht, TakesUpTheNoiseOfGradients) {
  const double a0 = 0.1;
  for (const auto& [r, sigma] : {std::pair{0.1, 0.0}, {0.1, 0.4}, {0.55, 0.0}}) {
    const double omega = r * kappa;
    const double noise = 2 * a0 * r * heat + r * r * sigma * sigma;
    double low = a0 / 2, high = 1;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (moments_at_rest(middle, omega, noise).v2 > r * heat ? low : high) = middle;
    }
    EXPECT_NEAR(low * (2 - low - omega / 2), 2 * a0 + r * sigma * sigma / heat, 1e-12);
    const double exact = moments_at_rest(low, omega, noise).theta2;
    EXPECT_NEAR(exact, heat / kappa * (1 - low / 2), 1e-14);  // as documented

    std::vector<Tensor> parameters;
    for (int i = 0; i < 32; ++i) parameters.push_back(leaf(zeros({512}, f64)));
    Sgnht sgnht(parameters, {.lr = r, .friction = a0, .response = 0.02, .target = target},
                Generator(6));
    Generator rng(7);
    const int forget = 400, steps = 600;
    Tensor squares = zeros({32, 512}, f64), frictions = zeros({32}, f64);
    for (int t = 0; t < forget + steps; ++t) {
      const Tensor noise_of_batch = normal({32, 512}, rng, 0, sigma, f64);
      for (int i = 0; i < 32; ++i)
        parameters[i].set_grad(quadratic(parameters[i].detach()) + select(noise_of_batch, 0, i));
      sgnht.step();
      if (t < forget) continue;
      std::vector<Tensor> friction;
      const StateDict state = sgnht.state_dict();
      for (int i = 0; i < 32; ++i)
        friction.push_back(state.at("parameter." + std::to_string(i) + ".friction"));
      add_(frictions, stack(friction));
      for (int i = 0; i < 32; ++i) add_(select(squares, 0, i), square(parameters[i].detach()));
    }
    expect_estimate(estimate(squares / double(steps)), exact);
    expect_estimate(estimate(frictions / double(steps)), low);
  }
}

}  // namespace
}  // namespace ladon::test::stationary_test
