#pragma once
// Running mean and standard error of repeated measurements.

#include <cstdint>

#include "ladon/core/tensor.h"

namespace ladon {

/// Running mean and variance of a sequence of tensors, elementwise in f64. With the n-th sample x,
/// the mean m_n of the first n samples and the sum s_n² of their squared deviations from it are
///   m_n = m_{n−1} + (x − m_{n−1})/n,   s_n² = s_{n−1}² + (x − m_{n−1})²·(n − 1)/n
/// (Welford 1962). The root s_n is stored, since s_n² would overflow or underflow f64 long before
/// s_n does. Stores two tensors of the samples' shape, and a few more during add().
class RunningMoments {
 public:
  void add(const Tensor& x);
  std::int64_t count() const { return count_; }
  /// The mean of the samples; undefined before the first one.
  Tensor mean() const { return mean_; }
  /// The standard error of the mean of n samples x_i, sqrt(Σ(x_i − mean)²/(n − 1)/n). Throws Error
  /// with fewer than two samples.
  Tensor standard_error() const;

 private:
  std::int64_t count_ = 0;
  Tensor mean_, root_;
};

}  // namespace ladon
