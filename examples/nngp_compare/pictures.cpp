#include <algorithm>
#include <cmath>
#include <set>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/nngp_compare/study.h"

namespace ladon::example {
namespace {

using infinite::ComparisonRow;
using Rows = std::vector<std::vector<double>>;

/// Line of the power law with the expected exponent of width (WidthSeries::power), through the
/// middle of the series' points.
std::string power_law(const WidthSeries& series, const Style& style) {
  const double power = series.power;
  double level = 0;
  for (const ComparisonRow& r : series.rows)
    level += std::log(r.ntk.single_error.value) -
             power * std::log(static_cast<double>(r.point.size.width));
  level /= static_cast<double>(series.rows.size());
  return join(std::exp(level), "*x**", power, " with lines ", Style{style.colour, 2}.line(1.5),
              " notitle");
}

void draw_errors(const Settings& s, const Study& study, const std::string& settings) {
  Picture picture(s.common.out, "nngp_compare", s.common.panels);
  std::vector<std::string> parts;
  std::set<double> widths, errors;
  for (std::size_t i = 0; i < study.size(); ++i) {
    const WidthSeries& series = study[i];
    Rows rows, known;
    for (const ComparisonRow& r : series.rows) {
      const Measured error = r.ntk.single_error;
      rows.push_back({static_cast<double>(r.point.size.width), error.value, error.se});
      widths.insert(rows.back()[0]);
      errors.insert(error.value);
    }
    for (const auto& [width, error] : series.reference)
      known.push_back({static_cast<double>(width), error});
    const double power = slope(series, &ComparisonRow::ntk).value;
    const std::string name =
        shown(series.name) + (std::isnan(power) ? "" : ": slope " + decimals(power, 2));
    parts.push_back(with_errors(picture.data(join("error_", i), rows), "1:2:3", kind(i), name));
    parts.push_back(power_law(series, kind(i)));
    if (!known.empty())
      parts.push_back(join(picture.data(join("known_", i), known),
                           " using 1:2 with points pt 6 ps 1.8 lw 2 lc rgb ",
                           quoted(kind(i).colour), " notitle"));
  }
  picture.panel(
      slide, "",
      join("set xlabel 'width of a head, w'\nset ylabel 'error of one network''s NTK'\n"
           "set logscale x 2\nset logscale y\nset ytics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2)\n"
           "set key bottom left Left reverse samplen 1.5\nset x",
           around(widths, 1.3, 1.3), "set y", around(errors, 3, 1.4), plot(parts)));
  picture.draw_slide("With 1/√d a wider head comes no nearer to the limit, more heads do",
                     settings);
}

void draw_z_scores(const Settings& s, const Study& study, const std::string& settings) {
  constexpr double reach = 5, bin = 0.5;
  Picture picture(s.common.out, "nngp_compare_mean", s.common.panels);
  picture.shared("set ylabel 'density'\n");
  for (std::size_t i = 0; i < study.size(); ++i) {
    const WidthSeries& series = study[i];
    Rows rows;
    double square = 0, most = 0;
    for (const double z : z_scores(series.rows.back())) {
      rows.push_back({std::clamp(z, -reach, reach)});
      square += z * z;
      most = std::max(most, std::abs(z));
    }
    if (rows.empty()) continue;
    const auto n = static_cast<double>(rows.size());
    const std::string title = shown(series.name),
                      script = join(
                          "set xlabel '(mean − limit) / s.e.'\nset xrange [-5.5:5.5]\n"
                          "set yrange [0:0.6]\nset ytics 0.1\nset samples 200\nset label \"rms ",
                          decimals(std::sqrt(square / n), 2), "\\nlargest ", decimals(most, 1),
                          "\" at graph 0.04,graph 0.94\n",
                          plot({normal_body(0, ""),
                                join(picture.data(join("z_", i), rows), " using 1:(", 1 / (bin * n),
                                     ") bins binrange [-", reach, ":", reach, "] binwidth=", bin,
                                     " with histeps ", Style{kind(i).colour}.line(), " notitle")}));
    if (i < 3)
      picture.panel(column(i, std::min<std::size_t>(3, study.size())), title, script);
    else
      picture.further(title, script);
  }
  picture.draw_slide("With 1/√d the mean of networks is the limit, at any number of heads",
                     settings + "; grey: N(0, 1)");
}

}  // namespace

void draw(const Settings& s, const Study& study) {
  if (study.empty()) return;
  const bool tour = s.preset == "tour";
  const std::string settings =
      join(tour ? "weights: " + s.zeta + " of logits" : "networks of --preset " + s.preset, "; ",
           s.draws, " networks per point; seed ", s.common.seed);
  draw_errors(s, study, settings + (tour ? "; dashed: theory" : "; rings: another program"));
  draw_z_scores(s, study, settings);
}

}  // namespace ladon::example
