#include "ladon/examples/nngp_compare/picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/nngp_compare/results.h"

namespace ladon::example {
namespace {

using infinite::ComparisonRow;
using Rows = std::vector<std::vector<double>>;

constexpr int page = 1200, left = 100, right = 700, panel_width = 470, row_height = 310,
              first_row = Picture::top + 40, second_row = first_row + row_height + 125;

/// "1/√d, √w heads" of "sqrt, sqrt(w) heads": scalings as the paper writes them.
std::string shown(std::string name) {
  for (const auto& [word, sign] : {std::pair<std::string, std::string>("sqrt(w)", "√w"),
                                   {"linear", "1/d"},
                                   {"sqrt", "1/√d"},
                                   {"1 head", "one head"}})
    if (const auto at = name.find(word); at != std::string::npos)
      name.replace(at, word.size(), sign);
  return name;
}

/// "−0.51"
std::string two_digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", std::abs(x));
  return (std::round(100 * x) < 0 ? "−" : "") + std::string(text);
}

/// "plot …, …"
std::string plot(const std::vector<std::string>& parts) {
  std::string command;
  for (const std::string& part : parts) command += (command.empty() ? "plot " : ", ") + part;
  return command;
}

/// N(0, 1), a grey body: what is compared with.
std::string normal_body(double floor, const std::string& title) {
  return join("exp(-x*x/2)/sqrt(2*pi) with filledcurves y1=", floor,
              " fs solid 0.25 noborder lc rgb '", grey, "' title ", quoted(title));
}

/// The span of positive numbers.
struct Span {
  double low = INFINITY, high = 0;

  void take(double x) {
    if (!(x > 0 && std::isfinite(x))) return;
    low = std::min(low, x);
    high = std::max(high, x);
  }
};

/// Scale, range and some round tics of a logarithmic axis.
std::string log_axis(char axis, double low, double high) {
  const std::vector<double> digits = high / low < 10    ? std::vector<double>{1, 2, 3, 5, 7}
                                     : high / low < 200 ? std::vector<double>{1, 2, 5}
                                                        : std::vector<double>{1};
  std::string tics;
  for (double power = std::pow(10, std::floor(std::log10(low))); power < high; power *= 10)
    for (const double digit : digits)
      if (const double tic = power * digit; tic >= low && tic <= high)
        tics += join(tics.empty() ? "" : ", ", tic);
  return join("set logscale ", axis, "\nset ", axis, "range [", low, ":", high, "]\nset ", axis,
              "tics (", tics, ")\n");
}

/// Of widths or numbers of heads.
std::string doubling_axis(const Span& span) {
  return join("set logscale x 2\nset xrange [", span.low / 1.3, ":", span.high * 1.3, "]\n",
              span.high > 100 * span.low ? "set xtics 4\n" : "");
}

// --- (a) ---

/// The power of width that a series should follow, through the middle of its points.
std::string power_law(const WidthSeries& series, bool with_title) {
  double level = 0;
  for (const ComparisonRow& r : series.comparison.rows)
    level += std::log(r.ntk.single_error.value) -
             series.power * std::log(static_cast<double>(r.point.size.width));
  level /= static_cast<double>(series.comparison.rows.size());
  const bool half = series.power == -0.5;
  return join(std::exp(level), "*x**", series.power, " with lines ",
              Style{grey, half ? 2 : 3, 0}.line(1.5),
              !with_title ? " notitle"
              : half      ? " title 'w^{−1/2}'"
                          : " title 'w^{−1/4}'");
}

/// Of a series with its slope.
std::string legend_entry(const WidthSeries& series) {
  const double slope = series.comparison.ntk_slope.slope.value;
  return shown(series.name) + (std::isnan(slope) ? "" : ": slope " + two_digits(slope));
}

std::string error_panel(Picture& picture, const Study& study) {
  std::vector<std::string> parts, points, rings;
  std::set<double> powers;
  Span widths, errors;
  for (std::size_t i = 0; i < study.by_width.size(); ++i) {
    const WidthSeries& series = study.by_width[i];
    Rows rows, known;
    for (const ComparisonRow& r : series.comparison.rows) {
      const auto width = static_cast<double>(r.point.size.width);
      const Measured error = r.ntk.single_error;
      const double reference = series.reference.empty() ? NAN : series.reference[rows.size()];
      if (!std::isnan(reference)) known.push_back({width, reference});
      rows.push_back({width, error.value, error.se});
      widths.take(width);
      for (const double x : {error.value, error.value + error.se, reference}) errors.take(x);
    }
    if (series.power != 0) parts.push_back(power_law(series, powers.insert(series.power).second));
    points.push_back(
        with_errors(picture.data(join("error_", i), rows), "1:2:3", kind(i), legend_entry(series)));
    const std::string ring = " with points pt 6 ps 1.8 lw 2 lc rgb ";
    if (!known.empty())
      rings.push_back(join(picture.data(join("known_", i), known), " using 1:2", ring,
                           quoted(kind(i).colour), " notitle"));
    if (!known.empty() && rings.size() == 1)
      points.insert(points.begin(), join("NaN", ring, quoted(grey), " title 'another program'"));
  }
  parts.insert(parts.end(), points.begin(), points.end());
  parts.insert(parts.end(), rings.begin(), rings.end());
  return join("set xlabel 'width of a head, w'\nset ylabel '|NTK − limit| / |limit|'\n",
              log_axis('y', errors.low / 2.2, errors.high * 1.4), doubling_axis(widths),
              "set key bottom left Left reverse samplen 1.5\n", plot(parts));
}

// --- (b) ---

std::string kurtosis_panel(Picture& picture, const Settings& s, const Study& study) {
  Span heads, values, errors;
  for (const HeadSeries& series : study.by_heads)
    for (std::size_t j = 0; j < series.law.size(); ++j) {
      const ComparisonRow& r = series.comparison.rows[j];
      const Measured k = r.gaussianity.kurtosis;
      heads.take(static_cast<double>(r.point.size.heads));
      for (const double x : {std::abs(k.value) + k.se, series.wide_law[j].value}) values.take(x);
      errors.take(k.se);
    }
  // The axis ends well below the smallest standard error, where nothing is known. What is lower
  // stands on it.
  const double floor = std::clamp(errors.low / 3, values.high / 1e4, values.high / 10);
  std::vector<std::string> laws, parts;
  for (std::size_t i = 0; i < study.by_heads.size(); ++i) {
    const HeadSeries& series = study.by_heads[i];
    const bool linear = series.scaling == AttentionScaling::linear;
    Rows rows;
    for (std::size_t j = 0; j < series.law.size(); ++j) {
      const ComparisonRow& r = series.comparison.rows[j];
      const Measured k = r.gaussianity.kurtosis;
      const double y = linear ? std::abs(k.value) : k.value;
      rows.push_back({static_cast<double>(r.point.size.heads), std::max(y, floor),
                      std::max(y - k.se, floor), std::max(y + k.se, floor), series.law[j].value,
                      series.wide_law[j].value});
    }
    const std::string file = picture.data(join("kurtosis_", i), rows);
    parts.push_back(
        with_errors(file, "1:2:3:4", kind(i), shown(series.name) + (linear ? ", |value|" : "")));
    if (linear) continue;
    laws.push_back(
        curve(file, "1:6", {grey, 2, 0}, s.zeta == "identity" ? "6ρ/H, w → ∞" : "law, w → ∞", 1.5));
    if (!std::isnan(series.law[0].value))
      laws.push_back(curve(file, "1:5", {grey, 1, 0}, join("law, w = ", s.head_width), 1.5));
  }
  parts.insert(parts.begin(), laws.begin(), laws.end());
  return join("set xlabel 'heads, H'\nset ylabel 'excess kurtosis'\n",
              log_axis('y', floor, 3 * values.high), doubling_axis(heads),
              "set key top right Left reverse samplen 1.2\n", plot(parts));
}

// --- (c) ---

std::string density_panel(Picture& picture, const HeadSeries& series) {
  constexpr double floor = 1e-5;
  std::vector<std::string> parts = {normal_body(floor, "limit")}, laws;
  const auto chosen = rows_shown(series);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const ComparisonRow& r = series.comparison.rows[chosen[i]];
    const Histogram h = outputs_histogram(r);
    Rows rows;
    for (std::size_t bin = 0; bin < h.centres.size(); ++bin)
      if (const Measured density = h.density[bin]; density.value > floor)
        rows.push_back({h.centres[bin], density.value, std::max(density.value - density.se, floor),
                        density.value + density.se});
    if (rows.empty()) continue;
    const Style style = step(i, chosen.size());
    parts.push_back(join(picture.data(join("density_", i), rows),
                         " using 1:2:3:4 with yerrorbars lw 1 ", style.points(0.4),
                         " title 'H = ", r.point.size.heads, "'"));
    if (series.outputs.empty()) continue;
    const Law& law = series.outputs[chosen[i]];
    Rows line;
    for (std::size_t j = 0; j < law.x.size(); ++j) line.push_back({law.x[j], law.density[j]});
    if (!line.empty())
      laws.push_back(join(picture.data(join("law_", i), line),
                          " using 1:2 with lines lw 1.5 lc rgb ", quoted(style.colour),
                          laws.empty() ? " title 'law of H wide heads'" : " notitle"));
  }
  parts.insert(parts.end(), laws.begin(), laws.end());
  return join(
      "set xlabel 'output / standard deviation of the limit'\nset ylabel 'density'\n"
      "set logscale y\nset format y '10^{%T}'\nset xrange [-6:6]\nset yrange [",
      floor,
      ":2]\nset samples 200\nset key at graph 0.5,graph -0.26 top center vertical Left reverse "
      "samplen 1.2 maxrows 3\n",
      plot(parts));
}

// --- (d) ---

/// Centres of bins and densities; the outermost bins hold what is beyond `reach`, too.
Rows z_histogram(const std::vector<double>& z, double reach) {
  const double bin = z.size() >= 100 ? 0.5 : z.size() >= 20 ? 1 : 2;
  std::vector<double> counts(static_cast<std::size_t>(2 * reach / bin), 0);
  for (const double each : z)
    ++counts[static_cast<std::size_t>(std::clamp((each + reach) / bin, 0.0, 2 * reach / bin - 1))];
  Rows rows;
  for (std::size_t i = 0; i < counts.size(); ++i)
    rows.push_back({-reach + (static_cast<double>(i) + 0.5) * bin,
                    counts[i] / (bin * static_cast<double>(z.size()))});
  return rows;
}

/// With a legend of so many rows.
std::string z_panel(Picture& picture, const Study& study, int legend_rows) {
  constexpr double reach = 5;
  std::vector<std::string> parts = {normal_body(0, "N(0, 1)")};
  double top = 0.4;  // of N(0, 1)
  for (std::size_t i = 0; i < study.by_width.size(); ++i) {
    const auto z = z_scores(study.by_width[i].comparison.rows.back());
    if (z.empty()) continue;
    const Rows rows = z_histogram(z, reach);
    for (const auto& row : rows) top = std::max(top, row[1]);
    parts.push_back(join(picture.data(join("z_", i), rows), " using 1:2 with histeps ",
                         kind(i).line(), " title ", quoted(shown(study.by_width[i].name))));
  }
  return join(
      "set xlabel '(mean − limit) / s.e.; outer bins hold all beyond'\nset ylabel 'density'\n"
      "set xrange [-",
      reach, ":", reach, "]\nset yrange [0:", 1.4 * top,
      "]\nset samples 200\nset key top center Left reverse samplen 1.5 maxrows ", legend_rows, "\n",
      plot(parts));
}

std::string settings_line(const Settings& s) {
  return s.preset == "tour"
             ? join("weights ζ: ", s.zeta, " of logits; ", s.draws, " networks a width, ",
                    s.gaussian_draws, " a number of heads; seed ", s.common.seed)
             : join("networks of --preset ", s.preset, ", ", s.draws, " a width; seed ",
                    s.common.seed);
}

}  // namespace

std::vector<std::filesystem::path> draw(const Settings& s, const Study& study) {
  std::vector<std::filesystem::path> paths;
  if (study.by_width.empty()) return paths;
  const bool all = !study.by_heads.empty();
  // One row of panels alone is higher: its networks have long names.
  const int height = all ? row_height : 3 * row_height / 2;
  const auto panel = [=](int x, int y) { return Box{x, y, panel_width, height}; };
  Picture picture(s.common.out, "nngp_compare");
  picture.panel(panel(left, first_row), "(a) Error of one network", error_panel(picture, study));
  if (all) {
    const HeadSeries& series = series_shown(study);
    picture.panel(panel(right, first_row),
                  join("(b) Excess kurtosis of outputs, w = ", s.head_width),
                  kurtosis_panel(picture, s, study));
    picture.panel(panel(left, second_row), join("(c) Density of outputs, ", shown(series.name)),
                  density_panel(picture, series));
    if (series.scaling == AttentionScaling::sqrt) paths.push_back(draw_heads(s, series));
  }
  const int last_row = all ? second_row : first_row;
  picture.panel(panel(right, last_row), "(d) z-scores of kernel entries, widest networks",
                z_panel(picture, study, all ? 2 : 4));
  paths.insert(paths.begin(),
               picture.draw("How attention nears its Gaussian process", settings_line(s), page,
                            last_row + height + (all ? 180 : 80)));
  std::erase(paths, std::filesystem::path());
  return paths;
}

}  // namespace ladon::example
