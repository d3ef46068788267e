#include "ladon/examples/particles/quadrature.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ladon::example {
namespace {

// More rows than columns: the funnel is narrow in y, and wide.
constexpr std::int64_t columns = 400, rows = 1600;

/// The middle of cell i of n.
double middle(double from, double to, std::int64_t i, std::int64_t n) {
  return from + (to - from) * (static_cast<double>(i) + 0.5) / static_cast<double>(n);
}

Point point_of(const Window& window, std::size_t cell) {
  const auto index = static_cast<std::int64_t>(cell);
  return {middle(window.left, window.right, index % columns, columns),
          middle(window.bottom, window.top, index / columns, rows)};
}

/// Of points with weights that sum to 1; variances about the mean, in a second pass.
template <class PointOf, class WeightOf>
Moments weighed(std::size_t count, const PointOf& point, const WeightOf& weight,
                const PlaneTarget& target) {
  Moments m;
  for (std::size_t i = 0; i < count; ++i) {
    const Point p = point(i);
    m.mean_x += weight(i) * p.x;
    m.mean_y += weight(i) * p.y;
    if (target.divide && p.x > *target.divide) m.second_mode += weight(i);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Point p = point(i);
    m.variance_x += weight(i) * (p.x - m.mean_x) * (p.x - m.mean_x);
    m.variance_y += weight(i) * (p.y - m.mean_y) * (p.y - m.mean_y);
  }
  if (!target.divide) m.second_mode = std::numeric_limits<double>::quiet_NaN();
  return m;
}

}  // namespace

Moments moments_of(const Tensor& points, const PlaneTarget& target) {
  const std::vector<double> values = points.to_vector<double>();
  const std::size_t n = values.size() / 2;
  return weighed(
      n,
      [&](std::size_t i) {
        return Point{values[2 * i], values[2 * i + 1]};
      },
      [n](std::size_t) { return 1 / static_cast<double>(n); }, target);
}

std::vector<double> log_density_on(const LogDensity& density, const Window& w, std::int64_t across,
                                   std::int64_t up) {
  std::vector<double> all;
  for (std::int64_t j = 0; j < up; ++j) {
    std::vector<double> points;
    for (std::int64_t i = 0; i < across; ++i) {
      points.push_back(middle(w.left, w.right, i, across));
      points.push_back(middle(w.bottom, w.top, j, up));
    }
    const std::vector<double> row = density(from_vector(points, {across, 2})).to_vector<double>();
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

Quadrature::Quadrature(const PlaneTarget& target)
    : all_(target.all), sorted_(log_density_on(target.density, target.all, columns, rows)) {
  const std::vector<double> log_p = sorted_;
  std::sort(sorted_.begin(), sorted_.end(), std::greater<>());
  double sum = 0, below = 0;
  for (const double each : log_p) sum += std::exp(each - sorted_[0]);
  const auto mass = [&](std::size_t cell) { return std::exp(log_p[cell] - sorted_[0]) / sum; };
  for (std::size_t cell = 0; cell < log_p.size(); ++cell)
    cumulative_.push_back(below += mass(cell));
  moments_ = weighed(
      log_p.size(), [&](std::size_t cell) { return point_of(all_, cell); }, mass, target);
}

double Quadrature::level(double share) const {
  double total = 0, inside = 0;
  for (const double log_p : sorted_) total += std::exp(log_p - sorted_[0]);
  for (const double log_p : sorted_)
    if ((inside += std::exp(log_p - sorted_[0])) >= share * total) return log_p;
  return sorted_.back();
}

Tensor Quadrature::draws(std::int64_t count, Generator& rng) const {
  const double width = (all_.right - all_.left) / columns, height = (all_.top - all_.bottom) / rows;
  std::vector<double> points;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto cell = std::lower_bound(cumulative_.begin(), cumulative_.end() - 1, rng.uniform());
    const Point p = point_of(all_, static_cast<std::size_t>(cell - cumulative_.begin()));
    points.push_back(p.x + width * (rng.uniform() - 0.5));
    points.push_back(p.y + height * (rng.uniform() - 0.5));
  }
  return from_vector(points, {count, 2});
}

}  // namespace ladon::example
