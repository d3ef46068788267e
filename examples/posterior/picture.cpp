#include "ladon/examples/posterior/picture.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/statistics.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/posterior/task.h"

namespace ladon::example {
namespace {

using Rows = std::vector<std::vector<double>>;

constexpr int page = 1200, left = 104, row_height = 190, between = 76,
              first_row = Picture::top + 40;
const Style exact = kind(5), method_style = kind(1);

/// A panel's place in a row of `count`.
Box place(int row, int column, int count) {
  constexpr int gap = 26;
  const int width = (page - left - 20 - (count - 1) * gap) / count;
  return {left + column * (width + gap), first_row + row * (row_height + between), width,
          row_height};
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

/// What all panels of functions share: the axis, and the targets.
class Bands {
 public:
  Bands(Picture& picture, const Study& study) : picture_(picture) {
    Rows given;
    const auto s = training_places().to_vector(), y = study.targets.to_vector();
    for (std::size_t i = 0; i < s.size(); ++i) given.push_back({s[i], y[i]});
    targets_ = picture.data("targets", given);
    prior_ = picture.data("prior", band_rows(zeros(study.prior_sd.shape(), f64), study.prior_sd));
    const double prior = 2 * amax(study.prior_sd).item();
    for (const double value : y) reach_ = std::max(reach_, std::abs(value) * 1.1);
    reach_ = std::max(reach_, prior * 1.05);
  }

  std::string axes(bool first) const {
    return join("set xrange [-3:3]\nset xtics -2,2,2\nset yrange [", -reach_, ":", reach_, "]\n",
                first ? "set ylabel 'f(s)'\n" : "set format y ''\n");
  }
  std::string prior() const { return area(prior_, grey, 0.12); }
  std::string points() const {
    return join(targets_, " using 1:2 with points lc rgb '#000000' pt 7 ps 0.45 notitle");
  }
  std::string file(const std::string& of, const Band& band) {
    return picture_.data(of, band_rows(band.mean, band.sd));
  }

 private:
  Picture& picture_;
  std::string targets_, prior_;
  double reach_ = 0;
};

std::string heads_name(std::int64_t heads) {
  return heads == 0 ? "infinitely many heads" : heads == 1 ? "one head" : join(heads, " heads");
}

void draw_exact(Picture& picture, Bands& bands, const Study& study) {
  std::vector<Band> shown;
  for (const Band& band : study.bands)
    if (band.method == "finite_heads" || band.method == "gp") shown.push_back(band);
  const int count = static_cast<int>(shown.size());
  for (int i = 0; i < count; ++i) {
    const Band& band = shown[static_cast<std::size_t>(i)];
    const std::string file = bands.file(join("exact_", band.heads), band);
    picture.panel(place(0, i, count), heads_name(band.heads),
                  bands.axes(i == 0) + "plot " + bands.prior() + ", " +
                      area(file, kind(0).colour, 0.35) + ", " +
                      curve(file, "1:2", kind(0), "", 1.5) + ", " + bands.points());
  }
}

/// Each method over the exact posterior of its network; the rows that it took.
int draw_methods(Picture& picture, Bands& bands, const Study& study, std::int64_t heads) {
  constexpr int a_row = 6;
  std::vector<Band> shown;
  std::string truth;
  for (const Band& band : study.bands)
    if (band.heads == heads && band.method == "finite_heads")
      truth = bands.file("truth", band);
    else if (band.heads == heads)
      shown.push_back(band);
  const int count = static_cast<int>(shown.size());
  for (int i = 0; i < count; ++i) {
    const Band& band = shown[static_cast<std::size_t>(i)];
    const std::string file = bands.file("method_" + band.method, band);
    picture.panel(place(1 + i / a_row, i % a_row, a_row), band.method,
                  bands.axes(i % a_row == 0) + "plot " + area(truth, exact.colour, 0.25) + ", " +
                      area(file, method_style.colour, 0.35) + ", " +
                      curve(file, "1:2", {method_style.colour, 1, 7}, "", 1.5) + ", " +
                      bands.points());
  }
  return (count + a_row - 1) / a_row;
}

/// The distance between H heads and infinitely many.
void draw_approach(Picture& picture, const Study& study, const Box& box) {
  Rows rows;
  for (const Approach& a : study.approaches) {
    if (a.w2.empty()) continue;
    const Measured w2 = estimate(a.w2);
    rows.push_back({static_cast<double>(a.heads), w2.value, std::isfinite(w2.se) ? w2.se : 0});
  }
  if (rows.empty()) return;
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
void draw_ratios(Picture& picture, const Study& study, std::int64_t heads, const Box& box) {
  std::vector<std::string> names;
  Rows longer, shorter;
  std::int64_t longest = 0;
  for (const MethodRuns& r : study.runs) longest = std::max(longest, r.steps);
  for (const MethodRuns& r : study.runs) {
    if (r.heads != heads || r.against != "finite_heads" || r.method == "prior") continue;
    std::vector<double> ratios;
    for (const BeliefScore& score : r.scores) ratios.push_back(score.variance_ratio);
    const Measured mean = estimate(ratios);
    const double se = std::isfinite(mean.se) ? mean.se : 0;
    auto at = std::ranges::find(names, r.method);
    if (at == names.end()) at = names.insert(at, r.method);
    const auto place = static_cast<double>(at - names.begin());
    (r.steps == 0 || r.steps == longest ? longer : shorter)
        .push_back({mean.value, place, std::max(1e-3, mean.value - se), mean.value + se});
  }
  std::string plots;
  const auto add = [&](const std::string& of, const Rows& rows, const Style& style,
                       const std::string& title) {
    if (rows.empty()) return;
    plots += (plots.empty() ? "plot " : ", ") +
             with_intervals(picture.data(of, rows), "1:2:3:4", style, title, 0.8);
  };
  add("ratios_short", shorter, {grey, 1, 5}, "a quarter");
  add("ratios_long", longer, kind(1), "all steps");
  if (plots.empty()) return;
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
  if (!study.targets.defined() || study.bands.empty()) return {};
  const std::int64_t heads = heads_shown(s);
  Picture picture(s.common.out, "posterior");
  Bands bands(picture, study);
  draw_exact(picture, bands, study);
  const int rows = draw_methods(picture, bands, study, heads);
  const int top = first_row + (1 + rows) * (row_height + between), height = 290;
  draw_approach(picture, study, {left + 10, top, 400, height});
  draw_ratios(picture, study, heads, {left + 640, top, 440, height});
  return picture.draw(
      "What a network of attention believes: exactly, and by methods",
      join("mean ± 2 sd; light grey: prior, dark grey: exact (", heads_name(heads), "); ",
           s.members, " networks, ", s.steps, " steps, seed ", s.common.seed),
      page, top + height + 80);
}

}  // namespace ladon::example
