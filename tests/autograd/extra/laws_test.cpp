// Densities and other functions of the distributions, compared with long double, element by
// element: values, gradients by both forms of the backward pass (fused and recorded), and forward
// mode, by every parameter and by x, in f32 and f64.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "ladon/autograd/extra/distributions/discrete.h"
#include "ladon/autograd/extra/distributions/gamma.h"
#include "ladon/autograd/extra/distributions/normal.h"
#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/tests/sources.h"
#include "ladon/tests/support.h"

namespace ladon::test::laws_test {
namespace {

using Real = long double;

// --- the reference ---

/// A number with its derivative along one direction. `scale` and `slope_scale` sum up the sizes of
/// the terms that each is computed from: in arithmetic of precision ε its error is some ε·scale.
struct Num {
  Real value = 0, slope = 0, scale = 0, slope_scale = 0;
  Num(Real v = 0, Real d = 0) : value(v), slope(d) {}  // NOLINT: numbers are constants
  Num(Real v, Real d, Real s, Real t)
      : value(v), slope(d), scale(s + std::abs(v)), slope_scale(t + std::abs(d)) {}
};

Num operator+(const Num& a, const Num& b) {
  return {a.value + b.value, a.slope + b.slope, a.scale + b.scale, a.slope_scale + b.slope_scale};
}
Num operator-(Num a) {
  a.value = -a.value;
  a.slope = -a.slope;
  return a;
}
Num operator-(const Num& a, const Num& b) { return a + (-b); }
Num operator*(const Num& a, const Num& b) {
  const auto size = [](Real x) { return std::abs(x); };
  return {a.value * b.value, a.slope * b.value + a.value * b.slope,
          a.scale * size(b.value) + size(a.value) * b.scale,
          a.slope_scale * size(b.value) + size(a.value) * b.slope_scale + a.scale * size(b.slope) +
              size(a.slope) * b.scale + size(a.slope * b.value) + size(a.value * b.slope)};
}
/// f(x) by f, f′ and f″ there.
Num unary(const Num& x, Real f, Real d1, Real d2) {
  return {f, d1 * x.slope, std::abs(d1) * x.scale,
          std::abs(d1) * x.slope_scale + std::abs(d2 * x.slope) * x.scale};
}
Num reciprocal(const Num& x) {
  const Real r = 1 / x.value;
  return unary(x, r, -r * r, 2 * r * r * r);
}
Num operator/(const Num& a, const Num& b) { return a * reciprocal(b); }
Num log(const Num& x) { return unary(x, std::log(x.value), 1 / x.value, -1 / (x.value * x.value)); }
Num log1p(const Num& x) {
  const Real u = 1 / (1 + x.value);
  return unary(x, std::log1p(x.value), u, -u * u);
}
Num exp(const Num& x) {
  const Real e = std::exp(x.value);
  return unary(x, e, e, e);
}

/// ψ, ψ′ and ψ″, by recurrence to x ≥ 25 and the asymptotic series.
Real polygamma(int n, Real x) {
  Real shift = 0;
  for (; x < 25; x += 1) shift += n == 0 ? -1 / x : n == 1 ? 1 / (x * x) : -2 / (x * x * x);
  const Real b[] = {1.0L / 6,  -1.0L / 30,     1.0L / 42, -1.0L / 30,
                    5.0L / 66, -691.0L / 2730, 7.0L / 6,  -3617.0L / 510};
  Real sum = n == 0   ? std::log(x) - 0.5L / x
             : n == 1 ? 1 / x + 0.5L / (x * x)
                      : -1 / (x * x) - 1 / (x * x * x);
  Real power = 1 / (x * x);  // x^(−2k)
  for (int k = 1; k <= 8; ++k, power /= x * x)
    sum += b[k - 1] * power * (n == 0 ? -0.5L / k : n == 1 ? 1 / x : -(2 * k + 1) / (x * x));
  return sum + shift;
}
/// ψ is a difference of terms of about 1 where it is small, by its zero at 1.46.
Num lgamma(const Num& x) {
  Num y = unary(x, ::lgammal(x.value), polygamma(0, x.value), polygamma(1, x.value));
  y.slope_scale += std::abs(x.slope);
  return y;
}
Num digamma(const Num& x) {
  Num y = unary(x, polygamma(0, x.value), polygamma(1, x.value), polygamma(2, x.value));
  y.scale += 1;
  return y;
}
Real sigma(Real x) { return 1 / (1 + std::exp(-x)); }
Num softplus(const Num& x) {
  const Real s = sigma(x.value);
  return unary(x, std::log1p(std::exp(-std::abs(x.value))) + std::max(x.value, Real(0)), s,
               s * sigma(-x.value));
}
/// Its slope is computed as y(1 − y), to ε of 1.
Num sigmoid(const Num& x) {
  const Real s = sigma(x.value), d = s * sigma(-x.value);
  Num y = unary(x, s, d, d * (1 - 2 * s));
  y.slope_scale += std::abs(x.slope);
  return y;
}

using Nums = std::vector<Num>;
Num total(const Nums& x) {
  Num sum = 0;
  for (const Num& each : x) sum = sum + each;
  return sum;
}
/// p/q − 1 − ln(p/q).
Num excess(const Num& p, const Num& q) {
  const Num u = (p - q) / q;
  return std::abs(u.value) < 0.5L ? u - log1p(u) : u - (log(p) - log(q));
}
Num log_normalizer(const Nums& a) {
  Num sum = 0;
  for (const Num& each : a) sum = sum + lgamma(each);
  return sum - lgamma(total(a));
}
Nums log_softmax(const Nums& l) {
  Real largest = l[0].value;
  for (const Num& each : l) largest = std::max(largest, each.value);
  Num sum = 0;
  for (const Num& each : l) sum = sum + exp(each - largest);
  Nums all;
  for (const Num& each : l) all.push_back((each - largest) - log(sum));
  return all;
}

// --- the table ---

using Columns = std::vector<Tensor>;
using Law = std::function<Num(const Nums& p, const Nums& q, const Nums& x)>;

/// A point: the parameters, those of another law of the family, and x.
struct Point {
  std::vector<double> p, q, x;
};
struct Row {
  std::function<std::unique_ptr<Distribution>(const Columns&)> make;
  /// x as log_prob takes it; whether it is differentiated.
  std::function<Tensor(const Columns&)> x;
  bool by_x = true;
  std::map<std::string, Law> laws;
  std::vector<Point> points;
};

template <class D>
auto two() {
  return [](const Columns& c) -> std::unique_ptr<Distribution> {
    return std::make_unique<D>(c[0], c[1]);
  };
}
template <class D>
auto stacked() {
  return [](const Columns& c) -> std::unique_ptr<Distribution> {
    return std::make_unique<D>(stack(c, -1));
  };
}
Tensor first(const Columns& x) { return x[0]; }

Row normal_row() {
  Row row{.make = two<Normal>(), .x = first, .laws = {}, .points = {}};
  const Num c = 0.5L * std::log(2 * 3.14159265358979323846264338327950288L);
  row.laws["log_prob"] = [=](auto& p, auto&, auto& x) {
    const Num z = (x[0] - p[0]) / p[1];
    return -(0.5L * z * z) - log(p[1]) - c;
  };
  row.laws["mean"] = [](auto& p, auto&, auto&) { return p[0]; };
  row.laws["variance"] = [](auto& p, auto&, auto&) { return p[1] * p[1]; };
  row.laws["entropy"] = [=](auto& p, auto&, auto&) { return log(p[1]) + (0.5L + c); };
  row.laws["kl"] = [](auto& p, auto& q, auto&) {
    const Num wider = (p[1] - q[1]) / q[1], apart = (p[0] - q[0]) / q[1];
    return excess(p[1], q[1]) + 0.5L * (wider * wider + apart * apart);
  };
  for (const double s : {1e-15, 0.01, 0.39894228, 1.0, 3.0, 1e15})
    for (const double r : {1.0001, 1.001, 0.3, 1e4})
      for (const double z : {0.0, 0.1, -4.0, 30.0})
        row.points.push_back({{0.5 * s, s}, {0.5 * s + 1e-4 * z * s, r * s}, {(0.5 + z) * s}});
  return row;
}

/// Concentrations from small to large, and others near and far.
const std::vector<double> sizes{1e-3, 0.3, 1.5, 2.5, 20, 1e2, 1e4, 1e6},
    ratios{1.001, 1.00001, 0.5, 30};

Row gamma_row() {
  Row row{.make = two<Gamma>(), .x = first, .laws = {}, .points = {}};
  row.laws["log_prob"] = [](auto& p, auto&, auto& x) {
    return p[0] * log(p[1]) + (p[0] - 1) * log(x[0]) - p[1] * x[0] - lgamma(p[0]);
  };
  row.laws["mean"] = [](auto& p, auto&, auto&) { return p[0] / p[1]; };
  row.laws["variance"] = [](auto& p, auto&, auto&) { return p[0] / p[1] / p[1]; };
  row.laws["entropy"] = [](auto& p, auto&, auto&) {
    return p[0] - log(p[1]) + lgamma(p[0]) + (1 - p[0]) * digamma(p[0]);
  };
  row.laws["kl"] = [](auto& p, auto& q, auto&) {
    return (p[0] - q[0]) * digamma(p[0]) - lgamma(p[0]) + lgamma(q[0]) + q[0] * excess(q[1], p[1]) +
           (p[0] - q[0]) * ((q[1] - p[1]) / p[1]);
  };
  for (const double a : sizes)
    for (const double r : ratios)
      for (const double rate : {1.0, 1e-12, 3e15})
        row.points.push_back(
            {{a, rate}, {r * a, 1.0001 * rate}, {a / rate * (r == 30 ? 1e-6 : r)}});
  return row;
}

Num dirichlet_entropy(const Nums& a) {
  const Num all = digamma(total(a));
  Num sum = log_normalizer(a);
  for (const Num& each : a) sum = sum - (each - 1) * (digamma(each) - all);
  return sum;
}
Num dirichlet_kl(const Nums& a, const Nums& b) {
  const Num all = digamma(total(a));
  Num sum = log_normalizer(b) - log_normalizer(a);
  for (std::size_t i = 0; i < a.size(); ++i) sum = sum + (a[i] - b[i]) * (digamma(a[i]) - all);
  return sum;
}

Row beta_row() {
  Row row{.make = two<Beta>(), .x = first, .laws = {}, .points = {}};
  row.laws["log_prob"] = [](auto& p, auto&, auto& x) {
    return (p[0] - 1) * log(x[0]) + (p[1] - 1) * log1p(-x[0]) - log_normalizer(p);
  };
  row.laws["mean"] = [](auto& p, auto&, auto&) { return p[0] / (p[0] + p[1]); };
  row.laws["variance"] = [](auto& p, auto&, auto&) {
    const Num sum = p[0] + p[1];
    return p[0] / sum * (p[1] / sum) / (sum + 1);
  };
  row.laws["entropy"] = [](auto& p, auto&, auto&) { return dirichlet_entropy(p); };
  row.laws["kl"] = [](auto& p, auto& q, auto&) { return dirichlet_kl(p, q); };
  for (const double a : sizes)
    for (const double r : ratios)
      for (const double x : {0.5, 1e-10, 0.999999})
        row.points.push_back({{a, x == 0.5 ? a : 1.5}, {a, r * a}, {x}});
  return row;
}

Row dirichlet_row() {
  Row row{.make = stacked<Dirichlet>(),
          .x = [](const Columns& x) { return stack(x, -1); },
          .laws = {},
          .points = {}};
  row.laws["log_prob"] = [](auto& p, auto&, auto& x) {
    Num sum = -log_normalizer(p);
    for (std::size_t i = 0; i < p.size(); ++i) sum = sum + (p[i] - 1) * log(x[i]);
    return sum;
  };
  row.laws["mean"] = [](auto& p, auto&, auto&) { return p[0] / total(p); };
  row.laws["variance"] = [](auto& p, auto&, auto&) {
    const Num sum = total(p);
    return p[0] / sum * ((sum - p[0]) / sum) / (sum + 1);
  };
  row.laws["entropy"] = [](auto& p, auto&, auto&) { return dirichlet_entropy(p); };
  row.laws["kl"] = [](auto& p, auto& q, auto&) { return dirichlet_kl(p, q); };
  for (const double a : sizes)
    for (const double r : ratios)
      for (const double tiny : {0.25, 1e-20})
        row.points.push_back({{a, 2.5, r * a}, {r * a, 2, a}, {tiny, 0.5, 0.5 - tiny}});
  return row;
}

Row bernoulli_row() {
  Row row{.make = stacked<Bernoulli>(),
          .x = [](const Columns& x) { return unsqueeze(x[0], -1); },
          .by_x = false,
          .laws = {},
          .points = {}};
  row.laws["log_prob"] = [](auto& p, auto&, auto& x) {
    return -softplus(x[0].value == 1 ? -p[0] : p[0]);
  };
  row.laws["mean"] = [](auto& p, auto&, auto&) { return sigmoid(p[0]); };
  row.laws["variance"] = [](auto& p, auto&, auto&) { return sigmoid(p[0]) * sigmoid(-p[0]); };
  row.laws["entropy"] = [](auto& p, auto&, auto&) {
    return sigmoid(p[0]) * softplus(-p[0]) + sigmoid(-p[0]) * softplus(p[0]);
  };
  row.laws["kl"] = [](auto& p, auto& q, auto&) {
    return sigmoid(p[0]) * softplus(-q[0]) + sigmoid(-p[0]) * softplus(q[0]) -
           (sigmoid(p[0]) * softplus(-p[0]) + sigmoid(-p[0]) * softplus(p[0]));
  };
  for (const double l : {-80.0, -40.0, -17.0, -12.0, -1.0, -1e-4, 0.0, 0.3, 12.0, 17.0, 40.0, 80.0})
    for (const double apart : {1e-3, 1.0, -3.0})
      for (const double x : {0.0, 1.0}) row.points.push_back({{l}, {l + apart}, {x}});
  return row;
}

Row categorical_row() {
  Row row{.make = stacked<Categorical>(),
          .x = [](const Columns& x) { return cast(x[0], i64); },
          .by_x = false,
          .laws = {},
          .points = {}};
  row.laws["log_prob"] = [](auto& p, auto&, auto& x) {
    return log_softmax(p)[static_cast<std::size_t>(x[0].value)];
  };
  row.laws["entropy"] = [](auto& p, auto&, auto&) {
    Num sum = 0;
    for (const Num& each : log_softmax(p)) sum = sum - exp(each) * each;
    return sum;
  };
  row.laws["kl"] = [](auto& p, auto& q, auto&) {
    const Nums a = log_softmax(p), b = log_softmax(q);
    Num sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum = sum + exp(a[i]) * (a[i] - b[i]);
    return sum;
  };
  for (const double l : {0.0, 1.0, 5.0, 17.0, 40.0, 1e3})
    for (const double apart : {1e-3, 1.0, -3.0})
      for (const double x : {0.0, 1.0, 2.0})
        row.points.push_back({{l, 0.3, -1.0}, {l + apart, 0.3, -1.1}, {x}});
  return row;
}

const std::map<std::string, Row>& table() {
  static const std::map<std::string, Row> all{
      {"Normal", normal_row()},       {"Gamma", gamma_row()},
      {"Beta", beta_row()},           {"Dirichlet", dirichlet_row()},
      {"Bernoulli", bernoulli_row()}, {"Categorical", categorical_row()}};
  return all;
}

TEST(Laws, EveryDistributionAndEveryLawHasARow) {
  std::set<std::string> classes, laws;
  for (const auto& [path, text] : sources()) {
    if (!path.starts_with("autograd/extra/distributions/") || !path.ends_with(".h")) continue;
    for (const std::string& name : matches(text, "class (\\w+) : public Distribution"))
      classes.insert(name);
    for (const std::string& name : matches(text, "\\n  virtual Tensor (\\w+)\\("))
      laws.insert(name == "kl_from" ? "kl" : name);
  }
  EXPECT_FALSE(classes.empty());
  laws.erase("sample");  // distributions_test.cpp has the draws
  laws.erase("rsample");
  for (const std::string& name : classes) {
    ASSERT_TRUE(table().contains(name)) << name << " has no row";
    std::set<std::string> own = laws;
    if (name == "Categorical") own.erase("mean"), own.erase("variance");  // an Error
    for (const std::string& law : own)
      EXPECT_TRUE(table().at(name).laws.contains(law)) << name << " has no row of " << law;
    EXPECT_EQ(table().at(name).laws.size(), own.size()) << name;
  }
}

// --- the comparison ---

/// The columns of all points, in a dtype; numbers are rounded to f32 first.
Columns columns(const Row& row, std::vector<double> Point::*part, DType dtype) {
  Columns all;
  for (std::size_t i = 0; i < (row.points[0].*part).size(); ++i) {
    std::vector<double> values;
    for (const Point& point : row.points) values.push_back(static_cast<float>((point.*part)[i]));
    const auto count = static_cast<std::int64_t>(values.size());
    all.push_back(cast(from_vector(values, {count}), dtype));
  }
  return all;
}

/// The law of the points, one number each: of vectors the first.
Tensor compute(const Row& row, const std::string& law, const Columns& p, const Columns& q,
               const Columns& x) {
  const auto d = row.make(p);
  const auto points = static_cast<std::int64_t>(row.points.size());
  Tensor y;
  if (law == "log_prob") y = d->log_prob(row.x(x));
  if (law == "mean") y = d->mean();
  if (law == "variance") y = d->variance();
  if (law == "entropy") y = d->entropy();
  if (law == "kl") y = kl(*d, *row.make(q));
  return select(reshape(y, {points, -1}), 1, 0);
}

/// `steps` of f64's ε times the scale; and one of f32's, of what is to be found, if rounded to it.
void expect_near(double got, Real want, Real scale, DType dtype, const std::string& what) {
  const Real epsilon = std::numeric_limits<double>::epsilon(), steps = 6;
  if (dtype == f32 && std::abs(want) > std::numeric_limits<float>::max()) {
    EXPECT_TRUE(std::isinf(got)) << what << ": " << got << " for " << want;
    return;
  }
  const Real room =
      steps * epsilon * scale + (dtype == f32 ? 1.2e-7L * std::abs(want) + 1.5e-45L : 1e-300L);
  EXPECT_TRUE(std::abs(static_cast<Real>(got) - want) <= room)
      << what << ": " << got << " for " << static_cast<double>(want) << ", "
      << static_cast<double>(std::abs(got - want) /
                             (epsilon * (dtype == f32 ? 0x1p29L : 1) * std::abs(want)))
      << " ulps, room " << static_cast<double>(room);
}

class LawsTest : public testing::TestWithParam<std::tuple<std::string, DType>> {};

TEST_P(LawsTest, AreThoseOfLongDouble) {
  const auto& [name, dtype] = GetParam();
  const Row& row = table().at(name);
  const Columns p = columns(row, &Point::p, dtype), q = columns(row, &Point::q, dtype),
                x = columns(row, &Point::x, dtype);
  // All columns in a row, and which of them are differentiated.
  Columns all;
  for (const Columns& part : {p, q, x}) all.insert(all.end(), part.begin(), part.end());
  const std::size_t n = p.size(), count = row.by_x ? all.size() : 2 * n;
  const auto split = [&](const Columns& c, auto&& f) {
    const auto begin = c.begin(), end = begin + static_cast<std::ptrdiff_t>(n);
    return f(Columns(begin, end), Columns(end, end + static_cast<std::ptrdiff_t>(n)),
             Columns(end + static_cast<std::ptrdiff_t>(n), c.end()));
  };
  for (const auto& [law, reference] : row.laws) {
    const std::string id = law;
    const TensorFunction f = [&, id](const Columns& differentiated) {
      Columns c = all;
      std::copy(differentiated.begin(), differentiated.end(), c.begin());
      return split(c, [&](const Columns& a, const Columns& b, const Columns& at) {
        return compute(row, id, a, b, at);
      });
    };
    const Columns inputs(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    Columns wanted;
    for (const Tensor& c : inputs) wanted.push_back(clone(c).set_requires_grad());
    const Tensor y = f(wanted);
    EXPECT_EQ(y.dtype(), dtype) << law;
    std::map<std::string, std::vector<Tensor>> slopes;
    slopes["backward"] = grad({sum(y)}, wanted, {.retain_graph = true, .allow_unused = true});
    slopes["create_graph"] = grad({sum(y)}, wanted, {.create_graph = true, .allow_unused = true});
    // Second derivatives in which the gradient or the tangent that comes in is 0.
    const Tensor weight = zeros_like(y).set_requires_grad();
    const std::vector<Tensor> weighted =
        grad({sum(weight * y)}, wanted, {.create_graph = true, .allow_unused = true});
    for (const Tensor& g : weighted)
      slopes["by a weight of 0"].push_back(
          g.defined() ? grad({sum(g)}, {weight}, {.retain_graph = true, .allow_unused = true})[0]
                      : Tensor());
    for (std::size_t k = 0; k < count; ++k) {
      Columns tangents;
      for (std::size_t i = 0; i < count; ++i)
        tangents.push_back(i == k ? ones_like(all[i]) : zeros_like(all[i]));
      slopes["jvp"].push_back(jvp(f, inputs, tangents).tangent);
      const TensorFunction along = [&, k](const Columns& t) {
        Columns moved = inputs;
        moved[k] = moved[k] + 0.5 * square(t[0]);
        return f(moved);
      };
      const TensorFunction slope = [&](const Columns& t) {
        return jvp(along, t, {ones_like(t[0])}).tangent;
      };
      const Tensor zero = zeros_like(all[k]);
      slopes["jvp of jvp along t²/2"].push_back(jvp(slope, {zero}, {ones_like(zero)}).tangent);
    }
    const std::vector<double> values = y.to_vector();
    for (std::size_t i = 0; i < row.points.size(); ++i)
      for (std::size_t k = 0; k < count; ++k) {
        Nums numbers;
        std::string where = name + "." + law + " at";
        for (std::size_t j = 0; j < all.size(); ++j) {
          const double v = at(all[j], {static_cast<std::int64_t>(i)}).item();
          numbers.push_back(Num(v, j == k ? 1 : 0));
          where += detail::join(" ", v);
        }
        const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(n),
                   end = middle + static_cast<std::ptrdiff_t>(n);
        const Num want =
            reference(Nums(numbers.begin(), middle), Nums(middle, end), Nums(end, numbers.end()));
        if (k == 0) expect_near(values[i], want.value, want.scale, dtype, where);
        for (const auto& [form, all_slopes] : slopes) {
          const Tensor& g = all_slopes[k];
          const double got = g.defined() ? at(g, {static_cast<std::int64_t>(i)}).item() : 0;
          expect_near(got, want.slope, want.slope_scale, dtype,
                      detail::join(where, ", by column ", k, ", ", form));
        }
        if (HasFailure()) return;
      }
  }
}

std::string case_name(const testing::TestParamInfo<std::tuple<std::string, DType>>& info) {
  return std::get<0>(info.param) + (std::get<1>(info.param) == f32 ? "_f32" : "_f64");
}
INSTANTIATE_TEST_SUITE_P(All, LawsTest,
                         testing::Combine(testing::Values("Normal", "Gamma", "Beta", "Dirichlet",
                                                          "Bernoulli", "Categorical"),
                                          testing::Values(f32, f64)),
                         case_name);

// --- the support ---

constexpr double inf = std::numeric_limits<double>::infinity();

Tensor vector(std::initializer_list<double> values, DType dtype) {
  return clone(cast(tensor(values, f64), dtype));
}

/// E of the law's value and of its gradient by the first parameter a.
void expect_large(const char* what, const std::function<Tensor(const Tensor&)>& law, double a,
                  Real value, Real slope, Real room = 0) {
  for (const DType dtype : {f32, f64}) {
    if (dtype == f32 && a > 1e36) continue;
    const Tensor x = scalar(a, dtype).set_requires_grad(), y = law(x);
    const Real epsilon = dtype == f32 ? 1e-6L : 1e-12L;
    const auto near = [&](double got, Real wanted) {
      EXPECT_LE(std::abs(got - wanted), (epsilon + room) * std::abs(wanted))
          << what << " at " << a << ": " << got << " for " << static_cast<double>(wanted);
    };
    near(y.item(), value);
    near(grad({y}, {x})[0].item(), slope);
  }
}

// By the first terms of their asymptotic series, where f64 does not hold differences of a·ln a.
TEST(Laws, OfLargeConcentrationsAreThoseOfTheirLimits) {
  const Real two_pi = 2 * 3.14159265358979323846264338327950288L, e = std::exp(1.0L);
  for (const double size : {1e7, 1e8, 1e12, 1e15, 1e17, 1e30, 1e60}) {
    const double a = size > 1e36 ? size : static_cast<float>(size);
    const Real x = a, few = 3 / x;
    const auto one = [](const Tensor& t) { return ones_like(t); };
    expect_large(
        "Gamma's entropy", [&](auto& t) { return Gamma(t, one(t)).entropy(); }, a,
        std::log(two_pi * e * x) / 2, 0.5L / x, few);
    expect_large(
        "Gamma's log_prob at its mean",
        [&](auto& t) { return Gamma(t, one(t)).log_prob(t.detach()); }, a,
        -std::log(two_pi * x) / 2, 0.5L / x, few);
    expect_large(
        "Beta's entropy", [&](auto& t) { return Beta(t, t).entropy(); }, a,
        std::log(two_pi * e / (8 * x)) / 2, -0.5L / x, few);
    expect_large(
        "Beta's log_prob at its mean",
        [&](auto& t) { return Beta(t, t).log_prob(full_like(t, 0.5)); }, a,
        std::log(8 * x / two_pi) / 2, 0.5L / x, few);
    expect_large(
        "Dirichlet's entropy",
        [&](auto& t) {
          return Dirichlet(stack({t, t, t}, -1)).entropy();
        },
        a, std::log(two_pi * e / (3 * x)) - 1.5L * std::log(3.0L), -1 / x, few);
    const Real r = 2, excess = r - 1 - std::log(r);
    expect_large(
        "Beta's divergence",
        [&](auto& t) {
          const Tensor b = 2 * t.detach();
          return kl(Beta(t, t), Beta(b, b));
        },
        a, excess / 2, (1 / x - r / x) / 2, 100 * few);
    expect_large(
        "Gamma's divergence of one mean",
        [&](auto& t) {
          const Tensor b = 2 * t.detach();
          return kl(Gamma(t, t), Gamma(b, b));
        },
        a, excess / 2, (1 / x - r / x) / 2, 100 * few);
  }
  const Tensor a = scalar(1e8, f64);
  EXPECT_NEAR(kl(Beta(a, a), Beta(1.001 * a, 1.001 * a)).item(), 2.4983e-7, 2e-11);
}

TEST(Laws, OutsideOfTheSupportThereIsNeitherDensityNorGradient) {
  const double nan = std::nan("");
  const auto check = [&](const TensorFunction& f, const std::vector<double>& want) {
    for (const DType t : {f32, f64}) {
      const auto n = static_cast<std::int64_t>(want.size());
      Tensor a = full({n}, 2, t), b = full({n}, 3, t);
      a.set_requires_grad(), b.set_requires_grad();
      const Tensor y = f({a, b});
      const std::vector<double> values = y.to_vector();
      for (std::size_t i = 0; i < want.size(); ++i) {
        const double got = values[i];
        EXPECT_TRUE(std::isnan(want[i])   ? std::isnan(got)
                    : std::isinf(want[i]) ? got == want[i]
                                          : std::isfinite(got))
            << i << ": " << got << " for " << want[i];
      }
      for (const Tensor& g : grad({sum(y)}, {a, b}, {.allow_unused = true})) {
        if (!g.defined()) continue;
        const std::vector<double> slopes = g.to_vector();
        for (std::size_t i = 0; i < want.size(); ++i) {
          EXPECT_TRUE(slopes[i] == 0 || !std::isinf(want[i])) << i << ": slope " << slopes[i];
        }
      }
    }
  };
  check(
      [&](const Columns& p) {
        return Gamma(p[0], p[1]).log_prob(vector({-1, -1e-30, 1, inf, -inf, nan}, p[0].dtype()));
      },
      {-inf, -inf, 0, -inf, -inf, nan});
  check(
      [&](const Columns& p) {
        return Beta(p[0], p[1])
            .log_prob(vector({-1, -1e-30, 0.5, 1.0001, inf, -inf, nan}, p[0].dtype()));
      },
      {-inf, -inf, 0, -inf, -inf, -inf, nan});
  check(
      [&](const Columns& p) {
        const Tensor x = vector({0.3, 0.75, 0, 1, -0.5, inf, nan, 0.3000001}, p[0].dtype()),
                     y = vector({0.7, 0.75, 0.5, 0.001, 1.5, 0, 0.5, 0.7}, p[0].dtype());
        return Dirichlet(stack(p, -1)).log_prob(stack({x, y}, -1));
      },
      {0, -inf, -inf, -inf, -inf, -inf, nan, 0});
  for (const DType t : {f32, f64}) {  // which is the limit of what is inside
    const Tensor y = Normal(zeros({}, t), ones({}, t)).log_prob(vector({inf, -inf, nan}, t));
    EXPECT_EQ(select(y, 0, 0).item(), -inf);
    EXPECT_EQ(select(y, 0, 1).item(), -inf);
    EXPECT_TRUE(std::isnan(select(y, 0, 2).item()));
  }
  for (const DType t : {f32, f64}) {
    Tensor l = vector({5, 5, 5, 5, 5, 5}, t).set_requires_grad();
    const Tensor y = Bernoulli(l).log_prob(vector({2, 0.5, -1, nan, 0, 1}, t));
    const std::vector<double> values = y.to_vector();
    for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(values[i])) << i;
    EXPECT_NEAR(values[4], -5.006715348489118, 1e-6);
    EXPECT_NEAR(values[5], -0.006715348489118, 1e-8);
  }
  const Tensor outcomes = tensor({1, 0}, boolean);
  EXPECT_TRUE(all_equal(Bernoulli(zeros({2}, f64)).log_prob(outcomes),
                        Bernoulli(zeros({2}, f64)).log_prob(cast(outcomes, i64))));
}

// Where x is at the edge and the density finite, the derivative by the concentration is infinite:
// with more of it the density is 0 there.
TEST(Laws, AtTheEdgeDerivativesAreOneSided) {
  for (const DType t : {f32, f64})
    for (const bool create : {false, true}) {
      const auto leaf = [&](double v) { return vector({v, v}, t).set_requires_grad(); };
      const GradOptions options{.create_graph = create};
      {
        Tensor a = leaf(1), b = leaf(8), x = vector({0, 0.5}, t).set_requires_grad();
        const Tensor y = Beta(a, b).log_prob(x);
        EXPECT_NEAR(select(y, 0, 0).item(), std::log(8.0), 1e-6);
        const auto g = grad({sum(y)}, {a, b, x}, options);
        EXPECT_EQ(select(g[0], 0, 0).item(), -inf);
        EXPECT_NEAR(select(g[1], 0, 0).item(), 1.0 / 8, 1e-7);  // ψ(9) − ψ(8)
        EXPECT_EQ(select(g[2], 0, 0).item(), -7);
        EXPECT_TRUE(std::isfinite(select(g[0], 0, 1).item()));
        // What is not used of it poisons nothing.
        const Tensor one = select(Beta(a, b).log_prob(x), 0, 1);
        EXPECT_TRUE(all(isfinite(grad({one}, {a}, options)[0])).item<bool>());
      }
      {
        Tensor a = leaf(8), b = leaf(1), x = vector({1, 0.5}, t).set_requires_grad();
        const auto g = grad({sum(Beta(a, b).log_prob(x))}, {a, b, x}, options);
        EXPECT_EQ(select(g[1], 0, 0).item(), -inf);
        EXPECT_EQ(select(g[2], 0, 0).item(), 7);
      }
      {
        Tensor a = leaf(1), r = leaf(2), x = vector({0, 0.5}, t).set_requires_grad();
        const Tensor y = Gamma(a, r).log_prob(x);
        EXPECT_NEAR(select(y, 0, 0).item(), std::log(2.0), 1e-7);
        const auto g = grad({sum(y)}, {a, r, x}, options);
        EXPECT_EQ(select(g[0], 0, 0).item(), -inf);
        EXPECT_EQ(select(g[1], 0, 0).item(), 0.5);
        EXPECT_EQ(select(g[2], 0, 0).item(), -2);
      }
      {
        Tensor a = vector({1, 2}, t).set_requires_grad(), x = vector({0, 1}, t);
        const Tensor y = Dirichlet(a).log_prob(x);
        EXPECT_NEAR(y.item(), std::log(2.0), 1e-6);
        EXPECT_EQ(select(grad({y}, {a}, options)[0], 0, 0).item(), -inf);
      }
    }
  const auto of_a = [](const Columns& a) {
    return Beta(a[0], scalar(8, f64)).log_prob(scalar(0, f64));
  };
  EXPECT_EQ(jvp(of_a, {scalar(1, f64)}, {scalar(1, f64)}).tangent.item(), -inf);
}

/// Pairs of distributions whose parameters differ by one unit in the last place of f32.
TEST(Laws, TheDivergenceOfNeighboursIsNotNoise) {
  const auto next = [](float x) { return static_cast<double>(std::nextafter(x, 1e9f)); };
  for (const float x : {0.3f, 1.f, 2.5f, 7.f, 20.f}) {
    const double d = next(x) - static_cast<double>(x), l = static_cast<double>(x);
    const double p = 1 / (1 + std::exp(-l));  // KL = p(1 − p)·d²/2 to first order
    const auto expect = [&](const Distribution& a, const Distribution& b, double want, double of) {
      EXPECT_NEAR(kl(a, b).item() / want, 1, of) << a.name() << " " << x;
      EXPECT_NEAR(kl(b, a).item() / want, 1, of) << a.name() << " " << x;
      EXPECT_EQ(kl(a, a).item(), 0) << a.name() << " " << x;
    };
    const auto one = [](double v) { return tensor({v}); };
    expect(Bernoulli(one(l)), Bernoulli(one(next(x))), p * (1 - p) * d * d / 2, 3e-6);
    expect(Categorical(tensor({l, 0})), Categorical(tensor({next(x), 0})), p * (1 - p) * d * d / 2,
           3e-6);
    const auto trigamma = [](double a) {
      double y = 0;
      for (; a < 40; ++a) y += 1 / (a * a);
      return y + 1 / a + 1 / (2 * a * a) + 1 / (6 * a * a * a) - 1 / (30 * a * a * a * a * a);
    };
    const double of_sum = trigamma(l + 3);
    expect(Gamma(one(l), one(2)), Gamma(one(next(x)), one(2)), trigamma(l) * d * d / 2, 1e-5);
    expect(Beta(one(l), one(3)), Beta(one(next(x)), one(3)), (trigamma(l) - of_sum) * d * d / 2,
           1e-4);
  }
}

TEST(Laws, OfGammaKeepTheirGradientsAtBothEnds) {
  const auto by_rate = [](double a, double rate, double x) {
    const Tensor r = tensor({rate}, f64).set_requires_grad();
    const Tensor y = Gamma(tensor({a}, f64), r).log_prob(tensor({x}, f64));
    return std::pair(y.item(), grad({y}, {r})[0].item());
  };
  for (const double a : {2., 31., 32., 100.}) {
    EXPECT_EQ(by_rate(a, 10, 0).first, -HUGE_VAL);
    EXPECT_NEAR(by_rate(a, 10, 0).second / (a / 10), 1, 1e-14) << a;
    EXPECT_EQ(by_rate(a, 10, 1e308).first, -HUGE_VAL);
    EXPECT_NEAR(by_rate(a, 10, 1e308).second / -1e308, 1, 1e-14) << a;
  }
}

TEST(Laws, SamplesHaveNoTangent) {
  const auto f = [](const std::vector<Tensor>& x) {
    Generator rng(1);
    const Tensor a = x[0];
    return stack({Normal(a, scalar(1)).sample({3}, rng), Gamma(a, a).sample({3}, rng),
                  Beta(a, a).sample({3}, rng), Bernoulli(a).sample({3}, rng)},
                 0);
  };
  const Tensor t = jvp(f, {scalar(2)}, {scalar(1)}).tangent;
  EXPECT_TRUE(all_equal(t, zeros_like(t)));
}

TEST(Laws, GradientsDoNotDependOnNeighboursInTheBatch) {
  const std::vector<double> concentrations{1e-30, 1, 3, 100, 1e6}, points{0, 1e-30, 0.5, 1};
  const auto expect = [&](auto density) {
    for (const double a : concentrations)
      for (const double beside : concentrations)
        for (const double x : points) {
          const Tensor both = tensor({a, beside}).set_requires_grad(),
                       alone = tensor({a}).set_requires_grad();
          const Tensor at2 = tensor({x, x}).set_requires_grad(),
                       at1 = tensor({x}).set_requires_grad();
          const auto d2 = grad({sum(density(both, at2))}, {both, at2});
          const auto d1 = grad({sum(density(alone, at1))}, {alone, at1});
          for (int i = 0; i < 2; ++i) {
            const double want = d1[i].item(), got = select(d2[i], 0, 0).item();
            EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
                << a << " beside " << beside << " at " << x << ": " << got << ", alone " << want;
          }
        }
  };
  expect([](const Tensor& a, const Tensor& x) { return Beta(a, scalar(2)).log_prob(x); });
  expect([](const Tensor& a, const Tensor& x) { return Gamma(a, scalar(2)).log_prob(x); });
  expect([](const Tensor& a, const Tensor& x) {
    const Tensor b = full_like(a, 2);
    return Dirichlet(stack({a, b}, -1)).log_prob(stack({x, 1 - x}, -1));
  });
}

}  // namespace
}  // namespace ladon::test::laws_test
