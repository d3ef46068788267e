#include "ladon/examples/gp_classify/predict.h"

#include <cmath>
#include <limits>
#include <optional>

#include "ladon/autograd/ops.h"
#include "ladon/core/data/metrics.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/optim/posterior/search.h"

namespace ladon::example {
namespace {

constexpr double noises[noises_tried] = {1e-4, 1e-3, 1e-2, 1e-1, 1};

/// The unit of the noise.
double mean_diagonal(const Kernels& kernels) { return mean(diagonal(kernels.train)).item(); }

}  // namespace

// With a floor under what a quadrature can tell from 0.
Tensor probabilities(const Tensor& mean, const Tensor& variance, double amplitude) {
  constexpr double least = 1e-12;
  const Tensor p = class_probabilities(mean, variance * amplitude) + least;
  return p / sum(p, 1, keep_dims);
}

Fit fit(const Kernels& kernels, const Tensor& labels, std::int64_t classes,
        const std::function<void()>& after_noise) {
  const Tensor targets = classification_targets(labels, classes);
  const double scale = mean_diagonal(kernels);
  Choice best{.loo_nll = std::numeric_limits<double>::infinity()};
  std::optional<GaussianProcess> chosen;
  for (const double noise : noises) {
    const GaussianProcess process(kernels.train, targets, {.noise = noise * scale});
    const LeaveOneOut left_out = process.leave_one_out();
    const double likeliest = process.amplitude();
    const auto nll = [&](double log_factor) {
      return metrics::nll(
          probabilities(left_out.mean, left_out.variance, likeliest * std::exp(log_factor)),
          labels);
    };
    const auto [log_factor, smallest_nll] = smallest(-6, 3, 0.25, nll);
    after_noise();
    if (smallest_nll >= best.loo_nll) continue;
    best = {.noise = noise,
            .amplitude = likeliest * std::exp(log_factor),
            .loo_nll = smallest_nll,
            .loo_accuracy = metrics::accuracy(left_out.mean, labels)};
    chosen = process;
  }
  return {*chosen, best};
}

std::string noise_in_words(double noise) {
  return join(noise, noise == noises[0]                  ? " (the smallest tried)"
                     : noise == noises[noises_tried - 1] ? " (the largest tried)"
                                                         : "");
}

Tensor predict(const Fit& fit, const Kernels& kernels) {
  const GpPrediction posterior = fit.process.predict(kernels.cross, kernels.test);
  const Tensor variance = posterior.covariance + fit.choice.noise * mean_diagonal(kernels);
  return probabilities(posterior.mean, variance, fit.choice.amplitude);
}

}  // namespace ladon::example
