#pragma once
// Distributions over classes, and draws of classes with given weights.

#include "ladon/autograd/extra/distributions/distribution.h"

namespace ladon {

/// Distribution of 0 and 1, where 1 has probability σ(logits); draws have the dtype of the logits.
/// log_prob of any other value is NaN: for targets between 0 and 1 see
/// binary_cross_entropy_with_logits (loss.h). Throws Error unless the logits are finite.
class Bernoulli : public Distribution {
 public:
  explicit Bernoulli(const Tensor& logits);
  const char* name() const override { return "Bernoulli"; }
  Shape batch_shape() const override { return logits_.shape(); }
  Tensor sample(const Shape& shape, Generator& rng) const override;
  Tensor log_prob(const Tensor& x) const override;
  Tensor mean() const override;
  Tensor variance() const override;
  Tensor entropy() const override;

 protected:
  Tensor kl_from(const Distribution& other) const override;

 private:
  Tensor logits_;
};

/// Distribution of a class 0 … n−1 with probabilities softmax(logits), logits [batch, n]; draws are
/// i64. A class with a logit of −∞ never occurs. mean() and variance() throw Error.
class Categorical : public Distribution {
 public:
  explicit Categorical(const Tensor& logits);
  const char* name() const override { return "Categorical"; }
  Shape batch_shape() const override;
  Tensor sample(const Shape& shape, Generator& rng) const override;
  Tensor log_prob(const Tensor& x) const override;
  Tensor mean() const override;
  Tensor variance() const override;
  Tensor entropy() const override;

 protected:
  Tensor kl_from(const Distribution& other) const override;

 private:
  Tensor log_p_;  ///< Log probabilities [batch, n], f64.
  DType dtype_;   ///< Dtype of the logits.
};

/// Draws `count` classes per row of weights, which need not sum to 1: probabilities [.., n] → i64
/// [.., count], in the order of the draws. Without replacement a class is drawn at most once, and
/// each draw uses the weights of the remaining classes (by exponential keys: Efraimidis and
/// Spirakis 2006). Throws Error if a weight is negative or not finite, if a row has no positive
/// weight, and, without replacement, if a row has fewer than `count` positive weights.
Tensor multinomial(const Tensor& probabilities, std::int64_t count, Generator& rng,
                   bool replacement = false);

}  // namespace ladon
