#include "ladon/autograd/extra/distributions/normal.h"

#include <cmath>
#include <numbers>
#include <tuple>

#include "ladon/autograd/operands.h"
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
  check_defined("Normal", {x});
  const Tensor mu = cast(mean_, f64), sigma = cast(stddev_, f64);
  const Tensor y = -0.5 * square((cast(x, f64) - mu) / sigma) - log(sigma) - half_log_2pi;
  return cast(y, promote(mean_.dtype(), x.dtype()));
}

Tensor Normal::variance() const { return cast(square(cast(stddev_, f64)), stddev_.dtype()); }

Tensor Normal::entropy() const {
  return cast(log(cast(stddev_, f64)) + (0.5 + half_log_2pi), stddev_.dtype());
}

// KL of N(μ, σ²) from N(μ', σ'²): ln(σ'/σ) + (σ² + (μ − μ')²)/(2σ'²) − ½, rewritten with r = σ/σ'
// as (r − 1 − ln r) + (r − 1)²/2 + (μ − μ')²/(2σ'²), where no term is negative.
Tensor Normal::kl_from(const Distribution& other) const {
  const Normal& q = detail::same_family(*this, other);
  const Tensor sigma = cast(stddev_, f64), sigma_q = cast(q.stddev_, f64);
  const Tensor wider = (sigma - sigma_q) / sigma_q,
               apart = (cast(mean_, f64) - cast(q.mean_, f64)) / sigma_q;
  return cast(detail::excess(sigma, sigma_q) + 0.5 * (square(wider) + square(apart)),
              promote(stddev_.dtype(), q.stddev_.dtype()));
}

}  // namespace ladon
