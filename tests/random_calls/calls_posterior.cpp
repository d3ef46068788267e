// Random calls of exact posteriors of heads, and of the methods compared with them.

#include <algorithm>
#include <memory>

#include "ladon/autograd/graph.h"
#include "ladon/layers/attention/wide_heads.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/extra/extra.h"
#include "ladon/optim/optim.h"
#include "ladon/optim/posterior/compare.h"
#include "ladon/optim/posterior/path_relevance.h"
#include "ladon/optim/posterior/relevance.h"
#include "table.h"

namespace ladon::test {
namespace {

WideHeadsOptions heads(Draw& d) {
  return {.dim = d.around(1, 3),
          .heads = d.around(1, 3),
          .out = d.chance(0.8) ? 1 : d.around(0, 2),
          .weighting = static_cast<Weighting>(d.say(d.below(4))),
          .query_key_std = d.fraction(),
          .value_output_std = d.chance(0.9) ? 1 : d.number()};
}

/// For tensors that go with options, and work that would be right but endless.
std::int64_t moderate(std::int64_t n) { return std::clamp<std::int64_t>(n, -1, 5); }
std::int64_t size_of(std::int64_t n) { return std::clamp<std::int64_t>(n, 0, 5); }

void add_wide_heads(CallTable& table) {
  table.add("wide_heads", [](Draw& d) {
    const WideHeadsOptions o = heads(d);
    const std::int64_t dim = size_of(o.dim), h = size_of(o.heads), p = d.below(3);
    const Tensor x = d.near({d.below(4), d.below(4), dim});
    const Tensor mask = d.chance(0.3) ? d.mask({3, 3}) : Tensor();
    return wide_heads(x, d.near({p, h, dim, dim}), d.near({p, h, dim, size_of(o.out)}), o, mask);
  });
  table.add("WideHeads", [](Draw& d) {
    Generator rng(d.seed());
    WideHeadsOptions o = heads(d);
    o.dim = moderate(o.dim);
    o.heads = moderate(o.heads);
    const WideHeads layer(o, rng);
    return layer(d.near({2, d.below(4), size_of(o.dim)}));
  });
}

/// A model that attends, and inputs.
struct Heads {
  std::unique_ptr<Layer> model;
  Tensor inputs;
  infinite::FiniteHeadsOptions options;
  explicit Heads(Draw& d) {
    Generator rng(d.seed());
    const MultiHeadAttention attention(
        {.dim = 2,
         .heads = 1,
         .bias = false,
         .form = {.weighting = static_cast<Weighting>(d.say(d.below(4)))},
         .prior = {.parameterization = Parameterization::ntk, .query_key_std = 2}},
        rng);
    if (d.chance(0.8))
      model = std::make_unique<Sequential>(attention, MeanPositions());
    else
      model = std::make_unique<Sequential>(attention);
    inputs = d.near({2 + d.below(3), 1 + d.below(3), 2}).detach();
    options = {.heads = 1 + d.below(3), .key_width = d.below(2), .value_width = d.below(2)};
  }
  infinite::LatentKernel kernel() const {
    return infinite::latent_kernel(infinite::finite_heads(*model, options), inputs);
  }
};

SmcOptions smc(Draw& d) {
  SmcOptions o{.particles = moderate(d.around(2, 6)),
               .sweeps = moderate(d.around(1, 2)),
               .recorded = d.say(d.below(3))};
  if (d.chance(0.2)) o.betas = {d.fraction(), d.fraction(), 1};
  if (d.chance(o.betas.empty() ? 0.1 : 0.01)) o.keep = d.number();
  if (d.chance(0.1)) o.parts = moderate(d.around(1, 2));
  return o;
}

/// Calm, steep, walled or wrong.
LogLikelihood likelihood(Draw& d) {
  const double a = d.chance(0.7) ? 1 : d.number();
  switch (d.say(d.below(5))) {
    case 0:
      return [=](const Tensor& z) { return sum(log(a - square(z)), 1); };
    case 1:
      return [=](const Tensor& z) { return full({z.size(0)}, a, f64); };
    case 2: {
      const Tensor y = d.near({3});
      return [=](const Tensor&) { return y; };
    }
  }
  return [=](const Tensor& z) { return -a * sum(square(z - 1), 1); };
}

void add_truths(CallTable& table) {
  table.add("elliptical_slice", [](Draw& d) {
    EllipticalState state{d.near({d.below(4), d.below(4)}).detach(), {}};
    state.log_likelihood = d.near({state.z.defined() ? state.z.size(0) : 1}).detach();
    elliptical_slice(state, likelihood(d), d.fraction(), d.say(d.below(3)), d.around(1, 3),
                     Generator(d.seed()));
    return Tensors{state.z, state.log_likelihood};
  });
  table.add("elliptical_slice_chains", [](Draw& d) {
    Generator rng(d.seed());
    const EllipticalOptions o{.draws = moderate(d.around(1, 4)),
                              .warmup = moderate(d.around(0, 4)),
                              .thin = moderate(d.around(1, 2)),
                              .parts = d.around(1, 2)};
    const LogLikelihood f = likelihood(d);
    const Chains chains =
        elliptical_slice_chains(f, d.near({d.below(3), d.below(3)}).detach(), o, rng);
    return Tensors{chains.draws, chains.log_density};
  });
  table.add("tempered_smc", [](Draw& d) {
    Generator rng(d.seed());
    const SmcResult run = tempered_smc(moderate(d.around(1, 3)), likelihood(d), smc(d), rng);
    return Tensors{run.state.z, scalar(run.log_evidence, f64)};
  });
  table.add("latent_kernel", [](Draw& d) {
    const Heads h(d);
    const infinite::LatentKernel kernel = h.kernel();
    Generator rng(d.seed());
    return kernel.at(normal({d.below(3), kernel.dim}, rng, 0, 1, f64), d.say(d.below(3)));
  });
  table.add("latents_of_row", [](Draw& d) {
    const infinite::Latents like{{.logits = d.near({2, 2, 2}), .output = d.near({2, 3})}};
    return infinite::row_of_latents(infinite::latents_of_row(d.near({14}), like));
  });
  table.add("sample_posterior", [](Draw& d) {
    const Heads h(d);
    const infinite::LatentKernel kernel = h.kernel();
    const Tensor y = d.near(d.flag() ? Shape{1} : Shape{1, 2}).detach();
    Generator rng(d.seed());
    const double noise = d.fraction();
    const LatentPosterior p = sample_posterior(
        kernel, h.inputs.size(0), y,
        {.noise = noise, .smc = smc(d), .replicates = moderate(d.around(2, 3))}, rng);
    const Tensor f = draw_functions(kernel, h.inputs.size(0), y, noise, p.latents, rng);
    const Belief belief = belief_of(p);
    return Tensors{p.mean, p.variance(), f, scalar(score_belief(belief, belief, noise).w2, f64)};
  });
  table.add("relevance_saddle", [](Draw& d) {
    const Tensor a = cast(d.near({2, 3, 2}).detach(), f64), k = matmul(a, transpose(a));
    const std::int64_t width = d.around(1, 9);
    const Tensor r = relevance_saddle(k, d.near({2}).detach(), d.fraction(), width).scales;
    const infinite::LatentKernel kernel = relevance_kernel(k, moderate(width));
    return Tensors{r, kernel.at(zeros({2, kernel.dim}, f64), 2),
                   scales_of_latents(d.near({2, 4}).detach(), d.around(1, 2))};
  });
  table.add("path_saddle", [](Draw& d) {
    const Tensor a = cast(d.near({6, 4}).detach(), f64);  // two paths, three inputs
    const Tensor paths = transpose(reshape(matmul(a, transpose(a)), {2, 3, 2, 3}), 1, 2);
    const PathOptions options{
        .heads = {d.around(2, 2)}, .widths = {d.around(2, 9)}, .readout = d.around(1, 9)};
    const PathSaddle saddle = path_saddle(paths, d.near({3}).detach(), d.fraction(), options);
    return Tensors{saddle.order[0], head_scores(saddle, options, 0)};
  });
}

void add_comparisons(CallTable& table) {
  table.add("score_belief", [](Draw& d) {
    const Tensor draws = d.near({d.below(4), d.below(3)}).detach();
    const Belief a = belief_of_draws(draws), b = d.flag() ? belief_of_draws(draws + 1) : a;
    const BeliefScore s = score_belief(a, b, d.fraction());
    return scalar(s.w2 + s.coverage90 + s.log_density, f64);
  });
  table.add("run_posterior_method", [](Draw& d) {
    WideHeadsOptions o = heads(d);
    o.dim = moderate(o.dim);
    o.heads = moderate(o.heads);
    const Tensor x = d.near({3, 2, size_of(o.dim)}).detach();
    const RegressionTask task = wide_heads_task(o, x, d.near({2}).detach(), d.fraction());
    Generator rng(d.seed());
    CompareOptions options{.members = moderate(d.around(2, 3)), .steps = moderate(d.around(1, 3))};
    if (d.flag()) options.prior_kernel = d.chance(0.8) ? eye(3, f64) : d.floating().detach();
    return run_posterior_method(d.one_of(posterior_methods()), task, options, rng).functions;
  });
  table.add("network_task", [](Draw& d) {
    Generator rng(d.seed());
    Linear model(
        {.in = 2, .out = moderate(d.around(1, 2)), .parameterization = Parameterization::ntk}, rng);
    const RegressionTask task =
        network_task(model, d.near({3, 2}).detach(), d.near({2}).detach(), d.fraction());
    const Tensor f = task.functions(d.near({d.below(3), task.dim}), d.say(d.below(4)));
    return Tensors{f.detach(), misfit(task, f).detach()};  // the model is gone
  });
}

void add_particles(CallTable& table) {
  table.add("composed_kernels", [](Draw& d) {
    const Tensor theta = d.near({d.below(4), d.below(4)}).detach();
    const auto kernel = [&]() -> SteinKernel {
      switch (d.say(d.below(5))) {
        case 0:
          return per_block(rbf(), {d.around(1, 2)});
        case 1:
          return per_coordinate(imq());
        case 2:
          return preconditioned(rbf(), d.near({2, 2}).detach());
        case 3:
          return mixture({rbf(), linear_kernel()}, {d.number(), d.fraction()});
      }
      return hybrid(linear_kernel(), rbf());
    };
    const KernelAt at = kernel().at(cast(theta, f64));
    return Tensors{at.share(d.near(theta.shape()).detach()), at.repel()};
  });
  table.add("act_on", [](Draw& d) {
    Tensor w = d.near({d.below(4), 3}).detach();
    w.set_requires_grad();
    const Alpha alpha = d.flag() ? automatic : Alpha(d.fraction());
    Svgd svgd({.alpha = alpha, .target = {.count = d.number()}});
    const Tensor x = w * 2.0;
    svgd.act_on(x, d.small_int());
    backward(sum(square(x)));
    for (const BlockReport& block : svgd.report()) d.say(block.count);
    return w.grad();
  });
}

}  // namespace

void add_posterior_calls(CallTable& table) {
  add_wide_heads(table);
  add_truths(table);
  add_comparisons(table);
  add_particles(table);
}

}  // namespace ladon::test
