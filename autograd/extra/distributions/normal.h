#pragma once
// The normal distribution.

#include "ladon/autograd/extra/distributions/distribution.h"

namespace ladon {

/// Independent normal distributions N(mean, stddev²). Throws Error unless both parameters are
/// finite and stddev is positive.
class Normal : public Distribution {
 public:
  Normal(const Tensor& mean, const Tensor& stddev);
  /// One distribution in f32. For f64 write Normal(scalar(mean, f64), scalar(stddev, f64)).
  Normal(double mean, double stddev);
  const char* name() const override { return "Normal"; }
  Shape batch_shape() const override { return mean_.shape(); }
  Tensor rsample(const Shape& shape, Generator& rng) const override;
  Tensor log_prob(const Tensor& x) const override;
  Tensor mean() const override { return mean_; }
  Tensor variance() const override;
  Tensor entropy() const override;

 protected:
  Tensor kl_from(const Distribution& other) const override;

 private:
  Tensor mean_, stddev_;
};

}  // namespace ladon
