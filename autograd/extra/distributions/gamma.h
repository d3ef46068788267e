#pragma once
// The Gamma distribution, and two distributions that are built on it: Beta and Dirichlet.
//
// Beta and Dirichlet draws are ratios of Gamma draws, computed in logarithms, so that small
// concentrations do not underflow. Gradients of draws with respect to the concentrations are
// implicit: they keep the distribution function at the draw constant (Figurnov, Mohamed and Mnih
// 2018, "Implicit reparameterization gradients"), and are accurate to about 1e-12. Second
// derivatives of draws throw Error.

#include "ladon/autograd/extra/distributions/distribution.h"

namespace ladon {

/// Density rate^a·x^(a−1)·e^(−rate·x)/Γ(a) with a = concentration. Throws Error unless both
/// parameters are positive and finite.
class Gamma : public Distribution {
 public:
  Gamma(const Tensor& concentration, const Tensor& rate);
  const char* name() const override { return "Gamma"; }
  Shape batch_shape() const override { return concentration_.shape(); }
  Tensor rsample(const Shape& shape, Generator& rng) const override;
  Tensor log_prob(const Tensor& x) const override;
  Tensor mean() const override;
  Tensor variance() const override;
  Tensor entropy() const override;

 protected:
  Tensor kl_from(const Distribution& other) const override;

 private:
  Tensor concentration_, rate_;
};

/// Density Γ(Σa)/ΠΓ(a_k)·Πx_k^(a_k−1) of n ≥ 1 probabilities x [n] that sum to 1, with the
/// concentration a [batch, n]. Throws Error unless the concentrations are positive and finite.
class Dirichlet : public Distribution {
 public:
  explicit Dirichlet(const Tensor& concentration);
  const char* name() const override { return "Dirichlet"; }
  Shape batch_shape() const override;
  Shape event_shape() const override { return {concentration_.size(-1)}; }
  Tensor rsample(const Shape& shape, Generator& rng) const override;
  /// The result is −∞ if an element of x is outside [0, 1], or if the sum of its n elements differs
  /// from 1 by more than 1e-5.
  Tensor log_prob(const Tensor& x) const override;
  Tensor mean() const override;
  Tensor variance() const override;
  Tensor entropy() const override;

 protected:
  Tensor kl_from(const Distribution& other) const override;

 private:
  Tensor concentration_;
};

/// Density Γ(a + b)/(Γ(a)Γ(b))·x^(a−1)·(1 − x)^(b−1), the density of the first component of a
/// Dirichlet distribution with concentration (a, b). Throws Error unless a and b are positive and
/// finite.
class Beta : public Distribution {
 public:
  Beta(const Tensor& a, const Tensor& b);
  const char* name() const override { return "Beta"; }
  Shape batch_shape() const override { return both_.batch_shape(); }
  Tensor rsample(const Shape& shape, Generator& rng) const override;
  Tensor log_prob(const Tensor& x) const override;
  Tensor mean() const override;
  Tensor variance() const override;
  Tensor entropy() const override { return both_.entropy(); }

 protected:
  Tensor kl_from(const Distribution& other) const override;

 private:
  Tensor a_, b_;
  Dirichlet both_;
};

}  // namespace ladon
