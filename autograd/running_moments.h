#pragma once
// Means of what is repeated, with their standard errors.

#include <cstdint>

#include "ladon/core/tensor.h"

namespace ladon {

/// Mean and variance of tensors of numbers, one at a time, elementwise in f64 (Welford 1962):
///   m_n = m_{n−1} + (x − m_{n−1})/n,   s_n² = s_{n−1}² + (x − m_{n−1})²·(n − 1)/n,
/// of which the root s is held, since the squares would leave the range of f64 far within it.
/// Holds two tensors of their shape, and a few more while one is added.
class RunningMoments {
 public:
  void add(const Tensor& x);
  std::int64_t count() const { return count_; }
  /// Undefined before the first.
  Tensor mean() const { return mean_; }
  /// sqrt(Σ(x_i − mean)²/(n − 1)/n). Throws Error unless there are two.
  Tensor standard_error() const;

 private:
  std::int64_t count_ = 0;
  Tensor mean_, root_;
};

}  // namespace ladon
