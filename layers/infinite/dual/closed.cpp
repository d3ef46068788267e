// Duals that users give in closed form.

#include <cmath>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/record.h"
#include "ladon/core/error.h"
#include "ladon/layers/infinite/dual/rule.h"

namespace ladon::infinite {
namespace {

class ClosedRule final : public DualRule {
 public:
  ClosedRule(std::string name, Covariance e) : name_(std::move(name)), e_(std::move(e)) {}

  DualResult evaluate(const Tensor& p, const Tensor& q, const Tensor& c,
                      bool with_derivative) const override {
    if (!with_derivative) return {checked(e_(p, q, c), c), {}};
    const bool record = recorded({p, q, c}) || captures();
    const EnableGrad on;
    const auto input = [&](const Tensor& x) { return record ? x : x.detach(); };
    Tensor by = record && c.requires_grad() ? c : c.detach().set_requires_grad();
    if (record) by.set_tangent(c.tangent());
    const Tensor value = checked(e_(input(p), input(q), by), c);
    LADON_CHECK(value.requires_grad(), name_,
                "E must depend on c through Ladon's operations, but does not");
    const Tensor derivative =
        grad(std::vector{value}, std::vector{by},
             {.cotangents = {ones_like(value)}, .retain_graph = record, .create_graph = record})[0];
    if (record) return {value, derivative};
    return {value.detach(), derivative.detach()};
  }

 private:
  /// Whether E has derivatives with respect to tensors that it captures.
  bool captures() const {
    const Tensor one = ones({1}, f64);
    return recorded({e_(one, one, 0.5 * one)});
  }
  Tensor checked(const Tensor& e, const Tensor& c) const {
    LADON_CHECK(e.defined() && e.shape() == c.shape() && e.dtype() == f64, name_,
                "E must return an f64 tensor of c's shape ", c.shape(), ", got ",
                detail::kind_in_words(e));
    return e;
  }

  std::string name_;
  Covariance e_;
};

/// Throws Error if the closed form and the Hermite expansion of the function disagree.
void check_against(const DualFunction& numeric, const DualFunction& closed) {
  const Tensor p = tensor({1.0, 0.6, 1.3, 1.0}, f64), q = tensor({1.0, 1.7, 0.8, 1.0}, f64);
  const Tensor c = tensor({0.5, -0.4, 0.7, 0.0}, f64);
  const auto size = [&](const Tensor& variance) {  // approximately E φ² and E φ'²
    return dual(numeric, variance, variance, 0.99 * variance, true);
  };
  const NoGrad off;
  const DualResult got = dual(closed, p, q, c, true), expected = dual(numeric, p, q, c, true);
  const DualResult left = size(p), right = size(q);
  const auto compare = [&](const char* what, Tensor DualResult::*part) {
    const Tensor scale = sqrt(left.*part * (right.*part));
    const auto found = numbers_of("dual", (got.*part)),
               wanted = numbers_of("dual", (expected.*part)), unit = numbers_of("dual", scale);
    for (std::size_t i = 0; i < found.size(); ++i)
      LADON_CHECK(std::abs(found[i] - wanted[i]) <= 1e-3 * unit[i] + 1e-12, closed.name(), what,
                  " at p = ", numbers_of("dual", p)[i], ", q = ", numbers_of("dual", q)[i],
                  ", c = ", numbers_of("dual", c)[i], " is ", found[i], ", but the function gives ",
                  wanted[i], "; is the formula right, and the function continuous?");
  };
  compare("E[φ(u)φ(v)]", &DualResult::value);
  compare("E[φ'(u)φ'(v)] = ∂E/∂c", &DualResult::derivative);
}

/// Throws Error unless value and derivative are finite where u = ±v.
void check_edges(const DualFunction& closed) {
  const NoGrad off;
  const Tensor one = ones({2}, f64), edges = tensor({1.0, -1.0}, f64);
  const DualResult e = dual(closed, one, one, edges, true);
  for (const Tensor* x : {&e.value, &e.derivative})
    for (const double v : numbers_of("dual", *x))
      LADON_CHECK(std::isfinite(v), closed.name(),
                  "E and ∂E/∂c must be finite where c² = pq, but one is ", v,
                  "; write square roots of pq − c² as sqrt(relu(p·q − square(c)))");
}

}  // namespace

DualFunction DualFunction::closed(std::string name, Pointwise function, Covariance e) {
  LADON_CHECK(function && e, name, "φ and E must be functions, but one is empty");
  const DualFunction f(name, std::make_shared<ClosedRule>(name, std::move(e)), function);
  check_against(numeric(std::move(function), 128, 1), f);
  check_edges(f);
  return f;
}

}  // namespace ladon::infinite
