#include "ladon/examples/gp_classify/predict.h"

#include <limits>

#include "ladon/autograd/ops.h"
#include "ladon/core/data/metrics.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/search.h"

namespace ladon::example {

Choice choose(const Tensor& kernel, const Tensor& labels, std::int64_t classes,
              const std::function<void()>& after_noise) {
  const Tensor targets = classification_targets(labels, classes);
  const double scale = mean(diagonal(kernel)).item();
  Choice best{.loo_nll = std::numeric_limits<double>::infinity()};
  for (const double noise : noises) {
    const GaussianProcess process(kernel, targets, {.noise = noise * scale});
    const LeaveOneOut left_out = process.leave_one_out();
    const double likeliest = process.amplitude();
    const auto nll = [&](double log_factor) {
      return metrics::nll(
          probabilities(left_out.mean, left_out.variance, likeliest * std::exp(log_factor)),
          labels);
    };
    const auto [log_factor, smallest_nll] = smallest(-6, 3, 0.25, nll);
    if (smallest_nll < best.loo_nll)
      best = {.noise = noise,
              .amplitude = likeliest * std::exp(log_factor),
              .loo_nll = smallest_nll,
              .loo_accuracy = metrics::accuracy(left_out.mean, labels)};
    after_noise();
  }
  return best;
}

// With a floor under what a quadrature can tell from 0.
Tensor probabilities(const Tensor& mean, const Tensor& variance, double amplitude) {
  constexpr double least = 1e-12;
  const Tensor p = class_probabilities(mean, variance * amplitude) + least;
  return p / sum(p, 1, keep_dims);
}

}  // namespace ladon::example
