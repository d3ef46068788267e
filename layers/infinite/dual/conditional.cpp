// Duals of elu and selu, at any variance and correlation.
//
// Let (u, v) be normal with variances p and q and covariance c (dual.h). Given v, u is normal with
// mean m = c·v/q and variance τ² = p − c²/q, and the conditional mean of φ is known in closed form,
// G(m, τ). That leaves one integral,
//   E[φ(u)φ(v)] = ∫ φ(v)·G(c·v/q, τ)·n(v; q) dv.
// Derivatives are integrals of this form too, since those of G with respect to m are the
// conditional means of φ', φ'', … (Price 1958):
//   E'     = E[φ'(u)φ'(v)],       ∂E/∂p  = ½·E[φ''(u)φ(v)]
//   ∂E'/∂c = E[φ''(u)φ''(v)],     ∂E'/∂p = ½·E[φ'''(u)φ'(v)].
// As a function of ln|v| the integrand varies on a scale of about 1, for any values of √q, 1 and
// τ·q/c, the scales that occur in it. So the trapezoidal rule in ln|v|, on each side of 0, is as
// accurate at ρ = 1 − 1e-12 and p = 10⁴ as anywhere.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/dual/entries.h"

namespace ladon::infinite {
namespace {

using kernels::DualPair;

double normal_density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }

/// exp(x²)·erfc(x) for x ≥ 0, by a continued fraction where erfc is small.
double scaled_erfc(double x) {
  if (x < 5) return std::exp(x * x) * std::erfc(x);
  double tail = 0;
  for (int k = 20; k > 0; --k) tail = 0.5 * k / (x + tail);
  return 1 / (std::sqrt(std::numbers::pi) * (x + tail));
}

/// E[eˣ − 1; x < 0] = Σ_k E[xᵏ; x < 0]/k! over k ≥ 1 for x ~ N(m, τ²), where E[y; x < 0] is the
/// mean of y·1{x < 0}. It is used for |m| and τ at most ½, since eˣ is then about 1, and E[eˣ; x <
/// 0] − P(x < 0) would cancel. `down` is P(x < 0). The first term is m·down − τ·density; E[xᵏ; x <
/// 0] = m·E[xᵏ⁻¹; x < 0] + (k − 1)·τ²·E[xᵏ⁻²; x < 0].
double small_excess(double m, double tau, double down, double density) {
  double before = down, moment = m * down - tau * density, sum = moment;
  for (int k = 2; k <= 24; ++k) {  // the moments of orders k and k − 1 are divided by k!
    const double next = (m * moment + tau * tau * before) / k;
    before = moment;
    moment = next;
    sum += next;
  }
  return sum;
}

/// above·x for x > 0, below·(eˣ − 1) for x < 0.
struct ExponentialUnit {
  double above, below;

  double value(double x) const { return x > 0 ? above * x : below * std::expm1(x); }
  double slope(double x) const { return x > 0 ? above : below * std::exp(x); }
  double jump() const { return above - below; }  // jump of the slope at 0
  /// φ'' without its term jump·δ(x).
  double curvature(double x) const { return x > 0 ? 0 : below * std::exp(x); }

  /// The mean G(m, τ) = E φ(x) for x ~ N(m, τ²), and its first three derivatives with respect to m.
  /// For τ = 0: φ and its derivatives at m, without delta functions at 0.
  struct Means {
    double g, g1, g2, g3;
  };
  Means means(double m, double tau) const {
    if (tau == 0) return {value(m), slope(m), curvature(m), curvature(m)};
    const double h = m / tau, density = normal_density(h);
    const double tail = 0.5 * std::erfc(std::abs(h) / std::numbers::sqrt2);
    const double up = h > 0 ? 1 - tail : tail,
                 down = h > 0 ? tail : 1 - tail;  // P(x > 0), P(x < 0)
    // E[eˣ; x < 0] = exp(m + τ²/2)·Φ(−h − τ), in a form in which no factor over- or underflows.
    const double z = (h + tau) / std::numbers::sqrt2;
    const double power = z > 0 ? 0.5 * std::exp(-0.5 * h * h) * scaled_erfc(z)
                               : 0.5 * std::exp(m + 0.5 * tau * tau) * std::erfc(z);
    const double excess =
        std::abs(m) < 0.5 && tau < 0.5 ? small_excess(m, tau, down, density) : power - down;
    return {above * (m * up + tau * density) + below * excess, above * up + below * power,
            jump() * density / tau + below * power,
            -jump() * density * h / (tau * tau) + below * (power - density / tau)};
  }
};

/// Nodes and weights of E f(z) over a standard normal z as Σ weight·(f(x) + f(−x)). Nodes go from
/// e⁻²⁶, below which less than 1e-11 of any integral remains, to where the density vanishes. The
/// step makes the rule accurate to about 1e-13.
struct KernelNode {
  double x, weight;
};
constexpr int node_count = 177;
const std::array<KernelNode, node_count>& nodes() {
  static const auto made = [] {
    constexpr double step = 0.16, last = 2.15;
    std::array<KernelNode, node_count> list;
    for (int i = 0; i < node_count; ++i) {
      const double x = std::exp(last - step * i);
      list[i] = {x, step * x * normal_density(x)};
    }
    return list;
  }();
  return made;
}

/// The expectations of first(v, G) and second(v, G) over v ~ N(0, q), where G is means() for the
/// distribution of u given v.
template <class First, class Second>
EntryPair integrate(const ExponentialUnit& f, double p, double q, double c, const First& first,
                    const Second& second) {
  const double root = std::sqrt(q), slope = q > 0 ? c / root : 0;
  const double variance = q > 0 ? rest_variance(p, q, c) : p;
  // If the variance of u given v is below the resolution of the nodes, u counts as a multiple of v.
  const double tau = variance > 1e-20 * p ? std::sqrt(variance) : 0;
  EntryPair sum{0, 0};
  for (const KernelNode& node : nodes())
    for (const double x : {node.x, -node.x}) {
      const double v = q > 0 ? root * x : std::copysign(0.0, x);
      const auto g = f.means(slope * x, tau);
      sum.first += node.weight * first(v, g);
      sum.second += node.weight * second(v, g);
    }
  return sum;
}

using Means = ExponentialUnit::Means;

/// E = E[φ(u)φ(v)] and E' = E[φ'(u)φ'(v)]. They have the same bits if p and q are exchanged, since
/// v is always the variable of larger variance.
EntryPair values_at(const ExponentialUnit& f, double p, double q, double c) {
  if (p > q) std::swap(p, q);
  return integrate(
      f, p, q, c, [&](double v, const Means& g) { return f.value(v) * g.g; },
      [&](double v, const Means& g) {
        return v == 0 ? 0.5 * (f.above + f.below) * g.g1 : f.slope(v) * g.g1;
      });
}

/// ∂E/∂c and ∂E/∂p of E = E[φ(u)φ(v)].
EntryPair slopes_at(const ExponentialUnit& f, double p, double q, double c) {
  return integrate(
      f, p, q, c, [&](double v, const Means& g) { return f.slope(v) * g.g1; },
      [&](double v, const Means& g) { return 0.5 * f.value(v) * g.g2; });
}

/// ∂E'/∂c and ∂E'/∂p of E' = E[φ'(u)φ'(v)]; terms that are infinite where u and v are multiples of
/// each other count as 0.
EntryPair curvatures_at(const ExponentialUnit& f, double p, double q, double c) {
  EntryPair e = integrate(
      f, p, q, c, [&](double v, const Means& g) { return f.curvature(v) * g.g2; },
      [&](double v, const Means& g) { return 0.5 * f.slope(v) * g.g3; });
  if (p <= 0 || q <= 0) return e;
  const double variance = rest_variance(p, q, c), at_zero = normal_density(0);
  const bool multiples = variance <= 1e-20 * p;
  const Means g = f.means(0, multiples ? 0 : std::sqrt(variance));
  // Terms at v = 0: jump·δ(v), where v has density at_zero/√q. If u is a multiple of v, there are
  // also terms at u = 0: jump·δ(u) in φ'', and jump·δ'(u) − below·δ(u) in φ'''. Those with jump²
  // are dropped, since they cancel where p, q and c move together.
  e.first += f.jump() * at_zero / std::sqrt(q) * (multiples ? 0.5 * f.below : g.g2);
  if (multiples) {
    const double at_u = 0.5 * f.below * at_zero / std::sqrt(p);
    e.first += f.jump() * at_u;
    e.second -= 0.5 * at_u * (f.above + f.below + f.jump() * c / p);
  }
  return e;
}

/// Dual rule that uses the Hermite expansion, which costs less, where it is exact to 1e-11.
class ConditionalRule final : public SlopedRule {
 public:
  ConditionalRule(ExponentialUnit f, const Pointwise& function)
      : f_(f), series_(expansion_of(function)) {}

 private:
  DualPair values(const Tensor& p, const Tensor& q, const Tensor& c,
                  bool with_derivative) const override {
    const Tensor few = moderate(10, p, q, c);
    return expanded_where(few, *series_, p, q, c, with_derivative,
                          [&](const Tensor& x, const Tensor& y, const Tensor& z) {
                            return each(values_at, x, y, z);
                          });
  }
  DualPair slopes(const Tensor& p, const Tensor& q, const Tensor& c) const override {
    return each(slopes_at, p, q, c);
  }
  DualPair curvatures(const Tensor& p, const Tensor& q, const Tensor& c) const override {
    return each(curvatures_at, p, q, c);
  }

  using At = EntryPair (*)(const ExponentialUnit&, double, double, double);
  DualPair each(At at, const Tensor& p, const Tensor& q, const Tensor& c) const {
    return each_entry(p, q, c, [&](double x, double y, double z) { return at(f_, x, y, z); });
  }

  ExponentialUnit f_;
  std::shared_ptr<const DualRule> series_;
};

}  // namespace

DualFunction DualFunction::elu(double alpha) {
  LADON_CHECK(std::isfinite(alpha), "elu", "alpha is ", alpha, "; it must be finite");
  const Pointwise f = [alpha](const Tensor& x) { return ladon::elu(x, alpha); };
  return {"elu", std::make_shared<ConditionalRule>(ExponentialUnit{1, alpha}, f), f};
}

DualFunction DualFunction::selu() {
  constexpr double alpha = 1.6732632423543772, scale = 1.0507009873554805;
  const Pointwise f = [](const Tensor& x) { return ladon::selu(x); };
  return {"selu", std::make_shared<ConditionalRule>(ExponentialUnit{scale, scale * alpha}, f), f};
}

}  // namespace ladon::infinite
