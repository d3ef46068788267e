#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gaussian_outputs/study.h"

namespace ladon::example {
namespace {

constexpr double reach = 4.5;  // both axes go from −reach to reach, in standard deviations
constexpr std::size_t most_dots = 1500;  // per panel: keeps the SVG small
const Style finite = kind(0), limit = kind(5), unusual = kind(1);
constexpr const char* body = " with filledcurves closed fs transparent solid 0.14 noborder lc rgb ";

/// Two positions whose outputs are shown, and their correlation in the limit.
struct Pair {
  std::int64_t first = 0, second = 0;
  double correlation = 0;

  double rest() const { return std::sqrt(1 - correlation * correlation); }
  /// Whether a point is outside of the limit's ellipse of three standard deviations.
  bool beyond(double x, double y) const {
    const double independent = (y - correlation * x) / rest();
    return x * x + independent * independent > 9;
  }
};

/// The token of the first input and the token of the second (or only) input whose outputs are most
/// strongly correlated, so that ellipses differ from circles. Both are 0 if no two positions are
/// suitable.
Pair pair_of(const Tensor& kernel) {  // [N, N, T, T]
  const std::int64_t tokens = kernel.size(2), of_other = kernel.size(0) > 1 ? tokens : 0;
  const Tensor k = over_positions(kernel);
  const auto entry = [&](std::int64_t i, std::int64_t j) { return at(k, {i, j}).item(); };
  Pair best;
  for (std::int64_t i = 0; i < tokens; ++i)
    for (std::int64_t j = of_other; j < of_other + tokens; ++j) {
      const double correlation = entry(i, j) / std::sqrt(entry(i, i) * entry(j, j));
      // Outputs of equal tokens are equal, and would lie on a line.
      if (std::abs(correlation) < 0.99 && std::abs(correlation) > std::abs(best.correlation))
        best = {i, j, correlation};
    }
  return best;
}

/// Content of one panel.
struct Cloud {
  std::string name;
  Style style;
  std::vector<std::vector<double>> dots;  ///< x, y, and 1 if beyond three sd.
  double beyond;                          ///< Share of points beyond three sd among all outputs.
};

/// Dots of one channel per network, since channels of one network are dependent.
Cloud cloud_of(const infinite::ComparisonRow& row, const Pair& pair) {
  const Tensor y = permute(standardized(row), {1, 2, 0});  // [positions, channels, draws]
  const auto first = select(y, 0, pair.first).to_vector(),
             second = select(y, 0, pair.second).to_vector();
  const std::int64_t heads = row.point.size.heads;
  Cloud cloud{heads == 1 ? "one head" : join(heads, " heads"), finite, {}, 0};
  const std::size_t shown = std::min(most_dots, static_cast<std::size_t>(y.size(2)));
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double beyond = pair.beyond(first[i], second[i]);
    if (i < shown) cloud.dots.push_back({first[i], second[i], beyond});
    cloud.beyond += beyond / static_cast<double>(first.size());
  }
  return cloud;
}

Cloud limit_cloud(const Pair& pair, std::size_t count, Generator rng) {
  Cloud cloud{"infinitely many heads", limit, {}, std::exp(-9.0 / 2)};  // P(χ² > 9), 2 degrees
  for (std::size_t i = 0; i < count; ++i) {
    const double x = rng.normal(), y = pair.correlation * x + pair.rest() * rng.normal();
    cloud.dots.push_back({x, y, static_cast<double>(pair.beyond(x, y))});
  }
  return cloud;
}

std::string cloud_panel(const std::string& file, const Cloud& cloud, const Pair& pair) {
  std::string bodies, outlines;
  for (const int sd : {3, 2, 1}) {
    const std::string ellipse = join("[t=0:2*pi] '+' using (", sd, "*cos(t)):(", sd, "*(",
                                     pair.correlation, "*cos(t)+", pair.rest(), "*sin(t)))");
    bodies += join(bodies.empty() ? "plot sample " : ", ", ellipse, body, quoted(grey), " notitle");
    outlines += join(", ", ellipse, " with lines lc rgb '#222222' lw 1.2 notitle");
  }
  // A dot is drawn as a gnuplot vector about as long as it is wide, since this makes the smallest
  // SVG.
  constexpr double size = 3, a_pixel = 2 * reach / 250;
  const auto number = [](const Style& style) { return "0x" + style.colour.substr(1); };
  // The share is printed in a corner with few dots.
  return join(
      "set xrange [-", reach, ":", reach, "]\nset yrange [-", reach, ":", reach,
      "]\nset xtics -4,2,4\nset ytics -4,2,4\nset border 15\nunset grid\nset samples 90\nset style textbox opaque noborder\n",
      "set label '", decimals(100 * cloud.beyond, 1), "% outside' at graph ",
      pair.correlation < 0 ? "0.95,0.91 right" : "0.05,0.91 left",
      " front boxed font ',20' textcolor rgb '", unusual.colour, "'\n", bodies, outlines, ", ",
      file, " using 1:2:(", size * a_pixel, "):(0):($3 > 0 ? ", number(unusual), " : 0x50000000 + ",
      number(cloud.style), ") with vectors nohead lw ", size, " lc rgb variable notitle");
}

std::string names_of_marks() {
  const auto mark = [](const Style& style, const char* title) {
    return join("NaN with points ", Style{style.colour, 1, 5}.points(0.8), " title '", title,
                "', ");
  };
  return join(mark(finite, "a network"), mark(limit, "the limit"), mark(unusual, "outside 3 sd"),
              "NaN", body, quoted(grey), " title '1, 2, 3 sd'");
}

}  // namespace

void draw_clouds(const Settings& s, const HeadSeries& series) {
  const Tensor& kernel = series.rows[0].nngp.limit;
  const Pair pair = pair_of(kernel);
  if (pair.first == pair.second) return;
  std::vector<Cloud> clouds;
  for (const std::size_t i : rows_shown(series)) clouds.push_back(cloud_of(series.rows[i], pair));
  const std::size_t networks = clouds[0].dots.size();
  clouds.push_back(limit_cloud(pair, networks, Generator(s.common.seed, 4)));

  Picture picture(s.common.out, "gaussian_outputs", s.common.panels);
  const auto name_of = [&](std::int64_t position) {
    const std::int64_t tokens = kernel.size(2);
    return join("input ", position / tokens + 1, ", token ", position % tokens + 1);
  };
  picture.shared(join("set ylabel 'output, ", name_of(pair.second), "'\n"));
  picture.legend(names_of_marks());
  // The cloud with the most heads hardly differs from the cloud of the limit, so it is drawn only
  // as a separate slide.
  const std::size_t panels = std::min<std::size_t>(3, clouds.size());
  for (std::size_t i = 0; i < clouds.size(); ++i) {
    const Cloud& cloud = clouds[i];
    const std::string script =
        join("set xlabel 'output, ", name_of(pair.first), "'\n",
             cloud_panel(picture.data(join("dots_", i), cloud.dots), cloud, pair));
    if (i == 2 && clouds.size() > 3)
      picture.further(cloud.name, script);
    else
      picture.panel(square(column(std::min<std::size_t>(i, 2), panels)), cloud.name, script);
  }
  picture.draw_slide("One head is a random draw, infinitely many are a Gaussian process",
                     join(networks, " layers each, outputs / sd of the limit; weights: ", s.zeta,
                          " of logits/√d; width ", s.width, ", seed ", s.common.seed));
}

}  // namespace ladon::example
