#include <algorithm>
#include <cmath>
#include <set>

#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/repulsive_heads/study.h"

namespace ladon::example {
namespace {

using Rows = std::vector<std::vector<double>>;

/// Position of the outer two of three tics: the largest of 1, 2 and 5 times a power of 10 that is
/// at most `reach`.
double tic_step(double reach) {
  const double magnitude = std::pow(10, std::floor(std::log10(reach)));
  const double first = reach / magnitude;  // 1 … 10
  return magnitude * (first >= 5 ? 5 : first >= 2 ? 2 : 1);
}

/// A row for each comparison: difference, position, and the ends of two intervals, uncorrected and
/// corrected. Also returns half the length of an axis that fits them all.
std::pair<Rows, double> forest(const std::vector<Comparison>& all, std::size_t figure) {
  Rows rows;
  double reach = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Difference& d = all[i].judged[figure];
    const double mean = d.mean.value, own = d.pairs < 2 ? 0 : d.interval,
                 strict = d.pairs < 2 ? 0 : d.corrected;
    rows.push_back(
        {mean, static_cast<double>(i), mean - own, mean + own, mean - strict, mean + strict});
    reach = std::max(reach, std::abs(mean) + strict);
  }
  return {rows, reach > 0 ? 1.1 * reach : 1};
}

/// Text such as ", seeds 1 to 6", from the seeds that were run.
std::string seeds_of(const std::vector<Comparison>& all) {
  std::set<std::uint64_t> seeds;
  for (const Comparison& c : all) seeds.insert(c.seeds.begin(), c.seeds.end());
  const std::uint64_t first = *seeds.begin(), last = *seeds.rbegin();
  if (seeds.size() == 1) return join(", seed ", first);
  if (last - first + 1 == seeds.size()) return join(", seeds ", first, " to ", last);
  std::string text;
  for (const std::uint64_t seed : seeds) text += join(text.empty() ? ", seeds " : ", ", seed);
  return text;
}

/// A figure's name as shown in the picture.
std::string shown(const std::string& figure) {
  return figure == "nll"         ? "log loss"
         : figure == "ece"       ? "calibration error"
         : figure == "ood_auroc" ? "sees the unfamiliar"
                                 : figure;
}

/// "Of 24 differences 0 are clearly better, …"
std::string summary(const std::vector<Column>& figures, const std::vector<Comparison>& all) {
  int better = 0, worse = 0;
  for (const Comparison& c : all)
    for (std::size_t f = 0; f < figures.size(); ++f) {
      if (c.judged[f].decision == Decision::unclear) continue;
      const bool higher = c.judged[f].decision == Decision::higher;
      ++(higher == (figures[f].better == Better::higher) ? better : worse);
    }
  return join("Of ", all.size() * figures.size(), " differences ", better, " are clearly better, ",
              worse, " clearly worse");
}

}  // namespace

void draw(const Settings& s, const std::string& format, const std::vector<Column>& figures,
          const std::vector<Comparison>& all) {
  if (all.empty()) return;
  Picture picture(s.common.out, "repulsive_heads", s.common.panels);
  std::vector<std::string> places;
  for (const Comparison& c : all) places.push_back(c.method + " − " + c.against);
  picture.shared("set ytics " + named_places(places) + "\n");
  picture.legend(join("NaN with lines lw 5 lc rgb '", kind(0).colour,
                      "' title '95% interval', NaN with lines lw 2 lc rgb '", grey,
                      "' title 'the same for all ", all.size() * figures.size(), " at once'"));
  for (std::size_t f = 0; f < figures.size(); ++f) {
    const auto [rows, reach] = forest(all, f);
    const std::string file = picture.data(figures[f].name, rows);
    const double tic = tic_step(reach);
    const std::string name = shown(figures[f].name),
                      script = join(
                          "set xrange [", -reach, ":", reach, "]\nset xtics ", -tic, ",", tic, ",",
                          tic, "\nset xlabel '",
                          figures[f].better == Better::higher ? "more is better" : "less is better",
                          "'\nset yrange [", all.size(), "-0.5:-0.5]\nset grid noytics\n",
                          "set arrow from 0, graph 0 to 0, graph 1 nohead lw 2 lc rgb '", grey,
                          "'\nplot ", with_intervals(file, "1:2:5:6", {grey, 1, 1}, "", 0.01), ", ",
                          with_intervals(file, "1:2:3:4", kind(0), "", 0.8));
    if (figures[f].name == "ece")  // similar to log loss, so only on a separate slide
      picture.further(name, script);
    else
      picture.panel(
          column(std::min<std::size_t>(f, 2), 3, 40, {200, titled.top, 720, titled.height}), name,
          script);
  }
  picture.draw_slide(summary(figures, all),
                     join(format, " task, ", picture_line(s), seeds_of(all)));
}

}  // namespace ladon::example
