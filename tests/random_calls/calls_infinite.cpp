// Random calls of infinite-width limits of layers on tiny inputs, and of predictions from kernels.

#include "ladon/layers/extra/infinite/linearized.h"
#include "ladon/layers/infinite/dual/quadrature.h"
#include "ladon/layers/infinite/finite/gaussianity.h"
#include "ladon/layers/infinite/finite/heads.h"
#include "ladon/layers/infinite/finite/monte_carlo.h"
#include "ladon/layers/infinite/gram/backward.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/extra/extra.h"
#include "ladon/optim/extra/posterior/cg_solver.h"
#include "ladon/optim/extra/posterior/distributed_factor.h"
#include "ladon/optim/extra/posterior/first_order.h"
#include "ladon/optim/extra/posterior/pivoted_cholesky.h"
#include "ladon/optim/extra/posterior/stored_factor.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/gradient_flow.h"
#include "ladon/optim/posterior/learn.h"
#include "ladon/optim/posterior/predict.h"
#include "ladon/tests/temporary_folder.h"
#include "table.h"

namespace ladon::test {
namespace {

using infinite::Inputs;

constexpr std::int64_t channels = 2;

Linear dense(std::int64_t in, Generator& rng) {
  return Linear({.in = in,
                 .out = 2,
                 .parameterization = Parameterization::ntk,
                 .weight_std = 1.3,
                 .bias_std = 0.3},
                rng);
}

MultiHeadAttention attention(Draw& d, Generator& rng) {
  MultiHeadAttentionOptions options{.dim = channels, .heads = 1 + d.below(2), .head_dim = 2};
  options.causal = d.flag();
  options.form.scaling = d.flag() ? AttentionScaling::sqrt : AttentionScaling::linear;
  options.form.weighting = static_cast<Weighting>(d.say(d.below(4)));
  options.form.tied = d.chance(0.2);
  options.projection_bias = d.chance(0.1);
  options.prior.parameterization =
      d.chance(0.9) ? Parameterization::ntk : Parameterization::standard;
  options.limit_draws.samples = d.say(1 + d.below(3));
  if (d.chance(0.3)) options.positions = AttentionPositions{.encoding = {.grid = {4}}};
  return MultiHeadAttention(options, rng);
}

/// A network of few layers for [N, 2], [N, T, 2] or [N, H, W, 2].
std::unique_ptr<Layer> network(Draw& d, Generator& rng) {
  auto layers = std::make_unique<Sequential>();
  if (d.chance(0.2)) layers->append(LayerNorm({.dim = channels}));
  layers->append(dense(channels, rng));
  const std::int64_t kind = d.say(d.below(9));
  const auto padding = static_cast<Padding>(d.below(3));
  const std::int64_t window = 1 + d.below(3);
  if (kind == 0) layers->append(Activation(static_cast<Nonlinearity>(d.say(d.below(19)))));
  if (kind == 1) layers->append(attention(d, rng));
  if (kind == 2)
    layers->append(Conv1d({.in = 2, .out = 2, .window = {window}, .padding = padding}, rng));
  if (kind == 3)
    layers->append(Conv2d({.in = 2, .out = 2, .window = {window, 2}, .padding = padding}, rng));
  if (kind == 4) layers->append(AveragePool({.window = {window}, .padding = padding}));
  if (kind == 5) layers->append(Residual(d.fraction(), attention(d, rng)));
  if (kind == 6)
    layers->append(SumBranches(Identity(), Sequential(LayerNorm({.dim = 2}), dense(2, rng))));
  if (kind == 7) layers->append(Dropout(d.fraction(), rng));
  if (kind == 8) layers->append(Polynomial::hermite(d.axis()));
  if (d.chance(0.3)) layers->append(MeanPositions());
  if (d.chance(0.2)) layers->append(Flatten());
  if (d.chance(0.1)) layers->append(SumPositions());
  return layers;
}

/// Of 0 to 3 inputs with few positions, perhaps none.
Inputs inputs(Draw& d, std::int64_t positions, std::int64_t form) {
  const std::int64_t n = d.below(4);
  const Shape shape = form == 0   ? Shape{n, channels}
                      : form == 1 ? Shape{n, positions, channels}
                                  : Shape{n, positions, 2, channels};
  Inputs in(d.near(shape).detach());
  if (form > 0 && d.chance(0.4)) in.mask = d.mask({n, form == 1 ? positions : 2 * positions});
  return in;
}

struct Problem {
  Generator rng;
  std::unique_ptr<Layer> model;
  Inputs a, b;
  explicit Problem(Draw& d) : rng(d.seed()) {
    model = network(d, rng);
    const std::int64_t positions = d.below(4), form = d.below(3);
    a = inputs(d, positions, form);
    b = inputs(d, d.chance(0.95) ? positions : d.below(4), form);
    if (d.chance(0.7)) model->eval();
  }
};

infinite::Get which(Draw& d) { return d.flag() ? infinite::Get::ntk : infinite::Get::nngp; }

Tensors tensors_of(const infinite::Kernel& k) { return {k.nngp, k.ntk, k.cov1}; }

void add_limits(CallTable& table) {
  table.add(
      "limit",
      [](Draw& d) {
        const Problem p(d);
        const infinite::Limit limit = infinite::limit(*p.model);
        const auto entries = d.flag() ? infinite::Entries::full : infinite::Entries::diagonal;
        const infinite::Limit named = d.chance(0.3) ? limit.with_landmarks(p.b) : limit;
        return tensors_of(d.flag() ? named(p.a, which(d), entries)
                                   : named(p.a, p.b, which(d), entries));
      },
      8);
  table.add(
      "gram",
      [](Draw& d) {
        const Problem p(d);
        infinite::GramOptions options{.get = which(d), .tile = d.around(0, 4), .replicates = 2};
        if (d.chance(0.2)) options.memory_budget = static_cast<std::uint64_t>(d.integer());
        const infinite::Limit limit = infinite::limit(*p.model);
        const auto g = d.flag() ? gram(limit, p.a, options) : gram(limit, p.a, p.b, options);
        return Tensors{g.nngp, g.ntk, g.nngp_se};
      },
      0.15);  // it takes its time to estimate its time
  table.add("gram_diagonal", [](Draw& d) {
    const Problem p(d);
    const auto g =
        infinite::gram_diagonal(infinite::limit(*p.model), p.a, {.get = which(d), .replicates = 2});
    return Tensors{g.nngp, g.ntk, g.nngp_se};
  });
  table.add("backward_gram", [](Draw& d) {
    Problem p(d);
    const std::int64_t n = p.a.x.size(0);
    const Tensor nngp = d.near({n, n}).detach(),
                 ntk = d.flag() ? d.near({n, n}).detach() : Tensor();
    Tensor x = clone(p.a.x).detach().set_requires_grad();
    infinite::backward_gram(infinite::limit(*p.model), {x, p.a.mask}, nngp, ntk,
                            {.tile = d.around(0, 3), .replicates = 2});
    return x.grad().defined() ? x.grad() : zeros_like(x.detach());
  });
  table.add("finite_heads", [](Draw& d) {
    Problem p(d);
    const auto heads = infinite::finite_heads(
        *p.model, {.heads = 1 + d.below(3), .key_width = d.below(2), .value_width = d.below(2)});
    const infinite::Latents z = heads.draw(p.a, p.rng);
    const auto k = heads.kernel(d.chance(0.9) ? p.a : p.b, z, which(d));
    return Tensors{k.nngp, k.ntk, heads.moments(p.a, 2, p.rng).nngp.mean};
  });
  table.add("ScaleMixture", [](Draw& d) {
    const infinite::ScaleMixture law(std::vector<double>{d.number(), d.fraction(), d.fraction()});
    const double y = d.number();
    return scalar(law.density(y) + law.cdf(y) + law.excess_kurtosis().value, f64);
  });
  table.add("empirical_gram", [](Draw& d) {
    const Problem p(d);
    const std::int64_t tile = d.around(1, 4);
    const auto k = d.flag() ? infinite::empirical_gram(*p.model, p.a, tile)
                            : infinite::empirical_gram(*p.model, p.a, p.b, tile);
    return Tensors{k.nngp, k.ntk, k.outputs};
  });
  table.add("TaylorExpansion", [](Draw& d) {
    Problem p(d);
    p.model->to(f64);
    infinite::TaylorExpansion net(std::move(p.model), d.around(1, 3));
    for (Tensor& w : net.displacement) copy_(w.detach(), 0.1 * ones_like(w.detach()));
    return net(p.a.x.detach());
  });
  table.add("Linearized", [](Draw& d) {
    Problem p(d);
    p.model->to(f64);
    const infinite::Linearized net(std::move(p.model));
    for (const Tensor& w : net.displacement) copy_(w.detach(), d.number() * ones_like(w.detach()));
    return net(p.a.x.detach());
  });
  table.add("empirical_kernel", [](Draw& d) {
    const Problem p(d);
    infinite::EmpiricalOptions options{.get = which(d)};
    if (options.get == infinite::Get::ntk || d.chance(0.1)) {
      options.channels = d.around(0, 2);
      options.full = d.chance(0.3);
      if (d.chance(0.3)) options.method = infinite::NtkMethod::jacobian;
    }
    const auto k = infinite::empirical_kernel(*p.model, p.a, p.b, options);
    return Tensors{k.nngp, k.ntk, k.outputs};
  });
  table.add(
      "monte_carlo_kernel",
      [](Draw& d) {
        Problem p(d);
        const auto make = [](Generator& rng) {
          return std::make_unique<Sequential>(dense(channels, rng), Activation(Nonlinearity::relu));
        };
        const auto k =
            infinite::monte_carlo_kernel(make, p.a, p.b, {.draws = 1 + d.below(3)}, p.rng);
        return Tensors{k.nngp, k.ntk, k.nngp_se};
      },
      0.3);
  table.add(
      "ntk_vector_product",
      [](Draw& d) {
        const Problem p(d);
        const Tensor y = (*p.model)(p.a.x);
        return infinite::ntk_vector_product(*p.model, p.a, d.near(y.shape()).detach());
      },
      0.5);
  table.add("dual", [](Draw& d) {
    using infinite::DualFunction;
    const std::vector<DualFunction> functions{
        DualFunction::relu(), DualFunction::sign(),      DualFunction::step(),
        DualFunction::erf(),  DualFunction::gelu(),      DualFunction::sin(),
        DualFunction::exp(),  DualFunction::hermite(3),  DualFunction::elu(d.fraction()),
        DualFunction::selu(), DualFunction::gelu_tanh(), DualFunction::tanh()};
    const DualFunction f = d.one_of(functions);
    const auto block = [&](const Shape& shape) {
      const Tensor x = d.near(shape);
      return x.defined() && d.chance(0.95) ? cast(x, f64) : x;
    };
    const Tensor c = block({2, 3}), p = block({2, 1}), q = block({1, 3});
    const auto r = infinite::dual(f, p, q, c, d.flag());
    return Tensors{r.value, r.derivative};
  });
}

/// A kernel [n, n], positive definite mostly, and what goes with it.
struct Regression {
  std::int64_t n, m;
  Tensor kernel, targets, cross, test;
  explicit Regression(Draw& d) : n(d.below(5)), m(d.below(4)) {
    const Tensor x = cast(d.floating({n, 3}).detach(), f64);
    kernel = d.chance(0.9) ? matmul(x, transpose(x)) + eye(n, f64) : d.floating();
    targets = d.near(d.flag() ? Shape{n} : Shape{n, 2});
    cross = d.near({m, n});
    if (d.flag()) test = d.near(d.flag() ? Shape{m} : Shape{m, m});
  }
};

/// A Gram matrix in a folder, and targets.
struct Stored {
  TemporaryFolder folder;
  Generator rng;
  Linear model;
  infinite::StoredGram gram;
  Tensor targets;
  explicit Stored(Draw& d)
      : rng(d.seed()),
        model(dense(channels, rng)),
        gram(infinite::store_gram(infinite::limit(model), d.near({d.below(4), channels}).detach(),
                                  folder / "gram", {.get = which(d)})),
        targets(d.near({gram.size(), 2}).detach()) {}
};

void add_predictions(CallTable& table) {
  table.add("GaussianProcess", [](Draw& d) {
    const Regression r(d);
    const GaussianProcess gp(r.kernel, r.targets, {.noise = d.fraction()});
    const auto belief = gp.predict(r.cross, r.test);
    const auto left_out = gp.leave_one_out();
    return Tensors{belief.mean, belief.covariance, left_out.mean,
                   scalar(gp.log_marginal_likelihood() + gp.amplitude(), f64)};
  });
  table.add("log_marginal_likelihood", [](Draw& d) {
    const Regression r(d);
    const Tensor noise = d.near({1});
    return log_marginal_likelihood(r.kernel, r.targets, noise, d.fraction());
  });
  table.add("conjugate_gradients", [](Draw& d) {
    const Regression r(d);
    const auto times = [](const Tensor& a) {
      return [a](const Tensor& v) { return matmul(a, v); };
    };
    CgOptions options{
        .tolerance = d.fraction(),
        .max_iterations = static_cast<int>(std::min<std::int64_t>(d.around(1, 9), 99))};
    if (d.chance(0.3)) options.preconditioner = times(d.chance(0.9) ? eye(r.n, f64) : d.floating());
    const CgResult y = conjugate_gradients(times(r.kernel), r.targets, options);
    return Tensors{y.x.detach(), y.relative.detach()};
  });
  table.add("PivotedCholesky", [](Draw& d) {
    const Regression r(d);
    const Tensor own = d.chance(0.9) ? clone(diagonal(r.kernel)) : d.floating();
    const PivotedCholesky some(own, [&](std::int64_t i) { return select(r.kernel, 0, i); },
                               {.rank = d.around(0, 3), .tolerance = d.fraction()});
    const LowRankPlusNoise near(d.chance(0.9) ? some.factor() : d.floating(), d.fraction());
    return Tensors{some.factor(), near.solve(r.targets), scalar(near.log_determinant(), f64)};
  });
  table.add("CgSolver", [](Draw& d) {
    const Regression r(d);
    const GaussianProcess gp(
        CgSolver(kernel_map(r.kernel), {.noise = d.fraction()},
                 {.rank = d.around(0, 3), .max_iterations = 20, .at_once = d.around(1, 3)}),
        r.targets);
    const GpPrediction y = gp.predict(r.cross, r.test);
    return Tensors{y.mean, y.mean_error, y.covariance, y.covariance_error, gp.leave_one_out().mean};
  });
  table.add("DenseFactor", [](Draw& d) {
    const Regression r(d);
    const DenseFactor factor(r.kernel, {.noise = d.fraction(), .jitter = d.fraction()});
    return Tensors{factor.solve(r.targets).x, factor.half_solve(r.targets),
                   factor.inverse_diagonal(), scalar(factor.log_determinant(), f64)};
  });
  // These two wait for the disk.
  table.add(
      "StoredFactor",
      [](Draw& d) {
        const Stored s(d);
        const GaussianProcess gp(store_factor(s.gram, s.folder / "factor", {.noise = d.fraction()}),
                                 s.targets);
        return Tensors{gp.weights().x, gp.leave_one_out().mean};
      },
      0.05);
  table.add(
      "DistributedFactor",
      [](Draw& d) {
        const Stored s(d);
        const GaussianProcess gp(distribute_factor(s.gram, {.noise = d.fraction()}), s.targets);
        return Tensors{gp.weights().x, gp.leave_one_out().mean};
      },
      0.05);
  table.add(
      "predict",
      [](Draw& d) {
        const Problem p(d);
        PredictOptions options{.kernel = which(d)};
        if (d.chance(0.3)) options.relative_noise = d.number();
        if (d.flag()) options.choose_by = NoiseCriterion::marginal_likelihood;
        options.gram.replicates = 2;
        const std::int64_t n = p.a.x.size(0);
        const Tensor targets = d.chance(0.8) ? ones({n, 2}, f64) : d.floating();
        const auto y = predict(*p.model, p.a, targets, d.flag() ? p.a : p.b, options);
        return Tensors{y.mean, y.covariance, y.left_out.mean};
      },
      0.5);
  table.add(
      "learn_hyperparameters",
      [](Draw& d) {
        const Problem p(d);
        LearnOptions options{.steps = static_cast<int>(d.below(3)),
                             .noise = d.chance(0.8) ? 0.1 : d.number()};
        options.gram.replicates = 2;
        const std::int64_t n = p.a.x.size(0);
        const Tensor targets = d.chance(0.8) ? ones({n, 2}, f64) : d.floating();
        const auto learned = learn_hyperparameters(*p.model, p.a, targets, options);
        return scalar(learned.best.log_likelihood, f64);
      },
      0.5);
  table.add("choose_noise", [](Draw& d) {
    const Regression r(d);
    const NoiseChoice c = choose_noise(
        r.kernel, r.targets,
        d.flag() ? NoiseCriterion::leave_one_out : NoiseCriterion::marginal_likelihood);
    return scalar(c.relative_noise + c.amplitude, f64);
  });
  table.add("FirstOrder", [](Draw& d) {
    const Regression r(d);
    FirstOrder first(r.kernel, d.near({d.below(4)}), {.noise = d.fraction()});
    for (int i = 0; i < 2; ++i) first.add(d.chance(0.9) ? r.kernel * d.fraction() : d.floating());
    const GpPrediction y = first.predict(d.number());
    return Tensors{y.mean, y.covariance, first.coefficients().between};
  });
  table.add("GradientFlow", [](Draw& d) {
    const Regression r(d);
    const GradientFlow flow(r.kernel, r.targets, {.learning_rate = d.fraction()});
    const double t = d.chance(0.3) ? infinite_time : d.number();
    return Tensors{flow.train(t), flow.test(t, r.cross),
                   flow.ensemble(t, r.cross, {r.kernel, r.cross, r.test}).mean};
  });
  table.add("max_learning_rate", [](Draw& d) {
    const Regression r(d);
    const std::int64_t elements = d.integer();
    return max_learning_rate(r.kernel, elements, d.fraction());
  });
  table.add("classification_targets", [](Draw& d) {
    const std::int64_t classes = d.around(2, 4);
    return classification_targets(d.indices({d.below(4)}, classes), classes);
  });
  table.add(
      "class_probabilities",
      [](Draw& d) {
        const std::int64_t n = d.below(4);
        const Tensor mean = d.near({n, 1 + d.below(4)});
        return class_probabilities(mean, d.near({n}));
      },
      0.5);
  table.add("gauss_hermite", [](Draw& d) {
    const int n = d.chance(0.1) ? d.axis() : static_cast<int>(d.below(12));
    return d.flag() ? infinite::gauss_hermite(n) : infinite::gauss_legendre(n);
  });
  table.add("excess_kurtosis", [](Draw& d) {
    return infinite::excess_kurtosis(d.near({d.below(6), d.below(3), d.below(3)})).value;
  });
  table.add("kolmogorov_smirnov", [](Draw& d) {
    const Tensor samples = d.near({d.below(6)});
    return infinite::kolmogorov_smirnov(samples, d.number()).distance;
  });
  table.add("mmd", [](Draw& d) {
    const Regression r(d);
    const Tensor samples = d.near({d.below(6), r.n});
    return infinite::mmd(samples, r.kernel, d.number()).squared;
  });
  table.add("identity_kurtosis", [](Draw& d) {
    const Regression r(d);
    return infinite::identity_kurtosis(r.kernel, d.near({r.n, r.n}), {.heads = d.integer()});
  });
}

}  // namespace

void add_infinite_calls(CallTable& table) {
  add_limits(table);
  add_predictions(table);
}

}  // namespace ladon::test
