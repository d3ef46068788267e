#include "14_tangent/exercises/exercises.h"

using namespace ladon;
using lessons::require;

namespace {

constexpr double rate = 0.7;

/// Kernels of a small model at infinite width: inputs 0 to 4 are for training, 5 to 7 for testing.
struct Blocks {
  TangentBlocks theta;
  NngpBlocks nngp;
};
Blocks blocks() {
  Generator rng(1);
  MultiHeadAttentionOptions options = {.dim = 3, .heads = 3, .bias = false, .out = 1};
  options.prior = {.parameterization = Parameterization::ntk, .query_key_std = 3};
  const infinite::Limit limit =
      infinite::limit(Sequential(MultiHeadAttention(options, rng), MeanPositions()));
  const Tensor x = normal({8, 2, 3}, rng, 0, 1, f64);
  const Tensor train = slice(x, 0, {0, 5}), test = slice(x, 0, {5, 8});
  const infinite::Kernel own = limit(train), cross = limit(test, train);
  return {{own.ntk, cross.ntk}, {own.nngp, cross.nngp, limit(test).nngp}};
}

Tensor inner_products(const Tensor& rows) { return matmul(rows, transpose(rows)); }

/// V·diag(scale(λ))·Vᵀ·y
template <class Scale>
Tensor along_eigenvectors(const Tensor& kernel, const Tensor& y, Scale scale) {
  const auto [values, vectors] = lapack::eigh(kernel);
  std::vector<double> scales;
  for (const double lambda : values.to_vector()) scales.push_back(scale(lambda));
  return matmul(vectors, from_vector(scales, {y.size(0), 1}) * matmul(transpose(vectors), y));
}

}  // namespace

void check_tangent_kernel(decltype(tangent_kernel)* yours) {
  Generator rng(2);
  Sequential model(Linear({.in = 3, .out = 6}, rng), Activation(Nonlinearity::tanh),
                   Linear({.in = 6, .out = 1}, rng));
  model.to(f64);
  const Tensor x = normal({4, 3}, rng, 0, 1, f64);
  const infinite::EmpiricalOptions jacobian = {.method = infinite::NtkMethod::jacobian};
  const infinite::EmpiricalKernel right = infinite::empirical_kernel(model, x, jacobian);
  const ParameterSet all = model.named_parameters();
  std::vector<Tensor> rows, sums, last;
  for (int i = 0; i < 4; ++i) {
    const std::vector<Tensor> g = grad({sum(model(slice(x, 0, {i, i + 1})))}, all.tensors());
    rows.push_back(all.to_row(g));
    sums.push_back(i == 0 ? rows[0] : sums[i - 1] + rows[i]);
    last.push_back(concat({flatten(g[2]), g[3]}, 0));
  }
  const double count = static_cast<double>(all.count());
  lessons::compare(
      "the tangent kernel", yours(model, x), right.ntk,
      {{right.ntk / count, "the mean over parameters; the kernel is the sum over them"},
       {inner_products(stack(sums, 0)),
        "row i of J is the sum of the gradients of inputs 0 … i: they add up from one to the next"},
       {inner_products(stack(last, 0)),
        "gradients of the last layer alone; all layers are trained"},
       {right.nngp,
        "products of outputs, the NNGP kernel; the tangent kernel has those of gradients"},
       {inner_products(stack(rows, 0) * right.outputs),
        "gradients of f²/2, a loss; the tangent kernel has those of the output f"},
       {inner_products(stack(rows, 0) / sqrt(sum(square(stack(rows, 0)), 1, keep_dims))),
        "cosines of the gradients; their lengths count"},
       {matmul(transpose(stack(rows, 0)), stack(rows, 0)),
        "this is Jᵀ·J, a matrix over parameters; the kernel J·Jᵀ is a matrix over inputs"}});
}

void check_flow_mean(decltype(flow_mean)* yours) {
  const auto [theta, nngp] = blocks();
  const Tensor y = tensor({1, -1, 0.5, 2, -0.5}, {5, 1}, f64);
  const GradientFlow flow(theta.train, y, {.learning_rate = rate, .jitter = 0});
  for (const double t : {3.0, 20.0, 0.0}) {
    const double tau = rate * t / 5;
    const auto integral = [](double lambda, double time) {
      return lambda == 0 ? time : -std::expm1(-lambda * time) / lambda;
    };
    const auto mean_by = [&](const TangentBlocks& k, auto scale) {
      return matmul(k.cross, along_eigenvectors(k.train, y, scale));
    };
    const auto at_time = [&](const TangentBlocks& k, double time) {
      return mean_by(k, [&](double lambda) { return integral(lambda, time); });
    };
    const std::string at = detail::join("at t = ", t);
    const auto [values, vectors] = lapack::eigh(theta.train);
    lessons::compare(
        "the mean " + at, yours(theta, y, rate, t), flow.test(t, theta.cross),
        {{at_time(theta, 5 * tau), at + ": the loss is a mean: its gradient has 1/N"},
         {at_time(theta, 2 * tau), at + ": the loss has the factor 1/2, so its gradient has no 2"},
         {at_time({nngp.train, nngp.cross}, tau),
          at + ": the covariance of networks instead of their tangent kernel"},
         {mean_by(theta, [](double lambda) { return 1 / lambda; }),
          at + ": that is the end of training, whatever t is"},
         {mean_by(theta, [&](double lambda) { return std::exp(-lambda * tau) / lambda; }),
          at + ": this is the part still to be learned; the learned part is 1 − e^(−λτ)"},
         {mean_by(theta, [&](double lambda) { return -std::expm1(-lambda * tau); }),
          at + ": 1 − e^(−λτ) is not divided by λ: the integral of e^(−λs) is (1 − e^(−λτ))/λ"},
         {mean_by(theta, [&](double lambda) { return -std::expm1(-lambda * tau) * lambda; }),
          at + ": 1 − e^(−λτ) is multiplied by λ instead of divided"},
         {matmul(theta.cross,
                 matmul(transpose(vectors),
                        unsqueeze(-expm1(-tau * values) / values, 1) * matmul(vectors, y))),
          at + ": the eigenvectors are the columns of V: V·(…)·Vᵀ, not Vᵀ·(…)·V"},
         {-flow.test(t, theta.cross), at + ": the sign is wrong: f moves towards y"}},
        1e-7);
  }
  // Two equal inputs: eigenvalue 0 along their difference.
  const TangentBlocks twins = {ones({2, 2}, f64), ones({1, 2}, f64)};
  const Tensor both = yours(twins, tensor({3, 1}, {2, 1}, f64), 1, 3);
  require(all(isfinite(both)).item<bool>(),
          "an eigenvalue 0 gives 0/0; there (1 − e^(−λτ))/λ has the limit τ");
  lessons::compare("the mean of twins", both, tensor({4 * -std::expm1(-3) / 2}, {1, 1}, f64));
}

void check_trained_covariance(decltype(trained_covariance)* yours) {
  const auto [theta, nngp] = blocks();
  const GradientFlow flow(theta.train, zeros({5, 1}, f64), {.jitter = 0});
  const Tensor right = flow.ensemble(infinite_time, theta.cross, nngp).covariance;
  const Tensor s = transpose(solve(theta.train, transpose(theta.cross)));
  const Tensor bayes = transpose(solve(nngp.train, transpose(nngp.cross)));
  const Tensor mixed = matmul(s, transpose(nngp.cross));
  const Tensor quadratic = matmul(matmul(s, nngp.train), transpose(s));
  lessons::compare(
      "the covariance", yours(theta, nngp), right,
      {{nngp.test - matmul(bayes, transpose(nngp.cross)),
        "that is the Bayesian posterior's: training moves f by Θ*Θ⁻¹, not by K*K⁻¹"},
       {nngp.test - matmul(s, transpose(theta.cross)),
        "the posterior's formula with Θ for K; Θ is no covariance of networks before training"},
       {nngp.test - mixed, "the posterior's formula in part: f₀(x*) − S·f₀(X) has four terms"},
       {nngp.test - mixed - transpose(mixed), "the variance of S·f₀(X) is left out: + S·K·Sᵀ"},
       {nngp.test + quadratic, "f₀(x*) and f₀(X) are not independent: − S·K*ᵀ − K*·Sᵀ is left out"},
       {nngp.test - 2 * mixed + quadratic,
        "2·S·K*ᵀ is not symmetric; one of the two terms is its transpose"},
       {nngp.test + mixed + transpose(mixed) + quadratic,
        "the sign of f₀(X): training subtracts S·f₀(X)"},
       {nngp.test, "this is the covariance before training: training removes a part of f₀"}},
      1e-7);
}
