// Rows of elementwise operations. Closed forms of derivatives are written without differences of
// nearly equal numbers.

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "ladon/autograd/ops.h"
#include "ladon/tests/autograd/extra/contract/contract.h"

namespace ladon::test {
namespace {

const Exact infinite = std::numeric_limits<Exact>::infinity();
const Exact undefined = std::numeric_limits<Exact>::quiet_NaN();

bool positive(double x) { return x > 0; }
bool not_zero(double x) { return x != 0; }

Exact zero(Exact) { return 0; }
Exact one(Exact) { return 1; }

/// x·y, 0 where x is 0, also beside ∞.
Exact times(Exact x, Exact y) { return x == 0 || y == 0 ? 0 : x * y; }

// Gates: σ, Φ and the sigmoid of gelu's approximation, with their derivatives; of −∞ they are 0.

Exact sigma(Exact x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
Exact bump(Exact x) { return sigma(x) * sigma(-x); }  // σ'
Exact phi(Exact x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi_v<Exact>); }
Exact cdf(Exact x) { return std::erfc(-x / std::numbers::sqrt2_v<Exact>) / 2; }

constexpr Exact gelu_cubic = 0.044715;  // as a double

Exact gelu_argument(Exact x) {
  return 2 * std::sqrt(2 / std::numbers::pi_v<Exact>) * x * (1 + gelu_cubic * x * x);
}
Exact gelu_argument_slope(Exact x) {
  return 2 * std::sqrt(2 / std::numbers::pi_v<Exact>) * (1 + 3 * gelu_cubic * x * x);
}
Exact gelu_argument_bend(Exact x) {
  return 2 * std::sqrt(2 / std::numbers::pi_v<Exact>) * 6 * gelu_cubic * x;
}
Exact gelu_tanh_first(Exact x) {
  if (std::abs(x) > 100) return x > 0;
  const Exact v = gelu_argument(x);
  return sigma(v) + x * bump(v) * gelu_argument_slope(x);
}
Exact gelu_tanh_second(Exact x) {
  if (std::abs(x) > 100) return 0;
  const Exact v = gelu_argument(x), d = gelu_argument_slope(x);
  // 2s'v' + x(s''v'² + s'v''), s'' = −s'·tanh(v/2)
  return bump(v) * (2 * d + x * (gelu_argument_bend(x) - std::tanh(v / 2) * d * d));
}

constexpr Exact selu_scale = 1.0507009873554804934193349852946L,
                selu_alpha = 1.6732632423543772848170429916717L;

using UnaryRows = std::vector<UnaryRow>;

UnaryRows arithmetic() {
  return {
      {"neg", "", [](auto& x) { return neg(x); }, [](Exact) { return -1; }, zero},
      {"operator-", "of one", [](auto& x) { return -x; }, [](Exact) { return -1; }, zero},
      {"operator+", "number", [](auto& x) { return 2.0 + x; }, one, zero},
      {"operator-", "number", [](auto& x) { return 2.0 - x; }, [](Exact) { return -1; }, zero},
      {"operator*", "number", [](auto& x) { return 3.0 * x; }, [](Exact) { return 3; }, zero},
      {"operator/", "by a number", [](auto& x) { return x / 4.0; }, [](Exact) { return 0.25; },
       zero},
      {"operator/",
       "a number",
       [](auto& x) { return 1.0 / x; },
       [](Exact x) { return -1 / (x * x); },
       [](Exact x) { return 2 / (x * x * x); },
       {},
       not_zero},
      {"abs", "0 at the kink", [](auto& x) { return abs(x); },
       [](Exact x) { return (x > 0) - (x < 0); }, zero},
      {"sign", "", [](auto& x) { return sign(x); }, zero, zero},
      {"floor", "", [](auto& x) { return floor(x); }, zero, zero},
      {"ceil", "", [](auto& x) { return ceil(x); }, zero, zero},
      {"round", "", [](auto& x) { return round(x); }, zero, zero},
      {"square", "", [](auto& x) { return square(x); }, [](Exact x) { return 2 * x; },
       [](Exact) { return 2; }},
  };
}

UnaryRows roots_and_logarithms() {
  return {
      {"sqrt",
       "",
       [](auto& x) { return sqrt(x); },
       [](Exact x) { return 0.5L / std::sqrt(x); },
       [](Exact x) { return -0.25L / (x * std::sqrt(x)); },
       {},
       positive},
      {"rsqrt",
       "",
       [](auto& x) { return rsqrt(x); },
       [](Exact x) { return -0.5L / (x * std::sqrt(x)); },
       [](Exact x) { return 0.75L / (x * x * std::sqrt(x)); },
       {.first = 6},
       positive},
      {"reciprocal",
       "",
       [](auto& x) { return reciprocal(x); },
       [](Exact x) { return -1 / (x * x); },
       [](Exact x) { return 2 / (x * x * x); },
       {},
       not_zero},
      {"exp", "", [](auto& x) { return exp(x); }, [](Exact x) { return std::exp(x); },
       [](Exact x) { return std::exp(x); }},
      {"expm1", "", [](auto& x) { return expm1(x); }, [](Exact x) { return std::exp(x); },
       [](Exact x) { return std::exp(x); }},
      {"log",
       "",
       [](auto& x) { return log(x); },
       [](Exact x) { return 1 / x; },
       [](Exact x) { return -1 / (x * x); },
       {},
       positive},
      {"log1p",
       "",
       [](auto& x) { return log1p(x); },
       [](Exact x) { return 1 / (1 + x); },
       [](Exact x) { return -1 / ((1 + x) * (1 + x)); },
       {},
       [](double x) { return x > -1; },
       {-1 + 0x1p-20, -0.5}},
  };
}

UnaryRows sines_and_sigmoids() {
  const auto pi = std::numbers::pi_v<Exact>;
  return {
      {"sin",
       "",
       [](auto& x) { return sin(x); },
       [](Exact x) { return std::cos(x); },
       [](Exact x) { return -std::sin(x); },
       {},
       [](double x) { return std::isfinite(x); }},
      {"cos",
       "",
       [](auto& x) { return cos(x); },
       [](Exact x) { return -std::sin(x); },
       [](Exact x) { return -std::cos(x); },
       {},
       [](double x) { return std::isfinite(x); }},
      {"tanh", "", [](auto& x) { return tanh(x); }, [](Exact x) { return 4 * bump(2 * x); },
       [](Exact x) { return -8 * bump(2 * x) * std::tanh(x); }},
      {"erf",
       "",
       [](auto& x) { return erf(x); },
       [=](Exact x) { return 2 / std::sqrt(pi) * std::exp(-x * x); },
       [=](Exact x) { return times(std::exp(-x * x), -4 * x / std::sqrt(pi)); },
       {.floor = 1e4}},
      {"sigmoid", "", [](auto& x) { return sigmoid(x); }, bump,
       [](Exact x) { return -bump(x) * std::tanh(x / 2); }},
      {"softplus", "", [](auto& x) { return softplus(x); }, sigma, bump},
      {"softplus", "log sigmoid", [](auto& x) { return -softplus(-x); },
       [](Exact x) { return sigma(-x); }, [](Exact x) { return -bump(x); }},
  };
}

UnaryRows rectifiers() {
  return {
      {"relu", "0 at the kink", [](auto& x) { return relu(x); }, [](Exact x) { return x > 0; },
       zero},
      {"leaky_relu", "the slope at the kink", [](auto& x) { return leaky_relu(x, 0.125); },
       [](Exact x) { return x > 0 ? 1 : 0.125L; }, zero},
      {"elu", "alpha at the kink", [](auto& x) { return elu(x, 2); },
       [](Exact x) { return x > 0 ? 1 : 2 * std::exp(x); },
       [](Exact x) { return x > 0 ? 0 : 2 * std::exp(x); }},
      {"selu",
       "",
       [](auto& x) { return selu(x); },
       [](Exact x) { return x > 0 ? selu_scale : selu_scale * selu_alpha * std::exp(x); },
       [](Exact x) { return x > 0 ? 0 : selu_scale * selu_alpha * std::exp(x); },
       {.first = 5}},
      {"silu",
       "",
       [](auto& x) { return silu(x); },
       [](Exact x) { return sigma(x) + times(bump(x), x); },
       [](Exact x) { return bump(x) * (2 - times(std::isinf(x) ? 0 : x, std::tanh(x / 2))); },
       {.second = 24, .floor = 1e3}},
      {"gelu",
       "exact",
       [](auto& x) { return gelu(x); },
       [](Exact x) { return cdf(x) + times(phi(x), x); },
       [](Exact x) { return times(phi(x), 2 - x * x); },
       {.second = 24, .floor = 1e4}},
      {"gelu",
       "tanh",
       [](auto& x) { return gelu(x, Gelu::tanh); },
       gelu_tanh_first,
       gelu_tanh_second,
       {.first = 8, .second = 32, .floor = 1e5}},
  };
}

UnaryRows choices_and_powers() {
  return {
      {"clamp", "passes at its ends", [](auto& x) { return clamp(x, -1, 3); },
       [](Exact x) { return x >= -1 && x <= 3; }, zero},
      {"maximum", "number: half at a tie", [](auto& x) { return maximum(x, 3.0); },
       [](Exact x) { return x == 3 ? 0.5L : x > 3; }, zero},
      {"minimum", "number: half at a tie", [](auto& x) { return minimum(3.0, x); },
       [](Exact x) { return x == 3 ? 0.5L : x < 3; }, zero},
      {"cast", "", [](auto& x) { return cast(x, f64); }, one, zero},
      {"pow", "square", [](auto& x) { return pow(x, 2.0); }, [](Exact x) { return 2 * x; },
       [](Exact) { return 2; }},
      {"pow", "1", [](auto& x) { return pow(x, 1.0); }, one, zero},
      {"pow", "0", [](auto& x) { return pow(x, 0.0); }, zero, zero},
      {"pow",
       "half",
       [](auto& x) { return pow(x, 0.5); },
       [](Exact x) { return 0.5L / std::sqrt(x); },
       [](Exact x) { return -0.25L / (x * std::sqrt(x)); },
       {},
       positive},
  };
}

UnaryRows special_functions() {
  return {
      {"lgamma",
       "",
       [](auto& x) { return lgamma(x); },
       [](Exact x) { return x == 0.5 ? -1.9635100260214234794L : -0.57721566490153286061L; },
       [](Exact x) { return x == 0.5 ? 4.9348022005446793094L : 1.6449340668482264365L; },
       {.first = 8},
       [](double x) { return x == 0.5 || x == 1; }},
      {"digamma",
       "",
       [](auto& x) { return digamma(x); },
       [](Exact x) { return std::isinf(x) ? 0 : 1 / x + 0.5L / (x * x) + 1 / (6 * x * x * x); },
       [](Exact x) { return std::isinf(x) ? 0 : -(1 / x) / x; },
       {.second = 16},
       [](double x) { return x > 1e20; }},
      {"polygamma",
       "poles of odd orders are ∞",
       [](auto& x) { return polygamma(1, x); },
       [](Exact) { return undefined; },
       [](Exact x) { return x == 0 ? infinite : undefined; },
       {},
       [](double x) { return x == 0; }},
  };
}

UnaryRows masks() {
  return {
      {"where", "", [](auto& x) { return where(greater(x, 1), x, 2.0); },
       [](Exact x) { return x > 1; }, zero},
      {"masked_fill", "", [](auto& x) { return masked_fill(x, greater(x, 1), 2); },
       [](Exact x) { return !(x > 1); }, zero},
  };
}

UnaryRows make_unary() {
  UnaryRows rows;
  for (const auto family : {arithmetic, roots_and_logarithms, sines_and_sigmoids, rectifiers,
                            choices_and_powers, special_functions, masks})
    for (UnaryRow& row : family()) rows.push_back(std::move(row));
  return rows;
}

// --- two operands ---

bool both(bool (*f)(double), double a, double b) { return f(a) && f(b); }
bool finite(double x) { return std::isfinite(x); }

Exact none(Exact, Exact) { return 0; }
Exact unit(Exact, Exact) { return 1; }

/// a/(a² + b²), 0 at the origin and at ∞: the derivative of atan2.
Exact along(Exact a, Exact b) {
  if ((a == 0 && b == 0) || std::isinf(a) || std::isinf(b)) return 0;
  return a / (a * a + b * b);
}
Exact product_over_fourth(Exact a, Exact b, Exact top) {
  const Exact r = a * a + b * b;
  return r == 0 || std::isinf(r) ? 0 : top / r / r;
}

using B = BinaryRow::Of;
using BinaryRows = std::vector<BinaryRow>;

void add_arithmetic(BinaryRows& rows) {
  const B by_sum = unit, minus = [](Exact, Exact) { return -1; };
  const B first = [](Exact a, Exact) { return a; }, second = [](Exact, Exact b) { return b; };
  const B over = [](Exact, Exact b) { return 1 / b; };
  const B over_b = [](Exact a, Exact b) { return -a / b / b; };
  const B over_ab = [](Exact, Exact b) { return -1 / (b * b); };
  const B over_bb = [](Exact a, Exact b) { return 2 * a / b / b / b; };
  const auto add = [&](BinaryRow row) { rows.push_back(std::move(row)); };
  for (const bool word : {true, false}) {
    const auto named = [&](const char* a, const char* b) { return word ? a : b; };
    add({named("add", "operator+"), "",
         [=](auto& a, auto& b) { return word ? ladon::add(a, b) : a + b; }, by_sum, by_sum, none,
         none, none});
    add({named("sub", "operator-"), "", [=](auto& a, auto& b) { return word ? sub(a, b) : a - b; },
         by_sum, minus, none, none, none});
    add({named("mul", "operator*"), "", [=](auto& a, auto& b) { return word ? mul(a, b) : a * b; },
         second, first, none, unit, none});
    // A quotient that leaves the range takes its derivative with it.
    add({named("div", "operator/"),
         "",
         [=](auto& a, auto& b) { return word ? div(a, b) : a / b; },
         over,
         over_b,
         none,
         over_ab,
         over_bb,
         {.first = 4, .floor = 64},
         [](double a, double b) {
           return both(finite, a, b) && b != 0 && std::abs(std::log10(std::abs(a / b))) < 30;
         }});
  }
}

void add_powers(BinaryRows& rows) {
  rows.push_back(
      {"pow",
       "",
       [](auto& a, auto& b) { return pow(a, b); },
       [](Exact a, Exact b) { return b == 0 ? 0 : b * std::pow(a, b - 1); },
       [](Exact a, Exact b) { return a == 0 && b >= 0 ? 0 : std::pow(a, b) * std::log(a); },
       [](Exact a, Exact b) { return b * (b - 1) == 0 ? 0 : b * (b - 1) * std::pow(a, b - 2); },
       [](Exact a, Exact b) { return std::pow(a, b - 1) * (1 + b * std::log(a)); },
       [](Exact a, Exact b) { return std::pow(a, b) * std::log(a) * std::log(a); },
       // b − 1 is rounded, and its error is multiplied by ln a: as torch. Powers near the ends of
       // the range have derivatives beyond them.
       {.first = 256, .second = 1024, .floor = 256},
       [](double a, double b) {
         return a > 0 && std::isfinite(a) && std::abs(b) < 100 &&
                std::abs(std::log10(a)) * (std::abs(b) + 2) < 37;
       }});
  rows.push_back(
      {"pow",
       "base 0",
       [](auto& a, auto& b) { return pow(a, b); },
       [](Exact, Exact b) { return b == 0 ? 0 : b * std::pow(Exact(0), b - 1); },
       [](Exact, Exact b) { return b >= 0 ? Exact(0) : -infinite; },
       {},
       {},
       {},
       {},
       [](double a, double b) { return a == 0 && !std::signbit(a) && std::abs(b) < 100; }});
}

void add_angles_and_choices(BinaryRows& rows) {
  rows.push_back({"atan2",
                  "0 at the origin and at ∞",
                  [](auto& y, auto& x) { return atan2(y, x); },
                  [](Exact y, Exact x) { return along(x, y); },
                  [](Exact y, Exact x) { return -along(y, x); },
                  [](Exact y, Exact x) { return product_over_fourth(y, x, -2 * x * y); },
                  [](Exact y, Exact x) { return product_over_fourth(y, x, y * y - x * x); },
                  [](Exact y, Exact x) { return product_over_fourth(y, x, 2 * x * y); },
                  {.first = 6, .second = 512, .floor = 64}});  // y² − x² of near ones
  const B greater = [](Exact a, Exact b) { return a == b ? 0.5L : a > b; };
  const B smaller = [](Exact a, Exact b) { return a == b ? 0.5L : a < b; };
  rows.push_back({"maximum", "half at ties", [](auto& a, auto& b) { return maximum(a, b); },
                  greater, smaller, none, none, none});
  rows.push_back({"minimum", "half at ties", [](auto& a, auto& b) { return minimum(a, b); },
                  smaller, greater, none, none, none});
}

BinaryRows make_binary() {
  BinaryRows rows;
  add_arithmetic(rows);
  add_powers(rows);
  add_angles_and_choices(rows);
  return rows;
}

}  // namespace

const std::vector<UnaryRow>& unary_rows() {
  static const std::vector<UnaryRow> rows = make_unary();
  return rows;
}
const std::vector<BinaryRow>& binary_rows() {
  static const std::vector<BinaryRow> rows = make_binary();
  return rows;
}

}  // namespace ladon::test
