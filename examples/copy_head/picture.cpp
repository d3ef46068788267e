#include <algorithm>
#include <cmath>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/copy_head/study.h"

namespace ladon::example {
namespace {

using Rows = std::vector<std::vector<double>>;

/// Draws histograms of alignment for one data set and both attention functions, each at three
/// numbers N of sequences: at N*, which transition() finds, and at those before and after it in the
/// list.
std::filesystem::path draw_birth(const Settings& s, const Study& study) {
  Picture picture(s.common.out, "copy_head", s.common.panels);
  picture.shared("set ylabel 'posterior, per tenth'\n");
  for (std::size_t a = 0; a < 2; ++a) {
    const std::vector<Point> points = curve_of(study, attentions[a], 0);
    if (points.size() < std::max<std::size_t>(3, s.sequences.size())) return {};
    const std::size_t first = std::clamp<std::size_t>(transition(points), 1, points.size() - 2) - 1;
    std::string plot;
    for (std::size_t i = 0; i < 3; ++i) {
      const Point& p = points[first + i];
      Rows rows;
      for (std::size_t b = 0; b < p.histogram.size(); ++b)
        rows.push_back({(static_cast<double>(b) + 0.5) / bins, p.histogram[b]});
      const std::string file = picture.data(join(a, "_", p.sequences), rows);
      plot +=
          (plot.empty() ? "" : ", ") + curve(file, "1:2", step(i, 3), join("N = ", p.sequences), 3);
    }
    picture.panel(column(a, 2), a == 0 ? "softmax: two peaks" : "linear: one peak that moves",
                  join("set xlabel 'alignment with the copying map'\nset xrange [0:1]\nset xtics ",
                       "0,0.5,1\nset yrange [0:0.6]\nset key top ", a == 0 ? "center" : "left",
                       "\nplot ", plot));
  }
  return picture.draw(
      "Softmax attention jumps to copying; linear attention moves",
      join("exact posteriors of one data set of N sequences, seed ", s.common.seed));
}

/// Draws each method's share of ordered heads minus the exact share, after the longer of its two
/// runs.
std::filesystem::path draw_methods(const Settings& s, const Study& study) {
  Picture picture(s.common.out, "copy_head_methods", s.common.panels);
  Rows places[2];
  const Table table = method_table(s, study);
  for (const Row& row : table.rows()) {
    if (row.method == exact_draws || row.figures[0].value != static_cast<double>(s.steps)) continue;
    for (const bool after : {false, true}) {
      const Measured& e = row.figures[after ? 5 : 2];
      const double y = static_cast<double>(places[after].size()) + (after ? 0.15 : -0.15);
      const double se = std::isfinite(e.se) ? e.se : 0;
      places[after].push_back({e.value, y, e.value - se, e.value + se});
    }
  }
  if (places[1].size() != std::size(methods)) return {};
  const Style at = kind(1), then = kind(0);
  picture.legend(join("NaN with points ", at.points(1.1), " title 'at the transition', NaN with ",
                      "points ", then.points(1.1), " title 'after it'"));
  picture.panel(
      {210, slide.top, 710, 340}, "",
      join("set xrange [-1:1]\nset yrange [3.5:-0.5]\nset ytics ",
           named_places({std::begin(methods), std::end(methods)}),
           "\nset grid noytics\nset xlabel 'ordered share − exact share'\nset arrow from "
           "0, graph 0 to 0, graph 1 nohead lw 2 lc rgb '",
           grey, "'\nplot ", with_intervals(picture.data("at", places[0]), "1:2:3:4", at, "", 1.1),
           ", ", with_intervals(picture.data("after", places[1]), "1:2:3:4", then, "", 1.1)));
  return picture.draw("After the transition optimizers stay in the wrong phase",
                      join(members, " networks, ", s.steps, " steps; mean of ", s.sets,
                           " data sets ± standard error"));
}

}  // namespace

std::vector<std::filesystem::path> draw(const Settings& s, const Study& study) {
  std::vector<std::filesystem::path> paths = {draw_birth(s, study), draw_methods(s, study)};
  std::erase_if(paths, [](const auto& path) { return path.empty(); });
  return paths;
}

}  // namespace ladon::example
