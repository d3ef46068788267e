// z are the latent variables, K_z is the kernel given z, and m_z and C_z are the mean and
// covariance of f at the test inputs given z and the targets (latent_posterior.h).

#include "ladon/optim/posterior/latent_posterior.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/autograd/running_moments.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/unread.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

constexpr std::string_view operation = "sample_posterior";

/// Kernels [P, count, count] of the latents z [P, dim].
Tensor kernels_of(const infinite::LatentKernel& kernel, const Tensor& z, std::int64_t count) {
  const Tensor k = kernel.at(z, count);
  const Shape expected{z.size(0), count, count};
  LADON_CHECK(k.defined() && k.dtype() == f64 && k.shape() == expected, operation, "for latents ",
              z.shape(), " and ", count, " inputs `at` returns ", detail::kind_in_words(k),
              "; it must return kernels f64 ", expected);
  return k;
}

/// Targets Y [N, O] whitened by the Cholesky factor L of K + σ²I: L⁻¹Y, and their log density
/// (Rasmussen and Williams 2006, eq. 2.30).
struct Whitened {
  Tensor factor, targets;

  Whitened(const Tensor& kernel, const Tensor& y, double noise)
      : factor(lapack::cholesky(kernel + noise * eye(kernel.size(0), f64))),
        targets(lapack::solve_triangular(factor, y)) {}
  double log_density() const {
    const double n = static_cast<double>(targets.size(0)), outputs = targets.size(1);
    return -0.5 * number_of("sample_posterior", dot(flatten(targets), flatten(targets))) -
           outputs * number_of("sample_posterior", sum(log(diagonal(factor)))) -
           0.5 * n * outputs * std::log(2 * std::numbers::pi);
  }
};

/// m_z [M, O] and C_z [M, M] from the kernel K_z [N + M, N + M] and targets y [N, O].
GpPrediction posterior_of(const Tensor& kernel, const Tensor& y, double noise) {
  const Slice train{.stop = y.size(0)}, test{.start = y.size(0)};
  return GaussianProcess(at(kernel, {train, train}), y, {.noise = noise, .jitter = 0})
      .predict(transpose(at(kernel, {train, test})), at(kernel, {test, test}));
}

/// Running means over draws z of m_z, C_z and m_z·m_zᵀ.
class Averages {
 public:
  void add(const GpPrediction& one) {
    const Tensor m = transpose(one.mean);  // [O, M]
    const Tensor products = unsqueeze(m, 2) * unsqueeze(m, 1);
    if (count_++ == 0) {
      mean_ = clone(one.mean);
      within_ = clone(one.covariance);
      products_ = products;
      return;
    }
    add_(mean_, one.mean);
    add_(within_, one.covariance);
    add_(products_, products);
  }
  Tensor mean() const { return mean_ / n(); }
  Tensor within() const { return within_ / n(); }
  Tensor between() const {
    const Tensor m = transpose(mean());
    return products_ / n() - unsqueeze(m, 2) * unsqueeze(m, 1);
  }

 private:
  double n() const { return static_cast<double>(count_); }
  std::int64_t count_ = 0;
  Tensor mean_, within_, products_;
};

/// One run of sequential Monte Carlo and its predictions at the test inputs.
struct Replicate {
  SmcResult run;
  Averages averages;
  std::vector<Tensor> means, variances;  // m_z and diagonals of C_z, after the last sweep
};

struct Problem {
  const infinite::LatentKernel& kernel;
  std::int64_t inputs;
  Tensor targets;
  double noise;

  void record(const EllipticalState& state, Replicate& to) const {
    constexpr std::int64_t held = 256;
    to.means.clear();
    to.variances.clear();
    const std::int64_t rows = state.z.size(0);
    for (std::int64_t start = 0; start < rows; start += held) {
      const Tensor z = slice(state.z, 0, {.start = start, .stop = start + held});
      const Tensor kernels = kernels_of(kernel, z, inputs);
      const auto make = [&](std::int64_t i) {
        return posterior_of(select(kernels, 0, i), targets, noise);
      };
      parallel::in_order(z.size(0), held, make, [&](const GpPrediction& one) {
        to.averages.add(one);
        to.means.push_back(one.mean);
        to.variances.push_back(clone(diagonal(one.covariance)));
      });
    }
  }
};

/// Logarithm of the mean of evidences, given their logarithms, with its standard error by the delta
/// method.
Measured log_mean(const std::vector<double>& logarithms) {
  double largest = logarithms[0], sum = 0, squares = 0;
  for (const double l : logarithms) largest = std::max(largest, l);
  const auto n = static_cast<double>(logarithms.size());
  for (const double l : logarithms) sum += std::exp(l - largest) / n;
  for (const double l : logarithms) {
    const double deviation = std::exp(l - largest) / sum - 1;
    squares += deviation * deviation;
  }
  return {largest + std::log(sum), std::sqrt(squares / (n - 1) / n)};
}

}  // namespace

LogLikelihood latent_likelihood(const infinite::LatentKernel& kernel, const Tensor& targets,
                                double noise) {
  LADON_CHECK(kernel.at && kernel.dim >= 1, operation,
              "the kernel has no latents; it needs a function `at` and dim of at least 1");
  LADON_CHECK(std::isfinite(noise) && noise > 0, operation, "the noise is ", noise,
              "; it must be positive, because kernels of few heads have low rank");
  LADON_CHECK(targets.defined() && targets.rank() >= 1 && targets.size(0) >= 1, operation,
              "the targets must be [N] or [N, O]");
  const std::int64_t n = targets.size(0);
  const Tensor y = clone(kernel_blocks::target_block(operation, "the targets", targets, n));
  return [kernel, y, n, noise](const Tensor& z) {
    const Tensor kernels = kernels_of(kernel, z, n);
    const NoGrad off;
    std::vector<double> values(z.size(0));
    parallel::for_range(z.size(0), 16, [&](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) values[i] = Whitened(select(kernels, 0, i), y, noise).log_density();
    });
    return from_vector(values, {z.size(0)});
  };
}

Tensor draw_functions(const infinite::LatentKernel& kernel, std::int64_t inputs,
                      const Tensor& targets, double noise, const Tensor& latents, Generator& rng) {
  const NoGrad off;
  latent_likelihood(kernel, targets, noise);  // called only to check the arguments
  LADON_CHECK(inputs > targets.size(0), operation, "there are ", targets.size(0), " targets for ",
              inputs, " inputs; there must be at least one test input");
  LADON_CHECK(latents.defined() && latents.rank() == 2 && latents.size(1) == kernel.dim, operation,
              "latents must be [F, ", kernel.dim, "], got ", detail::shape_in_words(latents));
  const Tensor y = kernel_blocks::target_block(operation, "the targets", targets, targets.size(0));
  const Tensor kernels = kernels_of(kernel, contiguous(latents), inputs);
  const Generator source = rng.split(rng.reserve(1));
  std::vector<Tensor> functions;
  for (std::int64_t i = 0; i < latents.size(0); ++i) {
    const GpPrediction given = posterior_of(select(kernels, 0, i), y, noise);
    const auto [values, vectors] =
        lapack::eigh(given.covariance);  // not Cholesky, because the covariance has low rank
    Generator own = source.split(static_cast<std::uint64_t>(i));
    const Tensor xi = normal(given.mean.shape(), own, 0, 1, f64);
    const Tensor scale = unsqueeze(sqrt(maximum(values, scalar(0, f64))), 1);
    functions.push_back(given.mean + matmul(vectors, scale * xi));
  }
  return stack(functions, 0);
}

Tensor LatentPosterior::covariance(std::int64_t output) const {
  return within + select(between, 0, output);
}
Tensor LatentPosterior::variance(std::int64_t output) const {
  return clone(diagonal(covariance(output)));
}

LatentPosterior sample_posterior(const infinite::LatentKernel& kernel, std::int64_t inputs,
                                 const Tensor& targets, const LatentPosteriorOptions& options,
                                 Generator& rng) {
  const NoGrad off;
  const LogLikelihood likelihood = latent_likelihood(kernel, targets, options.noise);
  LADON_CHECK(options.replicates >= 2, operation,
              "needs at least two replicates for standard errors, got ", options.replicates);
  LADON_CHECK(inputs > targets.size(0), operation, "there are ", targets.size(0), " targets for ",
              inputs, " inputs; training inputs come first, followed by at least one test input");
  const Problem problem{
      kernel, inputs,
      kernel_blocks::target_block(operation, "the targets", targets, targets.size(0)),
      options.noise};
  SmcOptions smc = options.smc;
  detail::check_unread(operation, "smc.parts", smc.parts, SmcOptions{}.parts,
                       "it is chosen from the kernel's heads; to set it, call tempered_smc()");
  smc.parts = 8;
  while (kernel.parts % smc.parts != 0) --smc.parts;
  const Generator source = rng.split(rng.reserve(1));

  LatentPosterior out;
  RunningMoments mean, within, between;
  std::vector<double> evidences;
  std::vector<Tensor> latents, means, variances;
  for (std::int64_t r = 0; r < options.replicates; ++r) {
    Replicate one;
    Generator own = source.split(static_cast<std::uint64_t>(r));
    one.run = tempered_smc(kernel.dim, likelihood, smc, own,
                           [&](const EllipticalState& state) { problem.record(state, one); });
    mean.add(one.averages.mean());
    within.add(one.averages.within());
    between.add(one.averages.between());
    evidences.push_back(one.run.log_evidence);
    latents.push_back(one.run.state.z);
    means.push_back(stack(one.means, 0));
    variances.push_back(stack(one.variances, 0));
    out.stages = static_cast<std::int64_t>(one.run.betas.size());
    out.judged += one.run.judged;
    if (options.progress) options.progress(r + 1, options.replicates);
  }
  out.log_evidence = log_mean(evidences);
  out.mean = mean.mean();
  out.mean_se = mean.standard_error();
  out.within = within.mean();
  out.within_se = within.standard_error();
  out.between = between.mean();
  out.between_se = between.standard_error();
  out.latents = concat(latents, 0);
  out.means = concat(means, 0);
  out.variances = concat(variances, 0);
  return out;
}

}  // namespace ladon
