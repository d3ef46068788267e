// Duals of arbitrary functions by their Hermite expansion.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>
#include <utility>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/matmul.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/rowwise.h"
#include "ladon/layers/infinite/dual/entries.h"
#include "ladon/layers/infinite/dual/quadrature.h"

namespace ladon::infinite {
namespace {

using kernels::Powers;
using std::int64_t;

constexpr int most_terms = 256;

/// Tables that map a function's values to its Hermite coefficients, a_k = ∫ φ(z)·h_k(z)·density(z)
/// dz with the standard normal density. Since h_k is even for even k, and odd for odd k, the nodes
/// are z_j > 0, then −z_j, in the same order, and row j of the tables holds
/// w_j·density(z_j)·h_k(z_j) with the quadrature weights w_j, for even k in one table and for odd k
/// in the other.
struct Expansion {
  Tensor nodes, even, odd;  // [2·half], [half, terms/2] each
};

// Gauss–Legendre quadrature on panels. One panel begins at 0, where most kinks are; panels are
// small near 0, where a large σ makes φ(σz) steep; and they extend so far that functions that grow
// as e^4z are integrated to the last digits. The recurrence uses h_k(z)·exp(−z²/4), which stays in
// range where h_k does not.
Expansion make_expansion(int terms) {
  constexpr double edges[] = {0, 0.125, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20};
  const auto [points, weights] = gauss_legendre(16);
  const std::vector<double> x = numbers_of("dual", points), w = numbers_of("dual", weights);
  std::vector<double> nodes, tables[2];
  for (std::size_t panel = 1; panel < std::size(edges); ++panel)
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double half = 0.5 * (edges[panel] - edges[panel - 1]);
      const double z = edges[panel - 1] + half * (1 + x[j]), root = std::exp(-0.25 * z * z);
      nodes.push_back(z);
      double before = 0, h = root;
      for (int k = 0; k < terms; ++k) {
        tables[k % 2].push_back(half * w[j] * root * h / std::sqrt(2 * std::numbers::pi));
        const double next = (z * h - std::sqrt(k) * before) / std::sqrt(k + 1.0);
        before = h;
        h = next;
      }
    }
  const auto count = static_cast<int64_t>(nodes.size());
  const Tensor above = from_vector(nodes, {count});
  return {concat({above, -above}, 0), from_vector(tables[0], {count, terms / 2}),
          from_vector(tables[1], {count, terms / 2})};
}

/// make_expansion(), computed once per number of terms.
const Expansion& expansion(int terms) {
  static std::mutex mutex;
  static std::map<int, Expansion> made;
  const std::lock_guard lock(mutex);
  const auto found = made.find(terms);
  return found != made.end() ? found->second
                             : made.emplace(terms, make_expansion(terms)).first->second;
}

/// φ and, if requested, φ' at x, elementwise; or their Hermite coefficients, [m, terms] each, for m
/// variances.
struct Values {
  Tensor value, slope;
  Tensor value_square = {}, slope_square = {};  ///< With coefficients: E φ² and E φ'², [m].
};
Values values_at(const Pointwise& f, const Tensor& x, bool with_slope) {
  const EnableGrad on;
  const Tensor leaf = x.detach().set_requires_grad(with_slope);
  const Tensor y = f(leaf);
  LADON_CHECK(y.shape() == x.shape() && y.dtype() == f64, "dual", "the function maps ", x.shape(),
              " ", x.dtype(), " to ", y.shape(), " ", y.dtype(), "; it must be pointwise on f64");
  if (!with_slope) return {y.detach(), {}};
  Tensor slope;
  if (y.requires_grad())
    slope = grad(std::vector{y}, std::vector{leaf},
                 {.cotangents = {ones_like(y)}, .allow_unused = true})[0];
  return {y.detach(), slope.defined() ? slope : zeros_like(x)};
}

/// Throws Error unless φ maps each number independently of the others. φ is called with the same
/// numbers again, in reverse order and another shape, and in two parts; the results must be the
/// same each time.
void check_pointwise(const Pointwise& f) {
  const NoGrad off;
  constexpr std::int64_t count = 24;
  std::vector<double> points;  // irregular, of both signs, without 0
  for (std::int64_t i = 0; i < count; ++i)
    points.push_back(2.5 * std::sin(1 + 1.7 * static_cast<double>(i)));
  const Tensor x = from_vector(points, {count});
  const auto part = [&](std::int64_t begin, std::int64_t end, const Shape& shape) {
    return flatten(values_at(f, reshape(slice(x, 0, {begin, end}), shape), false).value);
  };
  const auto expected = numbers_of("dual", part(0, count, {3, 8}));
  const auto compare = [&](const Tensor& y, const char* how) {
    const auto got = numbers_of("dual", contiguous(y));
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double a = expected[i], b = got[i];
      const bool same = a == b || (std::isnan(a) && std::isnan(b)) ||
                        std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
      LADON_CHECK(same, "dual", "the function is not pointwise: ", points[i], " is mapped to ", a,
                  ", but ", how, " to ", b,
                  "; the result for a number must depend on this number only");
    }
  };
  compare(part(0, count, {3, 8}), "the second time");
  const Tensor turned = reshape(contiguous(flip(x, {0})), {8, 3});
  compare(flip(flatten(values_at(f, turned, false).value), {0}), "in another order");
  compare(concat({part(0, 5, {1, 5}), part(5, count, {count - 5, 1})}, 0), "beside fewer numbers");
}

/// Throws Error naming a node where y, the values of `what`, is not finite.
void check_finite(const char* what, const Tensor& y, const Tensor& nodes) {
  if (std::isfinite(number_of("dual", sum(y)))) return;
  const Tensor values = contiguous(y);
  for (std::int64_t i = 0; i < values.count(); ++i) {
    const double value = values.data<double>()[i];
    LADON_CHECK(std::isfinite(value), "dual", what, " is ", value,
                " at x = ", nodes.data<double>()[i],
                "; it must be finite at all x, since normal variables take "
                "positive and negative values of any size");
  }
}

/// Hermite coefficients of functions whose values at the nodes are the rows of y. Each row is
/// computed by the same instructions, for any number of rows.
/// [m, half] · [half, terms/2] → [m, terms/2], for even and for odd k.
Tensor hermite_coefficients(const Tensor& y, const Expansion& e) {
  const RowwiseProducts rowwise;
  const int64_t half = e.even.size(0);
  const Tensor above = slice(y, 1, {.stop = half}), below = slice(y, 1, {.start = half});
  const Tensor both = stack({matmul(above + below, e.even), matmul(above - below, e.odd)}, 2);
  return reshape(both, {y.size(0), 2 * e.even.size(1)});
}

/// Mean squares Σ_j y[i, j]²·density(z_j)·w_j, [m]. Column k = 0 of the table holds these weights,
/// since h_0 = 1.
Tensor mean_squares(const Tensor& y, const Expansion& e) {
  const Tensor weights = select(e.even, 1, 0);
  return sum(square(y) * concat({weights, weights}, 0), -1);
}

/// The Hermite coefficients of z ↦ φ(√p·z), and of z ↦ φ'(√p·z) if requested, for each element of
/// p.
Values coefficients(const Pointwise& f, int terms, const Tensor& p, bool with_slope) {
  const Expansion& e = expansion(terms);
  const Tensor root = sqrt(reshape(p.detach(), {p.count(), 1}));
  const Tensor nodes = root * e.nodes;
  const Values at_nodes = values_at(f, nodes, with_slope);
  check_finite("φ", at_nodes.value, nodes);
  if (with_slope) check_finite("φ'", at_nodes.slope, nodes);
  Values a;
  a.value = hermite_coefficients(at_nodes.value, e);
  a.value_square = mean_squares(at_nodes.value, e);
  if (!with_slope) return a;
  a.slope = hermite_coefficients(at_nodes.slope, e);
  a.slope_square = mean_squares(at_nodes.slope, e);
  return a;
}

/// Hermite coefficients of an even or odd function: only those that are not 0, [m, terms/2].
Values coefficients(const Pointwise& f, int terms, const Tensor& p, bool with_slope,
                    Powers powers) {
  const RowwiseProducts rowwise;
  const Expansion& e = expansion(terms);
  const Tensor above = slice(e.nodes, 0, {.stop = e.even.size(0)});
  const Tensor root = sqrt(reshape(p.detach(), {p.count(), 1}));
  const Values at_nodes = values_at(f, root * above, with_slope);
  const bool even = powers == Powers::even;
  return {2 * matmul(at_nodes.value, even ? e.even : e.odd),
          with_slope ? 2 * matmul(at_nodes.slope, even ? e.odd : e.even) : Tensor()};
}

/// Coefficients for the variances p (left) and q (right), computed once per distinct variance: the
/// two blocks of inputs are often the same, and after a norm all variances are equal.
struct Sides {
  Values left, right;
};
Sides coefficients(const Pointwise& f, int terms, const Tensor& p, const Tensor& q, bool with_slope,
                   Powers powers = Powers::all) {
  const UniqueElements variances = unique(concat({flatten(p.detach()), flatten(q.detach())}, 0));
  const Values all = powers == Powers::all
                         ? coefficients(f, terms, variances.values, with_slope)
                         : coefficients(f, terms, variances.values, with_slope, powers);
  const auto of = [&](const Slice& places) {
    const Tensor rows = slice(variances.inverse, 0, places);
    const auto taken = [&](const Tensor& x) { return x.defined() ? index_select(x, 0, rows) : x; };
    return Values{taken(all.value), taken(all.slope), taken(all.value_square),
                  taken(all.slope_square)};
  };
  return {of({.stop = p.count()}), of({.start = p.count()})};
}

/// Kink κ = φ'(0+) − φ'(0−) of φ at 0; 0 if it is negligible, or infinite.
double kink(const Pointwise& f) {
  constexpr double aside = 1e-12;
  const auto slope = numbers_of("dual", values_at(f, tensor({-aside, aside}, f64), true).slope);
  const double k = slope[1] - slope[0];
  return std::isfinite(k) && std::abs(k) > 1e-9 ? k : 0;
}

/// The coefficients of a kink alone, φ = κ|x|/2, for each element of p.
Values kink_coefficients(double kappa, const Tensor& p, int terms) {
  const Expansion& e = expansion(terms);
  const Tensor z = reshape(e.nodes, {1, e.nodes.size(0)});
  const Tensor root = sqrt(reshape(p.detach(), {p.count(), 1}));
  return {0.5 * kappa * root * hermite_coefficients(abs(z), e),
          0.5 * kappa * ones_like(root) * hermite_coefficients(sign(z), e)};
}

/// Share of E φ² that the result omits, for each variance, from the coefficients `a` of φ. `kink`
/// holds the coefficients of the kink alone, whose terms beyond the truncated sum are added in
/// closed form, and `all` is E φ² of the kink alone.
Tensor left_out(const Tensor& a, const Tensor& mean_square, const Tensor& kink, const Tensor& all) {
  Tensor rest = mean_square - sum(square(a), -1);
  if (kink.defined()) rest = rest - (all - sum(square(kink), -1));
  return abs(rest) / maximum(mean_square, scalar(std::numeric_limits<double>::min(), f64));
}

/// Throws Error if the omitted share of E exceeds `tolerance`. It is at most about |ρ|^terms times
/// the share that is omitted of E φ² (`left` for the variances p, `right` for q). most_suffice()
/// says whether the largest number of terms would do.
void check_left_out(const char* of, const Tensor& left, const Tensor& right, const Tensor& p,
                    const Tensor& q, const Tensor& c, int terms, double tolerance,
                    const std::function<bool()>& most_suffice) {
  if (c.count() == 0 ||
      number_of("dual", amax(left.detach())) * number_of("dual", amax(right.detach())) <=
          tolerance * tolerance)
    return;
  const Tensor scale = sqrt(p) * sqrt(q);  // p·q may over- or underflow
  const Tensor safe = maximum(scale, scalar(std::numeric_limits<double>::min(), f64));
  const Tensor rho = minimum(abs(c) / safe, scalar(1, f64));
  const Tensor rest = sqrt(reshape(left, p.shape()) * reshape(right, q.shape())) *
                      pow(rho, static_cast<double>(terms));
  const double worst = number_of("dual", amax(rest.detach()));
  LADON_CHECK(worst <= tolerance, "dual", terms, " terms of the expansion of ", of,
              " omit a share of ", worst, " at variances up to ",
              std::max(number_of("dual", amax(p.detach())), number_of("dual", amax(q.detach()))),
              "; at most ", tolerance, " is accepted: use ",
              terms < most_terms && most_suffice()
                  ? detail::join("more terms (", most_terms, " suffice)")
                  : detail::join("a dual in closed form (DualFunction::closed)",
                                 terms < most_terms ? detail::join(", since ", most_terms,
                                                                   " terms omit too much too")
                                                    : ""),
              ", or a larger tolerance (DualFunction::numeric); for smooth functions, smaller "
              "variances suffice, as after a LayerNorm");
}

kernels::DualForm kink_form(double kappa) {
  return {kernels::Dual::rectifier, {0, 0.25 * kappa * kappa, 0, 0}};
}

/// The coefficients of f'(√p·z) from those of f(√p·z): a'_k = √(k+1)·a_{k+1}/√p (partial
/// integration); 0 where p = 0.
Tensor derived_coefficients(const Tensor& a, const Tensor& p) {
  const int64_t m = a.size(0), n = a.size(1);
  Tensor derived = zeros(a.shape(), f64);
  const std::vector<double> variance = numbers_of("dual", p);
  const double* in = a.data<double>();
  double* out = derived.mutable_data<double>();
  for (int64_t i = 0; i < m; ++i) {
    const double v = variance[i], scale = v > 0 ? 1 / std::sqrt(v) : 0;
    for (int64_t k = 0; k + 1 < n; ++k)
      out[i * n + k] = scale * std::sqrt(k + 1.0) * in[i * n + k + 1];
  }
  return derived;
}

using kernels::DualPair;

/// Variances and covariance of (u, v).
struct Operands {
  const Tensor &p, &q, &c;
};

/// E[φ(u)φ(v)] and, if coefficients of φ' are given, E[φ'(u)φ'(v)].
DualPair sum_values(const Values& a, const Values& b, const Operands& x) {
  DualPair result{kernels::dual_series(a.value, b.value, x.p, x.q, x.c), {}};
  if (a.slope.defined()) result.second = kernels::dual_series(a.slope, b.slope, x.p, x.q, x.c);
  return result;
}

/// ∂E/∂c = E[φ'(u)φ'(v)] and ∂E/∂p = ½·E[φ''(u)φ(v)] (Price 1958).
DualPair sum_slopes(const Values& a, const Values& b, const Operands& x) {
  const Tensor second = 0.5 * derived_coefficients(a.slope, x.p);
  return {kernels::dual_series(a.slope, b.slope, x.p, x.q, x.c),
          kernels::dual_series(second, b.value, x.p, x.q, x.c)};
}

/// ∂E'/∂c = E[φ''(u)φ''(v)] and ∂E'/∂p = ½·E[φ'''(u)φ'(v)] of E' = E[φ'(u)φ'(v)].
DualPair sum_curvatures(const Values& a, const Values& b, const Operands& x) {
  const Tensor of_p = derived_coefficients(a.slope, x.p), of_q = derived_coefficients(b.slope, x.q);
  return {kernels::dual_series(of_p, of_q, x.p, x.q, x.c),
          kernels::dual_series(0.5 * derived_coefficients(of_p, x.p), b.slope, x.p, x.q, x.c)};
}

/// y ← y + exact − series: adds the terms that a truncated series omits.
void add_rest(DualPair& y, const DualPair& exact, const DualPair& series) {
  const auto add = [](Tensor& to, const Tensor& more, const Tensor& less) {
    if (to.defined()) to = to + (more - less);
  };
  add(y.first, exact.first, series.first);
  add(y.second, exact.second, series.second);
}

// The Hermite coefficients of a kink decay slowest, and dominate the terms that a truncated series
// omits. But the dual of |x| is known in closed form: the closed form minus the truncated series of
// the kink is the sum of the terms omitted for the kink.
class NumericRule final : public SlopedRule {
 public:
  NumericRule(Pointwise function, int terms, double tolerance)
      : f_(std::move(function)), terms_(terms), tolerance_(tolerance) {}

 private:
  DualPair values(const Tensor& p, const Tensor& q, const Tensor& c,
                  bool with_derivative) const override {
    LADON_CHECK(is_plain(f_(ones({1}, f64))), "dual",
                "the function captures a tensor that has a derivative (it requires a gradient, has "
                "a tangent of jvp, or examples of vmap), which DualFunction::numeric would lose; "
                "capture x.detach(), or use DualFunction::closed");
    const NoGrad off;
    const Operands x{p, q, c};
    const Sides known = coefficients(f_, terms_, p, q, with_derivative);
    const Values &a = known.left, &b = known.right;
    DualPair result = sum_values(a, b, x);
    const double k = kink(f_);
    Values kink_a, kink_b;
    if (k != 0) {
      kink_a = kink_coefficients(k, p, terms_);
      kink_b = kink_coefficients(k, q, terms_);
      add_rest(result, kernels::dual(kink_form(k), p, q, c, true), sum_values(kink_a, kink_b, x));
    }
    if (std::isinf(tolerance_)) return result;
    // E φ² and E φ'² of the kink κ|x|/2 are κ²p/4 and κ²/4.
    const auto check = [&](const char* of, Tensor Values::*part, Tensor Values::*mean_square,
                           const Tensor& all_a, const Tensor& all_b) {
      check_left_out(of, left_out(a.*part, a.*mean_square, kink_a.*part, all_a),
                     left_out(b.*part, b.*mean_square, kink_b.*part, all_b), p, q, c, terms_,
                     tolerance_, [&] { return suffices(most_terms, p, q, c, with_derivative); });
    };
    const double share = 0.25 * k * k;
    check("E[φ(u)φ(v)]", &Values::value, &Values::value_square, share * flatten(p),
          share * flatten(q));
    if (with_derivative)
      check("E[φ'(u)φ'(v)]", &Values::slope, &Values::slope_square, scalar(share, f64),
            scalar(share, f64));
    return result;
  }

  DualPair slopes(const Tensor& p, const Tensor& q, const Tensor& c) const override {
    return completed({p, q, c}, sum_slopes, kernels::dual_slopes);
  }
  DualPair curvatures(const Tensor& p, const Tensor& q, const Tensor& c) const override {
    return completed({p, q, c}, sum_curvatures, kernels::dual_curvatures);
  }

  template <class Sum, class Closed>
  DualPair completed(const Operands& x, const Sum& sum, const Closed& closed) const {
    const NoGrad off;
    const Sides known = coefficients(f_, terms_, x.p, x.q, true);
    DualPair result = sum(known.left, known.right, x);
    if (const double k = kink(f_); k != 0)
      add_rest(result, closed(kink_form(k), x.p, x.q, x.c),
               sum(kink_coefficients(k, x.p, terms_), kink_coefficients(k, x.q, terms_), x));
    return result;
  }

  bool suffices(int terms, const Tensor& p, const Tensor& q, const Tensor& c,
                bool with_derivative) const {
    try {
      NumericRule(f_, terms, tolerance_).values(p, q, c, with_derivative);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  Pointwise f_;
  int terms_;
  double tolerance_;
};

/// E = constant² + slope²·c + the series of Split::rest, which has only even or only odd powers; E'
/// = slope² + the corresponding series.
class SplitRule final : public DualRule {
 public:
  explicit SplitRule(Split split) : split_(std::move(split)) {}

  DualResult evaluate(const Tensor& p, const Tensor& q, const Tensor& c,
                      bool with_derivative) const override {
    constexpr int terms = 128;
    const NoGrad off;
    const double constant = split_.constant, slope2 = split_.slope * split_.slope;
    const auto [a, b] = coefficients(split_.rest, terms, p, q, with_derivative, split_.powers);
    DualResult y{kernels::dual_series(a.value, b.value, p, q, c, split_.powers, slope2), {}};
    if (constant != 0) y.value = y.value + constant * constant;
    if (!with_derivative) return y;
    y.derivative = kernels::dual_series(a.slope, b.slope, p, q, c,
                                        split_.powers == Powers::even ? Powers::odd : Powers::even);
    if (slope2 != 0) y.derivative = y.derivative + slope2;
    return y;
  }

 private:
  Split split_;
};

}  // namespace

std::shared_ptr<const DualRule> expansion_of(const Pointwise& f) {
  return std::make_shared<NumericRule>(f, 128, std::numeric_limits<double>::infinity());
}
std::shared_ptr<const DualRule> expansion_of(const Split& split) {
  return std::make_shared<SplitRule>(split);
}

DualFunction DualFunction::numeric(Pointwise function, int terms, double tolerance) {
  LADON_CHECK(static_cast<bool>(function), "dual",
              "φ must be a function, but the function is empty");
  LADON_CHECK(terms >= 8 && terms <= most_terms && terms % 8 == 0, "dual", terms,
              " terms were requested; the number of terms must be a multiple of 8 from 8 to ",
              most_terms);
  check_pointwise(function);
  return {"numeric", std::make_shared<NumericRule>(function, terms, tolerance), function};
}

}  // namespace ladon::infinite
