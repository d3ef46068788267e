#include "ladon/optim/posterior/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/particles/spos.h"
#include "ladon/optim/particles/svgd.h"
#include "ladon/optim/particles/wgd.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/samplers/collect.h"
#include "ladon/optim/samplers/hmc.h"
#include "ladon/optim/samplers/langevin.h"
#include "ladon/optim/samplers/sghmc.h"
#include "ladon/optim/schedule.h"
#include "ladon/optim/sgd.h"

namespace ladon {
namespace {

constexpr const char* operation = "compare_posterior";
constexpr std::int64_t more = 4;  // samplers run more·options.steps steps

/// State of a running method: its networks and settings.
struct Work {
  const RegressionTask& task;
  const CompareOptions& options;
  Generator rng;
  Tensor theta;                // weights of P networks, [P, D], a leaf
  std::int64_t gradients = 0;  // number of gradient evaluations of single networks
  std::int64_t batch = 0;      // number of targets drawn at random for each gradient; 0 for all

  Work(const RegressionTask& of, const CompareOptions& with, Generator from)
      : task(of), options(with), rng(std::move(from)) {
    Generator start = rng.split(0);
    theta = parameter(normal({with.members, of.dim}, start, 0, 1, f64));
  }

  double count() const { return static_cast<double>(task.targets.size(0)); }
  /// Posterior from N items with mean loss misfit/N and prior N(0, 1).
  TargetDensity target() const { return {.count = count(), .prior_precision = 1}; }
  Particles particles() const { return particles_of_rows(theta, "networks"); }
  Tensor functions() const { return test_functions(task, theta.detach()); }
  Tensor at_training_inputs() const { return task.functions(theta, task.targets.size(0)); }
  /// Computes gradients of the sum of the networks' mean losses.
  void backward_of(const Tensor& loss) {
    backward(sum(loss) / count());
    gradients += options.members;
  }
  void backward_of_misfit() {
    const Tensor f = at_training_inputs();
    if (batch == 0) return backward_of(misfit(task, f));
    const Tensor chosen = slice(permutation(task.targets.size(0), rng), 0, {.stop = batch});
    RegressionTask part = task;
    part.targets = index_select(task.targets, 0, chosen);
    backward_of(count() / static_cast<double>(batch) * misfit(part, index_select(f, 1, chosen)));
  }
  PosteriorRun end() const { return {functions(), gradients}; }
};

/// Runs Adam for options.steps steps with a learning rate that decays to 0; gradient() computes the
/// gradients.
PosteriorRun optimize(Work work, const std::function<void(Work&)>& gradient) {
  Adam adam({work.theta}, {.lr = work.options.lr});
  const Schedule rate = schedule::cosine({.steps = work.options.steps});
  for (std::int64_t step = 0; step < work.options.steps; ++step) {
    adam.zero_grad();
    gradient(work);
    adam.set_lr(work.options.lr * rate(step));
    adam.step();
  }
  return work.end();
}

/// Optimizes the networks as particles of a method whose target includes prior and likelihood.
template <class Method, class Options>
PosteriorRun move_particles(Work work, Options options) {
  options.target = work.target();
  Method method(work.particles(), options);
  return optimize(std::move(work), [&](Work& w) {
    w.backward_of_misfit();
    method.apply();
  });
}

/// Optimizes each network p for the targets targets[p] (targets [P, N], or [1, N] for all), with
/// the prior centred at the weights `anchor` [P, D].
PosteriorRun modes(Work work, const Tensor& anchor, const Tensor& targets) {
  return optimize(std::move(work), [&](Work& w) {
    w.backward_of(misfit(w.task, w.at_training_inputs(), targets) +
                  0.5 * sum(square(w.theta - anchor), 1));
  });
}

PosteriorRun ensemble(Work work) {
  const Tensor nowhere = zeros(work.theta.shape(), f64), y = unsqueeze(work.task.targets, 0);
  return modes(std::move(work), nowhere, y);
}

PosteriorRun randomized_prior(Work work) {
  Generator noise = work.rng.split(1);
  const Tensor start = clone(work.theta.detach());
  const Tensor y = work.task.targets + normal({work.options.members, work.task.targets.size(0)},
                                              noise, 0, std::sqrt(work.task.noise), f64);
  return modes(std::move(work), start, y);
}

// SVGD between functions at all inputs, with a Gaussian-process prior.
PosteriorRun function_svgd(Work work) {
  const Tensor& kernel = work.options.prior_kernel;
  constexpr double jitter = 1e-4;
  LADON_CHECK(kernel.defined(), operation,
              "function_svgd needs options.prior_kernel, the prior covariance [N + M, N + M] of "
              "functions");
  Svgd svgd({.target = {.count = work.count()}});
  return optimize(std::move(work), [&](Work& w) {
    const Tensor f = w.task.functions(w.theta, w.task.inputs);
    svgd.act_on(f, 0, "functions");
    const Tensor prior = log_marginal_likelihood(kernel, transpose(f), scalar(0, f64), jitter);
    w.backward_of(sum(misfit(w.task, f)) - prior);
  });
}

/// Step size ε of Langevin dynamics on U (target.h). ε = ε_L²/2 for the leapfrog step ε_L at which
/// HMC with one step per draw accepts with probability 0.9, so that Langevin dynamics has little
/// bias. Also moves the networks to a draw of that HMC run.
double langevin_step(Work& work) {
  const std::int64_t warmup = std::max<std::int64_t>(50, work.options.steps / 4);
  Generator rng = work.rng.split(2);
  const Chains chains = hmc(
      log_posterior(work.task), work.theta.detach(),
      {.draws = 1, .warmup = warmup, .steps = 1, .target_accept = 0.9, .adapt_mass = false}, rng);
  work.gradients += chains.gradients;
  copy_(work.theta.detach(), select(chains.draws, 1, 0));
  return 0.5 * chains.step * chains.step;
}

/// Runs one chain per network; keeps thinned draws from the second half of the steps.
PosteriorRun sample(Work work, Optimizer& sampler, ParticleMethod* drift = nullptr) {
  const std::int64_t steps = more * work.options.steps, kept = 50;
  Collect draws({.after = steps / 2, .every = std::max<std::int64_t>(1, steps / 2 / kept)});
  for (std::int64_t step = 0; step < steps; ++step) {
    sampler.zero_grad();
    work.backward_of_misfit();
    if (drift) drift->apply();
    sampler.step();
    if (draws.due(step)) draws.add(work.functions());
  }
  return {flatten(draws.draws(), 0, 1), work.gradients};
}

PosteriorRun sgld(Work work) {
  const double rate = langevin_step(work) * work.count();
  Sgld sampler({work.theta}, {.lr = rate, .target = work.target()}, work.rng.split(3));
  return sample(std::move(work), sampler);
}

/// sgld() with a quarter of the targets in each gradient, and the step size of exact gradients.
PosteriorRun sgld_minibatch(Work work) {
  work.batch = std::max<std::int64_t>(1, work.task.targets.size(0) / 4);
  return sgld(std::move(work));
}

// Uses the learning rate r of sgld(). With friction a, a step then moves θ in the long run as far
// as an sgld step of learning rate r/a would, so the chain explores faster by the factor 1/a.
PosteriorRun sghmc(Work work) {
  constexpr double friction = 0.1;
  const double rate = langevin_step(work) * work.count();
  Sghmc sampler({work.theta}, {.lr = rate, .friction = friction, .target = work.target()},
                work.rng.split(3));
  return sample(std::move(work), sampler);
}

PosteriorRun spos(Work work) {
  const double rate = langevin_step(work) * work.count();
  Spos drift(work.particles(), {.svgd = {.target = work.target()}, .diffusion = 1},
             work.rng.split(3));
  Sgd sgd({work.theta}, {.lr = rate});
  return sample(std::move(work), sgd, &drift);
}

PosteriorRun hmc_chains(Work work) {
  constexpr std::int64_t leapfrog = 15;
  const std::int64_t draws = std::max<std::int64_t>(4, more * work.options.steps / 2 / leapfrog);
  Generator rng = work.rng.split(2);
  const Chains chains = hmc(log_posterior(work.task), work.theta.detach(),
                            {.draws = draws, .warmup = draws, .steps = leapfrog}, rng);
  const NoGrad off;
  std::vector<Tensor> functions;
  for (std::int64_t s = 0; s < draws; ++s)
    functions.push_back(test_functions(work.task, contiguous(select(chains.draws, 1, s))));
  return {concat(functions, 0), chains.gradients};
}

using Method = std::function<PosteriorRun(Work work)>;

/// All methods, in the order of the table in compare.h.
const std::vector<std::pair<std::string, Method>>& all_methods() {
  static const std::vector<std::pair<std::string, Method>> methods = {
      {"hmc", hmc_chains},
      {"sgld", sgld},
      {"sghmc", sghmc},
      {"spos", spos},
      {"svgd", [](Work w) { return move_particles<Svgd>(std::move(w), SvgdOptions{}); }},
      {"svgd_auto",
       [](Work w) { return move_particles<Svgd>(std::move(w), SvgdOptions{.alpha = automatic}); }},
      {"wgd", [](Work w) { return move_particles<Wgd>(std::move(w), WgdOptions{}); }},
      {"function_svgd", function_svgd},
      {"ensemble", ensemble},
      {"randomized_prior", randomized_prior},
      {"prior", [](Work w) { return w.end(); }},
      {"sgld_minibatch", sgld_minibatch}};
  return methods;
}

}  // namespace

std::vector<std::string> posterior_methods() {
  std::vector<std::string> names;
  for (const auto& [name, method] : all_methods()) names.push_back(name);
  return names;
}

PosteriorRun run_posterior_method(const std::string& method, const RegressionTask& task,
                                  const CompareOptions& options, Generator& rng) {
  LADON_CHECK(task.functions && task.dim >= 1, operation,
              "the task has no functions, or its dim is less than 1; set both, or use "
              "wide_heads_task() or network_task()");
  LADON_CHECK(options.members >= 2, operation, "needs at least two members, got ", options.members);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / more;
  LADON_CHECK(options.steps >= 1 && options.steps <= most, operation, "steps must be from 1 to ",
              most, ", got ", options.steps);
  const auto& methods = all_methods();
  for (std::size_t i = 0; i < methods.size(); ++i)
    if (methods[i].first == method)
      return methods[i].second(Work(task, options, rng.split(rng.reserve(1)).split(i)));
  std::string names;
  for (const auto& [name, run] : methods) names += (names.empty() ? "" : ", ") + name;
  detail::fail(operation, "unknown method `", method, "`; the methods are ", names);
}

std::vector<PosteriorRow> compare_posterior(const RegressionTask& task, const Belief& truth,
                                            const std::vector<std::string>& methods,
                                            const CompareOptions& options, Generator& rng) {
  const Generator source = rng.split(rng.reserve(1));
  std::vector<PosteriorRow> rows;
  for (const std::string& method : methods) {
    Generator own = source.split(0);  // equal for all methods; run_posterior_method splits it again
    const PosteriorRun run = run_posterior_method(method, task, options, own);
    rows.push_back(
        {method, score_belief(belief_of_draws(run.functions), truth, task.noise), run.gradients});
    if (options.progress) options.progress(method);
  }
  return rows;
}

}  // namespace ladon
