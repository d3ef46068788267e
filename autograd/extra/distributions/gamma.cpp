#include "ladon/autograd/extra/distributions/gamma.h"

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "ladon/autograd/extra/special/special.h"
#include "ladon/autograd/operands.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/autograd/record.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/special.h"
#include "ladon/core/mapped.h"

namespace ladon {
namespace {

/// ln X for X ~ Gamma(alpha, 1), in f64, with its implicit gradient. That gradient has no further
/// derivatives.
Tensor log_gamma_draws(const Tensor& alpha, Generator& rng) {
  const Tensor draws = kernels::log_gamma_draws(alpha, rng);
  return record("rsample", draws, {alpha}, [alpha = saved(alpha), draws](const Tensor& g) {
    return g * record("rsample", kernels::log_gamma_slopes(draws, alpha), {*alpha},
                      [](const Tensor&) -> Tensor {
                        detail::fail("rsample",
                                     "draws of Gamma, Beta and Dirichlet distributions have "
                                     "first derivatives only, but a second one was requested; call "
                                     "backward without create_graph");
                      });
  });
}

/// From logarithms l of Gamma draws: the draws X = e^l (exp_of_draws), or X divided by the sum of
/// its row (softmax_of_draws).
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

/// density(x), and −∞ with gradient 0 where `outside` is true. There `density` is evaluated at
/// `within`, a point of the support, so that no NaN arises.
template <class Density>
Tensor on_support(const Tensor& x, const Tensor& outside, double within, const Density& density) {
  return where(outside, -std::numeric_limits<double>::infinity(),
               density(where(outside, within, x)));
}

/// a·ln x, or a·ln(1 + x) with `of_1_plus`. At the edge of the support, where the logarithm is −∞,
/// the product is 0 for a = 0, because the density is finite there. The derivative with respect to
/// a is the logarithm, so it is −∞ at the edge.
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
                  const Tensor l = logarithm(x);  // where g = 0 and l = −∞, g·l would be NaN
                  const Tensor none = logical_and(equal(g, 0), logical_not(isfinite(l.detach())));
                  return where(none, 0, g * where(none, 0, l));
                }),
                symmetric([=, a = saved(a), x = saved(x)](const Tensor& g) {
                  const Tensor edge = at_edge(a, x), safe = where(edge, inside, x);
                  return where(edge, 0, g * a / (of_1_plus ? 1 + safe : safe));
                }));
}

/// x in f64. Each function below calls this once per parameter, so that the parts of the
/// parameter's gradient are summed in f64 and rounded once.
Tensor wide(const Tensor& x) { return cast(x, f64); }

// For large concentrations a (from least_large on) the log densities are small differences of terms
// like a·ln a. With Stirling's remainders s and s',
//   ln Γ(a) = (a − ½)·ln a − a + ½·ln 2π + s(a),  ψ(a) = ln a − 1/(2a) + s'(a),
// the large terms cancel analytically, and only the small ones are computed.

constexpr double half_log_two_pi = 0.91893853320467274178, least_large = 32;

/// Stirling's remainders s(a) and s'(a).
struct Remainders {
  Tensor value, slope;
};
Remainders remainders(const Tensor& a) {
  const Tensor large = greater_equal(a, 16), at = where(large, a, 16), one = where(large, 1, a);
  // s(a) = Σ_k B_2k/(2k·(2k − 1)·a^(2k−1)), with Bernoulli numbers B; exact to rounding for a ≥ 16
  constexpr double series[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                               1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
  const Tensor r = 1 / at, r2 = r * r;
  Tensor value = zeros_like(a), slope = zeros_like(a);
  for (int k = 7; k >= 0; --k) {
    value = value * r2 + series[k];
    slope = slope * r2 - (2 * k + 1) * series[k];
  }
  return {where(large, value * r, lgamma(one) - ((one - 0.5) * log(one) - one + half_log_two_pi)),
          where(large, slope * r2, digamma(one) - log(one) + 0.5 / one)};
}
/// First-order Taylor remainder of Stirling's s: s(b) − s(a) − s'(a)·(b − a).
Tensor beyond_tangent(const Tensor& a, const Tensor& b) {
  const Remainders at_a = remainders(a);
  return remainders(b).value - at_a.value - at_a.slope * (b - a);
}

/// m·(ln(1 + d) − d). `logarithms` must be m·ln(1 + d); it is used where d is not small.
Tensor times_excess(const Tensor& m, const Tensor& d, const Tensor& logarithms) {
  const Tensor near = less(abs(d), 0.5), u = where(near, d, 0);
  return where(near, m * (log1p(u) - u), logarithms - m * d);
}

/// large(x..) where the mask is true, else usual(x..); a form that no element needs is not
/// computed. If both forms are computed, each gets 1/2 in place of the elements of x for which the
/// other form is used, so that the gradient of those elements is 0 and not 0·∞. With `rows`, an
/// element of the mask stands for a row of x.
template <class Usual, class Large, class... X>
Tensor by_size(const Tensor& mask, bool rows, const Usual& usual, const Large& large,
               const X&... x) {
  if (!any(mapped::show(mask)).item<bool>()) return usual(x...);
  if (all(mapped::show(mask)).item<bool>()) return large(x...);
  const Tensor of_large = rows ? unsqueeze(mask, -1) : mask, of_usual = logical_not(of_large);
  return where(mask, large(where(of_large, x, 0.5)...), usual(where(of_usual, x, 0.5)...));
}

/// Remainder of ln Γ beyond its tangent: ln Γ(b) − ln Γ(a) − ψ(a)·(b − a) ≥ 0, for close a and b.
/// The recursion Γ(x + 1) = x·Γ(x) raises both arguments by 32; there the large terms of Stirling's
/// formula cancel analytically.
Tensor lgamma_beyond_tangent(Tensor a, Tensor b) {
  Tensor y = zeros_like(a - b);
  for (int k = 0; k < 32; ++k, a = a + 1, b = b + 1) y = y + detail::excess(b, a);
  // Taylor remainder of Stirling's s; from a = 32 on s(a) = 1/(12a) − 1/(360a³) is accurate enough
  const Tensor a2 = a * a, b2 = b * b;
  const Tensor of_s =
      square(b - a) / (a2 * b) * (1.0 / 12 - (3 * b2 + 2 * a * b + a2) / (360 * a2 * b2));
  return y + b * detail::excess(a, b) + 0.5 * detail::excess(b, a) + of_s;
}

/// The divergence `direct`, or the result of close() where `direct` is so small that cancellation
/// has cost most of its digits. close() gets the mask of these elements.
template <class Close>
Tensor or_close(const Tensor& direct, const Close& close) {
  const Tensor small = less_equal(direct, 0x1p-10);
  if (!any(mapped::show(small)).item<bool>()) return direct;
  const Tensor y = close(small);
  return where(small, where(less(y, 0), 0, y), direct);  // y < 0 is an error of rounding
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

namespace {

/// The log density of a Gamma distribution at x, for usual and for large concentrations a.
Tensor density_of_usual_gamma(const Tensor& a, const Tensor& rate, const Tensor& x) {
  return a * log(rate) + times_log(a - 1, x) - rate * x - lgamma(a);
}
Tensor density_of_large_gamma(const Tensor& a, const Tensor& rate, const Tensor& x) {
  const Tensor scaled = rate * x, d = (scaled - a) / a, m = a - 1;
  // m·ln(rate·x), as m·ln x + m·ln rate where the product rate·x overflows or underflows
  constexpr double least = std::numeric_limits<double>::min();
  const Tensor whole = logical_and(greater_equal(scaled, least), less(scaled, HUGE_VAL));
  const Tensor parts = times_log(m, where(whole, 1, x)) + m * log(where(whole, 1, rate));
  const Tensor logarithms = where(whole, times_log(m, where(whole, scaled, 1)), parts) - m * log(a);
  return log(rate) - 0.5 * log(a) - half_log_two_pi - remainders(a).value +
         times_excess(m, d, logarithms) - d;
}

}  // namespace

Tensor Gamma::log_prob(const Tensor& x) const {
  check_defined("Gamma", {x});
  const Tensor a = wide(concentration_), rate = wide(rate_), at = wide(x);
  const Tensor outside = logical_or(less(at, 0), equal(at, HUGE_VAL));
  const Tensor y = on_support(at, outside, 1, [&](const Tensor& inside) {
    return by_size(greater_equal(a, least_large), false, density_of_usual_gamma,
                   density_of_large_gamma, a, rate, inside);
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
  const Tensor of_one = by_size(
      greater_equal(a, least_large), false,
      [](const Tensor& c) { return c + lgamma(c) + (1 - c) * digamma(c); },
      [](const Tensor& c) {
        const Remainders s = remainders(c);
        return 0.5 * log(c) + (half_log_two_pi + 0.5) - 0.5 / c + s.value + (1 - c) * s.slope;
      },
      a);
  return cast(of_one - log(wide(rate_)), rate_.dtype());
}

// KL of Gamma(a, β) from Gamma(a', β'), with b = a' in the code:
//   (a − a')ψ(a) − ln Γ(a) + ln Γ(a') + a'(ln β − ln β') + a(β' − β)/β.
// With r = β'/β the last two terms are a'·(r − 1 − ln r) + (a − a')(r − 1). With excess(t) =
// t − 1 − ln t and Stirling's remainder s the whole is, for large a and a',
//   a'·excess(ar/a') + ½·excess(a'/a) + s(a') − s(a) − s'(a)·(a' − a).
namespace {

Tensor divergence_of_usual_gammas(const Tensor& a, const Tensor& b, const Tensor& rate,
                                  const Tensor& rate_q) {
  const Tensor of_rates = b * detail::excess(rate_q, rate) + (a - b) * ((rate_q - rate) / rate);
  return or_close((a - b) * digamma(a) - lgamma(a) + lgamma(b) + of_rates,
                  [&](const Tensor& small) {
                    return lgamma_beyond_tangent(where(small, a, 1), where(small, b, 1)) + of_rates;
                  });
}
Tensor divergence_of_large_gammas(const Tensor& a, const Tensor& b, const Tensor& rate,
                                  const Tensor& rate_q) {
  return b * detail::excess(a * (rate_q / rate), b) + 0.5 * detail::excess(b, a) +
         beyond_tangent(a, b);
}

}  // namespace

Tensor Gamma::kl_from(const Distribution& other) const {
  const Gamma& q = detail::same_family(*this, other);
  const Tensor a = wide(concentration_), b = wide(q.concentration_), rate = wide(rate_),
               rate_q = wide(q.rate_);
  const Tensor y =
      by_size(logical_and(greater_equal(a, least_large), greater_equal(b, least_large)), false,
              divergence_of_usual_gammas, divergence_of_large_gammas, a, b, rate, rate_q);
  return cast(y, promote(rate_.dtype(), q.rate_.dtype()));
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

// X_k/ΣX for independent Gamma variables X_k is the softmax of ln X.
Tensor Dirichlet::rsample(const Shape& shape, Generator& rng) const {
  const Tensor alpha = expand(cast(concentration_, f64), detail::draw_shape(shape, *this));
  return cast(softmax_of_draws(log_gamma_draws(alpha, rng)), concentration_.dtype());
}

namespace {

/// Tolerance of the check that Σx = 1, since probabilities may have been rounded or printed.
constexpr double simplex_tolerance = 1e-5;

/// Logarithm of the normalizer ΠΓ(a_k)/Γ(Σa) of the Dirichlet density.
Tensor log_normalizer(const Tensor& a) { return sum(lgamma(a), -1) - lgamma(sum(a, -1)); }

/// Whether the sum of the concentrations of each distribution is large (at least least_large).
Tensor large_total(const Tensor& a) { return greater_equal(sum(a, -1), least_large); }

/// The log density of a Dirichlet distribution at x, for a large sum A of its n concentrations a_k.
/// With the mean p_k = a_k/A, d_k = x_k/p_k − 1 and Stirling's remainder s it is
///   Σ(a_k − 1)·ln(1 + d_k) − ½·Σ ln p_k + (n − 1)/2·ln A − (n − 1)/2·ln 2π − Σs(a_k) + s(A).
/// `logarithms` are (a_k − 1)·ln x_k, and `off` is Σx − 1. Near the mean the large term
/// Σa_k·d_k = A·off of the first sum is computed separately.
Tensor density_of_large(const Tensor& a, const Tensor& logarithms, const Tensor& d,
                        const Tensor& off) {
  const Tensor total = sum(a, -1), log_p = log(a / unsqueeze(total, -1)), m = a - 1;
  const double free = static_cast<double>(a.size(-1) - 1);
  const Tensor near = less(abs(d), 0.5), u = where(near, d, 0);
  const Tensor at_mean = sum(m * (log1p(u) - u) - u, -1) + total * off;
  const Tensor apart = sum(where(near, m * log1p(u), logarithms - m * log_p), -1);
  return where(all(near, -1), at_mean, apart) - 0.5 * sum(log_p, -1) +
         free * (0.5 * log(total) - half_log_two_pi) - sum(remainders(a).value, -1) +
         remainders(total).value;
}

}  // namespace

Tensor Dirichlet::log_prob(const Tensor& x) const {
  check_defined("Dirichlet", {x});
  const std::int64_t n = concentration_.size(-1);
  LADON_CHECK(x.rank() >= 1 && (x.size(-1) == n || x.size(-1) == 1), "Dirichlet", "needs x [.., ",
              n, "], got shape ", x.shape());
  Shape whole = x.shape();
  whole[x.rank() - 1] = n;
  const Tensor a = wide(concentration_), at = expand(wide(x), whole);
  const Tensor beyond = any(logical_or(less(at, 0), greater(at, 1)), -1, keep_dims);
  const Tensor off = greater(abs(sum(at, -1, keep_dims) - 1), simplex_tolerance);
  const Tensor inside = on_support(at, logical_or(beyond, off), 1, [&](const Tensor& p) {
    const Tensor y = by_size(
        large_total(a), true,
        [](const Tensor& c, const Tensor& t) {
          return sum(times_log(c - 1, t), -1) - log_normalizer(c);
        },
        [](const Tensor& c, const Tensor& t) {
          const Tensor d = (t * sum(c, -1, keep_dims) - c) / c;
          return density_of_large(c, times_log(c - 1, t), d, sum(t, -1) - 1);
        },
        a, p);
    return unsqueeze(y, -1);
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

// −E[ln density], where E[ln x_k] = ψ(a_k) − ψ(Σa).
Tensor Dirichlet::entropy() const {
  const Tensor all = wide(concentration_);
  const auto n = static_cast<double>(all.size(-1));
  const Tensor y = by_size(
      large_total(all), true,
      [](const Tensor& a) {
        const Tensor expected = digamma(a) - digamma(sum(a, -1, keep_dims));
        return log_normalizer(a) - sum((a - 1) * expected, -1);
      },
      [n](const Tensor& a) {
        const Tensor total = sum(a, -1);
        const Remainders s = remainders(a), of_total = remainders(total);
        const Tensor each =
            0.5 * log(a / unsqueeze(total, -1)) - 0.5 / a + s.value - (a - 1) * s.slope;
        return sum(each, -1) + 0.5 * n / total + (n - 1) * (half_log_two_pi + 0.5) -
               0.5 * (n - 1) * log(total) - of_total.value + (total - n) * of_total.slope;
      },
      all);
  return cast(y, concentration_.dtype());
}

namespace {

Tensor divergence_of_usual_dirichlets(const Tensor& a, const Tensor& b) {
  const Tensor all_a = sum(a, -1), all_b = sum(b, -1);
  const Tensor expected = digamma(a) - digamma(unsqueeze(all_a, -1));
  return or_close(log_normalizer(b) - log_normalizer(a) + sum((a - b) * expected, -1),
                  [&](const Tensor& small) {
                    const Tensor row = unsqueeze(small, -1);
                    const Tensor at_a = where(row, a, 1), at_b = where(row, b, 1);
                    return sum(lgamma_beyond_tangent(at_a, at_b), -1) -
                           lgamma_beyond_tangent(sum(at_a, -1), sum(at_b, -1));
                  });
}

/// Sum of the divergences of Gamma(a_k) from Gamma(b_k), minus the divergence of Gamma(Σa) from
/// Gamma(Σb), all of rate 1. The terms b_k·excess(a_k/b_k), with excess(t) = t − 1 − ln t, combine
/// with that of the sums to Σ b_k·ln(q_k/p_k) ≥ 0, for the means p = a/Σa and q = b/Σb.
Tensor divergence_of_large_dirichlets(const Tensor& a, const Tensor& b) {
  const Tensor all_a = sum(a, -1), all_b = sum(b, -1);
  const Tensor p = a / unsqueeze(all_a, -1), q_mean = b / unsqueeze(all_b, -1);
  const Tensor each =
      b * detail::excess(p, q_mean) + 0.5 * detail::excess(b, a) + beyond_tangent(a, b);
  return sum(each, -1) - 0.5 * detail::excess(all_b, all_a) - beyond_tangent(all_a, all_b);
}

}  // namespace

Tensor Dirichlet::kl_from(const Distribution& other) const {
  const Dirichlet& q = detail::same_family(*this, other);
  const Tensor a = wide(concentration_), b = wide(q.concentration_);
  LADON_CHECK(a.size(-1) == b.size(-1), "kl",
              "two Dirichlet distributions need the same number of concentrations, but p has ",
              a.size(-1), " concentrations, q ", b.size(-1));
  const Tensor y = by_size(logical_and(large_total(a), large_total(b)), true,
                           divergence_of_usual_dirichlets, divergence_of_large_dirichlets, a, b);
  return cast(y, promote(concentration_.dtype(), q.concentration_.dtype()));
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

namespace {

Tensor density_of_usual_beta(const Tensor& a, const Tensor& b, const Tensor& p) {
  return times_log(a - 1, p) + times_log(b - 1, -p, true) - log_normalizer(stack({a, b}, -1));
}
/// The log density at p, as that of a Dirichlet distribution at (p, 1 − p). Since 1 − p would be
/// rounded, its deviation from the mean is computed as −(p − a/(a + b)).
Tensor density_of_large_beta(const Tensor& a, const Tensor& b, const Tensor& p) {
  const Tensor off = p * (a + b) - a;
  const Tensor logarithms = stack({times_log(a - 1, p), times_log(b - 1, -p, true)}, -1);
  return density_of_large(stack({a, b}, -1), logarithms, stack({off / a, -off / b}, -1),
                          zeros_like(off));
}

}  // namespace

Tensor Beta::log_prob(const Tensor& x) const {
  check_defined("Beta", {x});
  const Tensor a = wide(a_), b = wide(b_), at = wide(x);
  const Tensor outside = logical_or(less(at, 0), greater(at, 1));
  const Tensor y = on_support(at, outside, 0.5, [&](const Tensor& p) {
    return by_size(large_total(stack({a, b}, -1)), false, density_of_usual_beta,
                   density_of_large_beta, a, b, p);
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
