#include "ladon/optim/extra/optimizers/lbfgs.h"

#include <cmath>

#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::lbfgs_test {
namespace {

/// (1 − x₀)² + 100·(x₁ − x₀²)², least at (1, 1). (Rosenbrock 1960)
Tensor rosenbrock(const Tensor& x) {
  const Tensor a = select(x, 0, 0), b = select(x, 0, 1);
  return square(1 - a) + 100 * square(b - square(a));
}

// Trials of φ(t) = (t − 3)², φ(0) = 9, φ′(0) = −6. The first is taken where it is good already;
// else one cubic through values and slopes is φ itself.
TEST(StrongWolfe, TakesAGoodFirstTrialOrInterpolates) {
  int calls = 0;
  const LineFunction phi = [&](double t) {
    ++calls;
    return LinePoint{t, (t - 3) * (t - 3), 2 * (t - 3)};
  };
  const LinePoint start{0, 9, -6};
  EXPECT_EQ(strong_wolfe(phi, start, 2).t, 2);
  EXPECT_EQ(calls, 1);
  calls = 0;
  EXPECT_NEAR(strong_wolfe(phi, start, 5.9, {.curvature = 0.1}).t, 3, 1e-12);  // from beyond
  EXPECT_EQ(calls, 2);
  calls = 0;
  EXPECT_NEAR(strong_wolfe(phi, start, 0.5, {.curvature = 0.1}).t, 3, 1e-12);  // from before
  EXPECT_EQ(calls, 2);
}

// On lines with many valleys, cliffs to +∞ and NaN, the result always fulfils both conditions.
TEST(StrongWolfe, FulfilsBothConditions) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Generator rng(seed);
    const double a = 3 * rng.uniform(), w = 1 + 5 * rng.uniform(), cliff = 2 + 5 * rng.uniform();
    const bool nan = seed % 2 == 0;
    const LineFunction phi = [&](double t) {
      if (t > cliff) return LinePoint{t, nan ? std::nan("") : INFINITY, std::nan("")};
      return LinePoint{t, 0.1 * t * t - t - a * std::sin(w * t) / w,
                       0.2 * t - 1 - a * std::cos(w * t)};
    };
    const LinePoint start = phi(0);
    const WolfeOptions options{.decrease = 1e-4, .curvature = 0.5, .evaluations = 60};
    const LinePoint p = strong_wolfe(phi, start, std::exp(4 * rng.normal()), options);
    EXPECT_GT(p.t, 0) << seed;
    EXPECT_LE(p.value, start.value + 1e-4 * p.t * start.slope) << seed;
    // Against the cliff the slope may stay steep: the search then ends at its edge.
    EXPECT_TRUE(std::abs(p.slope) <= 0.5 * std::abs(start.slope) || cliff - p.t < 1e-3) << seed;
  }
}

// A trial that is no better than the one before has passed a good point, even where the line falls
// again: beyond t = 6 this one falls ever faster, and no point is good.
TEST(StrongWolfe, SearchesBetweenTrialsThatDoNotImprove) {
  const LineFunction phi = [](double t) {
    return LinePoint{t, -t - 0.05 * t * t + 0.375 * (1 - std::cos(4 * t)),
                     -1 - 0.1 * t + 1.5 * std::sin(4 * t)};
  };
  const LinePoint p = strong_wolfe(phi, phi(0), 0.8, {.curvature = 0.1});
  EXPECT_LT(p.t, 6);
  EXPECT_LT(p.value, -1e-4 * p.t);
  EXPECT_LE(std::abs(p.slope), 0.1);
}

TEST(StrongWolfe, StaysWhereNothingIsBetter) {
  const LineFunction up = [](double t) {
    return LinePoint{t, t, 1};
  };  // though the slope says otherwise
  EXPECT_EQ(strong_wolfe(up, {0, 0, -1}, 1).t, 0);
  expect_error([&] { strong_wolfe(up, {0, 0, 1}, 1); }, "the slope negative");
  expect_error([&] { strong_wolfe(up, {0, 0, -1}, 0); }, "the first step length to try is 0");
  expect_error([&] { strong_wolfe(LineFunction(), {0, 0, -1}, 1); }, "the function is empty");
  expect_error(
      [&] {
        strong_wolfe(up, {0, 0, -1}, 1, {.decrease = 0.9, .curvature = 0.5});
      },
      "0 < decrease < curvature < 1");
  expect_error([&] { strong_wolfe(up, {0, 0, -1}, 1, {.evaluations = 0}); }, "evaluations is 0");
}

// With exact line searches it is the method of conjugate gradients (Nocedal and Wright, section
// 7.2), which ends after as many steps as the Hessian has different eigenvalues: here three of n =
// 20.
TEST(Lbfgs, SolvesAQuadraticInAsManyStepsAsEigenvalues) {
  Tensor x = leaf(gaussian({20}, 1));
  const Tensor minimum = gaussian({20}, 2);
  std::vector<double> curvatures;
  for (int i = 0; i < 20; ++i) curvatures.push_back(i % 3 == 0 ? 1 : i % 3 == 1 ? 4 : 25);
  const Tensor a = from_vector(curvatures, {20});
  const auto loss = [&] { return sum(a * square(x - minimum)); };
  Lbfgs lbfgs({x}, {.iterations = 4, .wolfe = {.decrease = 1e-9, .curvature = 1e-8}});
  EXPECT_LT(lbfgs.step(loss), 1e-12);
  EXPECT_LE(lbfgs.iterations(), 4);
}

// Bounds: with max |g| ≤ 1e-7, at curvatures of 0.4 and more, the loss is at most |g|²/(2·0.4) ≤
// 2.5e-14 and the minimum at most |g|/0.4 ≤ 4e-7 away. In f32 rounding ends it.
TEST(Lbfgs, FindsTheMinimumOfRosenbrock) {
  for (const DType dtype : {f32, f64}) {
    Tensor x = leaf(tensor({-1.2, 1}, dtype));
    Lbfgs lbfgs({x}, {.iterations = 100, .change_tolerance = 0});
    const double least = lbfgs.step([&] { return rosenbrock(x); });
    EXPECT_LT(least, dtype == f32 ? 1e-9 : 2.5e-14);
    expect_values(x, {1, 1}, dtype == f32 ? 1e-4 : 4e-7);
    EXPECT_LT(lbfgs.iterations(), 60);
    EXPECT_FALSE(x.grad().defined());
  }
}

// The formula H₊ = VᵀHV + ρssᵀ, V = I − ρysᵀ (equation 7.16), with matrices, and a fixed length.
TEST(Lbfgs, FollowsTheUpdateOfTheInverseHessian) {
  const std::int64_t n = 3;
  Tensor x = leaf(tensor({1, -2, 0.5}, f64));
  const auto loss = [&] { return sum(square(x) + 0.1 * exp(x)) + 0.3 * square(sum(x)); };
  const auto gradient = [&](const Tensor& at) {
    return 2 * at + 0.1 * exp(at) + 0.6 * sum(at) * ones({n}, f64);
  };
  Lbfgs lbfgs({x}, {.lr = 0.5, .iterations = 4, .history = 2, .line_search = false});
  std::vector<std::pair<Tensor, Tensor>> pairs;
  Tensor at = clone(x.detach());
  for (int t = 0; t < 4; ++t) {
    const Tensor g = gradient(at);
    Tensor h = eye(n, f64);
    if (!pairs.empty()) {
      const auto& [s, y] = pairs.back();
      h = h * (sum(s * y) / sum(y * y));
    }
    for (const auto& [s, y] : pairs) {
      const Tensor rho = 1 / sum(s * y);
      const Tensor v = eye(n, f64) - rho * matmul(unsqueeze(y, 1), unsqueeze(s, 0));
      h = matmul(matmul(transpose(v), h), v) + rho * matmul(unsqueeze(s, 1), unsqueeze(s, 0));
    }
    const double first = std::min(1.0, 1 / sum(abs(g)).item());
    const Tensor s = -matmul(h, g) * (0.5 * (t == 0 ? first : 1));
    pairs.emplace_back(s, gradient(at + s) - g);
    if (pairs.size() > 2) pairs.erase(pairs.begin());
    at = at + s;
  }
  lbfgs.step(loss);
  EXPECT_TRUE(all_close(x.detach(), at, 1e-12, 1e-14)) << x << at;
}

TEST(Lbfgs, ResumesBitForBit) {
  TemporaryFolder folder;
  const std::string path = (folder / "state.safetensors").string();
  Tensor x = leaf(tensor({-1.2, 1}, f64)), y = leaf(x);
  const LbfgsOptions options{.iterations = 3, .history = 4};
  Lbfgs lbfgs({x}, options);
  for (int i = 0; i < 4; ++i) {
    save_safetensors(path, lbfgs.state_dict());  // at first there are no pairs
    Lbfgs resumed({y}, options);
    resumed.load_state_dict(load_safetensors(path));
    EXPECT_EQ(resumed.iterations(), 3 * i);
    const double a = lbfgs.step([&] { return rosenbrock(x); });
    const double b = resumed.step([&] { return rosenbrock(y); });
    EXPECT_EQ(a, b);
    EXPECT_TRUE(same_bits(x, y)) << i;
  }
  StateDict state = lbfgs.state_dict();
  Lbfgs shorter({y}, {.history = 2});
  expect_error([&] { shorter.load_state_dict(state); },
               "at most as many as the option `history`, 2");
  state["changes.0"] = zeros({4, 3}, f64);
  expect_error([&] { lbfgs.load_state_dict(state); }, "f64 of shape [4, 3], expected f64 of shape");
}

TEST(Lbfgs, LeavesEverythingAsItWasOnAnError) {
  Tensor x = leaf(tensor({-1.2, 1}, f64));
  Lbfgs lbfgs({x});
  lbfgs.step([&] { return rosenbrock(x); });
  const Tensor before = clone(x.detach());
  const StateDict state = lbfgs.state_dict();
  int calls = 0;
  expect_error(
      [&] {
        lbfgs.step([&]() -> Tensor {
          if (++calls == 4) throw Error("enough");
          return rosenbrock(x * 0.5);
        });
      },
      "enough");
  EXPECT_TRUE(same_bits(x, before));
  for (const auto& [name, value] : lbfgs.state_dict())
    EXPECT_TRUE(same_bits(value, state.at(name))) << name;
  expect_error([&] { lbfgs.step([&] { return sum(x) * std::nan(""); }); }, "the loss is nan");
  expect_error([&] { lbfgs.step([&] { return x; }); }, "one element, got [2]");
  expect_error([&] { lbfgs.step({}); }, "empty function");
}

TEST(Lbfgs, RefusesNaNInItsState) {
  const Tensor x = parameter(tensor({3, 4}, {2}, f64));
  Lbfgs lbfgs(ParameterSet{{"x", x}});
  lbfgs.step([&] { return sum(square(square(x))); });
  for (const char* name : {"steps.x", "changes.x"}) {
    StateDict state = lbfgs.state_dict();
    lbfgs.load_state_dict(state);
    state[name] = full(state[name].shape(), std::nan(""), f64);
    expect_error([&] { lbfgs.load_state_dict(state); }, "has NaN elements");
  }
}

TEST(Lbfgs, RefusesBadSettings) {
  const Tensor x = leaf(tensor({1, 2}, f64));
  expect_error([] { Lbfgs lbfgs({}); }, "no parameter");
  expect_error([&] { Lbfgs lbfgs({x, x}); }, "parameters 0 and 1 are the same");
  expect_error([&] { Lbfgs lbfgs({x}, {.lr = 0}); }, "lr is 0");
  expect_error([&] { Lbfgs lbfgs({x}, {.iterations = 0}); }, "are 0 and 10");
  expect_error([&] { Lbfgs lbfgs({x}, {.history = 0}); }, "are 20 and 0");
  expect_error([&] { Lbfgs lbfgs({x}, {.wolfe = {.curvature = 2}}); }, "are 0.0001 and 2");
  expect_error([&] { Lbfgs lbfgs({x}, {.change_tolerance = -1}); }, "the tolerances are");
}

}  // namespace
}  // namespace ladon::test::lbfgs_test
