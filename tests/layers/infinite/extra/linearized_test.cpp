#include "ladon/layers/extra/infinite/linearized.h"

#include <cmath>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/posterior/gradient_flow.h"
#include "ladon/tests/layers/infinite/empirical.h"
#include "ladon/tests/support.h"

namespace ladon::linearized_test {
namespace {

using namespace infinite;
using test::gaussian;

std::unique_ptr<Layer> small_network(std::int64_t width = 6) {
  constexpr auto ntk = Parameterization::ntk;
  Generator rng(11);
  auto net = std::make_unique<Sequential>(
      Linear({.in = 3, .out = width, .parameterization = ntk, .weight_std = 1.3, .bias_std = 0.4},
             rng),
      Activation(Nonlinearity::tanh),
      Linear({.in = width, .out = 2, .parameterization = ntk, .bias_std = 0.3}, rng));
  net->to(f64);
  return net;
}

/// f(x; θ0 + step·v) of a network, back at θ0 afterwards.
Tensor moved(Layer& network, const Tensor& x, const std::vector<Tensor>& v, double step) {
  const NoGrad off;
  const auto parameters = network.parameters();
  const auto shift = [&](double by) {
    for (std::size_t i = 0; i < v.size(); ++i)
      copy_(parameters[i].detach(), parameters[i].detach() + by * v[i]);
  };
  shift(step);
  Tensor y = network(x);
  shift(-step);
  return y;
}

std::vector<Tensor> directions(Layer& network) {
  std::vector<Tensor> v;
  std::uint64_t seed = 100;
  for (const Tensor& p : network.parameters()) v.push_back(gaussian(p.shape(), seed++));
  return v;
}

TEST(TangentMap, IsTheDerivativeAlongALineAndItsAdjoint) {
  const auto net = small_network();
  const Tensor x = gaussian({4, 3}, 1);
  const auto v = directions(*net);
  const Tensor difference = (moved(*net, x, v, 1e-5) - moved(*net, x, v, -1e-5)) / 2e-5;
  const TangentMap map(*net, x);
  const Tensor jv = map.times(v);
  EXPECT_TRUE(all_close(jv, difference, 1e-7, 1e-8));
  EXPECT_TRUE(all_close(map.output(), (*net)(x).detach(), 1e-14, 0));
  // ⟨c, Jv⟩ = ⟨Jᵀc, v⟩
  const Tensor c = gaussian({4, 2}, 2);
  double inner = 0;
  const auto pulled = map.transposed_times(c);
  for (std::size_t i = 0; i < v.size(); ++i) inner += dot(pulled[i], v[i]).item();
  EXPECT_NEAR(inner, dot(c, jv).item(), 1e-12);
  const NoGrad off;
  copy_(net->parameters()[2].detach(), 2 * net->parameters()[2].detach());
  test::expect_error([&] { map.times(v); }, "edited in place");
  test::expect_error([&] { map.times({}); }, "tangents");
  test::expect_error([&] { map.transposed_times(gaussian({4, 3}, 1)); }, "cotangent");
}

TEST(NtkVectorProduct, IsTheFormedKernelTimesTheVector) {
  const auto net = small_network();
  const Tensor a = gaussian({4, 3}, 1), b = gaussian({3, 3}, 2);
  const Tensor va = gaussian({4, 2}, 3), vb = gaussian({3, 2}, 4);
  const auto product = [&](const Tensor& x, const Tensor& y, const Tensor& v) {
    const Tensor theta = empirical_kernel(*net, x, y, {.full = true}).ntk;  // [N, M, O, O]
    return einsum("nmop,mp->no", {theta, v});
  };
  EXPECT_TRUE(all_close(ntk_vector_product(*net, a, b, vb), product(a, b, vb), 1e-11, 1e-12));
  EXPECT_TRUE(all_close(ntk_vector_product(*net, a, va), product(a, a, va), 1e-11, 1e-12));
}

// The kernel of a network that maps each token by itself, times a vector, with any fill of padding.
TEST(NtkVectorProduct, DoesNotReadPadding) {
  const std::unique_ptr<Layer> net = small_network();
  net->eval();
  const Tensor x = gaussian({2, 3, 3}, 5), v = gaussian({2, 3, 2}, 6);
  const Tensor mask = from_vector(std::vector<bool>{1, 1, 0, 1, 0, 0}, {2, 3});
  const auto product = [&](double fill) {
    return ntk_vector_product(*net, {masked_fill(x, unsqueeze(logical_not(mask), -1), fill), mask},
                              v);
  };
  const Tensor expected = product(0);
  for (const double fill : std::vector<double>{7, -1e9, NAN, HUGE_VAL})
    EXPECT_TRUE(all_close(product(fill), expected, 1e-12, 1e-12)) << fill;
}

TEST(Linearized, IsTheFirstOrderExpansion) {
  const Tensor x = gaussian({4, 3}, 1);
  Linearized net(small_network());
  EXPECT_TRUE(all_equal(net(x).detach(), (*net.network)(x).detach()));
  const auto v = directions(*net.network);
  for (std::size_t i = 0; i < v.size(); ++i) copy_(net.displacement[i].detach(), 1e-4 * v[i]);
  // The remainder is of second order in the displacement.
  const Tensor rest = abs(net(x).detach() - moved(*net.network, x, v, 1e-4));
  EXPECT_LT(amax(rest).item(), 1e-6);
  EXPECT_GT(amax(abs(net(x).detach() - (*net.network)(x).detach())).item(), 1e-5);
}

// Two linear layers are of second degree in their parameters.
TEST(TaylorExpansion, OfSecondOrderIsExactWhereTheNetworkIsQuadratic) {
  Generator rng(3);
  auto base = std::make_unique<Sequential>(Linear({.in = 3, .out = 5}, rng),
                                           Linear({.in = 5, .out = 2}, rng));
  base->to(f64);
  const Tensor x = gaussian({4, 3}, 1);
  infinite::TaylorExpansion net(std::move(base), 2);
  const auto v = directions(*net.network);
  for (std::size_t i = 0; i < v.size(); ++i) copy_(net.displacement[i].detach(), v[i]);
  EXPECT_TRUE(all_close(net(x).detach(), moved(*net.network, x, v, 1), 1e-12, 1e-12));
  infinite::TaylorExpansion third(std::move(net.network), 3);
  for (std::size_t i = 0; i < v.size(); ++i) copy_(third.displacement[i].detach(), v[i]);
  EXPECT_TRUE(all_close(third(x).detach(), moved(*third.network, x, v, 1), 1e-12, 1e-12));
}

// Of attention: what is left over is of the next order in the displacement.
TEST(TaylorExpansion, LeavesTheNextOrder) {
  Generator rng(4);
  const Tensor x = gaussian({2, 3, 4}, 1);
  for (const int order : {1, 2, 3}) {
    auto base = std::make_unique<Sequential>(MultiHeadAttention({.dim = 4, .heads = 2}, rng),
                                             LayerNorm({.dim = 4}), Activation(Nonlinearity::gelu),
                                             Linear({.in = 4, .out = 2}, rng));
    base->to(f64);
    infinite::TaylorExpansion net(std::move(base), order);
    const auto v = directions(*net.network);
    const auto rest = [&](double step) {
      for (std::size_t i = 0; i < v.size(); ++i) copy_(net.displacement[i].detach(), step * v[i]);
      return amax(abs(net(x).detach() - moved(*net.network, x, v, step))).item();
    };
    EXPECT_NEAR(std::log2(rest(0.004) / rest(0.002)), order + 1, 0.25) << order;
  }
}

TEST(TaylorExpansion, HasGradientsByTheDisplacement) {
  const Tensor x = gaussian({3, 3}, 1);
  for (const int order : {1, 2, 3}) {
    infinite::TaylorExpansion net(small_network(), order);
    std::vector<Tensor> at;
    for (std::size_t i = 0; i < net.displacement.size(); ++i)
      at.push_back(0.5 * gaussian(net.displacement[i].shape(), 6 + i));
    for (Tensor& w : at) w.set_requires_grad();
    EXPECT_TRUE(gradcheck(
        [&](const std::vector<Tensor>& w) {
          net.displacement = w;
          return net(x);
        },
        at));
  }
  test::expect_error([] { infinite::TaylorExpansion(small_network(), 0); }, "at least 1");
  for (const int order : {0, -1, 9}) {
    infinite::TaylorExpansion net(small_network(), 1);
    net.order = order;
    test::expect_error([&] { net(x); }, "at least 1 and at most 8");
  }
  infinite::TaylorExpansion net(small_network(), 1);
  net.displacement.pop_back();
  test::expect_error([&] { net(x); }, "but there are");
}

TEST(Linearized, HasTheTangentKernelOfTheBeginning) {
  const Tensor x = gaussian({3, 3}, 1), y = gaussian({2, 3}, 2);
  Linearized net(small_network());
  const Tensor at_start = empirical_kernel(*net.network, x, y).ntk;
  for (Tensor& w : net.displacement) copy_(w.detach(), gaussian(w.shape(), 5));
  EXPECT_TRUE(all_close(empirical_kernel(net, x, y).ntk, at_start, 1e-11, 0));
  test::expect_layerwise(net, x, y);
  EXPECT_TRUE(all_equal(limit(net)(x, y).ntk, limit(*net.network)(x, y).ntk));
  test::expect_error(
      [&] {
        Tensor z = clone(x);
        net(z.set_requires_grad());
      },
      "no gradient");
}

TEST(Linearized, IsSavedAndConvertedWithItsBeginning) {
  Linearized net(small_network());
  EXPECT_EQ(net.parameters().size(), 4u);
  EXPECT_EQ(net.parameter_count(), net.network->parameter_count());
  for (Tensor& w : net.displacement) copy_(w.detach(), gaussian(w.shape(), 5));
  const Tensor x = gaussian({4, 3}, 1), y = net(x).detach();
  StateDict state = net.state_dict();
  for (auto& [name, value] : state) value = clone(value.detach());
  Linearized other(small_network());
  for (const Tensor& p : other.network->parameters()) fill_(p.detach(), 0.5);
  other.load_state_dict(state);
  EXPECT_TRUE(all_equal(other(x).detach(), y));
  net.to(f32);
  EXPECT_EQ(net.displacement[0].dtype(), f32);
  EXPECT_TRUE(all_close(cast(net(x).detach(), f64), y, 1e-5, 1e-5));
}

// Small steps of gradient descent on ½|f − y|²/|y| from w = 0 follow the closed form of the flow.
TEST(Linearized, TrainedByGradientDescentFollowsTheFlow) {
  const Tensor x = gaussian({5, 3}, 1), test = gaussian({3, 3}, 2), y = gaussian({5, 1}, 3);
  Generator rng(11);
  constexpr auto ntk = Parameterization::ntk;
  auto base = std::make_unique<Sequential>(
      Linear({.in = 3, .out = 8, .parameterization = ntk, .bias_std = 0.4}, rng),
      Activation(Nonlinearity::tanh), Linear({.in = 8, .out = 1, .parameterization = ntk}, rng));
  base->to(f64);
  Linearized net(std::move(base));
  const Tensor theta = empirical_kernel(net, x).ntk, cross = empirical_kernel(net, test, x).ntk;
  const InitialOutputs initial = {.train = net(x).detach(), .test = net(test).detach()};
  constexpr double rate = 0.002;
  constexpr int steps = 2000;
  const GradientFlow flow(theta, y, {.learning_rate = rate, .jitter = 0});
  for (int i = 0; i < steps; ++i) {
    net.zero_grad();
    backward(sum(square(net(x) - y)) * (0.5 / 5));
    const NoGrad off;
    for (Tensor& w : net.displacement) copy_(w.detach(), w.detach() - rate * w.grad());
  }
  const Tensor trained = net(x).detach(), predicted = net(test).detach();
  EXPECT_TRUE(all_close(trained, flow.train(steps, initial.train), 0, 2e-3));
  EXPECT_TRUE(all_close(predicted, flow.test(steps, cross, initial), 0, 2e-3));
  EXPECT_GT(amax(abs(trained - initial.train)).item(), 0.1) << "nothing was learned";
}

}  // namespace
}  // namespace ladon::linearized_test
