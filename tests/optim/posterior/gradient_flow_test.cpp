#include "ladon/optim/posterior/gradient_flow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ladon/autograd/graph.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::infinite::gradient_flow_test {
namespace {

using test::expect_error;
using test::expect_near;
using test::Problem;

// Θ = 2, y = 3, |y| = 1, η = ½:  f_t = 3 (1 − e^(−t)); at a test point with Θ* = 4 twice that.
TEST(GradientFlow, OnePointByHand) {
  const GradientFlow flow(tensor({2}, {1, 1}, f64), tensor({3}, f64),
                          {.learning_rate = 0.5, .jitter = 0});
  const Tensor cross = tensor({4}, {1, 1}, f64);
  for (const double t : {0.0, 0.25, 1.0, 7.5, 1e3, 1e300, infinite_time}) {
    EXPECT_NEAR(flow.train(t).item(), 3 * -std::expm1(-t), 1e-14) << t;
    EXPECT_NEAR(flow.test(t, cross).item(), 6 * -std::expm1(-t), 1e-14) << t;
    EXPECT_NEAR(flow.train(t, tensor({1}, f64)).item(), 3 - 2 * std::exp(-t), 1e-14) << t;
    const InitialOutputs initial{tensor({1}, f64), tensor({-1}, f64)};
    EXPECT_NEAR(flow.test(t, cross, initial).item(), -1 + 4 * -std::expm1(-t), 1e-14) << t;
  }
}

// λ·ηt/|y| may overflow; the end of training is reached long before.
TEST(GradientFlow, LongTimesOverflowNothing) {
  const GradientFlow flow(tensor({2e20}, {1, 1}, f64), tensor({3}, f64));
  EXPECT_NEAR(flow.train(1e300).item(), 3, 1e-7);
  EXPECT_NEAR(flow.test(1e300, tensor({4e20}, {1, 1}, f64)).item(), 6, 1e-6);
}

// |y| counts elements: two outputs are learned at half the speed of one.
TEST(GradientFlow, OutputsShareTheMean) {
  const Tensor k = tensor({2, 1, 1, 3}, {2, 2}, f64), y = tensor({1, -2}, f64);
  const Tensor twice = stack({y, y}, 1);  // [2, 2]
  expect_near(select(GradientFlow(k, twice).train(6), 1, 1),
              select(GradientFlow(k, y).train(3), 1, 0), 1e-14);
}

// Classical Runge–Kutta.
using State = std::vector<Tensor>;
State integrate(const std::function<State(const State&)>& derivative, State x, double t,
                int steps) {
  const auto moved = [](const State& from, const State& d, double h) {
    State to;
    for (std::size_t i = 0; i < from.size(); ++i) to.push_back(from[i] + d[i] * h);
    return to;
  };
  const double h = t / steps;
  for (int i = 0; i < steps; ++i) {
    const State a = derivative(x), b = derivative(moved(x, a, h / 2)),
                c = derivative(moved(x, b, h / 2)), d = derivative(moved(x, c, h));
    x = moved(moved(moved(moved(x, a, h / 6), b, h / 3), c, h / 3), d, h / 6);
  }
  return x;
}

TEST(GradientFlow, SolvesTheDifferentialEquation) {
  const Problem p(5, 3, 2);
  Generator rng(3);
  const Tensor train0 = normal({5, 2}, rng, 0, 1, f64), test0 = normal({3, 2}, rng, 0, 1, f64);
  const double rate = 0.7;
  const GradientFlow flow(p.train, p.targets, {.learning_rate = rate, .jitter = 0});
  for (const double t : {0.5, 4.0, 60.0}) {
    const State end = integrate(
        [&](const State& f) {
          const Tensor error = (f[0] - p.targets) * (-rate / 10);
          return State{matmul(p.train, error), matmul(p.cross, error)};
        },
        {train0, test0}, t, 400);
    expect_near(flow.train(t, train0), end[0], 1e-9);
    expect_near(flow.test(t, p.cross, {train0, test0}), end[1], 1e-9);
  }
}

// A linear model f = x·w has the NTK x·x'. Its weights under gradient descent on the mean square,
// and pulled towards their beginning by ½ δ‖w − w_0‖²/|y|, are the flow with jitter δ.
TEST(GradientFlow, IsTheTrainingOfALinearModelAndJitterAPull) {
  Generator rng(8);
  const Tensor x = normal({4, 6}, rng, 0, 1, f64), z = normal({3, 6}, rng, 0, 1, f64);
  const Tensor y = normal({4, 2}, rng, 0, 1, f64), w0 = normal({6, 2}, rng, 0, 1, f64);
  const Tensor ntk = matmul(x, transpose(x)), cross = matmul(z, transpose(x));
  const InitialOutputs initial{matmul(x, w0), matmul(z, w0)};
  for (const double jitter : {0.0, 0.2}) {
    const double pull = jitter * mean(diagonal(ntk)).item();
    const auto descent = [&](const State& s) {
      Tensor w = clone(s[0]);
      w.set_requires_grad();
      const Tensor loss = mean(square(matmul(x, w) - y)) * 0.5 + sum(square(w - w0)) * (pull / 16);
      return State{-grad(loss, w)};
    };
    const GradientFlow flow(ntk, y, {.jitter = jitter});
    const Tensor w = integrate(descent, {w0}, 5, 200)[0];
    expect_near(flow.train(5, initial.train), matmul(x, w), 1e-9);
    expect_near(flow.test(5, cross, initial), matmul(z, w), 1e-9);
    const Tensor end = integrate(descent, {w0}, 400, 1600)[0];
    expect_near(flow.train(infinite_time, initial.train), matmul(x, end), 1e-9);
    expect_near(flow.test(infinite_time, cross, initial), matmul(z, end), 1e-9);
  }
}

TEST(GradientFlow, BeginsWhereTheNetworkIsAndEndsAtTheRegression) {
  const Problem p(7, 4, 2);
  const GradientFlow flow(p.train, p.targets);
  Generator rng(2);
  const InitialOutputs initial{normal({7, 2}, rng, 0, 1, f64), normal({4, 2}, rng, 0, 1, f64)};
  expect_near(flow.train(0, initial.train), initial.train, 1e-14);
  expect_near(flow.test(0, p.cross, initial), initial.test, 1e-14);
  const GaussianProcess gp(p.train, p.targets);
  expect_near(flow.test(infinite_time, p.cross), gp.predict(p.cross).mean, 1e-12);
  expect_near(flow.test(1e12, p.cross), flow.test(infinite_time, p.cross), 1e-8);
  expect_near(flow.train(infinite_time), p.targets, 1e-5);
}

// Θ = [[1, 1], [1, 1]] has the eigenvalue 2 along (1, 1) and exactly 0 along (1, −1).
TEST(GradientFlow, ZeroEigenvaluesTakeTheirLimit) {
  const Tensor twins = ones({2, 2}, f64), y = tensor({3, 1}, f64);
  const GradientFlow flow(twins, y, {.jitter = 0});
  const double t = 3, tau = t / 2;  // |y| = 2
  const double along = -std::expm1(-2 * tau) / 2;
  // Φ y = along·(2, 2) + τ·(1, −1)
  expect_near(flow.test(t, eye(2, f64)), tensor({2 * along + tau, 2 * along - tau}, {2, 1}, f64),
              1e-14);
  // The best fit of equal inputs with different targets is their mean.
  expect_near(flow.train(1e6), full({2, 1}, 2, f64), 1e-12);
  expect_near(GradientFlow(twins, y).train(infinite_time), full({2, 1}, 2, f64), 1e-7);
  expect_near(GradientFlow(twins, y).train(1e3), full({2, 1}, 2, f64), 1e-7);
  // A kernel of zeros trains nothing, and moves test outputs by ηt/|y| Θ* y.
  const GradientFlow still(zeros({2, 2}, f64), y);
  expect_near(still.train(5, ones({2}, f64)), ones({2, 1}, f64), 0);
  expect_near(still.test(5, tensor({1, 1}, {1, 2}, f64)), tensor({10}, {1, 1}, f64), 1e-14);
}

TEST(GradientFlow, NearSingularKernelsGiveNoNaN) {
  const Problem p(40, 6, 2);  // its smallest eigenvalues are rounding errors, of either sign
  for (const double jitter : {0.0, 1e-8}) {
    const GradientFlow flow(p.train, p.targets, {.jitter = jitter});
    for (const double t : {1.0, 1e6, 1e300}) {
      EXPECT_TRUE(test::finite(flow.train(t)));
      EXPECT_TRUE(test::finite(flow.test(t, p.cross)));
      const Tensor variances =
          flow.ensemble(t, p.cross, {p.train, p.cross, ones({6}, f64)}).covariance;
      EXPECT_TRUE(test::finite(variances));
      EXPECT_GE(amin(variances).item(), 0);
    }
  }
}

// Every f_0 in the span of a basis B, f_0 = B z with z ~ N(0, I), is trained by the flow; the
// covariance is that of the trained columns.
TEST(GradientFlow, EnsembleIsTheTrainingOfEveryInitialNetwork) {
  const Problem p(5, 3, 1);
  Generator rng(6);
  const Tensor basis = normal({8, 9}, rng, 0, 1, f64);  // rows: 5 training, 3 test inputs
  const Tensor b_train = slice(basis, 0, {.stop = 5}), b_test = slice(basis, 0, {.start = 5});
  const NngpBlocks nngp{matmul(b_train, transpose(b_train)), matmul(b_test, transpose(b_train)),
                        matmul(b_test, transpose(b_test))};
  const GradientFlow flow(p.train, p.targets);
  // Column by column: 9 outputs, trained towards 0, with the rate of one.
  const GradientFlow each(p.train, zeros({5, 9}, f64), {.learning_rate = 9});
  for (const double t : {0.0, 2.0, 50.0, infinite_time}) {
    const GpPrediction ensemble = flow.ensemble(t, p.cross, nngp);
    const Tensor trained = each.test(t, p.cross, {b_train, b_test});  // [3, 9]
    expect_near(ensemble.mean, flow.test(t, p.cross), 1e-12);
    expect_near(ensemble.covariance, matmul(trained, transpose(trained)), 1e-9);
    const NngpBlocks variances{nngp.train, nngp.cross, diagonal(nngp.test)};
    expect_near(flow.ensemble(t, p.cross, variances).covariance, diagonal(ensemble.covariance),
                1e-9);
    // The training inputs as test inputs.
    const GpPrediction train = flow.ensemble(t, p.train, {nngp.train, nngp.train, nngp.train});
    const Tensor after = each.train(t, b_train);
    expect_near(train.mean, flow.train(t), 1e-6);
    expect_near(train.covariance, matmul(after, transpose(after)), 1e-6);
  }
}

// When only the last layer is trained the NTK is the NNGP kernel, and the end of gradient descent
// is Bayes' posterior.
TEST(GradientFlow, LastLayerTrainingIsBayesian) {
  const Problem p(6, 4, 2);
  const GpPrediction flow =
      GradientFlow(p.train, p.targets).ensemble(infinite_time, p.cross, {p.train, p.cross, p.test});
  const GpPrediction bayes = GaussianProcess(p.train, p.targets).predict(p.cross, p.test);
  expect_near(flow.mean, bayes.mean, 1e-9);
  expect_near(flow.covariance, bayes.covariance, 1e-7);  // the jitter: once here, as noise there
}

// Discrete gradient descent on the outputs, with heavy-ball momentum, below and above the bound.
TEST(MaxLearningRate, SeparatesConvergenceFromDivergence) {
  const Problem p(4, 1, 3);
  for (const double momentum : {0.0, 0.5, 0.9}) {
    const double most = max_learning_rate(p.train, p.targets.count(), momentum);
    const auto error_after = [&](double rate) {
      Tensor f = zeros({4, 3}, f64), velocity = zeros({4, 3}, f64);
      for (int i = 0; i < 3000; ++i) {
        velocity = velocity * momentum - matmul(p.train, f - p.targets) * (rate / 12);
        f = f + velocity;
      }
      return norm(f - p.targets).item();
    };
    const double start = norm(p.targets).item();
    EXPECT_LT(error_after(0.98 * most), start) << momentum;
    EXPECT_GT(error_after(1.02 * most), 1e3 * start) << momentum;
  }
  EXPECT_NEAR(max_learning_rate(tensor({2, 1, 1, 2}, {2, 2}, f64), 6), 4, 1e-14);  // 2·6/3
  EXPECT_EQ(max_learning_rate(zeros({2, 2}, f64), 2), infinite_time);
}

// Large kernels go by Lanczos' method: with a dominant eigenvalue, with two equal ones, with many
// close to each other, of rank 1, and of zeros.
TEST(MaxLearningRate, OfLargeKernels) {
  const std::int64_t n = 300;
  const Problem p(n, 1, 1);
  Generator rng(3);
  const Tensor a = normal({n, n}, rng, 0, 1, f64);
  const std::vector<Tensor> kernels = {p.train, eye(n, f64), matmul(a, transpose(a)),
                                       ones({n, n}, f64)};
  for (const Tensor& k : kernels) {
    const double largest = at(lapack::eigenvalues(k), {n - 1}).item();
    EXPECT_NEAR(max_learning_rate(k, n) * largest / (2.0 * static_cast<double>(n)), 1, 1e-12);
  }
  EXPECT_EQ(max_learning_rate(zeros({n, n}, f64), n), infinite_time);
}

// The decompositions come later than the construction.
TEST(GradientFlow, KeepsTheKernelItWasGiven) {
  Tensor k = tensor({2, 1, 1, 3}, {2, 2}, f64), y = tensor({1, -2}, f64);
  const GradientFlow flow(k, y), other(clone(k), clone(y));
  const GradientFlow copy = flow;
  fill_(k, 7);
  fill_(y, 7);
  for (const double t : {1.0, infinite_time}) {
    expect_near(flow.train(t), other.train(t), 0);
    expect_near(copy.train(t), other.train(t), 0);
  }
}

TEST(GradientFlow, RefusesWhatDoesNotFit) {
  const Tensor k = eye(2, f64), y = ones({2}, f64);
  expect_error([&] { GradientFlow(ones({2, 3}, f64), y); }, "[2, 3]");
  expect_error([&] { GradientFlow(k, ones({3}, f64)); }, "got [3]");
  expect_error([&] { GradientFlow(k, y, {.learning_rate = 0}); }, "learning rate is 0");
  expect_error([&] { GradientFlow(k, y, {.jitter = -1}); }, "jitter is -1");
  expect_error([&] { GradientFlow(full({2, 2}, NAN, f64), y); }, "nan");
  const GradientFlow flow(k, y);
  EXPECT_TRUE((flow.test(1, zeros({0, 2}, f64)).shape() == Shape{0, 1}));
  expect_error([&] { flow.train(-1); }, "time is -1");
  expect_error([&] { flow.train(NAN); }, "time is nan");
  expect_error([&] { flow.train(1, ones({2, 2}, f64)); }, "their shapes are [2, 2] and [2, 1]");
  expect_error([&] { flow.test(1, ones({3, 3}, f64)); }, "[M, 2], got [3, 3]");
  expect_error([&] { flow.test(1, ones({3, 2}, f64), {{}, ones({4}, f64)}); }, "[3, outputs]");
  const NngpBlocks good{k, ones({3, 2}, f64), full({3}, 2, f64)};
  EXPECT_NO_THROW(flow.ensemble(1, ones({3, 2}, f64), good));
  const NngpBlocks narrow{k, ones({2, 2}, f64), good.test},
      large{eye(3, f64), good.cross, good.test};
  expect_error([&] { flow.ensemble(1, ones({3, 2}, f64), narrow); }, "[3, 2], got [2, 2]");
  expect_error(
      [&] {
        flow.ensemble(1, ones({3, 2}, f64), large);
      },
      "[3, 3], but the NTK has shape [2, 2]");
  expect_error([&] { max_learning_rate(k, 0); }, "elements is 0");
  expect_error([&] { max_learning_rate(k, 2, 1); }, "momentum is 1");
  for (const double t : {1.0, infinite_time})  // it takes a jitter, and no noise
    expect_error([&] { GradientFlow(-eye(2, f64), y).train(t); },
                 "smallest eigenvalue is -1; no jitter helps, because the mean of the");
  // Eigenvalues 4 and −2, at finite time and at the end.
  const Tensor indefinite = tensor({1, 3, 3, 1}, {2, 2}, f64);
  for (const double t : {1.0, infinite_time}) {
    expect_error([&] { GradientFlow(indefinite, y).train(t); }, "smallest eigenvalue is -2;");
    expect_error([&] { GradientFlow(indefinite, y).train(t); }, "; pass a jitter of at least 4");
    EXPECT_TRUE(test::finite(GradientFlow(indefinite, y, {.jitter = 4}).train(t)));
  }
  expect_error(
      [&] {
        GradientFlow(zeros({2, 2}, f64), y).train(infinite_time);
      },
      "eigenvalue is 0;");
}

}  // namespace
}  // namespace ladon::infinite::gradient_flow_test
