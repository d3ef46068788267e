#include "ladon/autograd/distributions/gamma.h"

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "ladon/autograd/operands.h"
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

/// a·ln x, or a·ln(1 + x). It is 0 for a = 0 where the logarithm is infinite too: at the edge of
/// the support, where the density is finite. Its derivative by a is the logarithm there as well,
/// −∞.
Tensor times_log(const Tensor& a, const Tensor& x, bool of_1_plus = false) {
  const auto logarithm = [of_1_plus](const Tensor& t) { return of_1_plus ? log1p(t) : log(t); };
  const auto at_edge = [of_1_plus](const Tensor& u, const Tensor& t) {
    return logical_and(equal(u, 0), equal(t, of_1_plus ? -1 : 0));
  };
  const double inside = of_1_plus ? 0 : 1;
  const auto value = [&](const Tensor& u, const Tensor& t) {
    return u * logarithm(where(at_edge(u, t), inside, t));
  };
  return record("times_log", value(a.detach(), x.detach()), {a, x},
                symmetric([logarithm, x = saved(x)](const Tensor& g) {
                  const Tensor l = logarithm(x);  // 0·(−∞) is no gradient
                  const Tensor none = logical_and(equal(g, 0), logical_not(isfinite(l.detach())));
                  return where(none, 0, g * where(none, 0, l));
                }),
                symmetric([=, a = saved(a), x = saved(x)](const Tensor& g) {
                  const Tensor edge = at_edge(a, x), safe = where(edge, inside, x);
                  return where(edge, 0, g * a / (of_1_plus ? 1 + safe : safe));
                }));
}

/// In f64. Once for each parameter, so that the parts of its gradient add up before they are
/// rounded.
Tensor wide(const Tensor& x) { return cast(x, f64); }

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
  check_defined("Gamma", {x});
  const Tensor a = wide(concentration_), rate = wide(rate_), at = wide(x);
  const Tensor outside = logical_or(less(at, 0), equal(at, HUGE_VAL));
  const Tensor y = on_support(at, outside, 1, [&](const Tensor& inside) {
    return a * log(rate) + times_log(a - 1, inside) - rate * inside - lgamma(a);
  });
  return cast(y, promote(rate_.dtype(), x.dtype()));
}

Tensor Gamma::mean() const { return cast(wide(concentration_) / wide(rate_), rate_.dtype()); }

Tensor Gamma::variance() const {
  const Tensor rate = wide(rate_);
  return cast(wide(concentration_) / rate / rate, rate_.dtype());
}

Tensor Gamma::entropy() const {
  const Tensor a = wide(concentration_);
  return cast(a - log(wide(rate_)) + lgamma(a) + (1 - a) * digamma(a), rate_.dtype());
}

// (a − a')ψ(a) − ln Γ(a) + ln Γ(a') + a'(ln β − ln β') + a(β' − β)/β; the last two are
// a'·(r − 1 − ln r) + (a − a')(r − 1) with r = β'/β.
Tensor Gamma::kl_from(const Distribution& other) const {
  const Gamma& q = detail::same_family(*this, other);
  const Tensor a = wide(concentration_), b = wide(q.concentration_), rate = wide(rate_),
               rate_q = wide(q.rate_);
  const Tensor of_rates = b * detail::excess(rate_q, rate) + (a - b) * ((rate_q - rate) / rate);
  return cast((a - b) * digamma(a) - lgamma(a) + lgamma(b) + of_rates,
              promote(rate_.dtype(), q.rate_.dtype()));
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

/// Probabilities that were rounded or printed add up to 1 within this.
constexpr double simplex_tolerance = 1e-5;

/// ln of the normalizer ΠΓ(a_k)/Γ(Σa).
Tensor log_normalizer(const Tensor& a) { return sum(lgamma(a), -1) - lgamma(sum(a, -1)); }

}  // namespace

Tensor Dirichlet::log_prob(const Tensor& x) const {
  check_defined("Dirichlet", {x});
  const std::int64_t n = concentration_.size(-1);
  LADON_CHECK(x.rank() >= 1 && (x.size(-1) == n || x.size(-1) == 1), "Dirichlet", "is of ", n,
              " numbers, got x of shape ", x.shape());
  Shape whole = x.shape();
  whole[x.rank() - 1] = n;
  const Tensor a = wide(concentration_), at = expand(wide(x), whole);
  const Tensor beyond = any(logical_or(less(at, 0), greater(at, 1)), -1, keep_dims);
  const Tensor off = greater(abs(sum(at, -1, keep_dims) - 1), simplex_tolerance);
  const Tensor inside = on_support(at, logical_or(beyond, off), 1, [&](const Tensor& p) {
    return sum(times_log(a - 1, p), -1, keep_dims) - unsqueeze(log_normalizer(a), -1);
  });
  return cast(squeeze(inside, -1), promote(concentration_.dtype(), x.dtype()));
}

Tensor Dirichlet::mean() const {
  const Tensor a = wide(concentration_);
  return cast(a / sum(a, -1, keep_dims), concentration_.dtype());
}

Tensor Dirichlet::variance() const {
  const Tensor a = wide(concentration_), total = sum(a, -1, keep_dims);
  return cast(a / total * ((total - a) / total) / (total + 1), concentration_.dtype());
}

// E[ln x_k] = ψ(a_k) − ψ(Σa)
Tensor Dirichlet::entropy() const {
  const Tensor a = wide(concentration_);
  const Tensor expected = digamma(a) - digamma(sum(a, -1, keep_dims));
  return cast(log_normalizer(a) - sum((a - 1) * expected, -1), concentration_.dtype());
}

Tensor Dirichlet::kl_from(const Distribution& other) const {
  const Dirichlet& q = detail::same_family(*this, other);
  const Tensor a = wide(concentration_), b = wide(q.concentration_);
  LADON_CHECK(a.size(-1) == b.size(-1), "kl", "of ", a.size(-1), " numbers from ", b.size(-1));
  const Tensor expected = digamma(a) - digamma(sum(a, -1, keep_dims));
  return cast(log_normalizer(b) - log_normalizer(a) + sum((a - b) * expected, -1),
              promote(concentration_.dtype(), q.concentration_.dtype()));
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
  check_defined("Beta", {x});
  const Tensor a = wide(a_), b = wide(b_), at = wide(x);
  const Tensor outside = logical_or(less(at, 0), greater(at, 1));
  const Tensor y = on_support(at, outside, 0.5, [&](const Tensor& p) {
    return times_log(a - 1, p) + times_log(b - 1, -p, true) - log_normalizer(stack({a, b}, -1));
  });
  return cast(y, promote(a_.dtype(), x.dtype()));
}

Tensor Beta::mean() const {
  const Tensor a = wide(a_), b = wide(b_);
  return cast(a / (a + b), a_.dtype());
}

Tensor Beta::variance() const {
  const Tensor a = wide(a_), b = wide(b_), total = a + b;
  return cast(a / total * (b / total) / (total + 1), a_.dtype());
}

Tensor Beta::kl_from(const Distribution& other) const {
  return kl(both_, detail::same_family(*this, other).both_);
}

}  // namespace ladon
