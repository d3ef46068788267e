#include "09_particles/exercises/exercises.h"

using namespace ladon;
using lessons::compare;
using lessons::require;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor squared_distances_of(const Tensor& theta) {
  return sum(square(unsqueeze(theta, 1) - unsqueeze(theta, 0)), 2);
}

void check_rbf_at(decltype(rbf_forces)* yours, const Tensor& theta) {
  const std::int64_t m = theta.size(0);
  const Tensor d2 = squared_distances_of(theta);
  const KernelAt at = rbf().at(theta);
  const double h = std::sqrt(at.h2), logs = std::log(static_cast<double>(m) + 1);
  const std::string of = detail::join("of ", m, " particles");
  const RbfForces mine = yours(theta);
  compare("h² " + of, mine.h2, at.h2,
          {{bandwidth(Bandwidth::liu, d2),
            "h²: the zeros of the diagonal count in the median; take the median over pairs i ≠ j"},
           {bandwidth(Bandwidth::paper, d2),
            "h²: this is the lower median, with the zeros of the diagonal counted; take the mean "
            "of the middle two values over pairs i ≠ j"},
           {bandwidth(Bandwidth::median, sqrt(d2)),
            "h²: the median is of distances; it should be of squared distances"},
           {h, "h² is required, but h is returned: do not take the square root"},
           {2 * at.h2, "h² is twice too large: the rule has a factor ½"},
           {at.h2 * logs / std::log(static_cast<double>(m)), "h²: ln M instead of ln(M + 1)"}});
  compare("k " + of, mine.kernel, at.share(eye(m, f64)),
          {{exp(-d2 / at.h2), "k: exp(-d²/h²); with these conventions it is exp(-d²/(2h²))"},
           {exp(-d2 / (2 * h)), "k: divided by h; it should be h²"},
           {exp(-sqrt(d2) / (2 * at.h2)), "k: the distance should be squared"}});
  const Tensor r = at.repel();
  compare(
      "R " + of, mine.repulsion, r,
      {{-r, "R attracts: ∇ with respect to θ_j of -‖θ_j - θ_i‖² is 2(θ_i - θ_j), away from θ_j"},
       {r * h, "R is divided by h; the derivative of d²/(2h²) has h²"},
       {r * at.h2, "R is not divided by h²; differentiate the exponent too"},
       {r * 2.0, "R is twice too large: the 2 of the square and that of 2h² cancel"},
       {r / static_cast<double>(m),
        "R is a mean over particles; it is a sum, and φ's mean comes later"}});
}

/// A kernel as a function of two particles, and the library's version of it.
struct KernelPair {
  const char* name;
  PairKernel pair;
  SteinKernel kernel;
};

/// 2a, where a is the root of a force that points outwards near 0 and inwards far from 0.
double twice_root(const std::function<double(double)>& force) {
  double low = 0, high = 1;
  while (force(high) > 0) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (force(middle) > 0 ? low : high) = middle;
  }
  return 2 * low;
}

/// Distance of two particles after 1500 steps of Svgd.
double distance_after_svgd(const std::function<double(double)>& score, double alpha, double h2) {
  Tensor x = parameter(tensor({1, -1}, {2, 1}, f64));
  Svgd svgd(particles_of_rows(x),
            {.kernel = rbf({.bandwidth = Bandwidth::fixed, .h2 = h2}), .alpha = alpha});
  Sgd sgd({x}, {.lr = 0.2});
  for (int step = 0; step < 1500; ++step) {
    const double a = at(x, {0, 0}).item();
    x.set_grad(tensor({-score(a), score(a)}, {2, 1}, f64));
    svgd.apply();
    sgd.step();
  }
  return 2 * at(x, {0, 0}).item();
}

}  // namespace

void check_rbf_forces(decltype(rbf_forces)* yours) {
  Generator rng(1);
  for (const std::int64_t m : {4, 5, 3}) check_rbf_at(yours, normal({m, 3}, rng, 0, 1, f64));
  const RbfForces equal = yours(full({4, 2}, 0.3, f64));
  require(
      all(isfinite(equal.repulsion)).item<bool>() && all(isfinite(equal.kernel)).item<bool>(),
      "where all particles are equal, h² is 0 and something is divided by it; then k = 1, R = 0");
  compare("k of equal particles", equal.kernel, ones({4, 4}, f64));
  compare("R of equal particles", equal.repulsion, zeros({4, 2}, f64));
}

void check_stein_gradient(decltype(stein_gradient)* yours) {
  constexpr double h2 = 1.7, alpha = 0.6;
  const BandwidthOptions fixed{.bandwidth = Bandwidth::fixed, .h2 = h2};
  const auto t = [](const Tensor& x, const Tensor& y) { return sum(square(x - y)) / h2; };
  const std::vector<KernelPair> kernels = {
      {"k = xᵀy + 1", [](const Tensor& x, const Tensor& y) { return sum(x * y) + 1; },
       linear_kernel()},
      {"the RBF kernel", [t](const Tensor& x, const Tensor& y) { return exp(-0.5 * t(x, y)); },
       rbf(fixed)},
      {"the inverse multiquadric",
       [t](const Tensor& x, const Tensor& y) { return rsqrt(1 + t(x, y)); }, imq(fixed)}};
  Generator rng(2);
  const double m = 4;
  const Tensor theta = normal({4, 3}, rng, 0.5, 1, f64), g = normal({4, 3}, rng, 0, 1, f64);
  for (const auto& [name, pair, kernel] : kernels) {
    const KernelAt at = kernel.at(theta);
    const Tensor drive = at.share(g), repel = alpha * at.repel(), own = at.share(ones_like(g)) * g;
    Tensor x = parameter(clone(theta));
    x.set_grad(clone(g));
    Svgd(particles_of_rows(x), {.kernel = kernel, .alpha = alpha, .max_ratio = infinity}).apply();
    const Tensor right = x.grad();
    const Tensor answer = yours(theta, g, pair, alpha);
    const Tensor other_argument = alpha * sum(theta, 0, keep_dims);  // for k = xᵀy: Σ_j θ_j
    std::vector<lessons::Mistake> mistakes = {
        {-right,
         "this is φ, which ascends ln p; an optimizer subtracts its argument, so return "
         "-φ"},
        {(drive + repel) / m,
         "the repulsion attracts: in -φ the derivative of k with respect to θ_j has a minus"},
        {-(drive + repel) / m,
         "particles are driven up the loss: the gradients are of -ln p, whose scores are -g"},
        {drive - repel, "a sum over particles; φ is their mean"},
        {(own - repel) / m,
         "each particle weighs its own gradient by Σ_j k_ij; it should receive those of all, "
         "k_ij·g_j"},
        {(g - repel) / m, "particles do not share their gradients; k_ij weighs g_j"},
        {(drive - at.repel()) / m, "α is left out"},
        {alpha * (drive - at.repel()) / m,
         "α weighs both forces; it belongs to the repulsion alone"},
        {drive / m, "nothing repels: the second force is missing"}};
    if (kernel.name == "linear")
      mistakes.push_back({(drive - other_argument) / m,
                          "k(θ_j, θ_i) is differentiated with respect to θ_i, the particle that "
                          "is pushed, instead of θ_j"});
    compare(detail::join("-φ with ", name), answer, right, mistakes);
  }
}

void check_pair_distance(decltype(pair_distance)* yours) {
  using Score = std::function<double(double)>;
  const std::vector<std::pair<std::string, Score>> densities = {
      {"N(0, 1)", [](double x) { return -x; }},
      {"p ∝ exp(-x⁴/4)", [](double x) { return -x * x * x; }},
      {"the logistic density", [](double x) { return -std::tanh(x / 2); }}};
  for (const auto& [name, score] : densities)
    for (const auto& [alpha, h2] : {std::pair{1.0, 0.5}, {0.3, 2.0}}) {
      const auto rest = [&, &drive = score](double other_drive, double exponent, double push) {
        return twice_root([&](double a) {
          const double k = std::exp(-exponent * a * a);
          return drive(a) * (1 + other_drive * k) + push * k * a;
        });
      };
      const double e = 2 / h2, push = 2 * alpha / h2, right = rest(-1, e, push);
      const std::string on = detail::join("on ", name, ", α = ", alpha, ", h² = ", h2, ": ");
      compare(
          on + "the distance", yours(score, alpha, h2),
          name == "N(0, 1)" ? std::sqrt(2 * h2 * std::log(1 + 2 * alpha / h2))
                            : distance_after_svgd(score, alpha, h2),
          {{right / 2, on + "this is a, the distance from 0; the particles are 2a apart"},
           {rest(0, e, push), on + "a particle is driven by its own score alone; the other one "
                                   "shares its score too, weighed by k"},
           {rest(1, e, push), on + "the other particle's score is s(-a) = -s(a): it pulls the "
                                   "other way"},
           {rest(-1, 2 * e, push), on + "k is exp(-d²/h²); it should be exp(-d²/(2h²))"},
           {rest(-1, e / 4, push), on + "k is of the distance a; the particles are 2a apart"},
           {rest(-1, e, push / 2), on + "the repulsion is k·a/h²; the difference is 2a"},
           {rest(-1, e, push * std::sqrt(h2)), on + "the repulsion is divided by h, not by h²"},
           {rest(-1, e, push / alpha), on + "α is left out"},
           {rest(-1, e, 2 * push), on + "the repulsion is twice too large: the mean over the two "
                                        "particles is of both forces"}},
          1e-6);
    }
}
