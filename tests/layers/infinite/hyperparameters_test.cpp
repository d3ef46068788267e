// Hyper-parameters of infinite networks, learned by the gradient of the marginal likelihood.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/layers/activation.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/infinite/limit.h"
#include "ladon/layers/linear.h"
#include "ladon/optim/optim.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::infinite::hyperparameters_test {
namespace {

// Two linear layers that share σ_w and σ_b, and a nonlinearity between them.
Sequential network(Nonlinearity f, const Tensor& weight_std, const Tensor& bias_std) {
  Generator rng(1);
  constexpr auto ntk = Parameterization::ntk;
  Sequential net(Linear({.in = 2, .out = 8, .parameterization = ntk, .bias_std = 1}, rng),
                 Activation(f),
                 Linear({.in = 8, .out = 1, .parameterization = ntk, .bias_std = 1}, rng));
  for (const std::string layer : {"layers.0.", "layers.2."}) {
    net.set_hyperparameter(layer + "weight_std", weight_std);
    net.set_hyperparameter(layer + "bias_std", bias_std);
  }
  return net;
}

// hyper = {σ_w, σ_b, ln σ²}
Tensor likelihood(Nonlinearity f, const Tensor& x, const Tensor& y,
                  const std::vector<Tensor>& hyper) {
  const Sequential net = network(f, hyper[0], hyper[1]);
  return log_marginal_likelihood(limit(net)(x, Get::nngp).nngp, y, exp(hyper[2]));
}

std::vector<Tensor> hyper_parameters(double weight_std, double bias_std, double log_noise) {
  std::vector<Tensor> hyper;
  for (const double value : {weight_std, bias_std, log_noise})
    hyper.push_back(parameter(scalar(value, f64)));
  return hyper;
}

TEST(HyperParameters, GradientsAreCentralDifferences) {
  Generator rng(2);
  const Tensor x = normal({6, 2}, rng, 0, 1, f64), y = normal({6, 2}, rng, 0, 1, f64);
  for (const Nonlinearity f : {Nonlinearity::relu, Nonlinearity::erf, Nonlinearity::gelu}) {
    const auto of = [&](const std::vector<Tensor>& hyper) { return likelihood(f, x, y, hyper); };
    EXPECT_TRUE(gradcheck(of, hyper_parameters(1.4, 0.3, -2))) << to_string(f);
  }
}

// Targets are drawn from the network's own Gaussian process; ascent from elsewhere must explain
// them at least as well as the hyper-parameters that they were drawn with.
TEST(HyperParameters, AdamFindsMoreLikelyOnes) {
  for (const Nonlinearity f : {Nonlinearity::relu, Nonlinearity::erf}) {
    Generator rng(5);
    const Tensor x = normal({24, 2}, rng, 0, 1, f64);
    const std::vector<Tensor> truth = hyper_parameters(1.8, 0.5, -4);
    const Tensor k = limit(network(f, truth[0].detach(), truth[1].detach()))(x).nngp;
    const Tensor factor = lapack::cholesky(k + eye(24, f64) * std::exp(-4));
    const Tensor y =
        matmul(factor, normal({24, 3}, rng, 0, 1, f64));  // three draws of N(0, K + σ²)

    const std::vector<Tensor> hyper = hyper_parameters(0.7, 1.5, 0);
    const double before = likelihood(f, x, y, hyper).item();
    Adam adam(hyper, {.lr = 0.05});
    for (int i = 0; i < 150; ++i) {
      adam.zero_grad();
      backward(-likelihood(f, x, y, hyper));
      adam.step();
    }
    const double after = likelihood(f, x, y, hyper).item();
    EXPECT_GT(after, before + 20) << to_string(f);
    EXPECT_GE(after, likelihood(f, x, y, truth).item()) << to_string(f);
    EXPECT_NEAR(hyper[2].item(), -4, 1) << to_string(f);  // the noise is what it was
  }
}

}  // namespace
}  // namespace ladon::infinite::hyperparameters_test
