#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/examples/bnn_regression/study.h"
#include "ladon/layers/activation.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/linear.h"
#include "ladon/optim/optim.h"
#include "ladon/optim/posterior/predict.h"

namespace ladon::example {
namespace {

Tensor block(const Tensor& kernel, Slice rows, Slice columns) {
  return contiguous(slice(slice(kernel, 0, rows), 1, columns));
}

/// NNGP kernel of all inputs times an amplitude, and the noise variance. Amplitude and noise are
/// chosen by leave-one-out on the first inputs, whose targets are y. Weights and biases of the
/// first layer have equal variances.
std::pair<Tensor, double> scaled_kernel(const Tensor& x, const Tensor& y, bool linear) {
  const NoGrad off;
  Generator rng(0);
  const auto layer = [&](std::int64_t in, double variance) {
    LinearOptions options{.in = in, .out = 1, .parameterization = Parameterization::ntk};
    options.weight_std = std::sqrt(variance), options.bias_std = 1;
    return Linear(options, rng);
  };
  Sequential model(layer(x.size(1), double(x.size(1))));
  if (!linear) model.append(Activation(Nonlinearity::relu));
  if (!linear) model.append(layer(1, 2));
  const Tensor kernel = infinite::limit(model)(cast(x, f64), infinite::Get::nngp).nngp;
  const Slice known{.stop = y.size(0)};
  const Tensor train = block(kernel, known, known), targets = unsqueeze(cast(y, f64), 1);
  const NoiseChoice choice = choose_noise(train, targets, NoiseCriterion::leave_one_out);
  const double factor = choice.amplitude / mean(diagonal(train)).item();
  return {factor * kernel, choice.amplitude * choice.relative_noise};
}

/// Parts of Θ [P, D], which has a row per network (study.h): log precision ln γ of the noise and ln
/// λ of the weights, [P, 1] each, and the scaled weights z [P, D − 2].
Tensor log_gamma(const Tensor& theta) { return slice(theta, 1, {.start = -2, .stop = -1}); }
Tensor log_lambda(const Tensor& theta) { return slice(theta, 1, {.start = -1}); }
Tensor z(const Tensor& theta) { return slice(theta, 1, {.stop = -2}); }

/// Mean over examples of −ln p(y | f, γ), without its constant, per network [P]; f [P, B] for B
/// examples, y [B] or [P, B].
Tensor misfit(const Tensor& theta, const Tensor& f, const Tensor& y) {
  return 0.5 * mean(square(y - f) * exp(log_gamma(theta)) - log_gamma(theta), 1);
}

/// Negative log of the Gamma priors' densities, as densities of ln γ and ln λ, per network [P].
Tensor hyper_priors(const Tensor& theta) {
  const Tensor logs = slice(theta, 1, {.start = -2});
  return sum(0.1 * exp(logs) - logs, 1);
}

}  // namespace

/// The networks of one run: parameters, gradients and predictions.
struct Networks {
  const Problem& data;
  const std::int64_t steps;
  const std::string& method;
  const Generator rng;
  const bool weights = method == "svgd_weights";                   // Θ holds w, not z = √λ·w
  const double count = static_cast<double>(data.train.y.size(0));  // N, training examples
  const std::int64_t inputs = data.train.x.size(1);
  Generator batches = rng.split(1);
  Tensor theta = parameter(start());  // [P, D]
  static constexpr std::int64_t members = 20, hidden = 50;
  /// Initialization of Liu and Wang: weights w of variance 1/(fan-in + 1), biases 0; λ = 10 and γ =
  /// 1. Where Θ holds z = √λ·w, the variances of W₁ and w₂ are λ = 10 times as large.
  Tensor start() const {
    Generator own = rng.split(0);
    const double first = (weights ? 1 : 10) / static_cast<double>(inputs + 1),
                 second = (weights ? 1 : 10) / static_cast<double>(hidden + 1);
    const Tensor w1 = normal({members, inputs * hidden}, own, 0, std::sqrt(first)),
                 w2 = normal({members, hidden}, own, 0, std::sqrt(second)),
                 log = full({members, 1}, std::log(10.0));
    return concat({w1, zeros({members, hidden}), w2, zeros({members, 2}), log}, 1);
  }
  /// Outputs [P, B] of the networks at x [B, d].
  Tensor functions(const Tensor& x) const {
    const Tensor w = weights ? z(theta) : z(theta) * exp(-0.5 * log_lambda(theta));
    std::int64_t next = 0;
    const auto part = [&](std::int64_t size) {
      const std::int64_t start = std::exchange(next, next + size);
      return slice(w, 1, {.start = start, .stop = start + size});
    };
    // [B, d] · [P, d, H] + [P, 1, H] → [P, B, H];  [P, B, H] · [P, H, 1] → [P, B, 1]
    const Tensor w1 = reshape(part(inputs * hidden), {-1, inputs, hidden});
    const Tensor b1 = unsqueeze(part(hidden), 1), w2 = unsqueeze(part(hidden), 2);
    return reshape(matmul(relu(matmul(x, w1) + b1), w2), {members, x.size(0)}) + part(1);
  }
  /// Negative log prior density of z or w, γ and λ, without its constant, per network [P].
  Tensor prior() const {
    const Tensor squares = 0.5 * sum(square(z(theta)), 1), log = flatten(log_lambda(theta));
    if (!weights) return squares + hyper_priors(theta);
    const double half = 0.5 * static_cast<double>(theta.size(1) - 2);
    return squares * exp(log) - half * log + hyper_priors(theta);
  }
  /// Indices of a hundred random examples, drawn with replacement, or of all if there are no more
  /// than a hundred.
  Tensor batch() {
    const std::int64_t size = 100, n = data.train.y.size(0);
    return n <= size ? arange(0, n) : randint({size}, batches, 0, n);
  }
  Tensor x(const Tensor& batch) const { return index_select(data.train.x, 0, batch); }
  Tensor y(const Tensor& batch) const { return index_select(data.train.y, 0, batch); }
  /// Backpropagates −ln p(Θ | data)/N, estimated on a batch.
  void backward_of_batch() {
    const Tensor b = batch();
    backward(sum(misfit(theta, functions(x(b)), y(b)) + prior() / count));
  }
  /// Result of infer() for the current networks.
  Tensor mixture() const {
    const NoGrad off;
    const auto at = [&](const Tensor& x) { return cast(functions(x), f64); };
    const Tensor f = at(data.test.x), own = cast(exp(-log_gamma(theta)), f64),
                 errors = mean(square(at(data.dev.x) - cast(data.dev.y, f64)), 1, keep_dims);
    return stack({f, expand(own, f.shape()), expand(errors, f.shape())}, 1);
  }
  /// Runs Adam with a cosine schedule to rate 0; gradient() computes the gradients.
  Tensor optimize(std::int64_t updates, double rate, const std::function<void()>& gradient) {
    Adam adam({theta}, {.lr = rate});
    adam.set_schedule(schedule::cosine({.steps = updates}));
    for (std::int64_t step = 0; step < updates; ++step) {
      adam.zero_grad();
      gradient();
      adam.step();
    }
    return mixture();
  }
};

namespace {

/// Exact Gaussian-process predictions of noisy test targets, in the format of infer().
Tensor exact(Networks& n, double) {
  const auto& [train, dev, test, center, scale] = n.data;
  const Tensor x = concat({train.x, dev.x, test.x}, 0), y = concat({train.y, dev.y}, 0);
  const auto [kernel, noise] = scaled_kernel(x, y, n.method == "linear");
  const Slice known{.stop = y.size(0)}, asked{.start = y.size(0)};
  const GaussianProcess process(block(kernel, known, known), cast(y, f64), {.noise = noise});
  const GpPrediction f = process.predict(block(kernel, asked, known), block(kernel, asked, asked));
  const Tensor variance = f.variance() + noise;
  return unsqueeze(stack({flatten(f.mean), variance, variance}, 0), 0);
}

Tensor ensemble(Networks& n, double rate) {
  return n.optimize(n.steps, rate, [&] { n.backward_of_batch(); });
}

/// Trains the networks as particles of a method that modifies their gradients.
template <class Particle, class Options>
Tensor particles(Networks& n, double rate) {
  Options options{.target = {.count = n.count}};
  if (n.method == "svgd_auto") options.alpha = automatic;
  Particle method(particles_of_rows(n.theta), options);
  return n.optimize(n.steps, rate, [&] {
    n.backward_of_batch();
    method.apply();
  });
}

/// Randomized priors (Osband, Aslanides and Cassirer 2018): each network is pulled to its own draw
/// from the prior, and fits targets to which its own noise was added, at its current precision γ.
/// The precision is learned from the original targets; the added noise would bias it.
Tensor randomized_prior(Networks& n, double rate) {
  Generator draws = n.rng.split(2), noise = n.rng.split(3);
  const Tensor anchor = normal(z(n.theta).shape(), draws);
  const Tensor unit = normal({Networks::members, n.data.train.y.size(0)}, noise);
  return n.optimize(n.steps, rate, [&] {
    const Tensor b = n.batch(), now = n.theta.detach(), f = n.functions(n.x(b));
    const Tensor noisy = n.y(b) + exp(-0.5 * log_gamma(now)) * index_select(unit, 1, b);
    const Tensor pull = 0.5 * sum(square(z(n.theta) - anchor), 1);
    backward(sum(misfit(now, f, noisy) + misfit(n.theta, f.detach(), n.y(b)) +
                 (pull + hyper_priors(n.theta)) / n.count));
  });
}

/// SVGD whose particles are the networks' outputs on the batch (Wang, Ren, Zhu and Zhang 2019). The
/// prior is the Gaussian process of the infinitely wide network, with the amplitude that
/// leave-one-out chooses.
Tensor function_svgd(Networks& n, double rate) {
  const Tensor kernel = scaled_kernel(n.data.train.x, n.data.train.y, false).first;
  Svgd svgd({.target = {.count = n.count}});
  return n.optimize(n.steps, rate, [&] {
    const Tensor b = n.batch(), f = n.functions(n.x(b));
    const HookHandle hook = svgd.act_on(f, 0, "functions");
    const Tensor own = index_select(index_select(kernel, 0, b), 1, b);
    const Tensor prior =
        log_marginal_likelihood(own, cast(transpose(f), f64), scalar(0, f64), 1e-3);
    backward(sum(misfit(n.theta, f, n.y(b)) + hyper_priors(n.theta) / n.count) -
             cast(prior, f32) / n.count);
  });
}

/// Runs one chain per network, and keeps about ten draws of each from its second half.
Tensor sample(Networks& n, Optimizer& sampler, ParticleMethod* drift = nullptr) {
  const std::int64_t steps = n.steps / 2, every = std::max<std::int64_t>(1, steps / 20);
  std::vector<Tensor> draws;
  for (std::int64_t step = 0; step < steps; ++step) {
    sampler.zero_grad();
    n.backward_of_batch();
    if (drift) drift->apply();
    sampler.step();
    if (step >= steps / 2 && (steps - 1 - step) % every == 0) draws.push_back(n.mixture());
  }
  return concat(draws, 0);
}

/// Trains by Adam for half of the steps. Returns the learning rate for a sampler that continues
/// from there: `rate` divided by the mean of γ.
double sampler_rate(Networks& n, double rate) {
  n.optimize(n.steps / 2, 0.03, [&] { n.backward_of_batch(); });
  return rate / mean(exp(log_gamma(n.theta.detach()))).item();
}

template <class Sampler, class Options>
Tensor chains(Networks& n, double rate) {
  const Options options{.lr = sampler_rate(n, rate), .target = {.count = n.count}};
  Sampler sampler({n.theta}, options, n.rng.split(4));
  return sample(n, sampler);
}

Tensor spos(Networks& n, double rate) {
  Sgd sgd({n.theta}, {.lr = sampler_rate(n, rate)});
  const SposOptions options{.svgd = {.target = {.count = n.count}}, .diffusion = 1};
  Spos drift(particles_of_rows(n.theta), options, n.rng.split(4));
  return sample(n, sgd, &drift);
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<double> none = {0}, adam = {0.01, 0.03, 0.1}, steps = {0.01, 0.1, 1};
  static const std::vector<Method> all = {
      {"linear", none, exact},
      {"gp", none, exact},
      {"svgd", adam, particles<Svgd, SvgdOptions>},
      {"svgd_weights", {0.003, 0.01, 0.03}, particles<Svgd, SvgdOptions>},
      {"svgd_auto", adam, particles<Svgd, SvgdOptions>},
      {"wgd", adam, particles<Wgd, WgdOptions>},
      {"function_svgd", adam, function_svgd},
      {"ensemble", adam, ensemble},
      {"randomized_prior", adam, randomized_prior},
      {"sgld", steps, chains<Sgld, SgldOptions>},
      {"sghmc", steps, chains<Sghmc, SghmcOptions>},
      {"spos", steps, spos}};
  return all;
}

Tensor infer(const Method& method, const Problem& data, const Settings& s, double rate,
             const Generator& rng) try {
  Networks networks{data, s.steps, method.name, rng};
  return method.run(networks, rate);
} catch (const Error& error) {
  // Optimizers and particle methods throw for gradients that are not finite: the run diverged.
  if (std::string(error.what()).find("gradient") == std::string::npos) throw;
  return full({1, 3, data.test.y.size(0)}, INFINITY, f64);
}

}  // namespace ladon::example
