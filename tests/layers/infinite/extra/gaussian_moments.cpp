#include "ladon/tests/layers/infinite/extra/gaussian_moments.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "ladon/core/error.h"
#include "ladon/layers/infinite/dual/quadrature.h"

namespace ladon::test {
namespace {
constexpr double pi = std::numbers::pi;
}

Pointwise pointwise(const std::string& name) {
  const auto normal = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * pi); };
  const auto below = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  const std::map<std::string, Pointwise> all = {
      {"identity", {[](double x) { return x; }, [](double) { return 1.0; }}},
      {"relu", {[](double x) { return std::max(x, 0.0); }, [](double x) { return x > 0; }}},
      {"abs", {[](double x) { return std::abs(x); }, [](double x) { return x > 0 ? 1 : -1; }}},
      {"erf",
       {[](double x) { return std::erf(x); },
        [](double x) { return 2 / std::sqrt(pi) * std::exp(-x * x); }}},
      {"gelu",
       {[=](double x) { return x * below(x); },
        [=](double x) { return below(x) + x * normal(x); }}},
      {"tanh",
       {[](double x) { return std::tanh(x); },
        [](double x) { return std::pow(std::cosh(x), -2); }}},
      {"Polynomial(hermite, degree 2)",
       {[](double x) { return (x * x - 1) / std::sqrt(2.0); },
        [](double x) { return std::sqrt(2.0) * x; }}}};
  std::string bare = name;
  for (const std::string kind : {"Activation(", "Elementwise("})
    if (name.starts_with(kind)) bare = name.substr(kind.size(), name.size() - kind.size() - 1);
  LADON_CHECK(all.contains(bare), "formula", "no function is called ", name, " here; add it");
  return all.at(bare);
}

std::vector<std::pair<double, double>> nodes_between(double begin, double end, int count) {
  static std::map<int, std::pair<Tensor, Tensor>> rules;
  if (!rules.contains(count)) rules[count] = infinite::gauss_legendre(count);
  const auto& [x, w] = rules[count];
  std::vector<std::pair<double, double>> nodes;
  for (int i = 0; i < count; ++i)
    nodes.emplace_back(begin + (end - begin) * (1 + x.data<double>()[i]) / 2,
                       (end - begin) / 2 * w.data<double>()[i]);
  return nodes;
}

// In polar coordinates u = √p·r·cos θ and v = √q·r·cos(θ − α): a kink of f at 0 is an end of a
// piece, whatever r.
double expectation(const std::function<double(double)>& f, double p, double q, double c) {
  const double alpha = p > 0 && q > 0 ? std::acos(std::clamp(c / std::sqrt(p * q), -1.0, 1.0)) : 0;
  std::vector<double> ends = {-pi / 2, pi / 2, alpha - pi / 2, alpha + pi / 2, 3 * pi / 2};
  std::sort(ends.begin(), ends.end());
  static const std::vector<std::pair<double, double>> radii = [] {
    std::vector<std::pair<double, double>> all = nodes_between(0, 4, 28);
    for (const auto& node : nodes_between(4, 12, 28)) all.push_back(node);
    for (auto& [r, weight] : all) weight *= r * std::exp(-r * r / 2) / (2 * pi);
    return all;
  }();
  double sum = 0;
  for (std::size_t piece = 0; piece + 1 < ends.size(); ++piece) {
    if (ends[piece + 1] - ends[piece] < 1e-14) continue;
    for (const auto& [theta, weight] : nodes_between(ends[piece], ends[piece + 1], 32)) {
      const double u = std::sqrt(p) * std::cos(theta), v = std::sqrt(q) * std::cos(theta - alpha);
      for (const auto& [r, of_r] : radii) sum += weight * of_r * f(r * u) * f(r * v);
    }
  }
  return sum;
}

namespace {

/// L with L·Lᵀ = c; a pivot that rounding leaves of 0 counts as 0.
Matrix cholesky(const Matrix& c) {
  Matrix l(c.size(), std::vector<double>(c.size()));
  for (std::size_t j = 0; j < c.size(); ++j)
    for (std::size_t i = j; i < c.size(); ++i) {
      double left = c[i][j];
      for (std::size_t s = 0; s < j; ++s) left -= l[i][s] * l[j][s];
      if (i == j)
        l[i][j] = left > 1e-13 * c[i][i] ? std::sqrt(left) : 0;
      else
        l[i][j] = l[j][j] > 0 ? left / l[j][j] : 0;
    }
  return l;
}

/// The largest standard deviation of a logit Σ_j rows[i][j]·z_j, of 0, less another.
double spread(Matrix rows, std::size_t columns) {
  rows.emplace_back(columns);
  double largest = 0;
  for (const auto& x : rows)
    for (const auto& y : rows) {
      double square = 0;
      for (std::size_t j = 0; j < columns; ++j) square += (x[j] - y[j]) * (x[j] - y[j]);
      largest = std::max(largest, std::sqrt(square));
    }
  return largest;
}

/// visit(z, weight) over a grid of normal numbers, for a function of logits of that spread. By the
/// trapezoidal rule: the nearest pole of softmax is π/spread beside the real line, and the error
/// exp(−2π·π/spread/step).
void over_normal(std::size_t count, double spread,
                 const std::function<void(const std::vector<double>&, double)>& visit) {
  const bool one = count == 1;
  const double end = one ? 8.4 : 5.6, most = 2 * pi * pi / ((one ? 32 : 12) * spread);
  const int side = static_cast<int>(std::ceil(end / std::min(one ? 0.4 : 0.8, most)));
  const double step = end / side;
  std::vector<double> z(count, -end);
  for (;;) {
    double weight = 1;
    for (const double x : z) weight *= step / std::sqrt(2 * pi) * std::exp(-x * x / 2);
    visit(z, weight);
    std::size_t axis = 0;
    while (axis < count && z[axis] > end - step / 2) z[axis++] = -end;
    if (axis == count) return;
    z[axis] += step;
  }
}

/// Softmax of a query's logits at the keys that it sees, and its slopes ∂ζ_i/∂G_c, by i and c.
struct Softmax {
  std::vector<double> weights, slopes;  // [T], [T, T]

  explicit Softmax(int all)
      : weights(static_cast<std::size_t>(all)), slopes(weights.size() * weights.size()) {}
  /// Adds those of logits Σ_j rows[i][j]·z_j, the last of which is 0.
  void add(double weight, const std::vector<int>& keys, const Matrix& rows,
           const std::vector<double>& z) {
    std::vector<double> p(keys.size(), 1);
    double total = 1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double logit = 0;
      for (std::size_t j = 0; j < z.size(); ++j) logit += rows[i][j] * z[j];
      total += p[i] = std::exp(logit);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      weights[static_cast<std::size_t>(keys[i])] += weight * p[i] / total;
      for (std::size_t c = 0; c < keys.size(); ++c)
        slopes[static_cast<std::size_t>(keys[i]) * weights.size() +
               static_cast<std::size_t>(keys[c])] +=
            weight * p[i] / total * ((i == c) - p[c] / total);
    }
  }
};

}  // namespace

SoftmaxMoments softmax_moments(const std::vector<int>& left, const std::vector<int>& right,
                               const Matrix& covariance, int keys) {
  const auto count = static_cast<std::size_t>(keys);
  SoftmaxMoments sums{Matrix(count, std::vector<double>(count)),
                      Matrix(count * count, std::vector<double>(count * count))};
  if (left.empty() || right.empty()) return sums;
  const Matrix l = cholesky(covariance);
  const auto end_of_left = l.begin() + static_cast<std::ptrdiff_t>(left.size() - 1);
  const Matrix of_left(l.begin(), end_of_left), of_right(end_of_left, l.end());
  const double most = std::max(spread(of_left, l.size()), spread(of_right, l.size()));
  over_normal(left.size() - 1, most, [&](const std::vector<double>& z, double weight) {
    Softmax p(keys), q(keys);
    p.add(weight, left, of_left, z);
    std::vector<double> both = z;
    over_normal(right.size() - 1, most, [&](const std::vector<double>& others, double of_others) {
      both.resize(z.size());
      both.insert(both.end(), others.begin(), others.end());
      q.add(of_others, right, of_right, both);
    });
    const auto add_products = [](Matrix& to, const auto& x, const auto& y) {
      for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < y.size(); ++j) to[i][j] += x[i] * y[j];
    };
    add_products(sums.weights, p.weights, q.weights);
    add_products(sums.slopes, p.slopes, q.slopes);
  });
  return sums;
}

}  // namespace ladon::test
