#include "ladon/autograd/distributions/normal.h"

#include <cmath>
#include <numbers>
#include <tuple>

#include "ladon/autograd/ops/pointwise.h"

namespace ladon {
namespace {

const double half_log_2pi = 0.5 * std::log(2 * std::numbers::pi);

}  // namespace

Normal::Normal(const Tensor& mean, const Tensor& stddev) {
  std::tie(mean_, stddev_) =
      detail::together("Normal", {"mean", mean, false}, {"standard deviation", stddev, true});
}

Normal::Normal(double mean, double stddev) : Normal(scalar(mean), scalar(stddev)) {}

Tensor Normal::rsample(const Shape& shape, Generator& rng) const {
  return mean_ + stddev_ * normal(detail::draw_shape(shape, *this), rng, 0, 1, mean_.dtype());
}

Tensor Normal::log_prob(const Tensor& x) const {
  return -0.5 * square((x - mean_) / stddev_) - log(stddev_) - half_log_2pi;
}

Tensor Normal::variance() const { return square(stddev_); }

Tensor Normal::entropy() const { return log(stddev_) + (0.5 + half_log_2pi); }

// ln(σ'/σ) + (σ² + (μ − μ')²)/(2σ'²) − ½
Tensor Normal::kl_from(const Distribution& other) const {
  const Normal& q = detail::same_family(*this, other);
  const Tensor ratio = stddev_ / q.stddev_, apart = (mean_ - q.mean_) / q.stddev_;
  return 0.5 * (square(ratio) + square(apart) - 1) - log(ratio);
}

}  // namespace ladon
