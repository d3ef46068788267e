// Closed forms of dual activations, compared with quadrature; and their documented gradients,
// limiting cases and reproducibility in every bit.

#include "ladon/layers/infinite/dual/dual.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/layers/infinite/dual/quadrature.h"
#include "ladon/tests/support.h"

namespace ladon::infinite::dual_test {
namespace {

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double normal_density(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }

/// A function φ and φ'. Where it is not smooth both are lines on either side of 0.
struct Case {
  std::string name;
  DualFunction f;
  std::function<double(double)> phi, slope;
  bool smooth = true;
};

/// a·min(x, 0) + b·max(x, 0) and its derivative.
Case kinked(const std::string& name, const DualFunction& f, double a, double b) {
  return {name, f, [=](double x) { return x < 0 ? a * x : b * x; },
          [=](double x) { return x < 0 ? a : b; }, false};
}

/// a below 0, b above.
Case jumping(const std::string& name, const DualFunction& f, double a, double b) {
  return {name, f, [=](double x) { return x < 0 ? a : b; }, [](double) { return 0.0; }, false};
}

std::vector<Case> cases() {
  const double root2 = std::numbers::sqrt2, pi = std::numbers::pi;
  const auto polynomial = [](double x) { return 0.5 - x + 2 * x * x + 0.3 * x * x * x; };
  const auto polynomial_slope = [](double x) { return -1 + 4 * x + 0.9 * x * x; };
  return {
      kinked("identity", DualFunction::identity(), 1, 1),
      kinked("relu", DualFunction::relu(), 0, 1),
      kinked("leaky_relu", DualFunction::leaky_relu(0.2), 0.2, 1),
      kinked("abs", DualFunction::abs(), -1, 1),
      jumping("sign", DualFunction::sign(), -1, 1),
      jumping("step", DualFunction::step(), 0, 1),
      {"erf", DualFunction::erf(), [](double x) { return std::erf(x); },
       [](double x) { return 2 * std::numbers::inv_sqrtpi * std::exp(-x * x); }},
      {"gelu", DualFunction::gelu(), [](double x) { return x * normal_cdf(x); },
       [](double x) { return normal_cdf(x) + x * normal_density(x); }},
      {"sin", DualFunction::sin(1.5, 0.8, 0.3),
       [](double x) { return 1.5 * std::sin(0.8 * x + 0.3); },
       [](double x) { return 1.2 * std::cos(0.8 * x + 0.3); }},
      {"cos", DualFunction::cos(), [](double x) { return std::cos(x); },
       [](double x) { return -std::sin(x); }},
      {"exp", DualFunction::exp(2, 0.7), [](double x) { return 2 * std::exp(0.7 * x); },
       [](double x) { return 1.4 * std::exp(0.7 * x); }},
      {"rbf", DualFunction::rbf(0.6),
       [=](double x) { return root2 * std::sin(std::sqrt(1.2) * x + pi / 4); },
       [=](double x) { return root2 * std::sqrt(1.2) * std::cos(std::sqrt(1.2) * x + pi / 4); }},
      {"cube", DualFunction::monomial(3), [](double x) { return x * x * x; },
       [](double x) { return 3 * x * x; }},
      {"polynomial", DualFunction::polynomial({0.5, -1, 2, 0.3}), polynomial, polynomial_slope},
      {"hermite", DualFunction::hermite(4),
       [](double x) { return (x * x * x * x - 6 * x * x + 3) / std::sqrt(24); },
       [](double x) { return (4 * x * x * x - 12 * x) / std::sqrt(24); }},
      {"hermite sum", DualFunction::hermite({1, 0.5, 0, 2}),
       [](double x) { return 1 + 0.5 * x + 2 * (x * x * x - 3 * x) / std::sqrt(6); },
       [](double x) { return 0.5 + 2 * (3 * x * x - 3) / std::sqrt(6); }},
  };
}

// --- quadrature ---

/// sqrt(pq − c²), exact up to one rounding: the products' rounding errors are added back.
double root_of_determinant(double p, double q, double c) {
  const double pq = p * q, cc = c * c;
  const double s2 = (pq - cc) + (std::fma(p, q, -pq) - std::fma(c, c, -cc));
  return std::sqrt(std::max(0.0, s2));
}

/// E[f(u)·f(v)] by the product rule: u = √p·z, v = (c·z + s·z')/√p.
double smooth_expectation(const std::function<double(double)>& f, double p, double q, double c) {
  static const auto rule = gauss_hermite(200);
  static const auto z = rule.first.to_vector(), w = rule.second.to_vector();
  const double root = std::sqrt(p), s = root_of_determinant(p, q, c);
  double sum = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    if (w[i] < 1e-60) continue;
    double inner = 0;
    for (std::size_t j = 0; j < z.size(); ++j)
      if (w[j] > 1e-60) inner += w[j] * f((c * z[i] + s * z[j]) / root);
    sum += w[i] * f(root * z[i]) * inner;
  }
  return sum;
}

/// E[f(μ + τz)] for f that is a line on either side of 0: f = f(0±) + f'(±)·x.
double conditional_mean(const std::function<double(double)>& f, double mean, double deviation) {
  const double below = f(-1e-300), above = f(1e-300);  // f(0±)
  const double slope_below = f(-1) - f(-2), slope_above = f(2) - f(1);
  if (deviation == 0) return f(mean);
  const double t = mean / deviation, cdf = normal_cdf(t), rest = normal_cdf(-t);
  return below * rest + above * cdf + slope_above * (mean * cdf + deviation * normal_density(t)) +
         slope_below * (mean * rest - deviation * normal_density(t));
}

/// The same E[f(u)·f(v)] for a function with a kink or jump at 0: the mean over v given u in closed
/// form, and Gauss–Legendre over both half-lines of u, on panels that shrink towards 0.
double kinked_expectation(const std::function<double(double)>& f, double p, double q, double c) {
  static const auto rule = gauss_legendre(24);
  static const auto x = rule.first.to_vector(), w = rule.second.to_vector();
  const double root = std::sqrt(p), s = root_of_determinant(p, q, c) / root;
  double sum = 0;
  const auto panel = [&](double begin, double end) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double z = 0.5 * (begin + end) + 0.5 * (end - begin) * x[i];
      const double weight = 0.5 * (end - begin) * w[i] * normal_density(z);
      for (double u : {z, -z}) sum += weight * f(root * u) * conditional_mean(f, c * u / root, s);
    }
  };
  for (double end = 1; end > 1e-18; end /= 2) panel(end / 2, end);
  for (double begin = 1; begin < 12; begin += 0.5) panel(begin, begin + 0.5);
  return sum;
}

struct Point {
  double p, q, c;
};

std::vector<Point> grid() {
  std::vector<Point> points;
  for (double p : {0.01, 0.5, 1.0, 3.0})
    for (double q : {0.02, 1.0, 2.5})
      for (double rho : {-1.0, -1 + 1e-14, -1 + 1e-9, -0.9999, -0.7, -0.1, 0.0, 0.3, 0.5, 0.95,
                         1 - 1e-6, 1 - 1e-12, 1 - 1e-15, 1.0})
        points.push_back({p, q, rho * std::sqrt(p * q)});
  for (double p : {0.01, 0.7, 2.0}) points.push_back({p, p, p}), points.push_back({p, p, -p});
  return points;
}

struct Dual {
  double value, derivative;
};
Dual dual_at(const DualFunction& f, const Point& x) {
  const DualResult r = dual(f, scalar(x.p, f64), scalar(x.q, f64), scalar(x.c, f64), true);
  return {r.value.item(), r.derivative.item()};
}

TEST(Dual, ClosedFormsEqualQuadrature) {
  for (const Case& k : cases()) {
    const auto expectation = k.smooth ? smooth_expectation : kinked_expectation;
    double worst = 0;
    for (const Point& x : grid()) {
      const Dual got = dual_at(k.f, x), left = dual_at(k.f, {x.p, x.p, x.p}),
                 right = dual_at(k.f, {x.q, x.q, x.q});
      // Both sides of |E[φ(u)φ(v)]| ≤ sqrt(E φ(u)²·E φ(v)²) are what an error is measured by.
      const double scale = std::sqrt(left.value * right.value);
      const double slope_scale = std::sqrt(left.derivative * right.derivative);
      const double value = expectation(k.phi, x.p, x.q, x.c);
      const double slope = expectation(k.slope, x.p, x.q, x.c);
      EXPECT_NEAR(got.value, value, 1e-12 * scale)
          << k.name << " p=" << x.p << " q=" << x.q << " c=" << x.c;
      EXPECT_NEAR(got.derivative, slope, 1e-12 * slope_scale)
          << k.name << "' p=" << x.p << " q=" << x.q << " c=" << x.c;
      worst = std::max(worst, std::abs(got.value - value) / scale);
      if (slope_scale > 0) worst = std::max(worst, std::abs(got.derivative - slope) / slope_scale);
    }
    RecordProperty("largest error of " + k.name, std::to_string(worst * 1e15) + "e-15");
  }
}

TEST(Dual, KnownValues) {
  struct Known {
    DualFunction f;
    double value, derivative;
  };
  for (const auto& [f, value, derivative] :
       {Known{DualFunction::relu(), 0.3044988905, 0.3333333333},
        Known{DualFunction::erf(), 0.2163468959, 0.4501581581},
        Known{DualFunction::gelu(), 0.2272949150, 0.3422672425}}) {
    const Dual got = dual_at(f, {1, 1, 0.5});
    EXPECT_NEAR(got.value, value, 5e-11);
    EXPECT_NEAR(got.derivative, derivative, 5e-11);
  }
}

// The arc-cosine kernel vanishes as the third power of the angle to −u, and is not lost in the
// difference of numbers of order 1:  E = sqrt(pq)·(sin ω − ω·cos ω)/2π.
TEST(Dual, ReluKeepsItsAccuracyBetweenOpposites) {
  for (double w : {1e-1, 1e-2, 1e-3}) {
    const double c = -std::cos(w), s = std::sqrt((1 - c) * (1 + c)), angle = std::atan2(s, -c);
    const double expected = (s + c * angle) / (2 * std::numbers::pi);
    const Dual got = dual_at(DualFunction::relu(), {1, 1, c});
    EXPECT_NEAR(got.value / expected, 1, 1e-15 / (w * w));
    EXPECT_NEAR(got.derivative / (angle / (2 * std::numbers::pi)), 1, 1e-15);
  }
}

/// φ(tx) = t^d·φ(x) for t > 0, of all families with a kink or a jump at 0.
struct Homogeneous {
  std::string name;
  DualFunction f;
  int degree;
};
std::vector<Homogeneous> homogeneous() {
  return {{"relu", DualFunction::relu(), 1},          {"leaky", DualFunction::rectifier(0.2, 1), 1},
          {"abs", DualFunction::rectifier(-1, 1), 1}, {"below", DualFunction::rectifier(1, 0), 1},
          {"sign", DualFunction::sign(), 0},          {"step", DualFunction::step(), 0}};
}

/// x·2^n, in two factors.
double shifted(double x, int n) { return std::ldexp(std::ldexp(x, n / 2), n - n / 2); }

// To the last bit, from subnormal variances to the largest: p and q are of one size or far apart.
TEST(Dual, OfKinksAndJumpsHasTheBitsOfAnyScale) {
  const std::vector<std::pair<int, int>> scales = {
      // of u and v; variances are 4^ that
      {0, 0},     {-100, -100}, {-270, -270}, {-300, -300}, {-505, -505}, {-480, 40},
      {200, 200}, {260, 260},   {505, 505},   {-500, 500},  {505, -30}};
  for (const auto& [name, f, degree] : homogeneous())
    for (const auto& [i, j] : scales)
      for (const Point& x : grid()) {
        if (x.p == 0 || x.q == 0) continue;
        SCOPED_TRACE(name + " " + std::to_string(i) + " " + std::to_string(j));
        const Point y{shifted(x.p, 2 * i), shifted(x.q, 2 * j), shifted(x.c, i + j)};
        const Dual one = dual_at(f, x), two = dual_at(f, y);
        EXPECT_EQ(two.value, shifted(one.value, degree * (i + j)));
        EXPECT_EQ(two.derivative, one.derivative);
        const auto slopes = [&f = f](const Point& at) {
          std::vector<Tensor> in;
          for (const double v : {at.p, at.q, at.c})
            in.push_back(scalar(v, f64).set_requires_grad());
          const DualResult r = dual(f, in[0], in[1], in[2], true);
          std::vector<double> all;
          for (const Tensor& part : {r.value, r.derivative})
            for (const Tensor& g : grad({part}, in, {.retain_graph = true, .allow_unused = true}))
              all.push_back(g.defined() ? g.item() : 0);
          return all;
        };
        if (i + j < -500 || i + j > 500 || i < -400 || j < -400) continue;  // slopes leave f64
        const std::vector<double> a = slopes(x), b = slopes(y);
        const int powers[] = {degree * (i + j) - 2 * i,       degree * (i + j) - 2 * j,
                              (degree - 1) * (i + j),         (degree - 1) * (i + j) - 2 * i,
                              (degree - 1) * (i + j) - 2 * j, (degree - 2) * (i + j)};
        for (std::size_t k = 0; k < 6; ++k) {
          const double wanted = shifted(a[k], powers[k]);
          if (std::isfinite(wanted) && std::abs(wanted) > 1e-300) {
            EXPECT_EQ(b[k], wanted) << k;
          }
        }
      }
}

// --- gradients ---

TEST(Dual, GradientsAreCentralDifferences) {
  const Tensor p = tensor({0.5, 1.0, 2.0}, {3, 1}, f64).set_requires_grad();
  const Tensor q = tensor({0.8, 1.5}, {1, 2}, f64).set_requires_grad();
  const Tensor c = tensor({0.1, -0.5, 0.6, 0.9, -0.3, 1.2}, {3, 2}, f64).set_requires_grad();
  for (const Case& k : cases())
    for (const auto part : {&DualResult::value, &DualResult::derivative})
      EXPECT_NO_THROW(gradcheck(
          [&](const std::vector<Tensor>& x) { return dual(k.f, x[0], x[1], x[2], true).*part; },
          {p, q, c}))
          << k.name;
}

// On a diagonal p, q and c are one tensor, and parts that are infinite each cancel.
TEST(Dual, GradientsOnTheDiagonal) {
  const Tensor p = tensor({0.3, 1.0, 2.0}, f64).set_requires_grad();
  for (const Case& k : cases())
    for (const auto part : {&DualResult::value, &DualResult::derivative})
      EXPECT_NO_THROW(gradcheck(
          [&](const std::vector<Tensor>& x) { return dual(k.f, x[0], x[0], x[0], true).*part; },
          {p}))
          << k.name;
}

TEST(Dual, HasNoSecondDerivatives) {
  const Tensor p = ones({2}, f64).set_requires_grad();
  const DualResult r = dual(DualFunction::relu(), p, p, 0.5 * p, true);
  for (const Tensor& part : {r.value, r.derivative})
    test::expect_error([&] { grad(sum(part), p, {.create_graph = true}); }, "second derivatives");
}

// --- degenerate inputs ---

TEST(Dual, NothingIsNaN) {
  for (const Case& k : cases()) {
    const double largest = k.name == "exp" ? 100 : 1e6;
    for (double p : {0.0, 1e-300, 1e-8, 1.0, largest})
      for (double q : {0.0, 1e-300, 1e-8, 1.0, largest})
        for (double rho : {-1.0, 0.0, 1.0, 1 + 1e-9, -1 - 1e-9}) {
          Tensor x[3] = {scalar(p, f64), scalar(q, f64), scalar(rho * std::sqrt(p * q), f64)};
          for (Tensor& t : x) t.set_requires_grad();
          const DualResult r = dual(k.f, x[0], x[1], x[2], true);
          backward(r.value);
          EXPECT_TRUE(std::isfinite(r.value.item()) && std::isfinite(r.derivative.item()))
              << k.name << ' ' << p << ' ' << q << ' ' << rho;
          for (const Tensor& t : x)
            EXPECT_TRUE(std::isfinite(t.grad().item()))
                << k.name << "'s gradient at " << p << ' ' << q << ' ' << rho;
        }
  }
}

TEST(Dual, AVariableWithoutVarianceIsIndependent) {
  for (double q : {0.0, 1.5}) {
    EXPECT_EQ(dual_at(DualFunction::relu(), {0, q, 0}).value, 0);
    EXPECT_EQ(dual_at(DualFunction::relu(), {0, q, 0}).derivative, 0.25);
    EXPECT_EQ(dual_at(DualFunction::sign(), {0, q, 0}).value, 0);
    EXPECT_EQ(dual_at(DualFunction::step(), {q, 0, 0}).value, 0.25);
    EXPECT_NEAR(dual_at(DualFunction::erf(), {q, 0, 0}).value, 0, 0);
  }
}

// --- bits ---

void expect_same_bits(const Tensor& a, const Tensor& b, const std::string& what) {
  const auto x = a.to_vector(), y = b.to_vector();
  EXPECT_TRUE(x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * 8) == 0) << what;
}
void expect_same_bits(const DualResult& a, const DualResult& b, const std::string& what) {
  expect_same_bits(a.value, b.value, what);
  expect_same_bits(a.derivative, b.derivative, what + "'");
}
/// f of value and derivative.
DualResult both(const DualResult& r, const std::function<Tensor(const Tensor&)>& f) {
  return {f(r.value), f(r.derivative)};
}

std::vector<Case> all_functions() {
  std::vector<Case> list = cases();
  const auto numeric = DualFunction::numeric([](const Tensor& x) { return silu(x); }, 64);
  list.push_back({"numeric", numeric, {}, {}});
  const auto kinked_too = DualFunction::numeric([](const Tensor& x) { return selu(x); }, 64);
  list.push_back({"numeric kink", kinked_too, {}, {}});
  return list;
}

/// p [n, 1], q [1, m] and c [n, m] with |ρ| < 1.
struct Block {
  Tensor p, q, c;
  Block(std::int64_t n, std::int64_t m) {
    Generator rng(3);
    p = uniform({n, 1}, rng, 0.2, 2, f64);
    q = uniform({1, m}, rng, 0.2, 2, f64);
    c = uniform({n, m}, rng, -0.99, 0.99, f64) * sqrt(p * q);
  }
};

TEST(Dual, SameBitsWhereverAnEntryStands) {
  const Block b(5, 201);
  for (const Case& k : all_functions()) {
    const DualResult whole = dual(k.f, b.p, b.q, b.c, true);
    for (std::int64_t j = 0; j < 201; j += 10) {  // tiles of many widths, single columns among them
      const Slice columns{.start = j, .stop = std::min<std::int64_t>(201, j + 1 + j / 2)};
      const auto cut = [&](const Tensor& x) { return slice(x, 1, columns); };
      expect_same_bits(dual(k.f, b.p, cut(b.q), cut(b.c), true), both(whole, cut), k.name);
    }
    expect_same_bits(dual(k.f, b.p, b.q, b.c, false).value, whole.value, k.name);
  }
}

TEST(Dual, SameBitsWhenBothSidesAreExchanged) {
  const Block b(5, 201);
  const auto turn = [](const Tensor& x) { return transpose(x, 0, 1); };
  for (const Case& k : all_functions())
    expect_same_bits(both(dual(k.f, turn(b.q), turn(b.p), turn(b.c), true), turn),
                     dual(k.f, b.p, b.q, b.c, true), k.name);
}

TEST(Dual, SameBitsInBlocksOfPositions) {
  constexpr std::int64_t n = 3, m = 4, t = 5;
  const Block b(n * t, m * t);
  // [n·t, m·t] → [n, m, t, t]
  const auto blocks = [](const Tensor& x, std::int64_t i, std::int64_t j, std::int64_t ti,
                         std::int64_t tj) {
    return transpose(reshape(x, {i, ti, j, tj}), 1, 2);
  };
  const auto all = [&](const Tensor& x) { return blocks(x, n, m, t, t); };
  const Tensor p = blocks(b.p, n, 1, t, 1), q = blocks(b.q, 1, m, 1, t);
  for (const Case& k : all_functions())
    expect_same_bits(dual(k.f, p, q, all(b.c), true), both(dual(k.f, b.p, b.q, b.c, true), all),
                     k.name);
}

// Operands that are transposed, cut or stretched.
TEST(Dual, SameBitsOfViews) {
  const Block b(6, 40);
  const auto every_second = [](const Tensor& x) { return slice(x, -1, {.step = 2}); };
  for (const Case& k : all_functions()) {
    const DualResult whole = dual(k.f, b.p, b.q, b.c, true);
    expect_same_bits(dual(k.f, b.p, every_second(b.q), every_second(b.c), true),
                     both(whole, every_second), k.name);
    const Tensor p = expand(b.p, {6, 40}), q = expand(b.q, {6, 40});
    expect_same_bits(dual(k.f, p, q, b.c, true), whole, k.name);
    expect_same_bits(dual(k.f, contiguous(p), contiguous(q), b.c, true), whole, k.name);
  }
}

TEST(Dual, SameBitsAtAnyNumberOfThreads) {
  const Block b(300, 301);
  const int before = num_threads();
  for (const Case& k : all_functions()) {
    set_num_threads(1);
    const DualResult one = dual(k.f, b.p, b.q, b.c, true);
    set_num_threads(4);
    expect_same_bits(dual(k.f, b.p, b.q, b.c, true), one, k.name);
  }
  set_num_threads(before);
}

// --- errors ---

bool all_finite(const DualResult& e) {
  return all(isfinite(e.value)).item<bool>() && all(isfinite(e.derivative)).item<bool>();
}

// A variance of −1 counted as 0, and so did pq − c² for c = 2·√(pq).
TEST(Dual, RefusesImpossibleCovariances) {
  std::vector<DualFunction> all;
  for (const Case& k : all_functions()) all.push_back(k.f);
  for (const DualFunction& f : {DualFunction::tanh(), DualFunction::sigmoid(), DualFunction::silu(),
                                DualFunction::softplus(), DualFunction::gelu_tanh(),
                                DualFunction::elu(), DualFunction::selu()})
    all.push_back(f);
  for (const DualFunction& f : all)
    for (const double unit : {1e-20, 1.0}) {
      SCOPED_TRACE(f.name());
      const auto of = [&](double p, double q, double c) {
        const auto at = [unit](double x) { return tensor({unit, x * unit}, f64); };
        const DualResult e = dual(f, at(p), at(q), tensor({0.0, c * unit}, f64), true);
        return all_finite(e);
      };
      const auto refused = [&](double p, double q, double c, const char* what) {
        test::expect_error([&] { of(p, q, c); }, what);
      };
      refused(-1, 1, 0, "a variance is -");
      refused(1, -1e-6, 0, "a variance is -");
      for (const double sign : {-1.0, 1.0}) {
        refused(1, 0.25, sign * 0.5 * (1 + 1e-5), "cannot have the covariance");
        refused(0, 1, sign * 0.1, "cannot have the covariance");
        EXPECT_TRUE(of(1, 0.25, sign * 0.5 * (1 + 1e-7)));
      }
      EXPECT_TRUE(of(-1e-12, 1, 1e-12));  // rounding
      EXPECT_TRUE(of(1, -1e-12, 1e-12));
    }
}

// Floors of 1e-12 of the largest number hid every pair of ordinary inputs beside a huge one.
TEST(Dual, RefusesImpossibleCovariancesBesideAHugeVariance) {
  const DualFunction f = DualFunction::relu();
  for (const double huge : {1.0, 1e18}) {
    const Tensor p = tensor({1, huge}, f64), q = tensor({4, huge}, f64);
    test::expect_error(
        [&] {
          dual(f, p, q, tensor({2.01, 0}, f64), false);
        },
        "variances 1 and 4 cannot have the covariance 2.01");
    EXPECT_NO_THROW(dual(f, p, q, tensor({2.000001, huge}, f64), false));
    EXPECT_NO_THROW(dual(f, tensor({1e-18 * huge, huge}, f64), q, tensor({0, huge}, f64), false));
    const auto beside = [&](double variance) {
      Tensor left = ones({12}, f64);
      left.mutable_data<double>()[5] = variance;
      left.mutable_data<double>()[11] = huge;
      dual(f, left, ones({12}, f64), zeros({12}, f64), false);
    };
    test::expect_error([&] { beside(-1e-6); }, "a variance is -");
    EXPECT_NO_THROW(beside(-1e-12));  // rounding
    // A centred input has no covariance with others, so the usual variance alone is its scale.
    EXPECT_NO_THROW(dual(f, tensor({-1e-12}, f64), q, zeros({2}, f64), false));
  }
}

TEST(Dual, TakesVariancesOfWhichRoundingLeftALittle) {
  const DualFunction f = DualFunction::relu();
  const Tensor none = zeros({2}, f64);
  EXPECT_NO_THROW(dual(f, tensor({-1e-17, 3e-17}, f64), tensor({1}, f64), none, false));
  const Tensor few = tensor({1, 1, -1e-17, 2e-17, 3e-17}, f64);
  EXPECT_NO_THROW(dual(f, few, few, zeros({5}, f64), false));
}

TEST(Dual, ChecksNothingBesideNumbersThatAreNotFinite) {
  const DualFunction f = DualFunction::relu();
  const Tensor one = ones({2}, f64);
  for (const double odd : {NAN, INFINITY, -INFINITY}) {
    const Tensor x = tensor({-1, odd}, f64);
    EXPECT_NO_THROW(dual(f, x, one, one, false)) << odd;
    EXPECT_NO_THROW(dual(f, one, x, one, false)) << odd;
    EXPECT_NO_THROW(dual(f, tensor({-1}, f64), one, x, false)) << odd;
    EXPECT_NO_THROW(dual(f, tensor({-1}, f64), tensor({odd}, f64), one, false)) << odd;
  }
}

TEST(Dual, RefusesWhatDoesNotFit) {
  const Tensor one = ones({2}, f64);
  const DualFunction f = DualFunction::relu();
  test::expect_error([&] { dual(f, one, one, ones({2}), false); }, "f64");
  test::expect_error([&] { dual(f, one, Tensor(), one, false); }, "undefined");
  test::expect_error([&] { dual(f, ones({3}, f64), one, one, false); }, "[3]");
  test::expect_error([&] { dual(f, ones({2, 2}, f64), one, one, false); }, "[2, 2]");
  test::expect_error([] { DualFunction::rbf(-1); }, "gamma");
  test::expect_error([] { DualFunction::polynomial({}); }, "coefficients");
  test::expect_error([] { DualFunction::monomial(-1); }, "degree");
  test::expect_error([] { DualFunction::hermite(65); }, "degree");
  EXPECT_EQ(dual(f, ones({0, 1}, f64), ones({1, 3}, f64), ones({0, 3}, f64), true).value.shape(),
            (Shape{0, 3}));
}

}  // namespace
}  // namespace ladon::infinite::dual_test
