#pragma once
// Running mean and standard error of repeated measurements.

#include <cstdint>

#include "ladon/core/tensor.h"

namespace ladon {

/// Running mean and variance of a sequence of tensors, elementwise in f64 (Welford 1962):
///   m_n = m_{n−1} + (x − m_{n−1})/n,   s_n² = s_{n−1}² + (x − m_{n−1})²·(n − 1)/n,
/// The root s is stored, since squares would overflow or underflow f64 long before s does. Holds
/// two tensors of the samples' shape, and a few more while one is added.
class RunningMoments {
 public:
  void add(const Tensor& x);
  std::int64_t count() const { return count_; }
  /// Undefined before the first sample.
  Tensor mean() const { return mean_; }
  /// sqrt(Σ(x_i − mean)²/(n − 1)/n). Throws Error with fewer than two samples.
  Tensor standard_error() const;

 private:
  std::int64_t count_ = 0;
  Tensor mean_, root_;
};

}  // namespace ladon
