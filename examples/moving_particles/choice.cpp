#include <algorithm>

#include "ladon/examples/moving_particles/study.h"

namespace ladon::example {
namespace {

/// Adds to each seed's distance the difference of its figure from the median over seeds, in units
/// of the range.
void add_distances(const std::vector<double>& figures, std::vector<double>& distances) {
  std::vector<double> sorted = figures;
  std::erase_if(sorted, [](double x) { return !std::isfinite(x); });
  std::ranges::sort(sorted);
  if (sorted.empty() || sorted.front() == sorted.back()) return;
  const double range = sorted.back() - sorted.front();
  const double median = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
  for (std::size_t i = 0; i < figures.size(); ++i)
    distances[i] += std::isfinite(figures[i]) ? std::abs(figures[i] - median) / range : 1;
}

}  // namespace

Line points_of(const Tensor& places) {
  const std::vector<double> values = places.to_vector<double>();
  Line points;
  for (std::size_t i = 0; i < values.size(); i += 2) points.push_back({values[i], values[i + 1]});
  return points;
}

Line contour(const PlaneTarget& target, double level) {
  constexpr std::int64_t across = 60, up = 48;
  const Tensor places = grid(target.shown, across, up);
  const Line points = points_of(places);
  const std::vector<double> log_p = target.density(places).to_vector<double>();
  Line pieces;
  for (std::size_t i = 0; i + across + 1 < points.size(); ++i) {
    if (i % across == across - 1) continue;
    // Visits the sides of a cell in order. If the contour crosses all four, both ways to pair the
    // crossings are valid.
    const std::size_t corners[] = {i, i + 1, i + across + 1, i + across, i};
    for (std::size_t side = 0; side < 4; ++side) {
      const std::size_t a = corners[side], b = corners[side + 1];
      if ((log_p[a] > level) == (log_p[b] > level)) continue;
      const double share = (level - log_p[a]) / (log_p[b] - log_p[a]);
      pieces.push_back({points[a].x + share * (points[b].x - points[a].x),
                        points[a].y + share * (points[b].y - points[a].y)});
    }
  }
  return pieces;
}

std::size_t typical_run(const TargetStudy& study) {
  std::vector<double> distances(study.runs.front().size(), 0);
  for (const std::vector<Outcome>& runs : study.runs)
    for (double Figures::*figure :
         {&Figures::variance_ratio, &Figures::inner_half, &Figures::mode_mass}) {
      std::vector<double> values;
      for (const Outcome& o : runs) values.push_back(o.end.*figure);
      add_distances(values, distances);
    }
  return static_cast<std::size_t>(std::ranges::min_element(distances) - distances.begin());
}

}  // namespace ladon::example
