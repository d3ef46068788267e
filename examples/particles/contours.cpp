#include "ladon/examples/particles/contours.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "ladon/examples/particles/quadrature.h"

namespace ladon::example {
namespace {

constexpr std::int64_t columns = 100, rows = 80;

/// Two neighbours of the grid between which the level lies, by their places in it.
using Edge = std::pair<std::int64_t, std::int64_t>;

/// Edges that a line joins: each has one or two neighbours.
using Joined = std::map<Edge, std::vector<Edge>>;

/// The line enters a cell and leaves it by edges on which the level is crossed. Four of them are
/// two lines, which the mean of the corners tells apart.
Joined joined(const std::vector<double>& values, double level) {
  Joined all;
  const auto join_edges = [&all](const Edge& a, const Edge& b) {
    all[a].push_back(b);
    all[b].push_back(a);
  };
  const auto value = [&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; };
  for (std::int64_t j = 0; j + 1 < rows; ++j)
    for (std::int64_t i = 0; i + 1 < columns; ++i) {
      const std::int64_t corner = j * columns + i;
      // Around the cell; edge e goes from corner e to the next.
      const std::int64_t corners[] = {corner, corner + 1, corner + columns + 1, corner + columns};
      std::vector<Edge> crossed;
      double mean = 0;
      for (std::size_t e = 0; e < 4; ++e) {
        const auto [a, b] = std::minmax(corners[e], corners[(e + 1) % 4]);
        if ((value(a) > level) != (value(b) > level)) crossed.emplace_back(a, b);
        mean += value(a) / 4;
      }
      if (crossed.size() == 2) join_edges(crossed[0], crossed[1]);
      if (crossed.size() != 4) continue;
      const bool around_first = (mean > level) != (value(corner) > level);
      join_edges(crossed[0], crossed[around_first ? 3 : 1]);
      join_edges(crossed[2], crossed[around_first ? 1 : 3]);
    }
  return all;
}

double place(double from, double to, double i, std::int64_t n) {
  return from + (to - from) * (i + 0.5) / static_cast<double>(n);
}

/// Where ln p, linear between the two, is the level.
Point crossing(const std::vector<double>& values, double level, const Edge& edge, const Window& w) {
  const double a = values[static_cast<std::size_t>(edge.first)],
               b = values[static_cast<std::size_t>(edge.second)], share = (level - a) / (b - a);
  const auto between = [share](std::int64_t from, std::int64_t to) {
    return static_cast<double>(from) + share * static_cast<double>(to - from);
  };
  return {place(w.left, w.right, between(edge.first % columns, edge.second % columns), columns),
          place(w.bottom, w.top, between(edge.first / columns, edge.second / columns), rows)};
}

/// Takes the line that begins at `edge` out of what is joined.
std::vector<Edge> taken(Joined& all, Edge edge) {
  std::vector<Edge> line = {edge};
  while (!all[edge].empty()) {
    const Edge next = all[edge].back();
    all[edge].pop_back();
    std::erase(all[next], edge);
    line.push_back(edge = next);
  }
  return line;
}

/// Distance of p from the straight line through a and b, or from a where they are one.
double distance(const Point& p, const Point& a, const Point& b) {
  const double x = b.x - a.x, y = b.y - a.y, length = std::hypot(x, y);
  return length > 0 ? std::abs((p.x - a.x) * y - (p.y - a.y) * x) / length
                    : std::hypot(p.x - a.x, p.y - a.y);
}

/// Adds to `kept` what is needed between two points of the line, and the last.
void thin(const Line& line, std::size_t first, std::size_t last, Line& kept) {
  constexpr double tolerance = 0.01;
  std::size_t farthest = first;
  double most = tolerance;
  for (std::size_t i = first + 1; i < last; ++i)
    if (const double d = distance(line[i], line[first], line[last]); d > most)
      most = d, farthest = i;
  if (farthest != first) {
    thin(line, first, farthest, kept);
    thin(line, farthest, last, kept);
  } else {
    kept.push_back(line[last]);
  }
}

}  // namespace

Line thinned(const Line& line) {
  Line kept = {line.front()};
  thin(line, 0, line.size() - 1, kept);
  return kept;
}

std::vector<Line> contour(const PlaneTarget& target, double level) {
  const std::vector<double> values = log_density_on(target.density, target.shown, columns, rows);
  Joined all = joined(values, level);
  std::vector<Line> lines;
  const auto take = [&](const Edge& edge) {
    Line line;
    for (const Edge& each : taken(all, edge))
      line.push_back(crossing(values, level, each, target.shown));
    lines.push_back(thinned(line));
  };
  std::vector<Edge> ends;
  for (const auto& [edge, neighbours] : all)
    if (neighbours.size() == 1) ends.push_back(edge);
  for (const Edge& end : ends)  // lines that leave the window, from one end to the other
    if (!all[end].empty()) take(end);
  for (const auto& [edge, neighbours] : all)
    if (!neighbours.empty()) take(edge);
  return lines;
}

}  // namespace ladon::example
