#include <algorithm>
#include <cmath>
#include <set>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gaussian_outputs/study.h"

namespace ladon::example {
namespace {

using Rows = std::vector<std::vector<double>>;

void draw_kurtosis(const Settings& s, const Study& study, const std::string& settings) {
  constexpr double floor = 3e-3;  // smaller values are drawn at this height
  Picture picture(s.common.out, "gaussian_outputs_kurtosis", s.common.panels);
  std::vector<std::string> parts;
  std::set<double> heads;
  for (std::size_t i = 0; i < study.size(); ++i) {
    const HeadSeries& series = study[i];
    const bool linear = series.scaling == AttentionScaling::linear;
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
                                shown(series.name) + (linear ? " (absolute value)" : "")));
    if (!linear)
      parts.push_back(curve(file, "1:4", {kind(i).colour, 2},
                            s.zeta == "identity" ? "its law" : "its law for wide heads", 1.5));
  }
  picture.panel(
      slide, "",
      join("set xlabel 'number of heads'\nset ylabel 'excess kurtosis (Gaussian: 0)'\n"
           "set logscale x 2\nset x",
           around(heads, 1.3, 1.3), "set logscale y\nset yrange [", floor,
           ":]\nset format y '%g'\nset key top right Left reverse samplen 1.5\n", plot(parts)));
  picture.draw_slide("Twice the heads, half the kurtosis: outputs become Gaussian", settings);
}

void draw_density(const Settings& s, const HeadSeries& series, const std::string& settings) {
  constexpr double floor = 1e-4;
  Picture picture(s.common.out, "gaussian_outputs_density", s.common.panels);
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
  picture.panel(slide, "",
                join("set xlabel 'output / standard deviation of the limit'\nset ylabel 'density'\n"
                     "set logscale y\nset format y '%g'\nset xrange [-6:6]\nset yrange [",
                     floor, ":1]\nset samples 200\nset key top right Left reverse samplen 1.5\n",
                     plot(parts)));
  picture.draw_slide(join("Few heads, heavy tails: outputs with ", shown(series.name)), settings);
}

}  // namespace

void draw(const Settings& s, const Study& study) {
  if (study.empty()) return;
  const HeadSeries& series = series_shown(study);
  const std::string settings = join("weights: ", s.zeta, " of logits, heads ", s.width, " wide; ",
                                    s.draws, " networks each; seed ", s.common.seed);
  if (series.scaling == AttentionScaling::sqrt) draw_clouds(s, series);
  draw_kurtosis(s, study, settings);
  draw_density(s, series, settings + "; lines: theory");
}

}  // namespace ladon::example
