#include "10_collapse/exercises/exercises.h"

using namespace ladon;
using lessons::compare;

namespace {

/// Variance per coordinate of particles that SVGD has moved on N(0, 1) until they are at rest.
double settled_variance(const SteinKernel& kernel, int particles, int dim, double alpha) {
  Generator rng(1);
  Tensor x = parameter(normal({particles, dim}, rng, 0, 0.5, f64));
  Svgd svgd(particles_of_rows(x), {.kernel = kernel, .alpha = alpha});
  Sgd sgd({x}, {.lr = 0.5});
  for (int step = 0; step < 2000; ++step) {
    x.set_grad(clone(x.detach()));
    svgd.apply();
    sgd.step();
  }
  return mean(var(x.detach(), 0)).item();
}

struct KernelOfProfile {
  std::string name;
  RadialProfile profile;
  SteinKernel kernel;
};

std::vector<KernelOfProfile> kernels() {
  return {
      {"the RBF kernel",
       {[](double t) { return std::exp(-t / 2); }, [](double t) { return -std::exp(-t / 2) / 2; }},
       rbf()},
      {"the inverse multiquadric",
       {[](double t) { return std::pow(1 + t, -0.5); },
        [](double t) { return -0.5 * std::pow(1 + t, -1.5); }},
       imq()},
      {"the Matérn kernel, ν = 3/2",
       {[](double t) { return (1 + std::sqrt(3 * t)) * std::exp(-std::sqrt(3 * t)); },
        [](double t) { return -1.5 * std::exp(-std::sqrt(3 * t)); }},
       matern(1.5)}};
}

}  // namespace

void check_coordinate_variance(decltype(coordinate_variance)* yours) {
  Generator rng(1);
  for (const Shape& shape : {Shape{3, 5}, Shape{8, 2}}) {
    const Tensor theta = normal(shape, rng, 2, 1, f64);
    const double v = mean(var(theta, 0)).item(), m = static_cast<double>(shape[0]),
                 d = static_cast<double>(shape[1]);
    compare(detail::join("the variance of particles ", shape), yours(theta), v,
            {{v * (m - 1) / m,
              "the sum is divided by M: deviations from the particles' own mean are too small; "
              "divide by M - 1"},
             {mean(square(theta)).item(),
              "this is a mean square: the variance is around the mean, so subtract it first"},
             {sum(square(theta)).item() / (m - 1) / d,
              "this is a mean square: the variance is around the mean, so subtract it first"},
             {v * d, "summed over coordinates: this is the total variance, and grows with D"},
             {mean(var(theta, 1)).item(),
              "the variance over the coordinates of a particle; it is over particles"},
             {var(theta).item(), "one mean for all coordinates; each coordinate has its own mean"},
             {mean(stddev(theta, 0)).item(),
              "standard deviations are averaged; average the variances, their squares"}});
  }
}

void check_simplex_variance(decltype(simplex_variance)* yours) {
  for (const auto& [name, profile, kernel] : kernels())
    for (const auto& [m, d, alpha] : {std::tuple{4, 12, 0.7}, {7, 6, 1.5}}) {
      const double right = settled_variance(kernel, m, d, alpha);
      const double k = profile.value(2 * std::log(m + 1.0)), t = 2 * std::log(m);
      const double of_ln_m =
          -2 * profile.slope(t) * alpha * m / (1 - profile.value(t)) * t / (2 * d);
      const std::string of = detail::join(name, ", M = ", m, ", D = ", d, ", α = ", alpha, ": ");
      compare(of + "the variance", yours(profile, m, d, alpha), right,
              {{right / alpha, of + "α is left out"},
               {right * d, of + "this is the total variance; it is per coordinate"},
               {right / 2, of + "half of it: the derivative of ‖θ_i - θ_j‖² has a factor 2"},
               {right * 2, of + "twice too large: the mean of d² is 2·D·v, for two particles vary"},
               {right * (m - 1) / m, of + "too small by the factor (M - 1)/M: Σ_j (θ_i - θ_j) is "
                                          "M·θ_i, and the variance has the divisor M - 1"},
               {right / m, of + "only the repulsion of one other particle is counted; "
                                "Σ_j (θ_i - θ_j) is M·θ_i"},
               {right * (1 - k), of + "a particle is driven by its own score alone: the others' "
                                      "scores subtract k·θ_i from it"},
               {right * (1 - k) / (1 + (m - 1) * k),
                of + "the others drive inwards; as Σ_j θ_j = 0, they drive outwards"},
               {of_ln_m, of + "ln M instead of ln(M + 1) in the median rule"}},
              1e-6);
    }
}

void check_spos_step(decltype(spos_step)* yours) {
  const SposSettings s{.h2 = 1.3, .alpha = 0.8, .diffusion = 0.3, .step = 0.2};
  const double m = 5, b = s.diffusion, root = std::sqrt(2 * b * s.step);
  Generator rng(2), draws(3);
  const Tensor theta = normal({5, 3}, rng, 0, 1, f64), g = normal({5, 3}, rng, 0, 1, f64),
               xi = normal({5, 3}, draws, 0, 1, f64);
  const SteinKernel kernel = rbf({.bandwidth = Bandwidth::fixed, .h2 = s.h2});
  Tensor x = parameter(clone(theta));
  Spos spos(particles_of_rows(x),
            {.svgd = {.kernel = kernel, .alpha = s.alpha, .max_ratio = 1e9}, .diffusion = b},
            Generator(3));
  Sgd sgd({x}, {.lr = s.step});
  x.set_grad(clone(g));
  spos.apply();
  sgd.step();
  const KernelAt at = kernel.at(theta);
  const Tensor drive = at.share(g) / m, repel = s.alpha * at.repel() / m;
  const Tensor still = theta + s.step * (repel - drive - b * g), end = still + root * xi;
  const auto noisy = [&](double scale) { return still + scale * xi; };
  compare(
      "the particles after a step", yours(theta, g, xi, s), x.detach(),
      {{still, "there is no noise"},
       {noisy(root / std::sqrt(2.0)),
        "noise of variance b·ε: with its drift it keeps half of the target's variance; 2·b·ε is "
        "needed, since a step removes 2·b·ε of the variance"},
       {noisy(std::sqrt(2 * s.step)),
        "noise of variance 2·ε, without b: it must balance the drift b·s"},
       {noisy(root * root), "noise multiplied by 2·b·ε, which is its variance; take the root"},
       {noisy(std::sqrt(2 * b) * s.step),
        "noise multiplied by ε: its variance is then proportional to ε², too small for small "
        "steps; it must be proportional to ε"},
       {still + root * at.share(xi),
        "the noise is multiplied by the kernel, so near particles share it; the noise of each "
        "particle must be independent"},
       {still + root * at.share(xi) / m,
        "the noise is averaged with the kernel; it is added to the forces as it is"},
       {end + s.step * b * g,
        "the drift b·s that balances the noise is missing: in many dimensions the variance rises "
        "to (M + 1)·b instead "
        "of 1"},
       {end + s.step * b * (1 - 1 / m) * g,
        "b·s is inside the mean over particles, and so divided by M; the noise is not"},
       {end + s.step * b * (g - drive * m),
        "b weighs shared scores; the noise is a particle's own, and so is its gradient"},
       {end + 2 * s.step * (drive + b * g), "driven up the loss: a score is minus a gradient"},
       {end - 2 * s.step * repel, "the repulsion attracts"},
       {end + s.step * (m - 1) * (repel - drive), "forces summed; φ is their mean"}});
}
