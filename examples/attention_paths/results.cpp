#include <cmath>
#include <limits>
#include <string>

#include "ladon/examples/attention_paths/study.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

constexpr Measured unknown{std::numeric_limits<double>::quiet_NaN(), 0};

std::size_t entry(std::size_t row, std::size_t column) { return row * paths + column; }

Measured over_seeds(const Order& order, std::size_t at) {
  std::vector<double> values;
  for (const std::vector<double>& u : order.entries) values.push_back(u[at]);
  return estimate(values);
}

}  // namespace

Table predictor_table(const Study& study) {
  const auto comparisons = static_cast<int>(study.predictors.size()) - 1;
  Table table(
      "predictor",
      {{"accuracy",
        "share of 400 test chains whose class the sign of the mean predictor tells; chance is "
        "1/2; mean over seeds ± standard error, as all that follows",
        Better::higher},
       {"difference", "accuracy less that of the Gaussian process, paired over seeds"},
       {"interval", join("half the width of its interval at 1 − 5%/", comparisons,
                         " (Bonferroni): a larger difference is called one")},
       {"lost", join("accuracy of ", study.predictors[1].name, " less that, paired over seeds")}});
  if (study.predictors.front().accuracy.empty()) return table;
  const auto gain = [&](const Predictor& of, const Predictor& on) {
    std::vector<double> more = of.accuracy;
    for (std::size_t i = 0; i < more.size(); ++i) more[i] -= on.accuracy[i];
    return judge(more, comparisons);
  };
  const Predictor &limit = study.predictors[0], &narrow = study.predictors[1];
  for (const Predictor& p : study.predictors) {
    const bool first = &p == &limit;
    const Difference d = gain(p, limit);
    table.add({p.name,
               {estimate(p.accuracy), first ? unknown : d.mean,
                first || d.pairs < 2 ? unknown : Measured{d.corrected, 0},
                &p == &narrow ? unknown : gain(narrow, p).mean}});
  }
  return table;
}

Table order_table(const Study& study) {
  Table table(
      "width",
      {{"good", "U of the good path (same, uniform) with itself; 1 in the Gaussian process"},
       {"denoising", "U of the denoising path (random, uniform) with itself"},
       {"cross", "U of the good with the denoising path; 0 in the Gaussian process"},
       {"random", "mean of U of the two paths through the random head of layer 2"}});
  for (const Order& order : study.orders) {
    if (order.entries.empty()) continue;
    std::vector<double> random;
    for (const std::vector<double>& u : order.entries)
      random.push_back(0.5 * (u[entry(1, 1)] + u[entry(3, 3)]));
    table.add(
        {join("N = ", order.width),
         {over_seeds(order, entry(good, good)), over_seeds(order, entry(denoising, denoising)),
          over_seeds(order, entry(good, denoising)), estimate(random)}});
  }
  return table;
}

void draw(const Settings& s, const Study& study) {
  if (study.predictors.front().accuracy.empty()) return;
  Picture accuracy(s.common.out, "attention_paths", s.common.panels);
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < study.orders.size(); ++i) {
    const Measured m = estimate(study.predictors[i + 1].accuracy);
    rows.push_back({static_cast<double>(study.orders[i].width), m.value, m.se});
  }
  const double limit = estimate(study.predictors.front().accuracy).value;
  accuracy.panel(slide, "",
                 join("set logscale x\nset xrange [7:1500]\nset xlabel 'width N'\n",
                      "set ylabel 'accuracy'\nset label 'infinitely wide' at 8,", limit,
                      " left offset 0,0.7 tc rgb '", grey, "'\nplot ", limit, " lc rgb '", grey,
                      "' dt 2 lw 2 notitle, ",
                      with_errors(accuracy.data("width", rows), "1:2:3", kind(0), ""), "\n"));
  accuracy.draw_slide(
      "A narrow network beats an infinitely wide one whose paths count alike",
      join("mean over ", study.predictors.front().accuracy.size(), " seeds ± standard error"));
  const Order& narrow = study.orders.front();
  Picture order(s.common.out, "attention_paths_order", s.common.panels);
  std::vector<std::vector<double>> matrix;
  std::string labels;
  for (std::size_t row = 0; row < paths; ++row) {
    matrix.emplace_back();
    for (std::size_t column = 0; column < paths; ++column) {
      const double u = over_seeds(narrow, entry(row, column)).value;
      matrix.back().push_back(u);
      labels += join("set label '", std::round(10 * u) / 10, "' at ", column, ",", row,
                     " center front", u > 8 ? " tc rgb '#ffffff'" : "", "\n");
    }
  }
  const std::vector<std::string> names = {"good", "random 1", "denoising", "random 2"};
  order.panel({300, 100, 440, 350}, "",
              join(labels, "set xrange [-0.5:3.5]\nset yrange [3.5:-0.5]\nset xtics ",
                   named_places(names), "\nset ytics ", named_places(names),
                   "\nset palette defined (-5 '#d55e00', 0 '#ffffff', 11 '#0072b2')\nset cbrange "
                   "[-5:11]\nunset colorbox\nplot ",
                   order.data("order", matrix), " matrix with image pixels notitle\n"));
  order.draw_slide("The good and the denoising path interfere: their entry is negative",
                   join("U at N = ", narrow.width,
                        ", mean over seeds; infinitely wide: 1 on the diagonal, else 0"));
}

}  // namespace ladon::example
