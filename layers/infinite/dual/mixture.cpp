// Duals of the logistic family: tanh, sigmoid, silu, softplus.
//
// The logistic density is a mixture of normal ones (Andrews and Mallows 1974; Stefanski 1991): if K has
// Kolmogorov's distribution and z is standard normal, 2K·z is logistic. So with weights w_i at nodes k_i
// of that distribution, to rounding at any x,
//   σ(x) = Σ_i w_i·Φ(x/τ_i),  τ_i = 2k_i;  tanh(x) = 2σ(2x) − 1 = Σ_i w_i·erf(x/(√2·k_i))
//   x·σ(x) = Σ_i w_i·τ_i·gelu(x/τ_i)
//   softplus(x) = Σ_i w_i·E_z[relu(x + τ_i·z)],
// and each E[φ(u)φ(v)] is a sum over pairs (i, j) of closed forms, at any variance, where a Hermite
// expansion needs some hundred terms for each unit of it.

#include <array>
#include <cmath>
#include <numbers>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/layers/infinite/dual/rule.h"

namespace ladon::infinite {
namespace {

using kernels::Dual;
using kernels::DualForm;
using kernels::DualPair;

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

struct Node {
  double k, weight;
};

/// The trapezoidal rule in ln k, which decays doubly exponentially on both sides: with this step σ is
/// wrong by 6e-14, and its derivative by 1e-13.
constexpr int nodes = 23;
const std::array<Node, nodes>& logistic_nodes() {
  static const auto made = [] {
    constexpr double step = 0.14;
    std::array<Node, nodes> list;
    for (int i = 0; i < nodes; ++i) {
      const double k = 0.85 * std::exp(step * (i - 11));
      list[static_cast<std::size_t>(i)] = {k, step * k * kolmogorov_density(k)};
    }
    return list;
  }();
  return made;
}

/// factor·φ(scale·x + deviation·z), for a base function φ that is known in closed form.
struct Term {
  double factor, scale, deviation;
};

/// constant + Σ_i terms_i; where both variances are at most `small` by another rule, which is faster
/// there. (The constant's products with the terms must have mean zero.)
class MixtureRule final : public SlopedRule {
 public:
  MixtureRule(DualForm base, std::vector<Term> terms, double constant, double small,
              std::shared_ptr<const DualRule> other)
      : base_(std::move(base)),
        terms_(std::move(terms)),
        constant_(constant),
        small_(small),
        other_(std::move(other)) {}

 private:
  DualPair values(const Tensor& p, const Tensor& q, const Tensor& c,
                  bool with_derivative) const override {
    return chosen(
        p, q, c,
        [&] {
          const DualResult e = other_->evaluate(p, q, c, with_derivative);
          return DualPair{e.value, e.derivative};
        },
        [&] {
          DualPair sum = over_pairs(p, q, c, [&](const Term& i, const Term& j, const DualPair& e) {
            return DualPair{e.first, i.scale * j.scale * e.second};
          });
          sum.first = sum.first + constant_ * constant_;
          return sum;
        });
  }

  DualPair slopes(const Tensor& p, const Tensor& q, const Tensor& c) const override {
    Tensor by_c = zeros(c.shape(), f64), by_p = by_c;
    for (const Term& i : terms_)
      for (const Term& j : terms_) {
        const DualPair d =
            kernels::dual_slopes(base_, moved(p, i, i), moved(q, j, j), i.scale * j.scale * c);
        by_c = by_c + i.factor * j.factor * i.scale * j.scale * d.first;
        by_p = by_p + i.factor * j.factor * i.scale * i.scale * d.second;
      }
    return {by_c, by_p};
  }

  static Tensor moved(const Tensor& variance, const Term& i, const Term& j) {
    return i.scale * j.scale * variance + i.deviation * j.deviation;
  }

  template <class F>
  DualPair over_pairs(const Tensor& p, const Tensor& q, const Tensor& c, const F& part) const {
    DualPair sum{zeros(c.shape(), f64), zeros(c.shape(), f64)};
    for (const Term& i : terms_)
      for (const Term& j : terms_) {
        const DualPair e =
            part(i, j,
                 kernels::dual(base_, moved(p, i, i), moved(q, j, j), i.scale * j.scale * c, true));
        sum.first = sum.first + i.factor * j.factor * e.first;
        sum.second = sum.second + i.factor * j.factor * e.second;
      }
    return sum;
  }

  /// Each entry by the rule that its own variances ask for.
  template <class Other, class Mixture>
  DualPair chosen(const Tensor& p, const Tensor& q, const Tensor& c, const Other& other,
                  const Mixture& mixture) const {
    if (c.count() == 0) return other();
    const NoGrad off;
    const Tensor few = logical_and(less_equal(p, small_), less_equal(q, small_));
    if (all(few).item<bool>()) return other();
    if (!any(few).item<bool>()) return mixture();
    const DualPair a = other(), b = mixture();
    const auto pick = [&](const Tensor& x, const Tensor& y) {
      return x.defined() ? where(few, x, y) : x;
    };
    return {pick(a.first, b.first), pick(a.second, b.second)};
  }

  DualForm base_;
  std::vector<Term> terms_;
  double constant_, small_;
  std::shared_ptr<const DualRule> other_;
};

std::shared_ptr<const DualRule> mixture(Dual base, const std::vector<double>& parameters,
                                        double constant, double small, const DualFunction& series,
                                        Term (*term)(const Node&)) {
  std::vector<Term> terms;
  for (const Node& node : logistic_nodes()) terms.push_back(term(node));
  return std::make_shared<MixtureRule>(DualForm{base, parameters}, std::move(terms), constant,
                                       small, series.rule().shared_from_this());
}

}  // namespace

DualFunction DualFunction::tanh() {
  const Pointwise f = [](const Tensor& x) { return ladon::tanh(x); };
  return {"tanh",
          mixture(Dual::erf, {}, 0, 1, numeric(f),
                  [](const Node& n) {
                    return Term{n.weight, 1 / (std::numbers::sqrt2 * n.k), 0};
                  }),
          f};
}

DualFunction DualFunction::sigmoid() {
  const Pointwise f = [](const Tensor& x) { return ladon::sigmoid(x); };
  return {"sigmoid",
          mixture(Dual::erf, {}, 0.5, 4, numeric(f),
                  [](const Node& n) {
                    return Term{n.weight / 2, 1 / (2 * std::numbers::sqrt2 * n.k), 0};
                  }),
          f};
}

DualFunction DualFunction::silu() {
  const Pointwise f = [](const Tensor& x) { return ladon::silu(x); };
  return {"silu",
          mixture(Dual::gelu, {}, 0, 4, numeric(f),
                  [](const Node& n) {
                    return Term{n.weight * 2 * n.k, 1 / (2 * n.k), 0};
                  }),
          f};
}

DualFunction DualFunction::softplus() {
  const Pointwise f = [](const Tensor& x) { return ladon::softplus(x); };
  return {"softplus",
          mixture(Dual::rectifier, {0.25, 0.25}, 0, 4, numeric(f),
                  [](const Node& n) {
                    return Term{n.weight, 1, 2 * n.k};
                  }),
          f};
}

}  // namespace ladon::infinite
