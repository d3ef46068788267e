#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ladon/examples/common/text.h"
#include "ladon/examples/posterior/study.h"

namespace ladon::example {
namespace {

using Rows = std::vector<std::vector<double>>;

std::string heads_name(std::int64_t heads) {
  return heads == 1 ? "one head" : join(heads, " heads");
}

/// Mean over data sets of a method's variance divided by the true one, in the longer run.
double variance_ratio(const Settings& s, const Study& study, const std::string& method) {
  for (const MethodRuns& r : study.methods)
    if (r.method == method && r.heads == heads_shown(s) && (r.steps == 0 || r.steps == s.steps))
      return mean_of(r.scores, &BeliefScore::variance_ratio).value;
  return NAN;
}

/// Draws a panel per method, with its band on top of the band of the exact posterior. Panels of
/// hmc, svgd and ensemble come first, if these methods were run.
void draw_methods(const Settings& s, const Study& study) {
  std::vector<Band> methods = study.bands;
  // Not std::ranges::stable_partition: clang 14 rejects the library's subrange.
  const auto first = std::stable_partition(
      methods.begin(), methods.end(), [](const Band& band) { return exactly_known(band.method); });
  const std::vector<Band> exact(methods.begin(), first);
  methods.erase(methods.begin(), first);
  if (methods.empty()) return;
  std::stable_partition(methods.begin(), methods.end(), [](const Band& band) {
    return band.method == "hmc" || band.method == "svgd" || band.method == "ensemble";
  });
  Picture picture(s.common.out, "posterior", s.common.panels);
  picture.shared("set ylabel 'f(s)'\n");
  picture.legend(
      "NaN with lines lw 12 lc rgb '#b8b8b8' title 'exact', NaN with lines lw 12 lc rgb '#f0b78f' "
      "title 'method'");
  const auto truth = std::ranges::find(exact, heads_shown(s), &Band::heads);
  const std::string behind = area(picture.data("exact", band_rows(*truth)), kind(5).colour, 0.35),
                    targets = dots(picture, study.targets);
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const std::string& method = methods[i].method;
    const std::string file = picture.data(method, band_rows(methods[i]));
    const std::string script =
        join(axes(exact), "plot ", behind, ", ", area(file, kind(1).colour, 0.45), ", ",
             curve(file, "1:2", {kind(1).colour}, "", 2), ", ", targets);
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, ": variance %.2f", variance_ratio(s, study, method));
    if (i < 3)
      picture.panel(column(i, std::min<std::size_t>(3, methods.size())), method + ratio, script);
    else
      picture.further(method + ratio, script);
  }
  picture.draw_slide("Do methods know what they do not know? Right is a variance of 1",
                     join(heads_name(heads_shown(s)), ", mean ± 2 sd; dots: targets; ", s.members,
                          " networks, ", s.steps, " steps, seed ", s.common.seed));
}

/// Draws variances divided by the true variance, for both lengths of run.
void draw_ratios(const Settings& s, const Study& study) {
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
  if (names.empty()) return;
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
           grey, "'\nplot ",  // exact methods, without steps, are in `longer`
           plot_of("short", shorter, quarter), plot_of("long", longer, whole), "NaN notitle"));
  picture.draw_slide("How sure are methods? At 1 as sure as the exact posterior",
                     join(heads_name(heads), "; ", s.members, " networks, ", s.steps,
                          " steps; mean of ", s.draws, " data sets ± standard error"));
}

}  // namespace

void draw(const Settings& s, const Study& study) {
  draw_methods(s, study);
  draw_ratios(s, study);
}

}  // namespace ladon::example
