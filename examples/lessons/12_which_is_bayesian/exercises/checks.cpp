#include "12_which_is_bayesian/exercises/exercises.h"

using namespace ladon;
using lessons::compare;
using lessons::require;
using lessons::Wrong;

namespace {

/// Half-width, in standard deviations, of the central interval of N(0, 1) with this mass.
double half_width(double level) {
  double low = 0, high = 10;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (std::erf(middle / std::numbers::sqrt2) < level ? low : high) = middle;
  }
  return low;
}

/// Mass of N(0, sd²) between shift − half and shift + half.
double mass(double shift, double half, double sd) {
  const double unit = sd * std::numbers::sqrt2;
  return 0.5 * (std::erf((shift + half) / unit) - std::erf((shift - half) / unit));
}

/// The coverage that the library computes, for the levels 0.5 and 0.9.
double coverage_by_library(const BelievedValue& belief, const BelievedValue& truth, double noise,
                           double level) {
  const auto as_belief = [](const BelievedValue& v) {
    return belief_of(GpPrediction{full({1, 1}, v.mean, f64), full({1, 1}, v.variance, f64)});
  };
  const BeliefScore score = score_belief(as_belief(belief), as_belief(truth), noise);
  return level == 0.9 ? score.coverage90 : score.coverage50;
}

/// Mean [D] and covariance [D, D] of the draws of a possible solution, and the message for a
/// student whose draws have these moments.
struct Moments {
  Tensor mean, covariance;
  std::string reason = {};
};

/// The largest difference between the moments of S draws and the moments `from`, in standard errors
/// for independent normal draws with covariance C: √(C_ii/S) for means and √((C_ii·C_jj + C_ij²)/S)
/// for covariances.
double deviation(const Tensor& draws, const Moments& from) {
  const auto s = static_cast<double>(draws.size(0));
  const Tensor centre = mean(draws, 0), off = draws - from.mean;
  const Tensor variance = diagonal(from.covariance);
  const Tensor products = unsqueeze(variance, 0) * unsqueeze(variance, 1);
  const Tensor covariance = matmul(transpose(off), off) / s;
  const double tiny = 1e-12;  // for members that are all equal
  const Tensor of_mean = abs(centre - from.mean) / sqrt(variance / s + tiny);
  const Tensor of_covariance =
      abs(covariance - from.covariance) / sqrt((products + square(from.covariance)) / s + tiny);
  return std::max(amax(of_mean).item(), amax(of_covariance).item());
}

}  // namespace

void check_combine_members(decltype(combine_members)* yours) {
  Generator rng(1);
  const auto check = [&](const std::string& what, const Tensor& means, const Tensor& variances) {
    const CombinedMembers answer = yours(means, variances);
    const Tensor m = mean(means, 0), within = mean(variances, 0);
    const double s = static_cast<double>(means.size(0));
    compare(what + ", mean", answer.mean, m,
            {{sum(means, 0), what + ", mean: the sum over members"},
             {mean(means, 1), what + ", mean: the axis is that of the members, the first"}});
    const Tensor between = mean(square(means), 0) - square(m);
    const std::string variance = what + ", variance: ";
    compare(
        variance.substr(0, variance.size() - 2), answer.variance, within + between,
        {{within, variance + "the disagreement of members is missing: the variance of their means"},
         {between, variance + "each member's own uncertainty is missing: the mean of their "
                              "variances"},
         {within + var(means, 0), variance + "the divisor of the means' variance is S: the "
                                             "members are all there are"},
         {within / s + between, variance + "the members' variances are averaged, not that of "
                                           "a mean computed (1/S²)"},
         {(within + between) / s, variance + "this is the error of the ensemble's mean; its "
                                             "belief does not narrow with more members"},
         {square(mean(sqrt(variances), 0)) + between,
          variance + "standard deviations are averaged; variances add, not their roots"},
         {within + mean(square(means), 0), variance + "the square of the mean is not subtracted"},
         {sqrt(within + between), variance + "this is the standard deviation"}});
  };
  check("two members", reshape(tensor({1, 0, 3, 0}, f64), {2, 2}),
        reshape(tensor({1, 4, 2, 2}, f64), {2, 2}));
  check("seven members", normal({7, 4}, rng, f64), square(normal({7, 4}, rng, f64)));
  const Tensor certain = zeros({20, 3}, f64), functions = normal({20, 3}, rng, f64);
  check("members that are single functions", functions, certain);
  check("one member", normal({1, 4}, rng, f64), square(normal({1, 4}, rng, f64)));
}

void check_central_coverage(decltype(central_coverage)* yours) {
  const auto check = [&](const std::string& what, const BelievedValue& belief,
                         const BelievedValue& truth, double noise, double level) {
    const double shift = belief.mean - truth.mean, z = half_width(level);
    const double mine = std::sqrt(belief.variance + noise), sd = std::sqrt(truth.variance + noise);
    const std::string name = detail::join(what, ", level ", level), is = name + ": ";
    const double one_sided = half_width(2 * level - 1);  // Φ(z) = level
    compare(
        name, yours(belief, truth, noise, level), coverage_by_library(belief, truth, noise, level),
        {{mass(shift, one_sided * mine, sd), is +
                                                 "Φ(z) = level leaves 1 − level out at both sides; "
                                                 "a central interval leaves out half of it"},
         {0.5 * (1 + std::erf((shift + one_sided * mine) / sd / std::numbers::sqrt2)),
          is + "a one-sided interval; a central one has a lower end too"},
         {mass(shift, z * std::sqrt(belief.variance), sd),
          is + "the belief's interval is that of f; a target has noise, too"},
         {mass(shift, z * mine, std::sqrt(truth.variance)),
          is + "the true target has noise: its variance is that of f plus σ²"},
         {mass(shift, z * std::sqrt(belief.variance), std::sqrt(truth.variance)),
          is + "this is the coverage of f; a target has noise, in belief and truth"},
         {mass(shift, z * (std::sqrt(belief.variance) + std::sqrt(noise)), sd),
          is + "standard deviations do not add; variances do"},
         {mass(shift, z * mine * mine, sd), is + "the half-width is z standard deviations, not "
                                                 "variances"},
         {mass(shift, z * sd, mine), is + "belief and truth are exchanged"},
         {mass(0, z * mine, sd), is + "the two means differ: the interval is not in the middle of "
                                      "the truth"},
         {level, is + "the level itself: the interval is judged by the belief, not by the truth"}},
        1e-6);
  };
  check("a belief that is right", {1, 2}, {1, 2}, 0.1, 0.9);
  check("a narrow belief", {0.2, 0.1}, {0, 1}, 0.3, 0.9);
  check("a narrow belief", {0.2, 0.1}, {0, 1}, 0.3, 0.5);
  check("a wide belief", {-0.5, 4}, {0.3, 0.6}, 0.2, 0.9);
  check("a belief beside the truth", {2, 0.2}, {0, 0.3}, 0.05, 0.5);
}

void check_randomized_fits(decltype(randomized_fits)* yours) {
  Generator rng(7);
  constexpr std::int64_t n = 4, dim = 6, members = 20'000;
  constexpr double noise = 0.3;
  constexpr double far = 5;  // in about one run of 60,000 one of 27 normal numbers is beyond it
  const Tensor features = normal({n, dim}, rng, f64), y = normal({n}, rng, 0, 2, f64);
  const auto gain = [&](double ridge) {  // w = G·y
    const Tensor a = matmul(features, transpose(features)) + ridge * eye(n, f64);
    return transpose(solve(a, features));
  };
  const Tensor g = gain(noise), left = eye(dim, f64) - matmul(g, features), m = matmul(g, y);
  const auto moments = [&](const Tensor& of_start, double of_noise, const char* reason) {
    return Moments{m, matmul(of_start, transpose(of_start)) + of_noise * matmul(g, transpose(g)),
                   reason};
  };
  const Tensor draws = yours(features, y, noise, members, rng);
  require(draws.defined() && draws.shape() == Shape{members, dim},
          "the result should have a row of D weights for each member");
  require(all(isfinite(draws)).item<bool>(), "some weights are not finite");
  const Moments exact{m, left};
  if (deviation(draws, exact) > far) {
    const Tensor none = zeros({dim, dim}, f64), one_each = eye(dim, f64);
    const Tensor plain = gain(1), rest = one_each - matmul(plain, features);
    const Moments wrong[] = {
        moments(none, 0, "all members are equal: they share the targets and the anchors"),
        moments(left, 0,
                "members share the targets' noise: the part σ²GGᵀ of the posterior covariance is "
                "missing"),
        moments(none, noise,
                "members are pulled to 0, not to draws of the prior: where the data "
                "say nothing they all agree"),
        moments(left, noise * noise, "the noise has standard deviation σ²; σ² is its variance"),
        moments(left, 1, "the noise of the targets has variance 1, not σ²"),
        moments(left, 2 * noise, "the noise of the targets has twice its variance"),
        moments(one_each, noise,
                "the fit is to y, not to the residual of the draw from the prior, y + e − Φw_s")};
    const Moments ridge{matmul(plain, y),
                        matmul(rest, transpose(rest)) + noise * matmul(plain, transpose(plain))};
    const Tensor centred = draws - mean(draws, 0) + m;  // to judge the covariance alone
    for (const Moments& one : wrong) require(deviation(centred, one) > far, one.reason);
    require(deviation(draws, ridge) > far,
            "the penalty has no weight σ²: A is ΦΦᵀ + σ²·I, not ΦΦᵀ + I");
    require(deviation(centred, exact) > far,
            "the covariance is the posterior's, and the mean is not: it is Φᵀ(ΦΦᵀ + σ²)⁻¹y");
    throw Wrong(detail::join("the draws are ", deviation(draws, exact),
                             " standard errors from the posterior's moments; the first weight has "
                             "variance ",
                             var(select(draws, 1, 0)).item(), " instead of ",
                             at(left, {0, 0}).item()));
  }
}
