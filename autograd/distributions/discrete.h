#pragma once
// Distributions of classes, and draws of classes by their weights.

#include "ladon/autograd/distributions/distribution.h"

namespace ladon {

/// 1 with probability σ(logits), else 0; draws have the dtype of the logits. What is neither 0 nor
/// 1 has no probability, NaN: for targets between them see binary_cross_entropy_with_logits
/// (loss.h).
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

/// A class 0 … n−1 with probabilities softmax(logits), logits [batch, n]; draws are i64. A logit of
/// −∞ is a class that does not occur. Classes have no mean and no variance (Error).
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
  Tensor log_p_;  ///< [batch, n], f64
  DType dtype_;   ///< Of the logits.
};

/// `count` classes by each row of weights, which need not sum to 1: probabilities [.., n] → i64
/// [.., count], in the order in which they were drawn. Without replacement a class is drawn once at
/// most, and each draw is by the weights of those left (by exponential keys: Efraimidis and
/// Spirakis 2006). Throws Error where a weight is negative or not finite, a row has no positive
/// one, or fewer than it is to draw from without replacement.
Tensor multinomial(const Tensor& probabilities, std::int64_t count, Generator& rng,
                   bool replacement = false);

}  // namespace ladon
