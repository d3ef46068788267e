// Rows of the gamma function and related functions (autograd/extra/special/special.h).

#include <cmath>
#include <numbers>

#include "ladon/autograd/ops.h"
#include "ladon/tests/autograd/op_table/op_table.h"

namespace ladon::test {
namespace {

/// (−1)ⁿ⁺¹·n!·Σ_k 1/(x + k)ⁿ⁺¹, summed from the far end, which the integral and half the first term
/// left out stand for (Euler and Maclaurin); for n = 0, less 1/(k + 1) each, and −γ. Also below 0.
double psi(int n, double x) {
  constexpr int terms = 200000;
  const long double end = x + terms;
  long double sum =
      n == 0 ? std::log(end / (1.0L + terms)) - 0.5L / end + 0.5L / (1.0L + terms) : 0;
  if (n == 0) {
    sum -= 1 / (12 * end * end) - 1 / (12 * (1.0L + terms) * (1.0L + terms));
    for (int k = terms - 1; k >= 0; --k) sum -= 1 / (x + k) - 1 / (1.0L + k);
    return static_cast<double>(sum - 0.57721566490153286060651209L);
  }
  sum = std::pow(end, -n) / n + std::pow(end, -n - 1) / 2 + (n + 1) * std::pow(end, -n - 2) / 12;
  for (int k = terms - 1; k >= 0; --k) sum += std::pow(x + k, -n - 1);
  return static_cast<double>((n % 2 == 0 ? -1 : 1) * std::tgamma(n + 1.0L) * sum);
}

OpSample sample(const std::string& note, const Tensor& x,
                const std::function<Tensor(const Tensor&)>& f,
                const std::function<double(double)>& reference, bool differentiable = true) {
  return {.note = note,
          .inputs = {x},
          .apply = [f](const auto& in) { return f(in[0]); },
          .reference = pointwise([reference](const auto& v) { return reference(v[0]); }),
          .differentiable = differentiable};
}

std::vector<OpError> undefined(const std::function<Tensor(const Tensor&)>& f) {
  return {{"undefined", [f] { f(Tensor()); }}};
}

void add_special_rows(OpTable& table) {
  const Tensor positive = table.random({3, 4}, 0.25, 6), below = tensor({-0.5, -1.75, -3.25}, f64);
  const auto ln_gamma = [](double x) { return std::lgamma(x); };
  table.add({.name = "lgamma",
             .samples = {sample("positive", positive, lgamma, ln_gamma),
                         sample("negative", below, lgamma, ln_gamma),
                         sample("special", tensor({0, -1, 1, 2, 1e-300, 1e300, HUGE_VAL, NAN}, f64),
                                lgamma, ln_gamma, false)},
             .empty = {sample("none", zeros({0, 3}, f64), lgamma, ln_gamma)},
             .errors = undefined(lgamma)});
  const auto psi0 = [](double x) { return psi(0, x); };
  table.add(
      {.name = "digamma",
       .samples = {sample("positive", positive, digamma, psi0),
                   sample("negative", below, digamma, psi0),
                   sample(
                       "ψ(1) = −γ, ψ(½) = −γ − 2 ln 2, large", tensor({1, 0.5, 1e10}, f64), digamma,
                       [](double x) {
                         const double gamma = 0.57721566490153286;
                         return x == 1     ? -gamma
                                : x == 0.5 ? -gamma - 2 * std::numbers::ln2
                                           : std::log(x) - 1 / (2 * x);
                       },
                       false),
                   sample(
                       "special", tensor({0, -2, HUGE_VAL, -HUGE_VAL, NAN}, f64), digamma,
                       [](double x) { return x == HUGE_VAL ? x : NAN; }, false)},
       .empty = {sample("none", zeros({0}, f64), digamma, psi0)},
       .errors = undefined(digamma)});
  const auto of = [](int n) { return [n](const Tensor& x) { return polygamma(n, x); }; };
  const auto derivative = [](int n) { return [n](double x) { return psi(n, x); }; };
  OpRow row{.name = "polygamma",
            .samples = {sample("n = 0", positive, of(0), derivative(0)),
                        sample("n = 1", positive, of(1), derivative(1)),
                        sample("n = 2, negative", below, of(2), derivative(2)),
                        sample("n = 3", positive, of(3), derivative(3)),
                        sample("n = 7, negative", below, of(7), derivative(7)),
                        sample("ψ'(1) = π²/6", ones({1}, f64), of(1),
                               [](double) { return std::numbers::pi * std::numbers::pi / 6; }),
                        sample("n = 20", tensor({0.5, 40}, f64), of(20), derivative(20), false)},
            .errors = undefined(of(1))};
  row.errors.push_back({"n is 21; it must lie in [0, 20]", [] { polygamma(21, ones({2})); }});
  row.errors.push_back({"n is -1", [] { polygamma(-1, ones({2})); }});
  row.gradcheck.rtol = 1e-4;
  table.add(row);
}

const Family family(add_special_rows);

}  // namespace
}  // namespace ladon::test
