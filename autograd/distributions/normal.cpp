#include "ladon/autograd/distributions/normal.h"

#include <cmath>
#include <numbers>

#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"

namespace ladon {
namespace {

const double half_log_2pi = 0.5 * std::log(2 * std::numbers::pi);

}  // namespace

Normal::Normal(const Tensor& mean, const Tensor& stddev) {
  detail::check_parameter("Normal", "mean", mean, false);
  detail::check_parameter("Normal", "standard deviation", stddev, true);
  const Shape batch = broadcast_shapes("Normal", mean.shape(), stddev.shape());
  const DType dtype = promote(mean.dtype(), stddev.dtype());
  mean_ = expand(cast(mean, dtype), batch);
  stddev_ = expand(cast(stddev, dtype), batch);
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
