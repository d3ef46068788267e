#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/nngp_compare/picture.h"
#include "ladon/examples/nngp_compare/results.h"

namespace ladon::example {
namespace {

using infinite::ComparisonRow;
using Points = std::vector<std::vector<double>>;

constexpr int page = 1200, side = 246, gap = 34, left = 78, top = Picture::top + 40;
constexpr double reach = 4.5;            // of both axes, in standard deviations
constexpr std::size_t most_dots = 1500;  // a panel: keeps the SVG small
const Style outline{"#222222", 1, 0}, finite = kind(0), limit = kind(5), unusual = kind(1);

/// Two positions whose outputs are shown, and how those correlate in the limit.
struct Pair {
  std::int64_t first = 0, second = 0;
  double correlation = 0;
};

/// A token of the first input and one of the second (or of the only one) whose outputs correlate
/// most: ellipses are then unlike circles. Both are 0 where no two positions will do.
Pair pair_of(const HeadSeries& series) {
  const Tensor& kernel = series.comparison.rows[0].nngp.limit;  // [N, N, T, T]
  const std::int64_t tokens = kernel.size(2), of_other = kernel.size(0) > 1 ? tokens : 0;
  const Tensor k = over_positions(kernel);
  const auto entry = [&](std::int64_t i, std::int64_t j) { return at(k, {i, j}).item(); };
  Pair best;
  for (std::int64_t i = 0; i < tokens; ++i)
    for (std::int64_t j = of_other; j < of_other + tokens; ++j) {
      const double correlation = entry(i, j) / std::sqrt(entry(i, i) * entry(j, j));
      // Outputs that are the same, of equal tokens, are a line.
      if (std::abs(correlation) < 0.99 && std::abs(correlation) > std::abs(best.correlation))
        best = {i, j, correlation};
    }
  return best;
}

/// "input 1, token 2" of a position.
std::string name_of(std::int64_t position, std::int64_t tokens) {
  return join("input ", position / tokens + 1, ", token ", position % tokens + 1);
}

/// A point of the limit, in standard deviations, from a point of N(0, 1).
std::vector<double> correlated(const Pair& pair, double a, double b) {
  const double c = pair.correlation;
  return {a, c * a + std::sqrt(1 - c * c) * b};
}

/// Whether a point is outside of the limit's ellipse of three standard deviations.
bool beyond_three(const Pair& pair, const std::vector<double>& point) {
  const double c = pair.correlation, a = point[0], b = (point[1] - c * a) / std::sqrt(1 - c * c);
  return a * a + b * b > 9;
}

Points ellipse(const Pair& pair, int deviations) {
  constexpr int corners = 90;
  Points points;
  for (int i = 0; i <= corners; ++i) {
    const double angle = 2 * std::numbers::pi * i / corners;
    points.push_back(correlated(pair, deviations * std::cos(angle), deviations * std::sin(angle)));
  }
  return points;
}

/// What one panel shows.
struct Cloud {
  std::string name;
  Style style;
  Points dots;
  double beyond;  ///< The share of all outputs outside of the ellipse of three standard deviations.
};

/// Of every network one channel is a dot: those of one network depend on each other.
Cloud cloud_of(const ComparisonRow& row, const Pair& pair) {
  const Tensor y = permute(standardized(row), {1, 2, 0});  // [positions, channels, draws]
  const auto first = select(y, 0, pair.first).to_vector(),
             second = select(y, 0, pair.second).to_vector();
  const std::int64_t heads = row.point.size.heads;
  Cloud cloud{heads == 1 ? "one head" : join(heads, " heads"), finite, {}, 0};
  const std::size_t shown = std::min(most_dots, static_cast<std::size_t>(y.size(2)));
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::vector<double> point = {first[i], second[i]};
    if (i < shown) cloud.dots.push_back(point);
    cloud.beyond += beyond_three(pair, point) / static_cast<double>(first.size());
  }
  return cloud;
}

Cloud limit_cloud(const Pair& pair, std::size_t count, Generator rng) {
  Cloud cloud{"infinitely many heads", limit, {}, std::exp(-9.0 / 2)};  // P(χ² > 9), 2 degrees
  for (std::size_t i = 0; i < count; ++i) {
    const double a = rng.normal();
    cloud.dots.push_back(correlated(pair, a, rng.normal()));
  }
  return cloud;
}

/// Dots as vectors about as long as wide: of these gnuplot makes the smallest SVG.
std::string dots(Picture& picture, const std::string& of, const Points& points, double size,
                 const std::string& colour) {
  if (points.empty()) return "";  // gnuplot would complain
  constexpr double a_pixel = 2 * reach / side;
  return join(", ", picture.data(of, points), " using 1:2:(", size * a_pixel,
              "):(0) with vectors nohead lw ", size, " lc rgb '", colour, "' notitle");
}

constexpr const char* body = " with filledcurves closed fs transparent solid 0.14 noborder lc rgb ";

std::string cloud_panel(Picture& picture, const std::string& of, const Cloud& cloud,
                        const Pair& pair) {
  std::string bodies, outlines;
  for (const int deviations : {3, 2, 1}) {
    const std::string file = picture.data(join("ellipse_", deviations), ellipse(pair, deviations));
    bodies +=
        join(bodies.empty() ? "plot " : ", ", file, " using 1:2", body, quoted(grey), " notitle");
    outlines += ", " + curve(file, "1:2", outline, "", 1.2);
  }
  Points inside, beyond;
  for (const auto& point : cloud.dots)
    (beyond_three(pair, point) ? beyond : inside).push_back(point);
  char share[32];
  std::snprintf(share, sizeof share, "%.1f%%", 100 * cloud.beyond);
  // The share stands in the corner where there are few dots.
  return join("set xrange [-", reach, ":", reach, "]\nset yrange [-", reach, ":", reach,
              "]\nset xtics -4,2,4\nset ytics -4,2,4\nset border 15\nunset grid\nset label '",
              share, "' at graph ", pair.correlation < 0 ? "0.95,0.91 right" : "0.05,0.91 left",
              " font ',20' textcolor rgb '", unusual.colour, "'\n", bodies,
              dots(picture, of + "_inside", inside, 2, "#50" + cloud.style.colour.substr(1)),
              outlines, dots(picture, of + "_beyond", beyond, 3, unusual.colour));
}

}  // namespace

std::filesystem::path draw_heads(const Settings& s, const HeadSeries& series) {
  const Pair pair = pair_of(series);
  if (pair.first == pair.second) return {};
  std::vector<Cloud> clouds;
  for (const std::size_t i : rows_shown(series))
    clouds.push_back(cloud_of(series.comparison.rows[i], pair));
  const std::size_t networks = clouds[0].dots.size();
  clouds.push_back(limit_cloud(pair, networks, Generator(s.common.seed, 4)));

  Picture picture(s.common.out, "nngp_compare_heads");
  const std::int64_t tokens = series.comparison.rows[0].nngp.limit.size(2);
  const int panels = static_cast<int>(clouds.size());
  const int start = left + (page - left - panels * (side + gap)) / 2;
  for (int i = 0; i < panels; ++i) {
    const Cloud& cloud = clouds[static_cast<std::size_t>(i)];
    picture.panel({start + i * (side + gap), top, side, side}, cloud.name,
                  join("set xlabel '", name_of(pair.first, tokens), "'\n",
                       i == 0 ? join("set ylabel '", name_of(pair.second, tokens), "'\n")
                              : "set format y ''\n",
                       cloud_panel(picture, join("dots_", i), cloud, pair)));
  }
  const auto square = [](const Style& style) {
    return join("NaN with points ", Style{style.colour, 1, 5}.points(0.5));
  };
  // The legend, in the middle under all panels.
  picture.panel({0, top + side + 80, page, 30}, "",
                join("unset border\nunset tics\nunset grid\nset key center center horizontal Left "
                     "reverse samplen 1.2\nplot [0:1] [0:1] ",
                     square(finite), " title 'one network', ", square(limit),
                     " title 'draw of the limit', ", square(unusual), " title 'beyond 3 sd', NaN",
                     body, quoted(grey), " title '1, 2, 3 sd'"));
  return picture.draw("One head is a random draw, infinitely many are a Gaussian process",
                      join("outputs at two tokens / sd of the limit; ", networks,
                           " layers a panel, logits by 1/√d, weights: ", s.zeta,
                           " of logits, heads ", s.head_width, " wide", ", seed ", s.common.seed),
                      page, top + side + 120);
}

}  // namespace ladon::example
