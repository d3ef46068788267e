// Random calls of optimizers, clipping, schedules, and particle methods.

#include <algorithm>
#include <cmath>

#include "ladon/layers/layers.h"
#include "ladon/optim/extra/extra.h"
#include "ladon/optim/optim.h"
#include "ladon/tests/support.h"
#include "table.h"

namespace ladon::test {
namespace {

/// A positive number as rates are, mostly.
double rate(Draw& d) { return d.chance(0.1) ? d.number() : d.say(0.0625); }

/// Leaves with or without gradients; some are not fit to be parameters.
Tensors parameters(Draw& d) {
  Tensors list;
  for (std::int64_t n = d.below(4); n > 0; --n) {
    Tensor x = d.chance(0.9) ? empty(d.small_shape(), d.floating_dtype()) : d.tensor();
    if (d.chance(0.95) && x.defined() && !x.requires_grad()) {
      fill_(x, d.number());
      x.set_requires_grad();
    }
    if (d.chance(0.8) && x.requires_grad()) x.set_grad(d.near(x.shape()).detach());
    list.push_back(x);
  }
  return list;
}

/// Any schedule, often one with bad settings.
Schedule any_schedule(Draw& d) {
  switch (d.say(d.below(6))) {
    case 0:
      return schedule::step_decay(d.around(1, 9), d.fraction());
    case 1:
      return schedule::milestones({d.around(0, 9), d.around(9, 99)}, d.fraction());
    case 2:
      return schedule::exponential(d.fraction());
    case 3:
      return schedule::one_cycle(
          {.steps = d.around(1, 99), .rise = d.fraction(), .start = d.fraction()});
    case 4:
      return schedule::sequence({{any_schedule(d), d.around(0, 9)}, {any_schedule(d), 1}});
  }
  return schedule::product({any_schedule(d), d.chance(0.05) ? Schedule() : any_schedule(d)});
}

void use(Draw& d, Optimizer& optimizer) {
  if (d.chance(0.2)) optimizer.set_schedule(any_schedule(d));
  optimizer.step();
  if (d.chance(0.3)) optimizer.set_lr(d.number());
  if (d.chance(0.3)) optimizer.step();
  if (d.chance(0.3)) optimizer.load_state_dict(optimizer.state_dict());
  optimizer.zero_grad();
}

void add_optimizers(CallTable& table) {
  table.add("Sgd", [](Draw& d) {
    SgdOptions options{.lr = rate(d)};
    if (d.chance(0.5)) options.momentum = d.fraction();
    options.nesterov = d.chance(0.2);
    if (d.chance(0.3)) options.weight_decay = d.fraction();
    Sgd sgd(parameters(d), options);
    use(d, sgd);
  });
  table.add("Adam", [](Draw& d) {
    const Tensors list = parameters(d);
    Adam adam(list,
              {.lr = rate(d), .beta1 = d.fraction(), .beta2 = d.fraction(), .amsgrad = d.flag()});
    use(d, adam);
  });
  table.add("Rmsprop", [](Draw& d) {
    const Tensors list = parameters(d);
    RmspropOptions options{.lr = rate(d), .decay = d.fraction(), .eps = d.fraction()};
    if (d.chance(0.5)) options.momentum = d.fraction();
    options.centered = d.flag();
    Rmsprop rmsprop(list, options);
    use(d, rmsprop);
  });
  table.add("Adagrad", [](Draw& d) {
    const Tensors list = parameters(d);
    Adagrad adagrad(list, {.lr = rate(d), .lr_decay = d.fraction(), .initial = d.fraction()});
    use(d, adagrad);
  });
  table.add("Lion", [](Draw& d) {
    const Tensors list = parameters(d);
    Lion lion(list, {.lr = rate(d), .beta1 = d.fraction(), .weight_decay = d.fraction()});
    use(d, lion);
  });
  table.add("Lbfgs", [](Draw& d) {
    const Tensors list = parameters(d);
    LbfgsOptions options{.lr = rate(d), .iterations = 1 + d.below(4), .history = d.around(1, 3)};
    options.line_search = d.flag();
    if (d.chance(options.line_search ? 1 : 0.1))
      options.wolfe = {.curvature = d.fraction(), .evaluations = d.below(9)};
    Lbfgs lbfgs(list, options);
    const double a = d.number(), b = d.number();
    const auto loss = [&] {
      Tensor total = scalar(0, f64);
      for (const Tensor& x : list) total = total + sum(a * square(cast(x, f64) - b) + exp(x));
      return total;
    };
    const double first = lbfgs.step(loss);
    lbfgs.load_state_dict(lbfgs.state_dict());
    return d.chance(0.3) ? lbfgs.step(loss) : first;
  });
  table.add("strong_wolfe", [](Draw& d) {
    const double a = d.number(), b = d.number(), slope = d.chance(0.9) ? -1 : d.number();
    const LineFunction phi = [=](double t) {
      return LinePoint{t, slope * t + a * t * t + b * std::sin(t), slope + 2 * a * t};
    };
    const WolfeOptions options{.decrease = d.fraction(), .curvature = d.fraction()};
    return strong_wolfe(phi, {0, 0, slope}, rate(d), options).t;
  });
  table.add("schedules", [](Draw& d) {
    const Schedule factor = any_schedule(d);
    return factor(d.around(0, 99));
  });
  table.add("decay_except", [](Draw& d) {
    Generator rng(d.seed());
    Linear model({.in = 1 + d.below(3), .out = 1 + d.below(3), .bias = d.flag()}, rng);
    const bool by_default = d.flag();
    const auto groups =
        by_default
            ? decay_except(model)
            : decay_except(
                  model, d.chance(0.1) ? ParameterChoice() : [&](auto&&...) { return d.flag(); });
    Tensors list;
    for (const ParameterGroup& group : groups)
      for (const auto& [name, x] : group.parameters) list.push_back(x);
    return list;
  });
  table.add("AdamW", [](Draw& d) {
    const Tensors list = parameters(d);
    AdamW adam(list, {.lr = rate(d), .eps = d.fraction(), .weight_decay = d.fraction()});
    use(d, adam);
  });
  table.add("clip_grad_norm", [](Draw& d) {
    const Tensors list = parameters(d);
    const double most = d.number();
    return clip_grad_norm(list, most, {.error_if_nonfinite = d.flag()});
  });
  table.add("clip_grad_value", [](Draw& d) {
    const Tensors list = parameters(d);
    clip_grad_value(list, d.number());
  });
  table.add("schedule", [](Draw& d) {
    const schedule::DecayOptions options{
        .steps = d.around(1, 9), .warmup = d.around(0, 2), .floor = d.fraction()};
    const Schedule s = d.flag() ? schedule::cosine(options) : schedule::linear_decay(options);
    const Schedule warmup = schedule::linear_warmup(d.around(0, 9));
    const Schedule root = schedule::inverse_sqrt(d.around(1, 9));
    const std::int64_t step = d.around(0, 99);
    return s(step) + warmup(step) + root(step);
  });
  table.add("schedule::cyclical", [](Draw& d) {
    const schedule::CyclicalOptions options{.steps = d.around(1, 9), .cycles = d.around(1, 3)};
    const std::int64_t step = d.around(0, 99);
    return schedule::cyclical(options)(step) + schedule::cycle_fraction(options)(step);
  });
}

void add_training(CallTable& table) {
  table.add("WeightAverage", [](Draw& d) {
    Generator rng(d.seed());
    Linear model({.in = 2, .out = 1 + d.below(3)}, rng),
        other({.in = 2, .out = 1 + d.below(3)}, rng);
    WeightAverage average(model, {.decay = d.fraction()});
    for (std::int64_t n = d.below(3); n > 0; --n) average.update();
    average.load_state_dict(average.state_dict());
    Tensors list = other.parameters();
    {
      const WeightAverage::Scope scope = average.apply();
      list.push_back(clone(model.weight.detach()));
    }
    average.copy_to(other);
    return list;
  });
  const auto training_run = [](Draw& d) {
    TemporaryFolder folder;
    Generator rng(d.seed());
    Sequential model(Linear({.in = 2, .out = 1 + d.below(3)}, rng), Dropout(0.5, rng));
    double number = d.number();
    std::int64_t integer = d.integer();
    Tensor x = d.tensor();
    TrainingRun run, other;
    run.add("model", model);
    run.add(d.chance(0.9) ? "number" : "model", number);
    run.add("integer", integer);
    run.add("rng", rng);
    if (d.flag()) run.add("x", x);
    run.save(folder / "run");
    if (d.chance(0.1)) other.add("integer", integer);
    (d.chance(0.8) ? run : other).load(folder / "run");
    return model.parameters();
  };
  table.add("TrainingRun", training_run, 0.05);  // each waits for the disk
}

/// A target, often one that is none.
TargetDensity target(Draw& d) {
  TargetDensity target{.count = d.chance(0.2) ? d.number() : d.say(20)};
  if (d.chance(0.3)) target.prior_precision = d.number();
  if (d.chance(0.2)) target.temperature = d.number();
  return target;
}

void use_sampler(Draw& d, Sampler& sampler) {
  if (d.chance(0.3)) sampler.set_temperature(d.number());
  use(d, sampler);
}

void add_samplers(CallTable& table) {
  table.add("Sgld", [](Draw& d) {
    const Tensors list = parameters(d);
    const double lr = rate(d);
    const TargetDensity posterior = target(d);
    Sgld sgld(list, {.lr = lr, .target = posterior}, Generator(d.seed()));
    use_sampler(d, sgld);
  });
  table.add("Psgld", [](Draw& d) {
    const Tensors list = parameters(d);
    PsgldOptions options{.lr = rate(d), .beta = d.fraction(), .eps = d.fraction()};
    options.target = target(d);
    Psgld psgld(list, options, Generator(d.seed()));
    use_sampler(d, psgld);
  });
  table.add("Sghmc", [](Draw& d) {
    const Tensors list = parameters(d);
    SghmcOptions options{.lr = rate(d), .friction = d.fraction()};
    options.target = target(d);
    Sghmc sghmc(list, options, Generator(d.seed()));
    use_sampler(d, sghmc);
  });
  table.add("Sgnht", [](Draw& d) {
    const Tensors list = parameters(d);
    SgnhtOptions options{.lr = rate(d), .friction = d.fraction(), .response = d.fraction()};
    options.target = target(d);
    Sgnht sgnht(list, options, Generator(d.seed()));
    use_sampler(d, sgnht);
  });
  table.add("Collect", [](Draw& d) {
    Collect kept({.after = d.around(0, 3), .every = d.around(1, 3), .most = d.around(0, 4)});
    const Tensor draw = d.tensor();
    for (std::int64_t step = d.say(d.below(9)), end = step + 9; step < end; ++step)
      if (kept.due(step)) kept.add(d.chance(0.02) ? d.tensor() : draw);
    kept.load_state_dict(kept.state_dict());
    return kept.draws();
  });
}

/// A kernel, or the k and R of one that a user gives as matrices.
SteinKernel kernel(Draw& d) {
  const auto rule = static_cast<Bandwidth>(d.say(d.below(5)));
  BandwidthOptions options{.bandwidth = rule};
  if (d.chance(rule == Bandwidth::fixed ? 0.8 : 0.1)) options.h2 = d.number();
  switch (d.say(d.below(6))) {
    case 0:
      return rbf(options);
    case 1:
      return imq(options);
    case 2:
      return linear_kernel();
    case 3:
      return matern(0.5 + double(d.below(4)), options);
    case 4: {
      const double power = d.number();
      return radial("power", options, [=](const Tensor& t) { return pow(1 + t, power); });
    }
  }
  const Tensor k = d.near({d.below(5), d.below(5)}), r = d.near({d.below(5), d.below(4)});
  return {"matrices", [=](const Tensor&) { return of_matrix(k, [=] { return r; }); }};
}

/// Applies a method to rows, and diffuses.
template <class Make>
void move(Draw& d, const Make& make) {
  Tensor rows = empty({d.below(5), d.below(4)}, d.floating_dtype());
  copy_(rows, d.floating(rows.shape()).detach());
  rows.set_requires_grad();
  if (d.chance(0.9)) rows.set_grad(cast(d.floating(rows.shape()).detach(), rows.dtype()));
  auto method = make(particles_of_rows(rows));
  method.apply();
  if (d.chance(0.2)) method.apply();
  method.diffuse(rate(d));
  for (const BlockReport& block : method.report()) d.say(block.count);
}

/// Particles [M, D].
Tensor rows(Draw& d) { return d.near({d.below(5), d.below(4)}); }

void add_particles(CallTable& table) {
  table.add("Svgd", [](Draw& d) {
    SvgdOptions options{.kernel = kernel(d), .smoothing = d.flag()};
    if (d.chance(0.3)) options.alpha = d.number();
    if (d.chance(0.3)) options.target = {.count = d.number(), .temperature = d.number()};
    move(d, [&](Particles p) { return Svgd(std::move(p), options); });
  });
  table.add("Spos", [](Draw& d) {
    SposOptions options{.svgd = {.kernel = kernel(d)}, .diffusion = d.fraction()};
    const Generator rng(d.seed());
    move(d, [&](Particles p) { return Spos(std::move(p), options, rng); });
  });
  table.add("Wgd", [](Draw& d) {
    const WgdOptions options{.kernel = kernel(d), .alpha = d.fraction()};
    move(d, [&](Particles p) { return Wgd(std::move(p), options); });
  });
  table.add("particles", [](Draw& d) {
    Generator rng(d.seed());
    MultiHeadAttention layer({.dim = 4, .heads = 1 + d.below(4), .head_dim = 2}, rng);
    const Particles rows =
        particles(layer, {.space = d.flag() ? HeadSpace::joint : HeadSpace::separate});
    return Tensors{rows[0].values(), rows[0].gradients(), cosine_penalty(rows).detach()};
  });
  table.add("ParticleBlock", [](Draw& d) {
    const bool plain = d.chance(0.3);
    const auto some = [&] {
      return plain ? Tensors{parameter(full({2, 3}, d.number()))} : parameters(d);
    };
    const Tensors list = some();
    std::vector<ParameterSet> rows(1, list);
    rows.push_back(some());
    const auto block = d.flag() ? ParticleBlock::stacked("block", ParameterSet(list))
                                : ParticleBlock::gathered("block", rows);
    const Shape shape{block.count(), block.dim()};
    const bool fitting = d.flag();  // else too few of 100,000 calls give a result
    block.set_gradients(fitting ? ones(shape) : d.near(shape));
    block.add_to_values(fitting ? ones(shape) : d.near(shape));
    return Tensors{block.values(), block.recorded_values().detach(), block.gradients()};
  });
  table.add("cosine_penalty", [](Draw& d) { return cosine_penalty(rows(d)); });
  table.add("pairwise_distance", [](Draw& d) { return pairwise_distance(rows(d)).mean; });
  table.add("pairwise_cosine", [](Draw& d) { return pairwise_cosine(rows(d)).mean; });
  table.add("map_redundancy", [](Draw& d) {
    const Shape shape{d.below(3), d.below(4), d.below(4), d.below(4)};
    const Tensor maps = d.near(shape);
    return map_redundancy(maps, d.flag() ? d.mask({shape[0], shape[2]}) : Tensor());
  });
  table.add("bandwidth", [](Draw& d) {
    const auto rule = static_cast<Bandwidth>(d.say(d.below(5)));
    const std::int64_t n = d.below(4);
    const Tensor distances = d.near({n, n});
    return bandwidth(rule, distances, d.number());
  });
}

}  // namespace

void add_optim_calls(CallTable& table) {
  add_optimizers(table);
  add_training(table);
  add_samplers(table);
  add_particles(table);
}

}  // namespace ladon::test
