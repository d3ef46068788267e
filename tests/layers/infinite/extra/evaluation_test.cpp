// Kernels, tangent maps and densities of networks must be functions of inputs and parameters:
// networks that draw random numbers or mix the examples of a batch are refused with an Error,
// instead of silently averaged over.

#include "ladon/autograd/evaluation.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "ladon/autograd/ops.h"
#include "ladon/core/machine/background.h"
#include "ladon/layers/extra/infinite/linearized.h"
#include "ladon/layers/infinite/finite/compare.h"
#include "ladon/layers/infinite/finite/empirical.h"
#include "ladon/layers/infinite/finite/monte_carlo.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/posterior/regression.h"
#include "ladon/optim/samplers/log_density.h"
#include "ladon/tests/support.h"

namespace ladon::evaluation_test {
namespace {

using test::expect_error;

/// Networks on [N, 4, 6] whose output in training mode is another one, or depends on the batch.
struct Network {
  std::string name;
  std::function<std::unique_ptr<Layer>(Generator&)> make;
  bool mixes_in_evaluation = false;
};

template <class... L>
std::unique_ptr<Layer> net(Generator& rng, L... layers) {
  constexpr auto ntk = Parameterization::ntk;  // network_task() asks for it
  return std::make_unique<Sequential>(Linear({.in = 6, .out = 6, .parameterization = ntk}, rng),
                                      std::move(layers)..., MeanPositions(),
                                      Linear({.in = 6, .out = 1, .parameterization = ntk}, rng));
}

std::vector<Network> networks() {
  return {
      {"Dropout", [](Generator& rng) { return net(rng, Dropout(0.5, rng)); }},
      {"Residual of Dropout",
       [](Generator& rng) {
         return net(rng,
                    Residual(0.5, Sequential(Activation(Nonlinearity::relu), Dropout(0.1, rng))));
       }},
      {"BatchNorm", [](Generator& rng) { return net(rng, BatchNorm({.dim = 6})); }},
      {"BatchNorm without running statistics",
       [](Generator& rng) { return net(rng, BatchNorm({.dim = 6, .track_running_stats = false})); },
       true},
      {"MultiHeadAttention",
       [](Generator& rng) {
         return net(rng, MultiHeadAttention({.dim = 6, .heads = 2, .dropout = 0.1}, rng));
       }},
      {"TransformerEncoder",  // its dropout is .1 unless it is said
       [](Generator& rng) {
         return net(rng, TransformerEncoder({.layer = {.dim = 6, .heads = 2}, .layers = 1}, rng));
       }},
      {"Lstm", [](Generator& rng) {
         return net(rng, Lstm({.in = 6, .hidden = 6, .layers = 2, .dropout = 0.2}, rng));
       }}};
}

/// Everything that takes a network, or parameters with a loss, for a function.
std::map<std::string, std::function<void(Layer&, const Tensor&)>> callers() {
  using infinite::NtkMethod;
  const auto loss = [](Layer& n, const Tensor& x) {
    return [&n, x] { return mean(square(n(x))); };
  };
  return {{"empirical_kernel", [](Layer& n, const Tensor& x) { infinite::empirical_kernel(n, x); }},
          {"empirical_kernel of two blocks",
           [](Layer& n, const Tensor& x) { infinite::empirical_kernel(n, x, x * 2); }},
          {"empirical_kernel, NNGP",
           [](Layer& n, const Tensor& x) {
             infinite::empirical_kernel(n, x, {.get = infinite::Get::nngp, .verify = false});
           }},
          {"empirical_kernel by Jacobians",
           [](Layer& n, const Tensor& x) {
             infinite::empirical_kernel(n, x, {.method = NtkMethod::jacobian, .verify = false});
           }},
          {"empirical_gram, tiles of 1",
           [](Layer& n, const Tensor& x) { infinite::empirical_gram(n, x, 1); }},
          {"empirical_gram, tiles of 2",
           [](Layer& n, const Tensor& x) { infinite::empirical_gram(n, x, x * 2, 2); }},
          {"ntk_vector_product",
           [](Layer& n, const Tensor& x) {
             infinite::ntk_vector_product(n, x, ones({3, 1}));
           }},
          {"ntk_vector_product of two blocks",
           [](Layer& n, const Tensor& x) {
             infinite::ntk_vector_product(n, x, x * 2, ones({3, 1}));
           }},
          {"TangentMap", [](Layer& n, const Tensor& x) { infinite::TangentMap(n, x); }},
          {"network_task",
           [](Layer& n, const Tensor& x) {
             const RegressionTask task = network_task(n, x, ones({2}, f64), 0.1);
             log_posterior(task)(unsqueeze(n.named_parameters().to_row(), 0));
           }},
          {"log_posterior of a model",
           [=](Layer& n, const Tensor& x) {
             log_posterior(n, loss(n, x))(unsqueeze(n.named_parameters().to_row(), 0));
           }},
          {"log_posterior of a set", [=](Layer& n, const Tensor& x) {
             const ParameterSet set = n.named_parameters();
             log_posterior(set, loss(n, x))(unsqueeze(set.to_row(), 0));
           }}};
}

TEST(Evaluation, IsDemandedOfEveryNetwork) {
  Generator data(2);
  const Tensor x = normal({3, 4, 6}, data);
  for (const Network& network : networks())
    for (const auto& [name, call] : callers()) {
      SCOPED_TRACE(name + ": " + network.name);
      Generator rng(1);
      const auto training = network.make(rng);
      const StateDict before = training->state_dict();
      std::map<std::string, Tensor> values;
      for (const auto& [path, t] : before) values[path] = clone(t.detach());
      EXPECT_THROW(call(*training, x), Error);
      for (const auto& [path, t] : training->state_dict())
        EXPECT_TRUE(all_equal(t, values.at(path))) << path;
      training->eval();
      // a loss over a whole batch is a function of parameters also where examples meet in it
      const bool of_batches = name.starts_with("log_posterior");
      if (network.mixes_in_evaluation && !of_batches)
        EXPECT_THROW(call(*training, x), Error);
      else
        EXPECT_NO_THROW(call(*training, x));
    }
}

TEST(Evaluation, SaysWhoDraws) {
  Generator rng(1);
  const Tensor x = normal({3, 4, 6}, rng);
  const auto dropped = networks()[0].make(rng), normed = networks()[2].make(rng);
  expect_error([&] { infinite::empirical_kernel(*dropped, x); },
               "[empirical_kernel] dropout is in training mode");
  expect_error([&] { infinite::empirical_kernel(*normed, x); }, "BatchNorm is in training mode");
  const auto alone = networks()[3].make(rng);
  alone->eval();
  expect_error([&] { infinite::empirical_kernel(*alone, x); },
               "normalizes by the statistics of the batch");
}

// What the scope demands holds wherever its computation runs: in pieces of loops and in tasks, also
// in a scope within it that asks for less.
TEST(Evaluation, HoldsInPiecesAndTasks) {
  const detail::EvaluationScope outer("outer", true), inner("inner");
  const auto refuse = [] { detail::refuse_in_evaluation("a layer", false, true); };
  const char* why = "[inner] a layer normalizes by the statistics of the batch";
  std::atomic<int> refused{0};
  parallel::for_range(64, 1, [&](std::int64_t, std::int64_t) {
    try {
      refuse();
    } catch (const Error&) {
      ++refused;
    }
  });
  EXPECT_EQ(refused, 64);
  expect_error(
      [&] {
        parallel::in_background([&] {
          refuse();
          return 0;
        }).get();
      },
      why);
  Generator rng(1);
  expect_error([&] { parallel::in_background([&] { return dropout(ones({3}), 0.5, rng); }).get(); },
               "[inner] dropout is in training mode");
}

/// A layer of nobody's that mixes examples, or draws, in any mode.
struct Mixing : Callable<Mixing> {
  Linear inner;
  mutable Generator rng{3};
  bool draws;
  Mixing(bool by_draws, Generator& source) : inner({.in = 6, .out = 2}, source), draws(by_draws) {}
  Tensor forward(const Tensor& x) const override {
    const Tensor y = inner(x);
    return draws ? y + 0.1 * normal(y.shape(), rng) : y - mean(y, 0, Dims::keep);
  }
  void visit(Visitor& v) override { v("inner", inner); }
  std::string describe() const override { return "Mixing"; }
};

TEST(Evaluation, IsVerifiedByOneExampleAlone) {
  for (const bool draws : {false, true})
    for (const std::int64_t tile : {0, 1, 2, 5}) {
      Generator rng(1);
      Mixing layer(draws, rng);
      layer.eval();
      const Tensor x = normal({5, 6}, rng);
      expect_error(
          [&] {
            if (tile == 0)
              infinite::empirical_kernel(layer, x, {.get = infinite::Get::nngp});
            else
              infinite::empirical_gram(layer, x, tile);
          },
          "gives different outputs alone and in its batch");
    }
}

TEST(Evaluation, IsVerifiedInEitherOfTwoBlocks) {
  for (const std::int64_t tile : {0, 1, 2, 5})
    for (const bool first : {false, true}) {
      SCOPED_TRACE(tile);
      Generator rng(1);
      Mixing layer(false, rng);
      layer.eval();
      const Tensor one = normal({1, 6}, rng), many = normal({5, 6}, rng);
      const Tensor &a = first ? one : many, &b = first ? many : one;
      expect_error(
          [&] {
            if (tile == 0)
              infinite::empirical_kernel(layer, a, b, {.get = infinite::Get::nngp});
            else
              infinite::empirical_gram(layer, a, b, tile, {.get = infinite::Get::nngp});
          },
          "gives different outputs alone and in its batch");
    }
}

// In evaluation mode a new BatchNorm is the identity, so networks with it have the kernels of
// networks without.
TEST(Evaluation, ByDrawsThereIsNoKernelOfABatchNormThatSawNoBatch) {
  Generator data(2);
  const Tensor x = normal({3, 4, 6}, data);
  const auto estimate = [&](const infinite::NetworkFactory& make) {
    Generator rng(5);
    return infinite::monte_carlo_kernel(make, x, x, {.draws = 3, .dtype = f32}, rng);
  };
  const auto unseen = [](Generator& rng) { return net(rng, BatchNorm({.dim = 6})); };
  const auto without = [](Generator& rng) {
    return net(rng, BatchNorm({.dim = 6, .track_running_stats = false}));
  };
  expect_error([&] { estimate(unseen); }, "the BatchNorm `layers.1` has seen no batch");
  expect_error([&] { estimate(without); }, "normalizes by the statistics of the batch");
  Generator rng(5);
  EXPECT_THROW(infinite::sample_kernels(unseen, x, x, {.draws = 2}, rng), Error);
  EXPECT_NO_THROW(estimate([&](Generator& own) {
    auto trained = net(own, BatchNorm({.dim = 6}));
    (*trained)(x);
    return trained;
  }));
  try {
    infinite::limit (*unseen(rng))(infinite::Inputs(x));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("output depends on the whole batch"), std::string::npos) << text;
    EXPECT_EQ(text.find("monte_carlo_kernel"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace ladon::evaluation_test
