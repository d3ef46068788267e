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

/// Draws one panel as a slide.
std::filesystem::path draw_one(Picture& picture, const std::string& script,
                               const std::string& title, const std::string& settings) {
  picture.panel(slide, "", script);
  return picture.draw(title, settings);
}

/// The power of width that a series should follow, through the middle of its points.
std::string power_law(const Series& series, const Style& style) {
  const double power = series.plan.power;
  double level = 0;
  for (const ComparisonRow& r : series.rows)
    level += std::log(r.ntk.single_error.value) -
             power * std::log(static_cast<double>(r.point.size.width));
  level /= static_cast<double>(series.rows.size());
  return join(std::exp(level), "*x**", power, " with lines ", Style{style.colour, 2}.line(1.5),
              " notitle");
}

std::filesystem::path draw_errors(const Settings& s, const Study& study,
                                  const std::string& settings) {
  Picture picture(s.common.out, "nngp_compare", s.common.panels);
  std::vector<std::string> parts;
  std::set<double> widths, errors;
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
    parts.push_back(power_law(series, kind(i)));
    if (!known.empty())
      parts.push_back(join(picture.data(join("known_", i), known),
                           " using 1:2 with points pt 6 ps 1.8 lw 2 lc rgb ",
                           quoted(kind(i).colour), " notitle"));
  }
  return draw_one(
      picture,
      join("set xlabel 'width of a head, w'\nset ylabel 'error of one network''s NTK'\n"
           "set logscale x 2\nset logscale y\nset ytics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2)\n"
           "set key bottom left Left reverse samplen 1.5\nset x",
           around(widths, 1.3, 1.3), "set y", around(errors, 3, 1.4), plot(parts)),
      "With 1/√d a wider head comes no nearer to the limit, more heads do", settings);
}

std::filesystem::path draw_kurtosis(const Settings& s, const Study& study,
                                    const std::string& settings) {
  constexpr double floor = 3e-3;  // what is lower stands on it
  Picture picture(s.common.out, "nngp_compare_kurtosis", s.common.panels);
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
                      s.zeta == "identity" ? theory.kurtosis.value : theory.wide_kurtosis.value});
      heads.insert(rows.back()[0]);
    }
    const std::string file = picture.data(join("kurtosis_", i), rows);
    parts.push_back(with_errors(file, "1:2:3", kind(i),
                                shown(series.plan.name) + (linear ? " (absolute value)" : "")));
    if (!linear)
      parts.push_back(curve(file, "1:4", {kind(i).colour, 2},
                            s.zeta == "identity" ? "its law" : "its law for wide heads", 1.5));
  }
  return draw_one(
      picture,
      join("set xlabel 'number of heads'\nset ylabel 'excess kurtosis (Gaussian: 0)'\n"
           "set logscale x 2\nset x",
           around(heads, 1.3, 1.3), "set logscale y\nset yrange [", floor,
           ":]\nset format y '%g'\nset key top right Left reverse samplen 1.5\n", plot(parts)),
      "Twice the heads, half the kurtosis: outputs become Gaussian", settings);
}

std::filesystem::path draw_density(const Settings& s, const Series& series,
                                   const std::string& settings) {
  constexpr double floor = 1e-4;
  Picture picture(s.common.out, "nngp_compare_density", s.common.panels);
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
    const std::int64_t heads = series.rows[chosen[i]].point.size.heads;
    if (!rows.empty())
      parts.push_back(join(picture.data(join("density_", i), rows),
                           " using 1:2:3 with yerrorbars lw 1 ", style.points(0.8), " title '",
                           heads == 1 ? "one head" : join(heads, " heads"), "'"));
    if (!law.empty())
      parts.push_back(curve(picture.data(join("law_", i), law), "1:2", {style.colour}, "", 1.5));
  }
  return draw_one(
      picture,
      join("set xlabel 'output / standard deviation of the limit'\nset ylabel 'density'\n"
           "set logscale y\nset format y '%g'\nset xrange [-6:6]\nset yrange [",
           floor, ":1]\nset samples 200\nset key top right Left reverse samplen 1.5\n",
           plot(parts)),
      join("Few heads, heavy tails: outputs with ", shown(series.plan.name)), settings);
}

std::filesystem::path draw_z_scores(const Settings& s, const Study& study,
                                    const std::string& settings) {
  constexpr double reach = 5, bin = 0.5;
  Picture picture(s.common.out, "nngp_compare_mean", s.common.panels);
  picture.shared("set ylabel 'density'\n");
  for (std::size_t i = 0; i < study.by_width.size(); ++i) {
    const Series& series = study.by_width[i];
    Rows rows;
    double square = 0, most = 0;
    for (const double z : z_scores(series.rows.back())) {
      rows.push_back({std::clamp(z, -reach, reach)});
      square += z * z;
      most = std::max(most, std::abs(z));
    }
    if (rows.empty()) continue;
    const auto n = static_cast<double>(rows.size());
    const std::string title = shown(series.plan.name),
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
      picture.panel(column(i, std::min<std::size_t>(3, study.by_width.size())), title, script);
    else
      picture.further(title, script);
  }
  return picture.draw("With 1/√d the mean of networks is the limit, at any number of heads",
                      settings + "; grey: N(0, 1)");
}

}  // namespace

std::vector<std::filesystem::path> draw(const Settings& s, const Study& study) {
  if (study.by_width.empty()) return {};
  const bool all = !study.by_heads.empty();
  const std::string forms = all ? "weights: " + s.zeta + " of logits"
                                : "networks of --preset " + s.preset,
                    widths =
                        join(forms, "; ", s.draws, " networks per point; seed ", s.common.seed),
                    heads = join(forms, ", heads ", s.head_width, " wide; ", s.gaussian_draws,
                                 " networks each; seed ", s.common.seed);
  std::vector<std::filesystem::path> paths = {
      draw_errors(s, study, widths + (all ? "; dashed: theory" : "; rings: another program"))};
  if (all) {
    paths.push_back(draw_kurtosis(s, study, heads));
    paths.push_back(draw_density(s, series_shown(study), heads + "; lines: theory"));
  }
  paths.push_back(draw_z_scores(s, study, widths));
  if (all && series_shown(study).plan.scaling == AttentionScaling::sqrt)
    paths.push_back(draw_heads(s, series_shown(study)));
  std::erase(paths, std::filesystem::path());
  return paths;
}

}  // namespace ladon::example
