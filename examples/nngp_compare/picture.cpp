#include "ladon/examples/nngp_compare/picture.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/nngp_compare/results.h"

namespace ladon::example {
namespace {

using infinite::ComparisonRow;
using Rows = std::vector<std::vector<double>>;

constexpr int page = 1200, left = 100, right = 700, panel_width = 470, panel_height = 310,
              first_row = Picture::top + 40, second_row = first_row + panel_height + 125;

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

/// The range of an axis around these numbers.
std::string around(const std::set<double>& numbers, double below, double above) {
  return join("range [", *numbers.begin() / below, ":", *numbers.rbegin() * above, "]\n");
}

// --- (a) ---

/// The power of width that a series should follow, through the middle of its points.
std::string power_law(const Series& series, bool with_title) {
  const double power = series.plan.power;
  double level = 0;
  for (const ComparisonRow& r : series.rows)
    level += std::log(r.ntk.single_error.value) -
             power * std::log(static_cast<double>(r.point.size.width));
  level /= static_cast<double>(series.rows.size());
  return join(std::exp(level), "*x**", power, " with lines ",
              Style{grey, power == -0.5 ? 2 : 3}.line(1.5), " title '",
              with_title ? join("w^{", power, "}") : "", "'");
}

std::string error_panel(Picture& picture, const Study& study) {
  std::vector<std::string> parts;
  std::set<double> widths, errors, powers;
  for (std::size_t i = 0; i < study.by_width.size(); ++i) {
    const Series& series = study.by_width[i];
    Rows rows, known;
    for (const ComparisonRow& r : series.rows) {
      const Measured error = r.ntk.single_error;
      rows.push_back({static_cast<double>(r.point.size.width), error.value, error.se});
      widths.insert(rows.back()[0]);
      errors.insert(error.value);
    }
    for (const auto& [width, error] : series.plan.reference)
      known.push_back({static_cast<double>(width), error});
    const double power = slope(series, &ComparisonRow::ntk).value;
    const std::string name =
        shown(series.plan.name) + (std::isnan(power) ? "" : ": slope " + decimals(power, 2));
    parts.push_back(with_errors(picture.data(join("error_", i), rows), "1:2:3", kind(i), name));
    if (series.plan.power != 0)
      parts.push_back(power_law(series, powers.insert(series.plan.power).second));
    if (!known.empty())
      parts.push_back(join(picture.data(join("known_", i), known),
                           " using 1:2 with points pt 6 ps 1.8 lw 2 lc rgb ",
                           quoted(kind(i).colour), " notitle"));
  }
  return join(
      "set xlabel 'width of a head, w'\nset ylabel '|NTK − limit| / |limit|'\n"
      "set logscale x 2\nset logscale y\nset ytics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2)\n"
      "set key bottom left Left reverse samplen 1.5\nset x",
      around(widths, 1.3, 1.3), "set y", around(errors, 3, 1.4), plot(parts));
}

// --- (b) ---

std::string kurtosis_panel(Picture& picture, const Settings& s, const Study& study) {
  constexpr double floor = 3e-3;  // what is lower stands on it
  std::vector<std::string> parts;
  std::set<double> heads;
  for (std::size_t i = 0; i < study.by_heads.size(); ++i) {
    const Series& series = study.by_heads[i];
    const bool linear = series.plan.scaling == AttentionScaling::linear;
    Rows rows;
    for (std::size_t j = 0; j < series.rows.size(); ++j) {
      const Measured k = series.rows[j].gaussianity.kurtosis;
      const Theory& theory = series.theory[j];
      rows.push_back({static_cast<double>(series.rows[j].point.size.heads),
                      std::max(linear ? std::abs(k.value) : k.value, floor), k.se,
                      theory.kurtosis.value, theory.wide_kurtosis.value});
      heads.insert(rows.back()[0]);
    }
    const std::string file = picture.data(join("kurtosis_", i), rows);
    parts.push_back(
        with_errors(file, "1:2:3", kind(i), shown(series.plan.name) + (linear ? ", |value|" : "")));
    if (linear) continue;
    parts.push_back(
        curve(file, "1:5", {grey, 2}, s.zeta == "identity" ? "6ρ/H, w → ∞" : "law, w → ∞", 1.5));
    if (s.zeta == "identity")
      parts.push_back(curve(file, "1:4", {grey, 1}, join("law, w = ", s.head_width), 1.5));
  }
  return join("set xlabel 'heads, H'\nset ylabel 'excess kurtosis'\nset logscale x 2\nset x",
              around(heads, 1.3, 1.3), "set logscale y\nset yrange [", floor,
              ":]\nset key top right Left reverse samplen 1.2\n", plot(parts));
}

// --- (c) ---

std::string density_panel(Picture& picture, const Series& series) {
  constexpr double floor = 1e-5;
  std::vector<std::string> parts = {normal_body(floor, "limit")};
  const auto chosen = rows_shown(series);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    Rows rows, law;
    for (const Bin& bin : histogram(series.rows[chosen[i]]))
      if (bin.density.value > floor)
        rows.push_back({bin.centre, bin.density.value, bin.density.se});
    for (const Bin& bin : series.theory[chosen[i]].outputs)
      law.push_back({bin.centre, bin.density.value});
    const Style style = step(i, chosen.size());
    if (!rows.empty())
      parts.push_back(join(picture.data(join("density_", i), rows),
                           " using 1:2:3 with yerrorbars lw 1 ", style.points(0.4),
                           " title 'H = ", series.rows[chosen[i]].point.size.heads, "'"));
    if (!law.empty())
      parts.push_back(curve(picture.data(join("law_", i), law), "1:2", {style.colour},
                            i == 0 ? "law of H wide heads" : "", 1.5));
  }
  return join(
      "set xlabel 'output / standard deviation of the limit'\nset ylabel 'density'\n"
      "set logscale y\nset format y '10^{%T}'\nset xrange [-6:6]\nset yrange [",
      floor,
      ":2]\nset samples 200\nset key at graph 0.5,graph -0.26 top center vertical Left reverse "
      "samplen 1.2 maxrows 3\n",
      plot(parts));
}

// --- (d) ---

std::string z_panel(Picture& picture, const Study& study) {
  constexpr double reach = 5, bin = 0.5;
  std::vector<std::string> parts = {normal_body(0, "N(0, 1)")};
  for (std::size_t i = 0; i < study.by_width.size(); ++i) {
    Rows rows;
    for (const double z : z_scores(study.by_width[i].rows.back()))
      rows.push_back({std::clamp(z, -reach, reach)});
    if (rows.empty()) continue;
    parts.push_back(join(picture.data(join("z_", i), rows), " using 1:(",
                         1 / (bin * static_cast<double>(rows.size())), ") bins binrange [-", reach,
                         ":", reach, "] binwidth=", bin, " with histeps ", kind(i).line(),
                         " title ", i == 0 ? "'colours of (a)'" : "''"));
  }
  return "set xlabel '(mean − limit) / s.e.; outer bins hold all beyond'\nset ylabel 'density'\n"
         "set xrange [-5.5:5.5]\nset yrange [0:]\nset ytics 0.1\nset samples 200\n"
         "set key top left Left reverse samplen 1.2\n" +
         plot(parts);
}

}  // namespace

std::vector<std::filesystem::path> draw(const Settings& s, const Study& study) {
  if (study.by_width.empty()) return {};
  const bool all = !study.by_heads.empty();
  const int last_row = all ? second_row : first_row;
  const auto panel = [](int x, int y) { return Box{x, y, panel_width, panel_height}; };
  Picture picture(s.common.out, "nngp_compare");
  picture.panel(panel(left, first_row), "(a) Error of one network", error_panel(picture, study));
  picture.panel(panel(right, last_row), "(d) z-scores of kernel entries", z_panel(picture, study));
  if (all) {
    const Series& series = series_shown(study);
    picture.panel(panel(right, first_row),
                  join("(b) Excess kurtosis of outputs, w = ", s.head_width),
                  kurtosis_panel(picture, s, study));
    picture.panel(panel(left, second_row),
                  join("(c) Density of outputs, ", shown(series.plan.name)),
                  density_panel(picture, series));
  }
  const std::string networks =
      all ? join("weights ζ: ", s.zeta, " of logits; ", s.draws, " networks a width, ",
                 s.gaussian_draws, " a number of heads")
          : join("networks of --preset ", s.preset, ", ", s.draws,
                 " a width; rings: another program");
  std::vector<std::filesystem::path> paths = {picture.draw(
      "How attention nears its Gaussian process", join(networks, "; seed ", s.common.seed), page,
      last_row + panel_height + (all ? 180 : 80))};
  if (all && series_shown(study).plan.scaling == AttentionScaling::sqrt)
    paths.push_back(draw_heads(s, series_shown(study)));
  std::erase(paths, std::filesystem::path());
  return paths;
}

}  // namespace ladon::example
