#include "ladon/optim/samplers/smc.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/unread.h"

namespace ladon {
namespace {

constexpr const char* operation = "tempered_smc";
constexpr std::size_t most_stages = 1000;

/// Importance weights exp(δ·ℓ_i) of particles with log likelihoods ℓ_i, divided by the largest
/// weight, and the logarithm of the mean of the undivided weights.
struct Weights {
  std::vector<double> relative;
  double log_mean;
  Weights(const std::vector<double>& log_likelihood, double delta) {
    double largest = -std::numeric_limits<double>::infinity();
    for (const double l : log_likelihood) largest = std::max(largest, l);
    LADON_CHECK(std::isfinite(largest), operation,
                "the likelihood must be finite, and positive for some particle, but the largest "
                "likelihood of all ",
                log_likelihood.size(), " particles is ", largest == INFINITY ? "infinite" : "0");
    double sum = 0;
    for (const double l : log_likelihood) {
      relative.push_back(std::exp(delta * (l - largest)));
      sum += relative.back();
    }
    log_mean = delta * largest + std::log(sum / static_cast<double>(relative.size()));
  }
  /// Effective sample size (Σw)²/Σw² divided by the number of particles.
  double effective_share() const {
    double sum = 0, squares = 0;
    for (const double w : relative) {
      sum += w;
      squares += w * w;
    }
    return sum * sum / squares / static_cast<double>(relative.size());
  }
};

/// The largest step Δβ, up to `most`, at which the weights' effective_share() is at least `keep`.
double next_step(const std::vector<double>& log_likelihood, double most, double keep) {
  if (Weights(log_likelihood, most).effective_share() >= keep) return most;
  double low = 0, high = most;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (Weights(log_likelihood, middle).effective_share() >= keep ? low : high) = middle;
  }
  // If even the smallest step gives less than `keep` (most particles have likelihood 0), take it.
  return low > 0 ? low : high;
}

/// Indices of P resampled particles, by systematic resampling with one uniform number u in [0, 1):
/// particle i is chosen ⌊P·w_i/Σw⌋ or ⌈P·w_i/Σw⌉ times.
std::vector<std::int64_t> resample(const Weights& weights, double u) {
  double sum = 0;
  for (const double w : weights.relative) sum += w;
  const auto p = static_cast<double>(weights.relative.size());
  std::vector<std::int64_t> chosen;
  double reached = 0;
  for (std::size_t i = 0; i < weights.relative.size(); ++i) {
    reached += weights.relative[i] / sum * p;
    while (static_cast<double>(chosen.size()) + u < reached &&
           chosen.size() < weights.relative.size())
      chosen.push_back(static_cast<std::int64_t>(i));
  }
  while (chosen.size() < weights.relative.size())
    chosen.push_back(chosen.back());  // rounding of `reached` can leave out the last particles
  return chosen;
}

void check(std::int64_t dim, const LogLikelihood& f, const SmcOptions& o) {
  LADON_CHECK(f, operation,
              "the likelihood is an empty function; pass one that maps [P, D] to ln L [P]");
  LADON_CHECK(dim >= 1 && o.parts >= 1 && dim % o.parts == 0, operation, "rows of ", dim,
              " numbers cannot be split into ", o.parts,
              " equal parts; both must be at least 1, and `parts` must divide the dimension");
  LADON_CHECK(o.particles >= 2, operation, "particles must be at least 2, got ", o.particles);
  LADON_CHECK(o.keep > 0 && o.keep < 1, operation, "keep is ", o.keep, "; it must be in (0, 1)");
  LADON_CHECK(o.betas.size() <= most_stages, operation, "betas has ", o.betas.size(),
              " values; at most ", most_stages, " are allowed");
  LADON_CHECK(o.betas.empty() || o.betas.back() == 1, operation, "the last β is ",
              o.betas.empty() ? 1 : o.betas.back(), "; it must be 1");
  for (std::size_t k = 0; k < o.betas.size(); ++k) {
    const double before = k == 0 ? 0 : o.betas[k - 1];
    LADON_CHECK(o.betas[k] > before, operation, "β is ", o.betas[k], " after ", before,
                "; betas must increase");
  }
  if (!o.betas.empty())
    detail::check_unread(operation, "keep", o.keep, SmcOptions{}.keep,
                         "betas are given, so it chooses nothing; leave betas empty");
  LADON_CHECK(o.sweeps >= 1 && o.recorded >= 0, operation, "sweeps and recorded are ", o.sweeps,
              " and ", o.recorded, "; they must be at least 1 and 0");
}

}  // namespace

SmcResult tempered_smc(std::int64_t dim, const LogLikelihood& f, const SmcOptions& options,
                       Generator& rng, const std::function<void(const EllipticalState&)>& record) {
  const NoGrad off;
  check(dim, f, options);
  const Generator source = rng.split(rng.reserve(1));
  Generator start = source.split(0), picks = source.split(1);
  SmcResult run;
  run.state.z = normal({options.particles, dim}, start, 0, 1, f64);
  run.state.log_likelihood = f(run.state.z);
  const Tensor& values = run.state.log_likelihood;
  LADON_CHECK(
      values.defined() && values.dtype() == f64 && values.shape() == Shape{options.particles},
      operation, "for ", options.particles, " particles the likelihood must return f64 ",
      Shape{options.particles}, ", got ", detail::kind_in_words(values));
  run.judged = options.particles;
  std::uint64_t moves = 2;
  const std::int64_t width = dim / options.parts;
  const auto sweep = [&](double beta) {
    for (std::int64_t part = 0; part < options.parts; ++part)
      run.judged += elliptical_slice(run.state, f, beta, part * width, (part + 1) * width,
                                     source.split(moves++));
  };
  for (double beta = 0; beta < 1;) {
    std::vector<double> likelihood = numbers_of("tempered_smc", run.state.log_likelihood);
    for (double& l : likelihood)
      if (std::isnan(l)) l = -std::numeric_limits<double>::infinity();
    const double step = options.betas.empty() ? next_step(likelihood, 1 - beta, options.keep)
                                              : options.betas[run.betas.size()] - beta;
    const Weights weights(likelihood, step);
    run.log_evidence += weights.log_mean;
    beta = step >= 1 - beta ? 1 : beta + step;
    run.betas.push_back(beta);
    LADON_CHECK(run.betas.size() <= most_stages, operation, "β is only ", beta, " after ",
                most_stages,
                " stages: the likelihoods of particles differ too much; is the noise too small?");
    const std::vector<std::int64_t> chosen = resample(weights, picks.uniform());
    const Tensor rows = from_vector(chosen, {options.particles});
    run.state = {index_select(run.state.z, 0, rows),
                 index_select(run.state.log_likelihood, 0, rows)};
    for (std::int64_t i = 0; i < options.sweeps; ++i) sweep(beta);
  }
  for (std::int64_t i = 0; i < options.recorded; ++i) {
    sweep(1);
    if (record) record(run.state);
  }
  return run;
}

}  // namespace ladon
