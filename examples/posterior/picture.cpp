#include "ladon/examples/posterior/picture.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/posterior/results.h"

namespace ladon::example {
namespace {

using Rows = std::vector<std::vector<double>>;

constexpr int page = 1200, left = 104, row_height = 190, between = 76;

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

/// Rows of panels of functions, each over the same background, under the targets.
class Bands {
 public:
  Bands(Picture& picture, const Study& study) : picture_(picture) {
    Rows given;
    const auto s = training_places().to_vector(), y = study.targets.to_vector();
    reach_ = 2.1 * amax(study.prior_sd).item();
    for (std::size_t i = 0; i < s.size(); ++i) {
      given.push_back({s[i], y[i]});
      reach_ = std::max(reach_, std::abs(y[i]) * 1.1);
    }
    targets_ = picture.data("targets", given);
  }

  void draw(const std::vector<Band>& bands, int columns, const std::string& background,
            const Style& style) {
    constexpr int gap = 26;
    const int width = (page - left - 20 - (columns - 1) * gap) / columns;
    for (std::size_t i = 0; i < bands.size(); ++i) {
      const Band& band = bands[i];
      const int column = static_cast<int>(i) % columns;
      const std::string file =
          picture_.data(join(band.method, "_", band.heads),
                        band_rows(band.belief.mean, standard_deviation(band.belief)));
      picture_.panel(
          {left + column * (width + gap), below_, width, row_height},
          exactly_known(band.method) ? heads_name(band.heads) : band.method,
          join("set xrange [-3:3]\nset xtics -2,2,2\nset yrange [", -reach_, ":", reach_, "]\n",
               column == 0 ? "set ylabel 'f(s)'\n" : "set format y ''\n", "plot ", background, ", ",
               area(file, style.colour, 0.35), ", ", curve(file, "1:2", {style.colour}, "", 1.5),
               ", ", targets_, " using 1:2 with points lc rgb '#000000' pt 7 ps 0.45 notitle"));
      if (column + 1 == columns || i + 1 == bands.size()) below_ += row_height + between;
    }
  }

  int below() const { return below_; }  ///< Top of the next row of panels.

 private:
  Picture& picture_;
  std::string targets_;
  double reach_ = 0;
  int below_ = Picture::top + 40;
};

/// The distance between H heads and infinitely many.
void draw_approach(Picture& picture, const Study& study, const Box& box) {
  Rows rows;
  for (const Approach& a : study.approaches) {
    const Measured w2 = mean_of(a.scores, &BeliefScore::w2);
    rows.push_back({static_cast<double>(a.heads), w2.value, std::isfinite(w2.se) ? w2.se : 0});
  }
  const double last = rows.back()[0], at_last = rows.back()[1];
  if (!(at_last > 0)) return;
  picture.panel(
      box, "the exact posterior comes to the Gaussian process",
      join("set logscale xy\nset xlabel 'heads H'\nset ylabel 'W_2 / sd'\nset xrange [0.8:",
           1.25 * last, "]\nset key top right\nplot ", at_last * last, "/x with lines lc rgb '",
           grey, "' dt 2 lw 2 title '1/H', ",
           with_errors(picture.data("approach", rows), "1:2:3", kind(0), "exact posterior")));
}

/// Variance over the true one, of both lengths of run.
void draw_ratios(Picture& picture, const Settings& s, const Study& study, const Box& box) {
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
  std::string plots = "plot ";  // what is exactly known is among the longer runs
  if (!shorter.empty())
    plots += with_intervals(picture.data("ratios_short", shorter), "1:2:3:4", {grey, 1, 5},
                            "a quarter", 0.8) +
             ", ";
  plots +=
      with_intervals(picture.data("ratios_long", longer), "1:2:3:4", kind(1), "all steps", 0.8);
  picture.panel(
      box, join("predictive variance over the true one, ", heads_name(heads)),
      join("set logscale x\nset xrange [0.05:10]\nset xtics (0.1, 0.3, 1, 3, 10)\nset yrange [",
           names.size(), "-0.5:-0.5]\nset ytics ", named_places(names),
           "\nset grid noytics\nset key at graph 0.98, graph -0.17 right horizontal\nset arrow "
           "from 1, graph 0 to 1, graph 1 nohead lw 2 lc rgb '",
           grey, "'\n", plots));
}

}  // namespace

std::filesystem::path draw(const Settings& s, const Study& study) {
  if (study.bands.empty()) return {};
  const std::int64_t heads = heads_shown(s);
  std::vector<Band> exact, methods;
  for (const Band& band : study.bands)
    (exactly_known(band.method) ? exact : methods).push_back(band);
  Picture picture(s.common.out, "posterior");
  Bands bands(picture, study);
  const Tensor& prior = study.prior_sd;
  bands.draw(exact, static_cast<int>(exact.size()),
             area(picture.data("prior", band_rows(zeros(prior.shape(), f64), prior)), grey, 0.12),
             kind(0));
  bands.draw(methods, 6,
             area(join("'posterior_finite_heads_", heads, ".dat'"), kind(5).colour, 0.25), kind(1));
  const int height = 290;
  draw_approach(picture, study, {left + 10, bands.below(), 400, height});
  draw_ratios(picture, s, study, {left + 640, bands.below(), 440, height});
  return picture.draw(
      "What a network of attention believes: exactly, and by methods",
      join("mean ± 2 sd; light grey: prior, dark grey: exact (", heads_name(heads), "); ",
           s.members, " networks, ", s.steps, " steps, seed ", s.common.seed),
      page, bands.below() + height + 80);
}

}  // namespace ladon::example
