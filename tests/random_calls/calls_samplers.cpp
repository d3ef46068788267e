// Random calls of log densities, their samplers, and diagnostics of chains.

#include "ladon/layers/layers.h"
#include "ladon/optim/extra/extra.h"
#include "ladon/optim/optim.h"
#include "table.h"

namespace ladon::test {
namespace {

/// Normal, heavy, walled, flat; or scores that do not fit.
LogDensity density(Draw& d, std::int64_t dim) {
  const double a = d.chance(0.7) ? 1 : d.number();
  switch (d.say(d.below(8))) {
    case 0:
      return LogDensity(dim, [=](const Tensor& x) { return -a * sum(log(1 + square(x)), 1); });
    case 1:
      return LogDensity(dim, [=](const Tensor& x) { return a * sum(log(4 - square(x)), 1); });
    case 2:
      return LogDensity(dim, [=](const Tensor& x) { return sum(0 * x + a, 1); });
    case 3: {
      const Tensor value = d.near({2}), gradient = d.near({2, dim});
      return LogDensity::of_scores(dim, [=](const Tensor&) {
        return DensityScore{value, gradient};
      });
    }
  }
  return LogDensity(dim, [=](const Tensor& x) { return -a * sum(square(x), 1); });
}

template <class Options>
Options options(Draw& d) {
  Options o{.draws = d.around(1, 12), .warmup = d.say(d.below(30)), .thin = d.say(1 + d.below(3))};
  if (d.chance(0.1)) o.warmup = -1;
  if (d.chance(0.1)) o.thin = d.say(0);
  o.adapt_mass = d.flag();
  return o;
}

/// Rows that chains begin at.
Tensor start(Draw& d, std::int64_t dim) {
  return d.chance(0.5) ? zeros({1 + d.below(3), dim}) : d.near({1 + d.below(3), dim});
}

Tensors tensors_of(const Chains& chains) {
  return {chains.draws, chains.log_density, chains.inverse_mass};
}

void add_samplers(CallTable& table) {
  table.add("hmc", [](Draw& d) {
    const std::int64_t dim = 1 + d.below(3);
    auto o = options<HmcOptions>(d);
    o.steps = d.around(1, 4);
    if (d.chance(0.3)) o.step = d.number();
    if (d.chance(o.step > 0 ? 0.03 : 0.2)) o.target_accept = d.fraction();
    Generator rng(d.seed());
    return tensors_of(hmc(density(d, dim), start(d, dim), o, rng));
  });
  table.add("nuts", [](Draw& d) {
    const std::int64_t dim = 1 + d.below(3);
    auto o = options<NutsOptions>(d);
    o.max_depth = static_cast<int>(d.around(1, 4));
    if (d.chance(0.3)) o.step = d.number();
    if (d.chance(o.step > 0 ? 0.03 : 0.2)) o.target_accept = d.fraction();
    Generator rng(d.seed());
    return tensors_of(nuts(density(d, dim), start(d, dim), o, rng));
  });
  table.add("parallel_tempering", [](Draw& d) {
    const std::int64_t dim = 1 + d.below(3);
    auto o = options<TemperingOptions>(d);
    o.steps = d.around(1, 3);
    if (d.chance(0.2)) o.target_accept = d.fraction();
    if (d.chance(0.3)) o.betas = {1, d.fraction(), d.fraction()};
    if (o.betas.empty() || d.chance(0.1)) {
      o.levels = d.say(d.below(5));
      o.lowest = d.fraction();
    }
    Generator rng(d.seed());
    const LogDensity p = density(d, dim);
    const Tensor from = start(d, dim);
    return tensors_of((d.flag() ? parallel_tempering(density(d, dim), p, from, o, rng)
                                : parallel_tempering(p, from, o, rng))
                          .chains);
  });
}

/// [C, S, D] or [C, S].
Tensor draws(Draw& d) {
  const std::int64_t c = d.below(4), s = d.below(9);
  return d.flag() ? d.near({c, s}) : d.near({c, s, d.below(3)});
}
ChainScale scale(Draw& d) { return d.flag() ? ChainScale::ranks : ChainScale::values; }

void add_diagnostics(CallTable& table) {
  table.add("split_rhat", static_cast<Tensor (*)(const Tensor&, ChainScale)>(split_rhat), draws,
            scale);
  table.add("effective_sample_size",
            static_cast<Tensor (*)(const Tensor&, ChainScale)>(effective_sample_size), draws,
            scale);
  table.add("autocorrelation", autocorrelation, draws, size);
  table.add("chain_mean", [](Draw& d) {
    const Measured m = chain_mean(draws(d));
    return m.value + m.se;
  });
}

void add_densities(CallTable& table) {
  table.add("LogDensity", [](Draw& d) {
    const std::int64_t dim = d.below(4);
    const DensityScore score = density(d, dim).score(d.near({d.below(4), dim}));
    return Tensors{score.value, score.gradient};
  });
  table.add("log_posterior", [](Draw& d) {
    Generator rng(d.seed());
    Linear model({.in = 2, .out = 1}, rng);
    if (!d.chance(0.05)) model.eval();
    const Tensor x = d.near({3, 2}).detach();
    const TargetDensity target{.count = d.number(), .prior_precision = d.fraction()};
    const LogDensity p = log_posterior(
        model, [&] { return mean(square(model(x))); }, target);
    const DensityScore score = p.score(d.near({d.below(3), 3}));
    return Tensors{score.value, score.gradient, model.named_parameters().to_row()};
  });
  table.add("ParameterSet", [](Draw& d) {
    Generator rng(d.seed());
    Linear model({.in = 2, .out = 1}, rng);
    const ParameterSet set = d.flag() ? model : model.choose(d.flag() ? "w*" : "*[st]");
    if (d.flag()) set.freeze();
    set.assign_row(d.near({set.count()}));
    set.perturb(d.fraction(), rng);
    const Tensors pieces = set.pieces(d.near({2, set.count()}));
    return Tensors{set.to_row(), scalar(set.norm()), stack_parameters({set, set})[0], pieces[0]};
  });
}

}  // namespace

void add_sampler_calls(CallTable& table) {
  add_samplers(table);
  add_diagnostics(table);
  add_densities(table);
}

}  // namespace ladon::test
