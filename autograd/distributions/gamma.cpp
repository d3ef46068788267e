#include "ladon/autograd/distributions/gamma.h"

#include <limits>
#include <tuple>
#include <utility>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/ops/special.h"
#include "ladon/autograd/record.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/special.h"

namespace ladon {
namespace {

/// ln X of X ~ Gamma(alpha, 1), f64, with its implicit gradient, which itself has none.
Tensor log_gamma_draws(const Tensor& alpha, Generator& rng) {
  const Tensor draws = kernels::log_gamma_draws(alpha, rng);
  return record("rsample", draws, {alpha}, [alpha = saved(alpha), draws](const Tensor& g) {
    return g * record("rsample", kernels::log_gamma_slopes(draws, alpha), {*alpha},
                      [](const Tensor&) -> Tensor {
                        detail::fail("rsample",
                                     "draws of Gamma distributions have first derivatives only");
                      });
  });
}

/// X = e^L, and X over the sum of its row.
Tensor exp_of_draws(const Tensor& l) {
  return record("rsample", kernels::exp_of_draws(l), {l},
                symmetric([](const Tensor& g, const Tensor& y) { return g * y; }));
}
Tensor softmax_of_draws(const Tensor& l) {
  return record("rsample", kernels::softmax_of_draws(l), {l},
                symmetric([](const Tensor& g, const Tensor& y) {
                  return y * (g - sum(g * y, -1, keep_dims));
                }));
}

/// The density, of points within the support in place of those outside, which have neither a
/// density nor a gradient: −∞.
template <class Density>
Tensor on_support(const Tensor& x, const Tensor& outside, double within, const Density& density) {
  return where(outside, -std::numeric_limits<double>::infinity(),
               density(where(outside, within, x)));
}

// a·ln x and a·ln(1 + x), which are 0 for a = 0 where the logarithm is infinite too: at the edge of
// the support, where the density is finite.
Tensor xlogy(const Tensor& a, const Tensor& x) {
  return a * log(where(logical_and(equal(a, 0), equal(x, 0)), 1, x));
}
Tensor xlog1py(const Tensor& a, const Tensor& x) {
  return a * log1p(where(logical_and(equal(a, 0), equal(x, -1)), 0, x));
}

}  // namespace

// --- Gamma ---

Gamma::Gamma(const Tensor& concentration, const Tensor& rate) {
  std::tie(concentration_, rate_) =
      detail::together("Gamma", {"concentration", concentration, true}, {"rate", rate, true});
}

Tensor Gamma::rsample(const Shape& shape, Generator& rng) const {
  const Tensor alpha = expand(cast(concentration_, f64), detail::draw_shape(shape, *this));
  return cast(exp_of_draws(log_gamma_draws(alpha, rng)), rate_.dtype()) / rate_;
}

Tensor Gamma::log_prob(const Tensor& x) const {
  return on_support(x, less(x, 0), 1, [&](const Tensor& at) {
    return concentration_ * log(rate_) + xlogy(concentration_ - 1, at) - rate_ * at -
           lgamma(concentration_);
  });
}

Tensor Gamma::mean() const { return concentration_ / rate_; }
Tensor Gamma::variance() const { return concentration_ / square(rate_); }

Tensor Gamma::entropy() const {
  return concentration_ - log(rate_) + lgamma(concentration_) +
         (1 - concentration_) * digamma(concentration_);
}

// (a − a')ψ(a) − ln Γ(a) + ln Γ(a') + a'(ln β − ln β') + a(β' − β)/β
Tensor Gamma::kl_from(const Distribution& other) const {
  const Gamma& q = detail::same_family(*this, other);
  return (concentration_ - q.concentration_) * digamma(concentration_) - lgamma(concentration_) +
         lgamma(q.concentration_) + q.concentration_ * log(rate_ / q.rate_) +
         concentration_ * (q.rate_ / rate_ - 1);
}

// --- Dirichlet ---

Dirichlet::Dirichlet(const Tensor& concentration) : concentration_(concentration) {
  detail::check_parameter("Dirichlet", "concentration", concentration, true);
  LADON_CHECK(concentration.rank() >= 1 && concentration.size(-1) > 0, "Dirichlet",
              "needs concentrations [.., n], got shape ", concentration.shape());
}

Shape Dirichlet::batch_shape() const {
  return concentration_.shape().sub(0, concentration_.rank() - 1);
}

// X_k/ΣX of independent Gammas is the softmax of their logarithms.
Tensor Dirichlet::rsample(const Shape& shape, Generator& rng) const {
  const Tensor alpha = expand(cast(concentration_, f64), detail::draw_shape(shape, *this));
  return cast(softmax_of_draws(log_gamma_draws(alpha, rng)), concentration_.dtype());
}

namespace {

/// ln of the normalizer ΠΓ(a_k)/Γ(Σa).
Tensor log_normalizer(const Tensor& a) { return sum(lgamma(a), -1) - lgamma(sum(a, -1)); }

}  // namespace

Tensor Dirichlet::log_prob(const Tensor& x) const {
  const Tensor outside = any(logical_or(less(x, 0), greater(x, 1)), -1, keep_dims);
  const auto log_density = [&](const Tensor& at) {
    return sum(xlogy(concentration_ - 1, at), -1, keep_dims);
  };
  return squeeze(on_support(x, outside, 1, log_density), -1) - log_normalizer(concentration_);
}

Tensor Dirichlet::mean() const { return concentration_ / sum(concentration_, -1, keep_dims); }

Tensor Dirichlet::variance() const {
  const Tensor m = mean();
  return m * (1 - m) / (sum(concentration_, -1, keep_dims) + 1);
}

// E[ln x_k] = ψ(a_k) − ψ(Σa)
Tensor Dirichlet::entropy() const {
  const Tensor& a = concentration_;
  const Tensor expected = digamma(a) - digamma(sum(a, -1, keep_dims));
  return log_normalizer(a) - sum((a - 1) * expected, -1);
}

Tensor Dirichlet::kl_from(const Distribution& other) const {
  const Tensor &a = concentration_, &b = detail::same_family(*this, other).concentration_;
  LADON_CHECK(a.size(-1) == b.size(-1), "kl", "of ", a.size(-1), " numbers from ", b.size(-1));
  const Tensor expected = digamma(a) - digamma(sum(a, -1, keep_dims));
  return log_normalizer(b) - log_normalizer(a) + sum((a - b) * expected, -1);
}

// --- Beta ---

Beta::Beta(const Tensor& a, const Tensor& b)
    : both_([&] {
        std::tie(a_, b_) = detail::together("Beta", {"a", a, true}, {"b", b, true});
        return stack({a_, b_}, -1);
      }()) {}

Tensor Beta::rsample(const Shape& shape, Generator& rng) const {
  return select(both_.rsample(shape, rng), -1, 0);
}

Tensor Beta::log_prob(const Tensor& x) const {
  return on_support(x, logical_or(less(x, 0), greater(x, 1)), 0.5, [&](const Tensor& at) {
    return xlogy(a_ - 1, at) + xlog1py(b_ - 1, -at) - log_normalizer(stack({a_, b_}, -1));
  });
}

Tensor Beta::mean() const { return a_ / (a_ + b_); }
Tensor Beta::variance() const { return select(both_.variance(), -1, 0); }

Tensor Beta::kl_from(const Distribution& other) const {
  return kl(both_, detail::same_family(*this, other).both_);
}

}  // namespace ladon
