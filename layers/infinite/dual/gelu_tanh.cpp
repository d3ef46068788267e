// The dual of gelu_tanh(x) = x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))), at any variance.
//
// Its difference from gelu is an even function, below 5e-4, and negligible for |x| ≥ 6. A sum of
// normal densities of different widths fits the difference to 7e-12:  gelu_tanh(x) = gelu(x) + Σ_j
// a_j·exp(−x²/(2·b_j)). Such a density times the density of (u, v), which has variances p and q and
// covariance c (dual.h), is again normal up to a factor. So the new terms have closed forms:
//   E[gelu(u)·exp(−v²/2b)] = (1 + q/b)^−½·E gelu(u'),   u' ~ N(0, p − c²/(b + q)),
//   E gelu(u') = p'/√(2π·(1 + p')) with p' = Var u'
//   E[exp(−u²/2b)·exp(−v²/2b')] = ((1 + q/b')·(1 + (p − c²/(b' + q))/b))^−½.
// If one variance is far smaller than the other, another formula is used, beside_larger().
// Derivatives of all these formulas are computed in forward mode, by numbers that carry one
// directional derivative.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/layers/infinite/dual/entries.h"

namespace ladon::infinite {
namespace {

using kernels::DualPair;

// Amplitudes a_j, fitted by least squares on |x| ≤ 10, and widths b_j, a geometric sequence from
// 0.4 to 1.5.
constexpr std::array amplitudes = {
    -0.028425820955983824, 0.4674797575468978,  -3.0347307791833797, 11.471755402551423,
    -27.719904072544416,   41.491127151224958,  -27.733321433940386, -25.714518731314683,
    84.639732045944825,    -99.186400653623892, 69.144244899947694,  -32.573638281212929,
    10.969251896991146,    -2.5315021248373388, 0.36350238412787028, -0.024651640720922352};
double width(std::size_t j) {
  return 0.4 * std::pow(1.5 / 0.4, static_cast<double>(j) / (amplitudes.size() - 1));
}

/// Dual number x + ε·d with ε² = 0: a value x and a directional derivative d.
template <class S>
struct Forward {
  S x, d;

  Forward(S value, S slope = S(0)) : x(value), d(slope) {}
  friend Forward operator+(const Forward& a, const Forward& b) { return {a.x + b.x, a.d + b.d}; }
  friend Forward operator-(const Forward& a, const Forward& b) { return {a.x - b.x, a.d - b.d}; }
  friend Forward operator*(const Forward& a, const Forward& b) {
    return {a.x * b.x, a.d * b.x + a.x * b.d};
  }
  friend Forward operator/(const Forward& a, const Forward& b) {
    const S y = a.x / b.x;
    return {y, (a.d - y * b.d) / b.x};
  }
  friend Forward sqrt(const Forward& a) {
    using std::sqrt;
    const S y = sqrt(a.x);
    return {y, a.d / (y + y)};
  }
};

double number(double x) { return x; }
template <class S>
double number(const Forward<S>& x) {
  return number(x.x);
}

/// p − c²/q, accurate even under cancellation.
double rest(double p, double q, double c) { return rest_variance(p, q, c); }
template <class S>
Forward<S> rest(const Forward<S>& p, const Forward<S>& q, const Forward<S>& c) {
  const S slope = c.x / q.x;
  return {rest(p.x, q.x, c.x), p.d - slope * (c.d + c.d) + slope * slope * q.d};
}

/// p − c²/(b + q). For large q it is computed from rest(), since p and c²/q may differ only by
/// rounding errors.
template <class S>
S left(const S& p, const S& q, const S& c, const S& b) {
  const S all = b + q;
  if (number(q) <= number(b)) return p - c * (c / all);
  return p * (b / all) + rest(p, q, c) * (q / all);
}

/// E[φ(u)φ(v)] − E[gelu(u)gelu(v)]: the terms with at least one normal density.
template <class S>
S added(const S& p, const S& q, const S& c) {
  using std::sqrt;
  static const auto widths = [] {
    std::array<double, amplitudes.size()> b;
    for (std::size_t j = 0; j < b.size(); ++j) b[j] = width(j);
    return b;
  }();
  const S one(1), turn(2 * std::numbers::pi);
  const auto with_gelu = [&](const S& of_u, const S& of_v, const S& b) {
    const S rest = left(of_u, of_v, c, b);
    return rest / sqrt(turn * (one + rest)) / sqrt(one + of_v / b);
  };
  S sum(0);
  for (std::size_t j = 0; j < widths.size(); ++j) {
    const S a(amplitudes[j]), b(widths[j]);
    sum = sum + a * (with_gelu(p, q, b) + with_gelu(q, p, b));
    for (std::size_t k = 0; k < widths.size(); ++k) {
      const S other(widths[k]);
      sum =
          sum + a * S(amplitudes[k]) / sqrt(one + left(p, q, c, other) / b) / sqrt(one + q / other);
    }
  }
  return sum;
}

using Once = Forward<double>;
using Twice = Forward<Once>;

EntryPair values_at(double p, double q, double c) {
  if (p == 0 || q == 0) return {0, added<Once>(p, q, {c, 1}).d};  // φ(0) = 0
  const Once e = added<Once>(p, q, {c, 1});
  return {e.x, e.d};
}
EntryPair slopes_at(double p, double q, double c) {
  return {added<Once>(p, q, {c, 1}).d, added<Once>({p, 1}, q, c).d};
}
EntryPair curvatures_at(double p, double q, double c) {
  const Once x(p), y(q), by_c(c, 1), along(1);
  return {added<Twice>(x, y, {by_c, along}).d.d, added<Twice>({x, along}, y, by_c).d.d};
}

/// E[φ(u)φ(v)] if u has a far smaller variance than v, where the fit's absolute error, times the
/// size of φ(v), is no longer small compared with √(pq). Near 0 φ(u) = u/2 + α·u² + β·u⁴ + O(u⁶),
/// and by partial integration, with m(q) = E φ(v), E φ' = ½, E φ'' = 2·m' and E φ'''' = 4·m'':
///   E[u·φ(v)] = c/2,   E[u²·φ(v)] = p·m + 2c²·m',   E[u⁴·φ(v)] = 3p²·m + 12·p·c²·m' + 4c⁴·m''.
/// Written with x = c²/q and q·m', no product over- or underflows: E[u²·φ(v)] = p·m + 2·x·(q·m').
template <class S>
S beside_larger(const S& p, const S& q, const S& c) {
  using std::sqrt;
  static const double k = std::sqrt(2 / std::numbers::pi), alpha = k / 2,
                      beta = (k * 0.044715 - k * k * k / 3) / 2;
  const S one(1), share = q / (one + q), root = sqrt(S(2 * std::numbers::pi) * (one + q));
  // m, q·m' and q²·m'' of gelu, then of the densities.
  S m = q / root, m1 = share * (one + S(0.5) * q) / root,
    m2 = S(-1) * share * share * (one + S(0.25) * q) / root;
  for (std::size_t j = 0; j < amplitudes.size(); ++j) {
    const S ratio = q / S(width(j)), part = ratio / (one + ratio);
    const S mean = S(amplitudes[j]) / sqrt(one + ratio);
    m = m + mean;
    m1 = m1 - S(0.5) * part * mean;
    m2 = m2 + S(0.75) * part * part * mean;
  }
  const S scaled = c / sqrt(q), x = scaled * scaled;
  const S square = p * m + S(2) * x * m1;
  const S fourth = S(3) * p * p * m + S(12) * p * x * m1 + S(4) * x * x * m2;
  return S(0.25) * c + S(alpha) * square + S(beta) * fourth;
}

/// Mask of entries for beside_larger(), whose omitted terms are below 1e-12·√(pq) there.
Tensor far_apart(const Tensor& p, const Tensor& q) {
  const auto beside = [](const Tensor& x, const Tensor& y) {
    return logical_and(logical_and(greater(x, 0), less(x, 1e-5)), greater(y, 3));
  };
  return logical_or(beside(p, q), beside(q, p));
}

EntryPair apart_values(double p, double q, double c) {
  const Once e = beside_larger<Once>(std::min(p, q), std::max(p, q), {c, 1});
  return {e.x, e.d};
}
EntryPair apart_slopes(double p, double q, double c) {
  const Once by_p = p < q ? beside_larger<Once>({p, 1}, q, c) : beside_larger<Once>(q, {p, 1}, c);
  return {apart_values(p, q, c).second, by_p.d};
}
EntryPair apart_curvatures(double p, double q, double c) {
  const Once x(p), y(q), by_c(c, 1), along(1);
  const Twice moved(x, along), twice(by_c, along);
  if (p < q)
    return {beside_larger<Twice>(x, y, twice).d.d, beside_larger<Twice>(moved, y, by_c).d.d};
  return {beside_larger<Twice>(y, x, twice).d.d, beside_larger<Twice>(y, moved, by_c).d.d};
}

/// Dual rule that uses the Hermite expansion, which costs less, if both variances are at most 3, or
/// if both are at most 10 and their product is at most 0.1. For these variances the formulas above
/// are less accurate too, since the fit has an absolute error.
class GeluTanhRule final : public SlopedRule {
 public:
  GeluTanhRule()
      : series_(expansion_of({0, 0.5, [](const Tensor& x) { return gelu(x, Gelu::tanh) - 0.5 * x; },
                              kernels::Powers::even})) {}

 private:
  DualPair values(const Tensor& p, const Tensor& q, const Tensor& c,
                  bool with_derivative) const override {
    const Tensor few = logical_or(both_at_most(3, p, q),
                                  logical_and(both_at_most(10, p, q), less_equal(p * q, 0.1)));
    return expanded_where(few, *series_, p, q, c, with_derivative,
                          [&](const Tensor& x, const Tensor& y, const Tensor& z) {
                            return with_gelu(kernels::dual(gelu_, x, y, z, true), values_at,
                                             apart_values, x, y, z);
                          });
  }
  DualPair slopes(const Tensor& p, const Tensor& q, const Tensor& c) const override {
    return with_gelu(kernels::dual_slopes(gelu_, p, q, c), slopes_at, apart_slopes, p, q, c);
  }
  DualPair curvatures(const Tensor& p, const Tensor& q, const Tensor& c) const override {
    return with_gelu(kernels::dual_curvatures(gelu_, p, q, c), curvatures_at, apart_curvatures, p,
                     q, c);
  }

  using At = EntryPair (*)(double p, double q, double c);
  /// Sum of `gelu`, the part without normal densities, and `added`; where the variances are far
  /// apart, `apart` is the whole result.
  static DualPair with_gelu(const DualPair& gelu, At added, At apart, const Tensor& p,
                            const Tensor& q, const Tensor& c) {
    const NoGrad off;
    const DualPair more = each_entry(p, q, c, added);
    const DualPair near{gelu.first + more.first, gelu.second + more.second};
    const Tensor far = far_apart(p, q);
    if (!any(far).item<bool>()) return near;
    const DualPair alone = each_entry(p, q, c, apart);
    return {where(far, alone.first, near.first), where(far, alone.second, near.second)};
  }

  kernels::DualForm gelu_{kernels::Dual::gelu, {1, 1}};
  std::shared_ptr<const DualRule> series_;
};

}  // namespace

DualFunction DualFunction::gelu_tanh() {
  const Pointwise f = [](const Tensor& x) { return ladon::gelu(x, Gelu::tanh); };
  return {"gelu_tanh", std::make_shared<GeluTanhRule>(), f};
}

}  // namespace ladon::infinite
