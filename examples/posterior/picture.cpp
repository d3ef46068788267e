#include "ladon/examples/posterior/picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/posterior/results.h"

namespace ladon::example {
namespace {

using Rows = std::vector<std::vector<double>>;

std::string heads_name(std::int64_t heads) {
  return heads == 0 ? "infinitely many heads" : heads == 1 ? "one head" : join(heads, " heads");
}

/// s, mean, and the ends of mean ± 2 standard deviations.
Rows band_rows(const Tensor& mean, const Tensor& sd) {
  const auto s = test_places().to_vector(), m = mean.to_vector(), d = sd.to_vector();
  Rows rows;
  for (std::size_t i = 0; i < s.size(); ++i)
    rows.push_back({s[i], m[i], m[i] - 2 * d[i], m[i] + 2 * d[i]});
  return rows;
}

std::string area(const std::string& file, const std::string& colour, double strength) {
  return join(file, " using 1:3:4 with filledcurves fs transparent solid ", strength,
              " noborder lc rgb '", colour, "' notitle");
}

/// Content of all pictures of functions of s.
struct Bands {
  std::vector<Band> exact, methods;
  Rows targets;
  double reach = 0;  ///< Of the y axis, to either side.
  std::string settings;
};

/// Commands for axes of s and f(s); the y axis' label is shared.
std::string axes(const Bands& bands) {
  return join("set xlabel 's'\nset xrange [-3:3]\nset xtics -2,1,2\nset yrange [", -bands.reach,
              ":", bands.reach, "]\n");
}

std::string points(const std::string& file) {
  return file + " using 1:2 with points lc rgb '#000000' pt 7 ps 0.8 notitle";
}

Bands bands_of(const Settings& s, const Study& study) {
  Bands all;
  for (const Band& band : study.bands) {
    (exactly_known(band.method) ? all.exact : all.methods).push_back(band);
    if (exactly_known(band.method))
      for (const auto& row : band_rows(band.belief.mean, standard_deviation(band.belief)))
        all.reach = std::max({all.reach, -1.4 * row[2], 1.4 * row[3]});
  }
  const auto places = training_places().to_vector(), y = study.targets.to_vector();
  for (std::size_t i = 0; i < places.size(); ++i) all.targets.push_back({places[i], y[i]});
  all.settings = join("mean ± 2 sd; dots: targets; ", s.members, " networks, ", s.steps,
                      " steps, seed ", s.common.seed);
  return all;
}

/// The exact posteriors over each other, and the prior.
std::filesystem::path draw_heads(const Settings& s, const Study& study, const Bands& bands) {
  Picture picture(s.common.out, "posterior_heads", s.common.panels);
  const Tensor& prior = study.prior_sd;
  std::string plots =
                  "plot " + area(picture.data("prior", band_rows(zeros(prior.shape(), f64), prior)),
                                 grey, 0.15),
              legend = join("NaN with lines lw 12 lc rgb '#dddddd' title 'prior'");
  for (std::size_t i = 0; i < bands.exact.size(); ++i) {
    const Band& band = bands.exact[i];
    const Style style = step(i, bands.exact.size());
    const std::string file = picture.data(
        join(band.heads), band_rows(band.belief.mean, standard_deviation(band.belief)));
    for (const char* columns : {"1:3", "1:4"}) plots += ", " + curve(file, columns, style, "", 3);
    legend += join(", NaN with lines ", style.line(3), " title ",
                   quoted(band.heads == 0   ? "∞ heads"
                          : band.heads == 1 ? "1 head"
                                            : join(band.heads, " heads")));
  }
  picture.legend(legend);
  picture.panel(slide, "",
                axes(bands) + "set ylabel 'f(s), ± 2 sd'\n" + plots + ", " +
                    points(picture.data("targets", bands.targets)));
  return picture.draw("With more heads the exact posterior becomes a Gaussian process",
                      "dots: eight targets; lines: mean − 2 sd and mean + 2 sd");
}

/// The mean over data sets of a method's variance over the true one after all steps.
double variance_ratio(const Settings& s, const Study& study, const std::string& method) {
  for (const MethodRuns& r : study.methods)
    if (r.method == method && r.heads == heads_shown(s) && (r.steps == 0 || r.steps == s.steps))
      return mean_of(r.scores, &BeliefScore::variance_ratio).value;
  return NAN;
}

/// Methods over the exact posterior: a sampler, particles and an ensemble where they were run.
std::filesystem::path draw_methods(const Settings& s, const Study& study, Bands bands) {
  if (bands.methods.empty()) return {};
  const auto shown = [](const Band& band) {
    return band.method == "hmc" || band.method == "svgd" || band.method == "ensemble";
  };
  std::stable_partition(bands.methods.begin(), bands.methods.end(), shown);
  Picture picture(s.common.out, "posterior", s.common.panels);
  picture.shared("set ylabel 'f(s)'\n");
  picture.legend(
      join("NaN with lines lw 12 lc rgb '#b8b8b8' title 'exact', NaN with lines lw 12 lc "
           "rgb '#f0b78f' title 'method'"));
  std::string exact;
  for (const Band& band : bands.exact)
    if (band.heads == heads_shown(s))
      exact =
          area(picture.data("exact", band_rows(band.belief.mean, standard_deviation(band.belief))),
               kind(5).colour, 0.35);
  const std::string targets = points(picture.data("targets", bands.targets));
  for (std::size_t i = 0; i < bands.methods.size(); ++i) {
    const Band& band = bands.methods[i];
    const std::string file =
        picture.data(band.method, band_rows(band.belief.mean, standard_deviation(band.belief)));
    const std::string script =
        join(axes(bands), "plot ", exact, ", ", area(file, kind(1).colour, 0.45), ", ",
             curve(file, "1:2", {kind(1).colour}, "", 2), ", ", targets);
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, ": variance %.2f", variance_ratio(s, study, band.method));
    const std::string title = band.method + ratio;
    if (i < 3)
      picture.panel(column(i, std::min<std::size_t>(3, bands.methods.size())), title, script);
    else
      picture.further(title, script);
  }
  return picture.draw("Do methods know what they do not know? Right is a variance of 1",
                      join(heads_name(heads_shown(s)), ", ", bands.settings));
}

/// The distance between H heads and infinitely many.
std::filesystem::path draw_approach(const Settings& s, const Study& study) {
  Picture picture(s.common.out, "posterior_approach", s.common.panels);
  Rows rows;
  for (const Approach& a : study.approaches) {
    const Measured w2 = mean_of(a.scores, &BeliefScore::w2);
    rows.push_back({static_cast<double>(a.heads), w2.value, std::isfinite(w2.se) ? w2.se : 0});
  }
  if (rows.empty() || !(rows.back()[1] > 0)) return {};
  const double last = rows.back()[0], at_last = rows.back()[1];
  picture.panel(
      slide, "",
      join("set logscale xy\nset xlabel 'number of heads, H'\nset ylabel 'distance / sd'\n",
           "set format y '%g'\nset xrange [0.8:", 1.25 * last, "]\nset key top right\nplot ",
           at_last * last, "/x with lines lc rgb '", grey, "' dt 2 lw 2 title '1/H', ",
           with_errors(picture.data("heads", rows), "1:2:3", kind(0), "exact posterior")));
  return picture.draw("With many heads the distance to the Gaussian process falls as 1/H",
                      join("Wasserstein distance of predictions; mean of ", s.draws,
                           " data sets ± standard error"));
}

/// Variance over the true one, of both lengths of run.
std::filesystem::path draw_ratios(const Settings& s, const Study& study) {
  const std::int64_t heads = heads_shown(s);
  std::vector<std::string> names;
  Rows longer, shorter;
  for (const MethodRuns& r : study.methods) {
    if (r.heads != heads || r.method == "prior") continue;
    const Measured mean = mean_of(r.scores, &BeliefScore::variance_ratio);
    const double se = std::isfinite(mean.se) ? mean.se : 0;
    if (names.empty() || names.back() != r.method) names.push_back(r.method);
    (r.steps == 0 || r.steps == s.steps ? longer : shorter)
        .push_back({mean.value, static_cast<double>(names.size() - 1),
                    std::max(1e-3, mean.value - se), mean.value + se});
  }
  if (names.empty()) return {};
  Picture picture(s.common.out, "posterior_variance", s.common.panels);
  const auto plot_of = [&](const char* name, const Rows& all, const Style& style) {
    return all.empty() ? ""
                       : with_intervals(picture.data(name, all), "1:2:3:4", style, "", 0.9) + ", ";
  };
  const Style quarter{grey, 1, 5}, whole = kind(1);
  picture.legend(join("NaN with points ", quarter.points(0.9), " title 'a quarter of the steps', ",
                      "NaN with points ", whole.points(0.9), " title 'all steps'"));
  picture.panel(
      {210, slide.top, 710, 340}, "",
      join("set logscale x\nset xrange [0.05:10]\nset xtics (0.1, 0.3, 1, 3, 10)\nset yrange [",
           names.size(), "-0.5:-0.5]\nset ytics ", named_places(names),
           "\nset grid noytics\nset xlabel 'variance / true "
           "variance'\nset arrow from 1, graph 0 to 1, graph 1 nohead lw 2 lc rgb '",
           grey, "'\nplot ",  // what is exactly known is among the longer runs
           plot_of("short", shorter, quarter), plot_of("long", longer, whole), "NaN notitle"));
  return picture.draw("How sure are methods? At 1 as sure as the exact posterior",
                      join(heads_name(heads), "; ", s.members, " networks, ", s.steps,
                           " steps; mean of ", s.draws, " data sets ± standard error"));
}

}  // namespace

std::vector<std::filesystem::path> draw(const Settings& s, const Study& study) {
  if (study.bands.empty()) return {};
  const Bands bands = bands_of(s, study);
  std::vector<std::filesystem::path> paths = {draw_methods(s, study, bands), draw_ratios(s, study),
                                              draw_heads(s, study, bands), draw_approach(s, study)};
  std::erase(paths, std::filesystem::path());
  return paths;
}

}  // namespace ladon::example
