// Duals of the logistic family: tanh, sigmoid, silu, softplus.
//
// The logistic density is a mixture of normal ones (Andrews and Mallows 1974; Stefanski 1991): if K
// has Kolmogorov's distribution and z is standard normal, 2K·z is logistic. So with weights w_i at
// nodes k_i of that distribution, the logistic function σ (sigmoid) and the normal distribution
// function Φ, up to rounding at any x,
//   σ(x) = Σ_i w_i·Φ(x/τ_i),  τ_i = 2k_i;  tanh(x) = 2σ(2x) − 1 = Σ_i w_i·erf(x/(√2·k_i))
//   x·σ(x) = Σ_i w_i·τ_i·gelu(x/τ_i)
//   softplus(x) = Σ_i w_i·E_z[relu(x + τ_i·z)],
// and each E[φ(u)φ(v)] is a sum of closed forms over pairs (i, j), at any variance, whereas a
// Hermite expansion needs some hundred terms per unit of variance.

#include <array>
#include <cmath>
#include <numbers>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/layers/infinite/dual/entries.h"

namespace ladon::infinite {
namespace {

using kernels::Dual;
using kernels::DualForm;
using kernels::DualPair;
using kernels::Powers;

/// Kolmogorov's density: the first series converges fast for large k, the second for small.
double kolmogorov_density(double k) {
  constexpr double pi2 = std::numbers::pi * std::numbers::pi;
  double sum = 0;
  if (k > 0.8) {
    for (int j = 1; j < 12; ++j) sum += (j % 2 ? 8 : -8) * j * j * k * std::exp(-2 * j * j * k * k);
    return sum;
  }
  for (int j = 1; j < 6; ++j) {
    const double m = (2 * j - 1) * (2 * j - 1) * pi2;
    sum += (m / (4 * k * k) - 1) / (k * k) * std::exp(-m / (8 * k * k));
  }
  return std::sqrt(2 * std::numbers::pi) * sum;
}

struct KernelNode {
  double k, weight;
};

/// Nodes and weights of the integral over Kolmogorov's distribution: the trapezoidal rule in ln k,
/// in which the integrand decays doubly exponentially on both sides. With this step the error of σ
/// is 6e-14, and that of its derivative 1e-13.
constexpr int nodes = 23;
const std::array<KernelNode, nodes>& logistic_nodes() {
  static const auto made = [] {
    constexpr double step = 0.14;
    std::array<KernelNode, nodes> list;
    for (int i = 0; i < nodes; ++i) {
      const double k = 0.85 * std::exp(step * (i - 11));
      list[i] = {k, step * k * kolmogorov_density(k)};
    }
    return list;
  }();
  return made;
}

/// Term factor·φ(x), for a base function φ whose dual is known in closed form and which has the
/// parameter `spread` (named a or b in kernels::Dual).
struct Term {
  double factor, spread;
};

/// Dual of a function constant + Σ_i terms_i. Uses the Hermite expansion if both variances are at
/// most `small`, or both are at most 30 and |ρ| ≤ 0.8. The constant's products with the terms must
/// have mean zero.
class MixtureRule final : public SlopedRule {
 public:
  MixtureRule(DualForm base, std::vector<Term> terms, double constant, double small,
              std::shared_ptr<const DualRule> series)
      : base_(std::move(base)),
        terms_(std::move(terms)),
        constant_(constant),
        small_(small),
        series_(std::move(series)) {}

 private:
  DualPair values(const Tensor& p, const Tensor& q, const Tensor& c,
                  bool with_derivative) const override {
    const Tensor few = logical_or(both_at_most(small_, p, q), moderate(30, p, q, c));
    const auto at_any_variance = [&](const Tensor& x, const Tensor& y, const Tensor& z) {
      DualPair sum = over_pairs(
          x, y, z, [](const DualForm& f, const Tensor& u, const Tensor& v, const Tensor& w) {
            return kernels::dual(f, u, v, w, true);
          });
      sum.first = sum.first + constant_ * constant_;
      return sum;
    };
    return expanded_where(few, *series_, p, q, c, with_derivative, at_any_variance);
  }

  DualPair slopes(const Tensor& p, const Tensor& q, const Tensor& c) const override {
    return over_pairs(p, q, c, kernels::dual_slopes);
  }
  DualPair curvatures(const Tensor& p, const Tensor& q, const Tensor& c) const override {
    return over_pairs(p, q, c, kernels::dual_curvatures);
  }

  /// Sum of `of` over all pairs of terms i and j. Each call gets p, q and c unchanged: if they were
  /// rescaled to those of u/τ_i and v/τ_j, rounding would make pq − c² differ from 0 at ρ = ±1.
  template <class Of>
  DualPair over_pairs(const Tensor& p, const Tensor& q, const Tensor& c, const Of& of) const {
    DualPair sum{zeros(c.shape(), f64), zeros(c.shape(), f64)};
    DualForm form = base_;
    const std::size_t n = form.parameters.size();
    form.parameters.resize(n + 2);
    for (const Term& i : terms_)
      for (const Term& j : terms_) {
        form.parameters[n] = i.spread;
        form.parameters[n + 1] = j.spread;
        const DualPair e = of(form, p, q, c);
        sum.first = sum.first + i.factor * j.factor * e.first;
        sum.second = sum.second + i.factor * j.factor * e.second;
      }
    return sum;
  }

  DualForm base_;
  std::vector<Term> terms_;
  double constant_, small_;
  std::shared_ptr<const DualRule> series_;
};

std::shared_ptr<const DualRule> mixture(Dual base, const std::vector<double>& parameters,
                                        double constant, double small, const Split& split,
                                        Term (*term)(const KernelNode&)) {
  std::vector<Term> terms;
  for (const KernelNode& node : logistic_nodes()) terms.push_back(term(node));
  return std::make_shared<MixtureRule>(DualForm{base, parameters}, std::move(terms), constant,
                                       small, expansion_of(split));
}

}  // namespace

DualFunction DualFunction::tanh() {
  const Pointwise f = [](const Tensor& x) { return ladon::tanh(x); };
  return {"tanh",
          mixture(Dual::erf, {}, 0, 1, {0, 0, f, Powers::odd},
                  [](const KernelNode& n) {
                    return Term{n.weight, 2 * n.k * n.k};
                  }),
          f};
}

DualFunction DualFunction::sigmoid() {
  const Pointwise f = [](const Tensor& x) { return ladon::sigmoid(x); };
  const Pointwise half_tanh = [](const Tensor& x) { return 0.5 * ladon::tanh(0.5 * x); };
  return {"sigmoid",
          mixture(Dual::erf, {}, 0.5, 4, {0.5, 0, half_tanh, Powers::odd},
                  [](const KernelNode& n) {
                    return Term{n.weight / 2, 8 * n.k * n.k};
                  }),
          f};
}

DualFunction DualFunction::silu() {
  const Pointwise f = [](const Tensor& x) { return ladon::silu(x); };
  const Pointwise even = [](const Tensor& x) { return 0.5 * x * ladon::tanh(0.5 * x); };
  return {"silu",
          mixture(Dual::gelu, {}, 0, 4, {0, 0.5, even, Powers::even},
                  [](const KernelNode& n) {
                    return Term{n.weight, 4 * n.k * n.k};
                  }),
          f};
}

DualFunction DualFunction::softplus() {
  const Pointwise f = [](const Tensor& x) { return ladon::softplus(x); };
  const Pointwise even = [](const Tensor& x) { return ladon::softplus(x) - 0.5 * x; };
  return {"softplus",
          mixture(Dual::rectifier, {0.25, 0.25}, 0, 4, {0, 0.5, even, Powers::even},
                  [](const KernelNode& n) {
                    return Term{n.weight, 4 * n.k * n.k};
                  }),
          f};
}

}  // namespace ladon::infinite
