#pragma once
// Probability distributions: draws, densities, moments and divergences, in recorded operations.
//
//   const Normal posterior(mean, exp(log_stddev));            // a batch of [B, d] distributions
//   const Tensor z = posterior.rsample({}, rng);             // gradients reach mean and log_stddev
//   const Tensor loss = -log_likelihood(z) + sum(kl(posterior, Normal(0, 1)), -1);
//
// Parameters broadcast to the batch's shape. A draw has shape + batch + event, where the event is
// [n] for Dirichlet and [] for all others. Draws depend on the generator alone: same seed, same
// bits, on every instruction set.
//
// Densities, moments, entropies and divergences are differences of large numbers where
// concentrations are large or two distributions are close. Therefore they and their derivatives are
// computed in f64 and then rounded to the larger of the dtypes involved: of the parameters, of the
// other distribution's, and of x. f32 results are right to an ulp, f64 results to some ulps of the
// largest term of the formula (tests/autograd/extra/laws_test.cpp has the bounds).

#include <utility>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon {

class Distribution {
 public:
  virtual ~Distribution() = default;
  virtual const char* name() const = 0;
  /// Shape of the batch of distributions, and shape of one draw from each.
  virtual Shape batch_shape() const = 0;
  virtual Shape event_shape() const { return {}; }

  /// Draws [shape + batch + event]; no gradient passes through them.
  virtual Tensor sample(const Shape& shape, Generator& rng) const;
  /// Like sample(), but differentiable with respect to the parameters. Throws Error for discrete
  /// distributions.
  virtual Tensor rsample(const Shape& shape, Generator& rng) const;
  /// ln of the density (or probability) of x, which broadcasts with batch + event: → [.., batch].
  /// Outside the support −∞ with gradient 0; Bernoulli gives NaN there, and Categorical throws
  /// Error. NaN gives NaN. Discrete log_prob has no derivative with respect to x: Error if x
  /// requires a gradient.
  virtual Tensor log_prob(const Tensor& x) const = 0;
  /// [batch + event].
  virtual Tensor mean() const = 0;
  virtual Tensor variance() const = 0;
  /// −E[log_prob], [batch].
  virtual Tensor entropy() const = 0;

 protected:
  virtual Tensor kl_from(const Distribution& other) const = 0;
  friend Tensor kl(const Distribution& p, const Distribution& q);
};

/// KL(p ‖ q) = E_p[ln p − ln q] in closed form; batches broadcast. Throws Error where p and q are
/// of different families.
Tensor kl(const Distribution& p, const Distribution& q);

namespace detail {
/// shape + batch + event.
Shape draw_shape(const Shape& shape, const Distribution& d);
/// Whether all elements are true (for every example if x is mapped).
bool everywhere(const Tensor& x);
/// Throws Error unless x is defined, floating, finite and, with `positive`, positive throughout.
void check_parameter(const char* name, const char* what, const Tensor& x, bool positive);
struct Parameter {
  const char* what;
  const Tensor& value;
  bool positive;
};
/// p/q − 1 − ln(p/q) for positive p and q. Near p = q this is a small difference of larger terms,
/// so it is computed from p/q − 1, to an absolute error of about ε·|p/q − 1|.
Tensor excess(const Tensor& p, const Tensor& q);
/// Checks two parameters, broadcasts them to one batch and casts them to one dtype.
std::pair<Tensor, Tensor> together(const char* name, const Parameter& a, const Parameter& b);
[[noreturn]] void throw_families(const Distribution& p, const Distribution& q);
/// Casts q to p's family. Throws Error if it is of another one.
template <class Family>
const Family& same_family(const Family& p, const Distribution& q) {
  const auto* other = dynamic_cast<const Family*>(&q);
  if (!other) throw_families(p, q);
  return *other;
}
}  // namespace detail

}  // namespace ladon
