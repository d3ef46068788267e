#pragma once
// Probability distributions: draws, densities, moments and divergences, which are differentiable.
//
//   const Normal posterior(mean, exp(log_stddev));            // a batch of [B, d] distributions
//   const Tensor z = posterior.rsample({}, rng);             // gradients reach mean and log_stddev
//   const Tensor loss = -log_likelihood(z) + sum(kl(posterior, Normal(0, 1)), -1);
//
// The parameters broadcast to the shape of the batch of distributions. Draws of a requested `shape`
// are a tensor of shape + batch shape + event shape, where the event shape is the shape of one draw
// from one distribution: [n] for Dirichlet and [] for all others. Draws depend on the generator
// alone: the same seed gives the same bits on every instruction set.
//
// Densities, moments, entropies and divergences are differences of large numbers if concentrations
// are large or if two distributions are close. Therefore they and their derivatives are computed in
// f64 and then rounded to the largest dtype of the parameters, of the other distribution in kl(),
// and of x. f32 results are right to one unit in the last place (ulp), f64 results to a few ulps of
// the largest term of the formula (tests/autograd/extra/laws_test.cpp has the bounds). Divergences
// of close distributions are never negative. If their parameters differ in the last places of f32,
// relative errors are about 1e-6, for Gamma, Beta and Dirichlet up to 1e-4.

#include <utility>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon {

class Distribution {
 public:
  virtual ~Distribution() = default;
  virtual const char* name() const = 0;
  /// Shape of the batch of distributions, and shape of one draw from one distribution of the batch.
  virtual Shape batch_shape() const = 0;
  virtual Shape event_shape() const { return {}; }

  /// Draws of shape `shape` + batch shape + event shape; no gradient or tangent passes through
  /// them.
  virtual Tensor sample(const Shape& shape, Generator& rng) const;
  /// Like sample(), but differentiable with respect to the parameters (reparameterization). Throws
  /// Error for discrete distributions.
  virtual Tensor rsample(const Shape& shape, Generator& rng) const;
  /// Logarithm of the density (or probability) at x: [.., batch shape]; x broadcasts with batch
  /// shape + event shape. Outside the support it is −∞ with gradient 0, except that Bernoulli
  /// returns NaN and Categorical throws Error. For Normal it is −∞ at x = ±∞, with the limit ∓∞ as
  /// its gradient. NaN in x gives NaN. Discrete distributions have no
  /// derivative with respect to x: they throw Error if x requires a gradient.
  virtual Tensor log_prob(const Tensor& x) const = 0;
  /// Mean and variance of each element: [batch shape + event shape].
  virtual Tensor mean() const = 0;
  virtual Tensor variance() const = 0;
  /// Entropy −E[log_prob]: [batch shape].
  virtual Tensor entropy() const = 0;

 protected:
  virtual Tensor kl_from(const Distribution& other) const = 0;
  friend Tensor kl(const Distribution& p, const Distribution& q);
};

/// KL(p ‖ q) = E_p[ln p − ln q] in closed form; batches broadcast. Throws Error if p and q are of
/// different families, such as Normal and Gamma.
Tensor kl(const Distribution& p, const Distribution& q);

namespace detail {
/// Shape of draws: `shape` + batch shape + event shape.
Shape draw_shape(const Shape& shape, const Distribution& d);
/// Whether all elements are true. If x is mapped by a vmap (core/mapped.h), this includes the
/// elements of all examples.
bool everywhere(const Tensor& x);
/// Throws Error unless x is defined and floating, and all its elements are finite and, with
/// `positive`, positive.
void check_parameter(const char* name, const char* what, const Tensor& x, bool positive);
struct Parameter {
  const char* what;
  const Tensor& value;
  bool positive;
};
/// p/q − 1 − ln(p/q) for positive p and q. Near p = q this is a small difference of larger terms,
/// so it is computed from p/q − 1, to an absolute error of about |p/q − 1| times the machine
/// epsilon.
Tensor excess(const Tensor& p, const Tensor& q);
/// Checks two parameters, broadcasts them to one batch and casts them to one dtype.
std::pair<Tensor, Tensor> together(const char* name, const Parameter& a, const Parameter& b);
[[noreturn]] void throw_families(const Distribution& p, const Distribution& q);
/// Returns q as a distribution of p's family. Throws Error if q is of another family.
template <class Family>
const Family& same_family(const Family& p, const Distribution& q) {
  const auto* other = dynamic_cast<const Family*>(&q);
  if (!other) throw_families(p, q);
  return *other;
}
}  // namespace detail

}  // namespace ladon
