#include "ladon/examples/nngp_compare/picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/io/file.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

using infinite::ComparisonRow;

/// Colours that stay apart for colour-blind readers too (Okabe and Ito 2008).
constexpr const char* colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"};
constexpr const char* grey = "#777777";

const char* colour(std::size_t i) { return colours[i % std::size(colours)]; }

/// Lines of numbers, for gnuplot.
class Data {
 public:
  void line(std::initializer_list<double> numbers) {
    char text[32];
    for (const double x : numbers) {
      std::snprintf(text, sizeof text, "%.7g ", x);
      text_ += text;
    }
    text_ += '\n';
  }
  void write(const Settings& s, const std::string& file) const {
    write_atomically(s.common.out / file, text_);
  }

 private:
  std::string text_;
};

/// "sqrt(w) heads" with a root sign.
std::string shown(std::string name) {
  const auto at = name.find("sqrt(w)");
  if (at != std::string::npos) name.replace(at, 7, "√w");
  return name;
}

/// Points over their error bars, from columns x, y and standard error.
std::string measured(const std::string& file, const std::string& style, const std::string& title) {
  return join(", '", file, "' using 1:($2-$3):(0):(2*$3) with vectors nohead ", style,
              " notitle, '", file, "' using 1:2 with points pt 7 ps 0.5 ", style, " title '", title,
              "'");
}

std::string error_panel(const Settings& s, const Study& study) {
  std::string plots;
  double first = INFINITY, last = 0, top = 0, bottom = INFINITY;
  for (std::size_t i = 0; i < study.by_width.size(); ++i) {
    const WidthSeries& series = study.by_width[i];
    Data data;
    for (const ComparisonRow& r : series.comparison.rows) {
      const auto width = static_cast<double>(r.point.size.width);
      const Measured error = r.ntk.single_error;
      const std::size_t point = static_cast<std::size_t>(&r - series.comparison.rows.data());
      data.line(
          {width, error.value, error.se, series.reference.empty() ? NAN : series.reference[point]});
      first = std::min(first, width);
      last = std::max(last, width);
      top = std::max(top, error.value);
      bottom = std::min(bottom, error.value);
    }
    const std::string file = join("error_", i, ".dat");
    data.write(s, file);
    char slope[32];
    std::snprintf(slope, sizeof slope, "%.2f", series.comparison.ntk_slope.slope.value);
    plots += join("'", file, "' using 1:2:3 with yerrorlines lc rgb '", colour(i),
                  "' lw 2 pt 7 ps 0.6 title '", shown(series.name), ": slope ", slope, "', ");
    if (!series.reference.empty())
      plots += join("'", file, "' using 1:4 with points pt 6 ps 1.6 lw 2 lc rgb '", colour(i),
                    "' notitle, ");
  }
  if (!study.by_width.front().reference.empty())
    plots += join("NaN with points pt 6 ps 1.6 lw 2 lc rgb '", grey,
                  "' title 'known from another program', ");
  return join(
      "set title '(a) Error of one network'\nset xlabel 'width of a head, w'\n"
      "set ylabel '|NTK − limit| / |limit|'\nset logscale x 2\nset logscale y\n"
      "set key bottom left\nset xrange [",
      first / 1.3, ":", last * 1.3, "]\nset yrange [", bottom / 5, ":", top * 1.6, "]\nplot ",
      plots, 1.2 * top * std::sqrt(first), "/sqrt(x) with lines dt 2 lw 1.5 lc rgb '", grey,
      "' title 'w^{−1/2}'\nunset logscale\n");
}

std::string kurtosis_panel(const Settings& s, const Study& study) {
  std::string lines, points;
  for (std::size_t i = 0; i < study.by_heads.size(); ++i) {
    const HeadSeries& series = study.by_heads[i];
    Data data;
    for (std::size_t j = 0; j < series.comparison.rows.size(); ++j) {
      const ComparisonRow& r = series.comparison.rows[j];
      const auto& k = r.gaussianity.kurtosis;
      data.line({static_cast<double>(r.point.size.heads), k.value, k.se, series.law[j].value,
                 series.wide_law[j].value});
    }
    const std::string file = join("kurtosis_", i, ".dat");
    data.write(s, file);
    points += measured(file, join("lw 1.5 lc rgb '", colour(i), "'"), series.name);
    if (series.scaling == AttentionScaling::linear) continue;
    lines +=
        join(", '", file, "' using 1:5 with lines dt 2 lw 1.5 lc rgb '", grey, "' title '6ρ/H'");
    if (!std::isnan(series.law[0].value))
      lines += join(", '", file, "' using 1:4 with lines lw 1 lc rgb '", grey,
                    "' title 'law at w = ", s.head_width, "'");
  }
  const auto [least, most] = std::minmax_element(s.heads.begin(), s.heads.end());
  return join(
      "set title '(b) Excess kurtosis of outputs'\nset xlabel 'heads, H'\n"
      "set ylabel 'excess kurtosis ± standard error'\nset logscale x 2\n"
      "set key top right\nset xrange [",
      *least, "/1.3:", *most,
      "*1.3]\n"
      "set yrange [*:*]\nplot 0 with lines lw 1 lc rgb '#bbbbbb' notitle",
      lines, points, "\nunset logscale\n");
}

/// The series of heads whose outputs' density is shown: of sqrt scaling if there is one.
const HeadSeries& series_shown(const Study& study) {
  const auto chosen = std::find_if(study.by_heads.begin(), study.by_heads.end(), [](const auto& h) {
    return h.scaling == AttentionScaling::sqrt;
  });
  return chosen == study.by_heads.end() ? study.by_heads.front() : *chosen;
}

/// The rows shown: the first, the third and the last.
std::vector<std::size_t> rows_shown(const HeadSeries& series) {
  const std::size_t last = series.comparison.rows.size() - 1;
  std::vector<std::size_t> rows = {0, std::min<std::size_t>(2, last), last};
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

/// The density of outputs over the limit's standard deviation, in bins.
struct Histogram {
  std::vector<double> centres, density;
};

Histogram histogram(const ComparisonRow& r) {
  constexpr double range = 4.5, bin = 0.3;
  constexpr int bins = static_cast<int>(2 * range / bin);
  const Tensor sd = sqrt(diagonal(
      reshape(permute(r.nngp.limit, {0, 2, 1, 3}), {r.outputs.size(1), r.outputs.size(1)})));
  const auto y = (r.outputs / unsqueeze(sd, 1)).to_vector();
  Histogram h{{}, std::vector<double>(bins, 0)};
  for (const double v : y)
    if (std::abs(v) < range) ++h.density[static_cast<std::size_t>((v + range) / bin)];
  for (double& count : h.density) count /= static_cast<double>(y.size()) * bin;
  for (int b = 0; b < bins; ++b) h.centres.push_back(-range + (b + 0.5) * bin);
  return h;
}

std::string density_panel(const Settings& s, const Study& study) {
  const HeadSeries& series = series_shown(study);
  const auto& rows = series.comparison.rows;
  std::string plots;
  for (const std::size_t i : rows_shown(series)) {
    const ComparisonRow& r = rows[i];
    const Histogram h = histogram(r);
    Data data;
    for (std::size_t b = 0; b < h.centres.size(); ++b) data.line({h.centres[b], h.density[b]});
    const std::string file = join("density_", r.point.size.heads, ".dat");
    data.write(s, file);
    plots += join(", '", file, "' using 1:2 with linespoints lw 2 pt 7 ps 0.35 lc rgb '",
                  colour(i == 0                 ? 1
                         : i == rows.size() - 1 ? 2
                                                : 4),
                  "' title 'H = ", r.point.size.heads, "'");
  }
  return join(
      "set title '(c) Density of outputs, ", series.name,
      " scaling'\nset xlabel 'output / standard deviation of the limit'\n"
      "set ylabel 'density'\nset logscale y\nset format y '10^{%T}'\nset key bottom "
      "center\nset xrange [-4.5:4.5]\nset yrange [1e-5:1]\nset samples 200\n"
      "plot exp(-x*x/2)/sqrt(2*pi) with filledcurves y1=1e-5 fs solid 0.25 noborder lc rgb '",
      grey, "' title 'limit'", plots, "\nunset logscale\nset format y\n");
}

/// Adds the entries on and above the diagonal: limit, mean, standard error, of a kernel scaled so
/// that the largest is 1.
void entries(Data& data, const infinite::Agreement& k) {
  const auto limit = k.limit.to_vector(), mean = k.mean.to_vector(), se = k.se.to_vector();
  double largest = 0;
  for (const double v : limit) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < limit.size(); ++i)
    data.line({limit[i] / largest, mean[i] / largest, se[i] / largest});
}

std::string scatter_panel(const Settings& s, const Study& study) {
  std::string plots;
  for (std::size_t i = 0; i < study.by_width.size(); ++i) {
    const ComparisonRow& r = study.by_width[i].comparison.rows.back();
    Data data;
    entries(data, r.nngp);
    entries(data, r.ntk);
    const std::string file = join("entries_", i, ".dat");
    data.write(s, file);
    plots += measured(file, join("lw 1.5 lc rgb '", colour(i), "'"), shown(study.by_width[i].name));
  }
  return join("set title '(d) Entries of both kernels, mean of ", s.draws,
              " networks'\nset xlabel 'limit / its largest entry'\n"
              "set ylabel 'mean ± standard error'\nset key top left\nset xrange [*:*]\n"
              "set yrange [*:*]\nplot x with lines lw 1.5 dt 2 lc rgb '",
              grey, "' notitle", plots, "\n");
}

}  // namespace

std::filesystem::path draw(const Settings& s, const Study& study) {
  const bool all = !study.by_heads.empty();
  std::string script = join("set encoding utf8\nset multiplot layout ", all ? "2,2" : "1,2",
                            " title 'Attention with finitely many heads against its Gaussian "
                            "process' font ',16'\nset grid lc rgb '#e4e4e4'\nset border lc rgb "
                            "'#555555'\nset tics nomirror\nset bars "
                            "0.6\nset key samplen 2 spacing 1.1\n");
  script += error_panel(s, study);
  if (all) script += kurtosis_panel(s, study) + density_panel(s, study);
  script += scatter_panel(s, study);
  return plot(s.common.out, "nngp_compare", script + "unset multiplot\n", 1200, all ? 900 : 460);
}

nlohmann::ordered_json panels(const Study& study) {
  auto densities = nlohmann::ordered_json::array(), entries = nlohmann::ordered_json::array();
  if (!study.by_heads.empty()) {
    const HeadSeries& series = series_shown(study);
    for (const std::size_t i : rows_shown(series)) {
      const Histogram h = histogram(series.comparison.rows[i]);
      densities.push_back({{"scaling", series.name},
                           {"heads", series.comparison.rows[i].point.size.heads},
                           {"output_over_sd", h.centres},
                           {"density", h.density}});
    }
  }
  const auto kernel = [](const infinite::Agreement& k) -> nlohmann::ordered_json {
    return {{"limit", k.limit.to_vector()}, {"mean", k.mean.to_vector()}, {"se", k.se.to_vector()}};
  };
  for (const WidthSeries& series : study.by_width) {
    const ComparisonRow& r = series.comparison.rows.back();
    entries.push_back({{"series", series.name},
                       {"width", r.point.size.width},
                       {"heads", r.point.size.heads},
                       {"nngp", kernel(r.nngp)},
                       {"ntk", kernel(r.ntk)}});
  }
  return {{"density", densities}, {"entries", entries}};
}

}  // namespace ladon::example
