#include "ladon/examples/repulsive_heads/picture.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

using Rows = std::vector<std::vector<double>>;

std::string settings_line(const Settings& s) {
  return join(s.format, " task, ", s.heads, " heads, ", s.layers,
              s.layers == 1 ? " layer" : " layers", " of width ", s.dim, ", α = ", s.alpha, ", ",
              s.epochs, " epochs");
}

// --- what changed ---

/// The largest of 1, 2 and 5 times a power of 10 up to `reach`: where the outer two of three tics
/// stand.
double tic_step(double reach) {
  const double magnitude = std::pow(10, std::floor(std::log10(reach)));
  const double first = reach / magnitude;  // 1 … 10
  return magnitude * (first >= 5 ? 5 : first >= 2 ? 2 : 1);
}

/// A row for each comparison: difference, place, and the ends of both intervals; and how far they
/// reach from zero.
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

/// ", seeds 1 to 6": those that were run.
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

/// A figure's name in words.
std::string shown(const std::string& figure) {
  return figure == "nll"         ? "log loss"
         : figure == "ece"       ? "calibration error"
         : figure == "ood_auroc" ? "sees the unfamiliar"
                                 : figure;
}

/// "24 comparisons: 0 clearly better, 5 clearly worse"
std::string summary(const std::vector<Column>& figures, const std::vector<Comparison>& all) {
  int better = 0, worse = 0;
  for (const Comparison& c : all)
    for (std::size_t f = 0; f < figures_judged; ++f) {
      if (c.judged[f].decision == Decision::unclear) continue;
      const bool higher = c.judged[f].decision == Decision::higher;
      ++(higher == (figures[f].better == Better::higher) ? better : worse);
    }
  return join("Of ", all.size() * figures_judged, " differences ", better, " are clearly better, ",
              worse, " clearly worse");
}

std::filesystem::path draw_changes(const Settings& s, const std::vector<Column>& figures,
                                   const std::vector<Comparison>& all) {
  Picture picture(s.common.out, "repulsive_heads", s.common.panels);
  std::vector<std::string> places;
  for (const Comparison& c : all) places.push_back(c.method + " − " + c.against);
  picture.shared("set ytics " + named_places(places) + "\n");
  picture.legend(join("NaN with lines lw 5 lc rgb '", kind(0).colour,
                      "' title '95% interval', NaN with lines lw 2 lc rgb '", grey,
                      "' title 'the same for all ", all.size() * figures_judged, " at once'"));
  for (std::size_t f = 0; f < figures_judged; ++f) {
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
    if (figures[f].name == "ece")  // near to log loss
      picture.further(name, script);
    else
      picture.panel(
          column(std::min<std::size_t>(f, 2), 3, 40, {200, titled.top, 720, titled.height}), name,
          script);
  }
  return picture.draw(summary(figures, all), settings_line(s) + seeds_of(all));
}

// --- maps of one seed ---

Rows rows_of(const Tensor& matrix, const std::vector<std::size_t>& order,
             const std::vector<std::size_t>& column_order) {
  const auto values = matrix.to_vector();
  const auto columns = static_cast<std::size_t>(matrix.size(1));
  Rows rows;
  for (const std::size_t i : order) {
    rows.emplace_back();
    for (const std::size_t j : column_order) rows.back().push_back(values[i * columns + j]);
  }
  return rows;
}

std::vector<std::size_t> counted(std::int64_t n) {
  std::vector<std::size_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

/// Heads in an order in which like ones are neighbours: a chain that grows, from the most alike
/// two, at either end by the head most like it.
std::vector<std::size_t> chained(const Tensor& similarity) {
  const auto values = similarity.to_vector();
  std::vector<std::size_t> left = counted(similarity.size(0)), chain;
  const std::size_t heads = left.size();
  const auto alike = [&](std::size_t a, std::size_t b) {
    return a == b ? -2 : values[a * heads + b];
  };
  const auto take = [&](std::size_t head, bool at_front) {
    chain.insert(at_front ? chain.begin() : chain.end(), head);
    std::erase(left, head);
  };
  const auto nearest = [&](std::size_t end) {
    return *std::max_element(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
      return alike(end, a) < alike(end, b);
    });
  };
  const std::size_t best = static_cast<std::size_t>(
      std::max_element(left.begin(), left.end(),
                       [&](std::size_t a, std::size_t b) {
                         return alike(a, nearest(a)) < alike(b, nearest(b));
                       }) -
      left.begin());
  take(best, false);
  while (!left.empty()) {
    const std::size_t front = nearest(chain.front()), back = nearest(chain.back());
    const bool at_front = alike(chain.front(), front) > alike(chain.back(), back);
    take(at_front ? front : back, at_front);
  }
  return chain;
}

struct Shown {
  std::string title, file;
  const HeadMaps* maps;
};

/// Square panels side by side, the colour bar beside the last.
std::filesystem::path draw_row(const Settings& s, const std::string& name, const std::string& title,
                               const std::string& settings, const std::vector<Shown>& shown,
                               bool right_tokens) {
  Picture picture(s.common.out, name, s.common.panels);
  picture.shared("set ylabel 'head'\n",
                 right_tokens ? "attention on the right token" : "cosine of attention maps");
  const auto matrix_of = [&](const Shown& each) {
    return right_tokens ? each.maps->right_tokens : each.maps->similarity;
  };
  double most = 0;
  for (const Shown& each : shown)
    for (const double entry : matrix_of(each).to_vector()) most = std::max(most, entry);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Tensor matrix = matrix_of(shown[i]);
    const auto heads = right_tokens ? heads_by_rule(matrix) : chained(matrix);
    const auto across = right_tokens ? counted(matrix.size(1)) : heads;
    picture.panel(square(column(i, shown.size(), 25, {75, titled.top, 770, titled.height})),
                  shown[i].title,
                  join("set xlabel '", right_tokens ? "rule" : "head", "'\n",
                       heads.size() < 12 ? "set xtics 1\nset ytics 1\n" : "",  // no half head
                       heat_map(picture.data(shown[i].file, rows_of(matrix, heads, across)),
                                heads.size(), across.size(), std::ceil(10 * most) / 10)));
  }
  return picture.draw(title, settings);
}

std::vector<std::filesystem::path> draw_maps(const Settings& s, const Outcomes& outcomes) {
  const auto& [first_name, first] = outcomes.front();  // plain, or whatever was run first
  const auto repels = [](const auto& o) {
    return o.first == "svgd" || o.first == "spos" || o.first == "wgd";
  };
  const auto other = std::find_if(outcomes.begin(), outcomes.end(), repels);
  const Outcome run = typical(first);
  std::vector<Shown> shown = {{"before training", "before", &run.before},
                              {first_name + ", trained", "first", &run.after}};
  if (other != outcomes.end() && other->first != first_name)
    for (const Outcome& each : other->second)
      if (each.seed == run.seed)
        shown.push_back({other->first + ", trained", "other", &each.after});
  const std::string settings = join(settings_line(s), ", seed ", run.seed);
  std::vector<std::filesystem::path> paths;
  if (run.before.right_tokens.defined())
    paths.push_back(draw_row(
        s, "repulsive_heads_maps",
        join("Heads that lead some rule: ", leaders(run.before.right_tokens).heads, " of ", s.heads,
             " before training, ", leaders(run.after.right_tokens).heads, " after"),
        settings, shown, true));
  for (Shown& each : shown) {
    const double heads = static_cast<double>(s.heads),
                 all = sum(each.maps->similarity).item() -
                       sum(diagonal(each.maps->similarity)).item();
    each.title += join(": ", std::round(100 * all / (heads * (heads - 1))) / 100);
  }
  paths.push_back(draw_row(s, "repulsive_heads_alike", "How alike the heads attend: mean cosine",
                           settings, shown, false));
  return paths;
}

}  // namespace

std::vector<std::filesystem::path> draw(const Settings& s, const Task& task,
                                        const Outcomes& outcomes) {
  std::vector<std::filesystem::path> pictures;
  const std::vector<Comparison> changes = comparisons(outcomes);
  if (!changes.empty()) pictures.push_back(draw_changes(s, columns(task), changes));
  if (s.heads > 1)
    for (const std::filesystem::path& path : draw_maps(s, outcomes)) pictures.push_back(path);
  std::erase(pictures, std::filesystem::path());
  return pictures;
}

}  // namespace ladon::example
