#pragma once
// Rules that compute the dual of a DualFunction. Internal to this folder.

#include "ladon/core/kernels/dual.h"
#include "ladon/layers/infinite/dual/dual.h"

namespace ladon::infinite {

class DualRule : public std::enable_shared_from_this<DualRule> {
 public:
  virtual ~DualRule() = default;
  /// Result of dual() for checked operands.
  virtual DualResult evaluate(const Tensor& p, const Tensor& q, const Tensor& c,
                              bool with_derivative) const = 0;
};

/// Rule that computes values of E and E', and the derivatives of both, which their gradients need.
class SlopedRule : public DualRule {
 public:
  DualResult evaluate(const Tensor& p, const Tensor& q, const Tensor& c,
                      bool with_derivative) const final;

 private:
  /// E[φ(u)φ(v)] and E[φ'(u)φ'(v)].
  virtual kernels::DualPair values(const Tensor& p, const Tensor& q, const Tensor& c,
                                   bool with_derivative) const = 0;
  /// ∂E/∂c and ∂E/∂p of E = E[φ(u)φ(v)]; ∂E/∂p is 0 where it is infinite.
  virtual kernels::DualPair slopes(const Tensor& p, const Tensor& q, const Tensor& c) const = 0;
  /// ∂E'/∂c and ∂E'/∂p of E' = E[φ'(u)φ'(v)]; 0 where they are infinite.
  virtual kernels::DualPair curvatures(const Tensor& p, const Tensor& q, const Tensor& c) const = 0;

  using Slopes = kernels::DualPair (SlopedRule::*)(const Tensor&, const Tensor&,
                                                   const Tensor&) const;
  Tensor record_by(const char* name, const Tensor& value, const Tensor& p, const Tensor& q,
                   const Tensor& c, Slopes rule) const;
};

}  // namespace ladon::infinite
