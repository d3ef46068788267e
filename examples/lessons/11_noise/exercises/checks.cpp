#include "11_noise/exercises/exercises.h"
#include "ladon/optim/samplers/hamiltonian.h"

using namespace ladon;
using detail::join;
using lessons::Mistake;
using lessons::require;

namespace {

/// Stationary variance of x ← keep·x + noise, by iterating its recursion, without a closed form.
double at_rest(double keep, double noise_variance) {
  double v = 1, before = 0;
  while (std::abs(v - before) > 1e-15 * v) {
    before = v;
    v = keep * keep * v + noise_variance;
  }
  return v;
}

Tensor numbers(const std::vector<double>& values) {
  return from_vector(values, {static_cast<std::int64_t>(values.size())});
}

/// Compares the drift of the preconditioned step with the library's gradient of the target.
void check_drift(decltype(preconditioned_step)* yours, const Tensor& x, const Tensor& gradients,
                 const LangevinSettings& s) {
  const Tensor p = s.preconditioner, g = mean(gradients, 0), prior = s.prior_precision * x;
  const Tensor drift =
      -target_gradient({.count = s.items, .prior_precision = s.prior_precision}, x, g);
  const auto moved = [&](const Tensor& by) { return x + s.step * by; };
  lessons::compare(
      "the step without noise", yours(x, gradients, s, zeros_like(x)), moved(p * drift),
      {{moved(-p * drift), "it goes downhill in ln p: backward gives gradients of the loss, −ln p"},
       {moved(p * (drift + 2 * prior)), "the prior pushes x away from 0: ln of it is −λ|x|²/2"},
       {moved(p * (-g - prior)), join("the batch's mean gradient is that of one item, of ", s.items,
                                      ": the posterior is that of 1 item; multiply by N")},
       {moved(p * (-static_cast<double>(gradients.size(0)) * g - prior)),
        join("the batch's sum of gradients is not scaled by N/n: the posterior is that of ",
             gradients.size(0), " items, not of ", s.items)},
       {moved(-s.items * p * (g + prior)), "the prior is counted N times instead of once"},
       {moved(-s.items * p * g), "the prior is left out of the drift"},
       {moved(drift), "the drift is not multiplied by the preconditioner"},
       {moved(sqrt(p) * drift), "the drift has √P; the drift is P∇ln p, the noise has the root"}});
}

/// Checks the noise of the step. Messages give the stationary variance that the noise causes on a
/// target of precision 1.
void check_noise(decltype(preconditioned_step)* yours, const Tensor& x, const Tensor& gradients,
                 const LangevinSettings& s, const Tensor& xi) {
  const Tensor p = s.preconditioner;
  const double most = amax(p).item(), e = s.step;
  const auto cost = [&](const std::string& reason, double variance) {
    return join(
        reason, ": where P is ", most, ", a target of variance 1 gets the stationary variance ",
        at_rest(1 - e * most, variance), ", and should get ", at_rest(1 - e * most, 2 * e * most));
  };
  const auto mistake = [&](const std::string& reason, const auto& stddev) {  // P → deviation
    return Mistake{stddev(p) * xi, cost(reason, std::pow(stddev(numbers({most})).item(), 2))};
  };
  lessons::compare(
      "the noise of the step", yours(x, gradients, s, xi) - yours(x, gradients, s, zeros_like(x)),
      sqrt(2 * e * p) * xi,
      {mistake("the noise is multiplied by the preconditioner P, not by its root",
               [e](const Tensor& q) { return std::sqrt(2 * e) * q; }),
       mistake("the noise lacks the preconditioner",
               [e](const Tensor& q) { return std::sqrt(2 * e) * ones_like(q); }),
       mistake("the noise has √ε for √(2ε)", [e](const Tensor& q) { return sqrt(e * q); }),
       mistake("the noise has √ε for √(2ε), and lacks the preconditioner",
               [e](const Tensor& q) { return std::sqrt(e) * ones_like(q); }),
       mistake("2εP is the noise's variance; it is multiplied by the standard deviation",
               [e](const Tensor& q) { return 2 * e * q; }),
       mistake("there is no noise", [](const Tensor& q) { return zeros_like(q); })});
}

}  // namespace

void check_langevin_variance(decltype(langevin_variance)* yours) {
  const auto check = [&](double precision, double step, double batch) {
    const double keep = 1 - step * precision;
    const auto rest = [&](double noise) { return at_rest(keep, noise); };
    const std::string of =
        join("with precision ", precision, ", step ", step, ", batch variance ", batch);
    const double right = rest(2 * step + step * step * batch);
    lessons::compare(
        "the variance " + of, yours(precision, step, batch), right,
        {{rest(step + step * step * batch), of + ": half of the noise; its variance is 2·step"},
         {1 / precision, of + ": that of the target, which is reached only as the step goes to 0"},
         {rest(2 * step), of + ": the batch's noise is left out"},
         {rest(2 * step + step * batch),
          of + ": the batch's noise is multiplied by step, so its variance by step²"},
         {(2 * step + step * step * batch) / (1 - keep),
          of + ": the variance is multiplied by (1 − step·precision)², not by 1 − step·precision"},
         {std::sqrt(right), of + ": the standard deviation instead of the variance"}});
  };
  check(1, 0.1, 0);
  check(4, 0.25, 0);
  check(1, 0.4, 3);
  check(0.5, 1.5, 2);
  for (const double step : {2.0, 3.0})
    require(yours(1, step, 0) == std::numeric_limits<double>::infinity(),
            join("precision 1, step ", step,
                 ": |1 − step·precision| is at least 1, so the variance "
                 "grows with each step: it is infinite, not ",
                 yours(1, step, 0)));
}

void check_preconditioned_step(decltype(preconditioned_step)* yours) {
  Generator rng(1);
  const Tensor x = normal({3}, rng, 1, 1, f64), gradients = normal({5, 3}, rng, 0, 1, f64);
  const Tensor xi = normal({3}, rng, 0, 1, f64);
  const LangevinSettings plain{40, 2, 0.1, ones({3}, f64)};
  const LangevinSettings preconditioned{40, 2, 0.1, numbers({0.25, 1, 4})};
  for (const LangevinSettings& settings : {plain, preconditioned}) {
    check_drift(yours, x, gradients, settings);
    check_noise(yours, x, gradients, settings, xi);
  }
}

void check_mala_acceptance(decltype(mala_acceptance)* yours) {
  Generator rng(2);
  const auto check = [&](const std::string& what, const LogDensity& density, double step) {
    const Tensor x = normal({6, density.dim()}, rng, 0, 1, f64);
    const DensityScore here = density.score(x);
    const Tensor mean_here = x + step * here.gradient;
    const Tensor to = mean_here + std::sqrt(2 * step) * normal(x.shape(), rng, 0, 1, f64);
    const DensityScore there = density.score(to);

    // The correct probability, by another way: a leapfrog step of length √(2·step) is the same
    // move, and is accepted by its change of energy.
    const samplers::Tuning tuning{full({1, 1}, std::sqrt(2 * step), f64),
                                  ones({1, density.dim()}, f64)};
    const samplers::Phase begin{x, (to - mean_here) / std::sqrt(2 * step), here};
    const samplers::Phase end = samplers::leapfrog(density, begin, tuning);
    const Tensor right = numbers(samplers::acceptance(samplers::energy(begin, tuning.inverse_mass),
                                                      samplers::energy(end, tuning.inverse_mass)));

    const auto squares = [](const Tensor& difference) { return sum(square(difference), 1); };
    const Tensor forward = squares(to - mean_here) / (-4 * step);
    const Tensor backward = squares(x - to - step * there.gradient) / (-4 * step);
    const Tensor p = there.value - here.value, q = backward - forward;
    const Tensor stale = squares(x - to - step * here.gradient) / (-4 * step) - forward;
    const auto clamped = [](const Tensor& ratio) { return exp(minimum(ratio, 0.0)); };
    lessons::compare(
        what, yours(density, x, to, step), right,
        {{clamped(p), what + ": the proposal's ratio is left out; the drift makes q asymmetric"},
         {clamped(p - q), what + ": the proposal's ratio is inverted; q(x | x′), of the way "
                                 "back, is the numerator"},
         {clamped(-p - q), what + ": the whole ratio is inverted; p(x′) is in the numerator"},
         {clamped(q), what + ": p(x′)/p(x) is left out"},
         {clamped(p + stale),
          what + ": the way back is proposed with the gradient at x′, where it begins, not at x"},
         {clamped(p + 2 * q),
          what + ": q has the variance 2·step: its exponent is −|x′ − mean|²/(4·step)"},
         {exp(p + q), what + ": the ratio may be above 1; a probability is not: min(1, ratio)"},
         {p + q, what + ": the ratio's logarithm instead of the probability"}});
  };
  check("a Gaussian",
        LogDensity(2,
                   [](const Tensor& x) {
                     return sum(square(x - 1) / tensor({1, 0.3}, {2}, f64), 1) / -2;
                   }),
        0.4);
  check("a ring",
        LogDensity(2, [](const Tensor& x) { return -4 * square(sqrt(sum(square(x), 1)) - 2); }),
        0.1);
  check("five dimensions",
        LogDensity(5, [](const Tensor& x) { return -sum(square(square(x)), 1) / 4; }), 0.2);
}
