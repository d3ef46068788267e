// Optimizers, samplers and particle methods (optim/). A row is one step; its results are the
// parameters after the step, or the forces of a particle method.

#include <memory>

#include "entries.h"
#include "ladon/autograd/leaf.h"
#include "ladon/autograd/ops.h"
#include "ladon/optim/extra/extra.h"
#include "ladon/optim/optim.h"

namespace ladon::bench::every {
namespace {

const Traits one_step{.gradient = false}, drawn_step{.gradient = false, .compared = -1};

/// One parameter and its gradient: the inputs of a step.
Tensors parameter_and_gradient(Draw& d) {
  return {parameter(d.normal(d.line())), d.normal(d.line())};
}

/// Of an optimizer Method(groups, options…).
template <class Method, class... Options>
void add_step(Table& t, const char* name, const Traits& traits, Options... options) {
  const auto sample = [=](Draw& d) -> Sample {
    Tensors inputs = parameter_and_gradient(d);
    inputs[0].set_grad(inputs[1]);
    const auto method = std::make_shared<Method>(ParameterGroups{inputs[0]}, options...);
    return {inputs, [method](const Tensors& x) -> Results {
              method->step();
              return x[0];
            }};
  };
  t.add_made(name, sample, traits);
}

void add_steps(Table& t) {
  add_step<Sgd>(t, "Sgd", one_step, SgdOptions{.lr = 1e-3});
  add_step<Sgd>(t, "Sgd, momentum", one_step, SgdOptions{.lr = 1e-3, .momentum = 0.9});
  add_step<Adam>(t, "Adam", one_step);
  add_step<AdamW>(t, "AdamW", one_step);
  add_step<Rmsprop>(t, "Rmsprop", one_step, RmspropOptions{.lr = 1e-3});
  add_step<Adagrad>(t, "Adagrad", one_step, AdagradOptions{.lr = 1e-3});
  add_step<Lion>(t, "Lion", one_step);
  const auto many = [](Draw& d) -> Sample {
    Tensors inputs;
    ParameterSet set;
    for (std::int64_t i = 0; i < d.of(4, 64, 1024); ++i) {
      Tensor p = parameter(d.normal({64}));
      p.set_grad(d.normal({64}));
      set.emplace_back(std::to_string(i), p);
      inputs.push_back(p);
    }
    const auto adam = std::make_shared<Adam>(set);
    return {inputs, [adam](const Tensors& x) -> Results {
              adam->step();
              return x[0];
            }};
  };
  t.add_made("Adam, many parameters of 64", many, one_step);
  // A valley: Σ i·x_i².
  const auto valley = [](Draw& d) -> Sample {
    const Tensor x = parameter(d.normal({d.of(8, 256, 4096)}));
    const Tensor steepness = linspace(1, 2, x.size(0), d.dtype());
    const auto lbfgs = std::make_shared<Lbfgs>(ParameterSet{x}, LbfgsOptions{.iterations = 2});
    return {{x}, [=](const Tensors&) -> Results {
              return scalar(lbfgs->step([=] { return sum(steepness * square(x)); }), f64);
            }};
  };
  t.add_made("Lbfgs", valley, drawn_step);
}

void add_noisy_steps(Table& t) {
  const TargetDensity target{.count = 1000, .prior_precision = 1};
  const Generator rng(1);
  add_step<Sgld>(t, "Sgld", drawn_step, SgldOptions{.target = target}, rng);
  add_step<Psgld>(t, "Psgld", drawn_step, PsgldOptions{.target = target}, rng);
  add_step<Sghmc>(t, "Sghmc", drawn_step, SghmcOptions{.target = target}, rng);
  add_step<Sgnht>(t, "Sgnht", drawn_step, SgnhtOptions{.target = target}, rng);
}

/// Draws of a standard normal law of D numbers, in `chains` rows.
void add_chains(Table& t) {
  const Traits draws{.gradient = false, .f32_too = false, .compared = -1};
  const auto dim = [](Draw& d) { return d.of(2, 16, 256); };
  const auto of_log_density = [=](auto run) {
    return [=](Draw& d) -> Sample {
      const Tensor start = d.normal({4, dim(d)});
      const LogDensity density(dim(d), [](const Tensor& z) { return sum(square(z), 1) * -0.5; });
      return {{start}, [=](const Tensors& x) -> Results {
                Generator rng(3);
                return run(density, x[0], rng);
              }};
    };
  };
  t.add_made("hmc", of_log_density([](const LogDensity& p, const Tensor& start, Generator& rng) {
               return hmc(p, start, {.draws = 20, .warmup = 20}, rng).draws;
             }),
             draws);
  t.add_made("nuts", of_log_density([](const LogDensity& p, const Tensor& start, Generator& rng) {
               return nuts(p, start, {.draws = 20, .warmup = 20}, rng).draws;
             }),
             draws);
  const auto tempered = [](const LogDensity& p, const Tensor& start, Generator& rng) {
    return parallel_tempering(p, start, {.levels = 3, .draws = 10, .warmup = 10}, rng).chains.draws;
  };
  t.add_made("parallel_tempering", of_log_density(tempered), draws);
  const LogLikelihood likelihood = [](const Tensor& z) { return sum(square(z - 1), 1) * -0.5; };
  t.add(
      "elliptical_slice_chains",
      [=](Draw& d) -> Tensors {
        return {d.normal({4, dim(d)})};
      },
      [=](const Tensors& x) -> Results {
        Generator rng(3);
        const EllipticalOptions some{.draws = 20, .warmup = 20};
        return elliptical_slice_chains(likelihood, x[0], some, rng).draws;
      },
      draws);
  t.add(
      "tempered_smc", [=](Draw& d) -> Tensors { return {d.normal({dim(d)})}; },
      [=](const Tensors& x) -> Results {
        Generator rng(3);
        return tempered_smc(x[0].size(0), likelihood, {.particles = 50}, rng).state.z;
      },
      draws);
}

std::int64_t particle_count(Draw& d) { return d.of(4, 16, 64); }
Tensors particles_and_gradients(Draw& d) {
  const Shape shape{particle_count(d), d.of(64, 4096, 32768)};
  return {parameter(d.normal(shape)), d.normal(shape) * 1e-2};
}
/// Of few coordinates, for kernels that hold a matrix of them or for each of them.
Tensors narrow_particles(Draw& d) {
  const Shape shape{particle_count(d), d.of(8, 64, 512)};
  return {parameter(d.normal(shape)), d.normal(shape) * 1e-2};
}
/// apply() puts the force where the gradient was: so the row contains a copy of the gradient.
template <class Make>
void add_method(Table& t, const char* name, Make make, const Traits& traits,
                Tensors (*drawn)(Draw&) = particles_and_gradients) {
  const auto sample = [=](Draw& d) -> Sample {
    const Tensors inputs = drawn(d);
    const auto method = make(Particles({ParticleBlock::stacked("theta", {inputs[0]})}));
    return {inputs, [method](const Tensors& x) -> Results {
              Tensor theta = x[0];
              theta.set_grad(clone(x[1]));
              method->apply();
              method->diffuse(0);  // no step follows
              return theta.grad();
            }};
  };
  t.add_made(name, sample, traits);
}

}  // namespace

void add_optimizers(Table& t) {
  t.family("optimizers");
  add_steps(t);
}

void add_samplers(Table& t) {
  t.family("samplers");
  add_noisy_steps(t);
  add_chains(t);
}

void add_particles(Table& t) {
  t.family("particles");
  const auto svgd = [](const SteinKernel& kernel) {
    return [=](Particles p) {
      return std::make_shared<Svgd>(std::move(p), SvgdOptions{.kernel = kernel});
    };
  };
  Traits counted = one_step;  // distances, K·g and the repulsion: 3·M²·D/2, 2·M²·D and 3·M²·D
  counted.products = [](const Tensors& x, const Tensors&) {
    return 6.5 * double(x[0].size(0)) * double(x[0].count());
  };
  add_method(t, "Svgd", svgd(rbf()), counted);
  add_method(
      t, "Spos",
      [](Particles p) { return std::make_shared<Spos>(std::move(p), SposOptions{}, Generator(1)); },
      drawn_step);
  add_method(
      t, "Wgd", [](Particles p) { return std::make_shared<Wgd>(std::move(p)); }, one_step);

  add_method(t, "rbf", svgd(rbf({.bandwidth = Bandwidth::fixed, .h2 = 100})), one_step);
  add_method(t, "imq", svgd(imq()), one_step);
  add_method(t, "matern", svgd(matern(1.5)), one_step);
  add_method(t, "linear_kernel", svgd(linear_kernel()), one_step);
  add_method(t, "radial", svgd(radial("e^-t", {}, [](const Tensor& x) { return exp(-x); })),
             one_step);
  add_method(t, "per_block", svgd(per_block(rbf(), {32})), one_step);
  add_method(t, "per_coordinate", svgd(per_coordinate(rbf())), one_step, narrow_particles);
  const auto preconditioned_svgd = [](Particles p) {
    const ParticleBlock& block = p[0];
    const Tensor precision = 2 * eye(block.dim(), block.dtype());
    return std::make_shared<Svgd>(std::move(p),
                                  SvgdOptions{.kernel = preconditioned(rbf(), precision)});
  };
  add_method(t, "preconditioned", preconditioned_svgd, one_step, narrow_particles);
  add_method(t, "mixture", svgd(mixture({rbf(), imq()}, {0.5, 0.5})), one_step);
  add_method(t, "hybrid", svgd(hybrid(rbf(), imq())), one_step);
}

}  // namespace ladon::bench::every
