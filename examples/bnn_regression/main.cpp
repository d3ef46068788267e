// Bayesian neural networks for regression: all methods of the library on the data on which SVGD was
// introduced (Liu and Wang 2016).

#include <cmath>
#include <iostream>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/io/npz.h"
#include "ladon/examples/bnn_regression/study.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

constexpr const char* summary = "Bayesian neural networks, regression: all methods, equal budgets";
constexpr const char* duration = "about 10 s on 2 cores";
constexpr const char* lesson =
    "Particle methods, ensembles and samplers infer twenty networks each, as in the paper that "
    "introduced SVGD, with the same number of gradients and a learning rate chosen on an inner "
    "fold. They are compared with linear regression and with the exact Gaussian process of the "
    "infinitely wide network.";
const std::vector<Trial> trials = {
    {"bnn_regression --methods ensemble --splits 8",
     "rmse of svgd and of ensemble, which lacks repulsion: does repulsion help?"},
    {"bnn_regression --steps 1200 --methods ensemble",
     "ll_own: longer training makes the ensemble more confident"}};

void add_options(Program& program, Settings& s) {
  std::vector<std::string> names;
  for (const Method& method : methods()) names.push_back(method.name);
  const auto whole = whole_number<std::int64_t>;
  program.option(
      "--data", s.data, "Folder of the UCI sets with their 20 splits",
      "To compare with published results; without it data are generated from Friedman's function",
      existing_folder());
  program.list("--methods", s.methods,
               join("Methods to run, of ", listed(names), " (default: all)"),
               "A few methods take a fraction of the time", one_of(names).described(""));
  program.option("--splits", s.splits, "Number of splits into training and test part",
                 "Standard errors are over splits; the UCI sets come with 20", whole(2, 20));
  program.option("--steps", s.steps, "Gradients per network, in total", "The paper uses 2000",
                 whole(8, 1'000'000));
  program.option("--bits", s.bits,
                 "File (.npz) for the mean, sd and log density of every test prediction",
                 "To recompute the statistics from it", name_of("a file"));
  program.check([&s] { refuse_repeated("--methods", s.methods); });
}

/// Results for SVGD in Liu and Wang (2016, table 1), on their own splits: means ± standard errors
/// for boston, concrete, energy, wine and yacht.
const std::map<std::string, std::vector<Measured>> published = {
    {"rmse", {{2.957, .099}, {5.324, .104}, {1.374, .045}, {.609, .010}, {.864, .052}}},
    {"ll", {{-2.504, .029}, {-3.082, .018}, {-1.767, .024}, {-.925, .014}, {-1.225, .042}}}};

std::vector<double> scores(const Study& study, std::size_t set, const std::string& arm,
                           const std::string& name) {
  std::vector<double> all;
  for (const Tensor& each : study.of.at(study.sets[set].name).at(arm).bits.at(name))
    all.push_back(mean(each).item());
  return all;
}

/// Difference from svgd in RMSE, paired over splits. `corrected` is the standard error of Nadeau
/// and Bengio (2003) for overlapping training sets, √(1/J + n_test/n_train) standard deviations
/// over J splits; p is the p value of a t test with that standard error.
Contrast against_svgd(const Study& study, std::size_t set, const std::string& arm) {
  std::vector<double> differences = scores(study, set, arm, "rmse");
  const std::vector<double> base = scores(study, set, "svgd", "rmse");
  for (std::size_t i = 0; i < base.size(); ++i) differences[i] -= base[i];
  const Measured mean = estimate(differences);
  const auto& [train, test] = study.sets[set].splits[0];
  const double ratio = static_cast<double>(test.size()) / static_cast<double>(train.size());
  const auto splits = static_cast<int>(study.splits);
  Contrast c{.difference = mean.value, .corrected = mean.se * std::sqrt(1 + splits * ratio)};
  c.p = 1 - t_probability(std::abs(mean.value) / c.corrected, splits - 1);
  return c;
}

/// Table with a column per data set and a row per method or, if `base` is given, per method's
/// difference from `base`.
template <class Cell>
Table by_set(const Study& study, const std::string& meaning, Better better, const std::string& base,
             const Cell& cell) {
  std::vector<Column> columns;
  for (const DataSet& set : study.sets) {
    const std::string size = join(set.x.size(0), " examples of ", set.x.size(1), " inputs");
    columns.push_back({set.name, columns.empty() ? meaning + "; " + size : size, better});
  }
  Table table("method", columns);
  for (const Method& arm : study.arms) {
    Row row{base.empty() ? arm.name : arm.name + " - " + base, {}};
    if (study.splits < 2 || arm.name == base) continue;
    for (std::size_t i = 0; i < columns.size(); ++i) row.figures.push_back(cell(i, arm.name));
    table.add(row);
  }
  return table;
}

Table score_table(const Study& study, const std::string& name, const char* meaning) {
  Table table = by_set(study, meaning, name == "rmse" ? Better::lower : Better::higher, "",
                       [&](auto i, auto& arm) { return estimate(scores(study, i, arm, name)); });
  if (study.sets.size() == 1 || table.empty() || !published.contains(name)) return table;
  Row svgd{"published svgd", published.at(name)}, z{"their difference / error", {}};
  for (std::size_t i = 0; i < study.sets.size(); ++i) {
    const Measured own = estimate(scores(study, i, "svgd", name)), theirs = svgd.figures[i];
    z.figures.push_back({(own.value - theirs.value) / std::hypot(own.se, theirs.se), NAN});
  }
  for (const Row& row : {svgd, z}) table.add(row);
  return table;
}

/// The tables, each with the question that it answers. They have no rows if fewer than two splits
/// are finished.
std::vector<std::pair<const char*, NamedTable>> tables(const Study& study) {
  std::vector<Contrast> family;
  const char* meaning =
      "RMSE less that of svgd on the same splits ± standard error of Nadeau and Bengio (2003), for "
      "training sets that overlap";
  const Table difference =
      by_set(study, meaning, Better::lower, "svgd", [&](auto i, auto& arm) -> Measured {
        family.push_back(against_svgd(study, i, arm));
        return {family.back().difference, family.back().corrected};
      });
  correct(family);
  auto next = family.begin();
  const Table holm =
      by_set(study, "p-value of that difference (t test), after Holm's correction", Better::neither,
             "svgd", [&](auto, auto&) -> Measured { return {next++->holm}; });
  const Table rmse = score_table(study, "rmse",
                                 "root mean square error, in units of the target; mean over splits "
                                 "± standard error, as if splits were independent"),
              ll = score_table(study, "ll",
                               "mean ln density of a test target, in nats; the noise of each "
                               "network is its mean squared error on the development part"),
              own = score_table(study, "ll_own", "as above, with the noise that networks believe");
  return {{"How far off are predictions?", {"rmse", rmse}},
          {"Do they know how far?", {"ll", ll}},
          {"Do they know it without a development part?", {"ll_own", own}},
          {"What differs from svgd?", {"difference", difference}},
          {"Is that more than chance?", {"holm", holm}}};
}

void draw(const Settings& settings, const Study& study) {
  if (study.splits < 2) return;
  Picture picture(settings.common.out,
                  settings.data.empty() ? "bnn_regression" : "bnn_regression_full",
                  settings.common.panels);
  std::string plots = join("plot 1 with lines lc rgb '", grey, "' dt 2 lw 2 title 'linear'");
  std::vector<std::string> names;
  for (std::size_t s = 0; s < study.sets.size(); ++s) {
    const double bar = estimate(scores(study, s, "linear", "rmse")).value;
    std::vector<std::vector<double>> rows;
    for (std::size_t k = 1; k < study.arms.size(); ++k) {
      const Measured rmse = estimate(scores(study, s, study.arms[k].name, "rmse"));
      rows.push_back({static_cast<double>(k - 1), rmse.value / bar, rmse.se / bar});
      if (s == 0) names.push_back(study.arms[k].name);
    }
    plots += ", " + with_errors(picture.data(study.sets[s].name, rows), "1:2:3", kind(s),
                                study.sets[s].name);
  }
  picture.panel(
      {slide.left, slide.top, slide.width - 130, slide.height - 50}, "",
      join("set logscale y\nset ylabel 'RMSE / that of a linear map'\nset xtics ",
           named_places(names), " rotate by -30\nset xrange [-0.5:", names.size() - 1,
           ".5]\nset yrange [", settings.data.empty() ? 0.4 : 0.04, ":1.1]\nset format y '%g'\n",
           "set ytics (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1)\nset key outside right\n", plots));
  picture.draw_slide(settings.data.empty()
                         ? "Methods differ by less than overlapping splits can tell"
                         : "Networks beat a linear map; how they are inferred matters less",
                     join("mean of ", study.splits, " splits ± standard error; 20 networks, ",
                          settings.steps, " gradients each"));
}

/// Runs the study and reports its results. Returns false if it was interrupted.
bool teach(Program& program, const Settings& s) {
  const Study study = run_study(s);
  std::cout << study.splits << " splits, 20 networks, " << s.steps << " gradients of each\n";
  const bool whole = std::int64_t(study.splits) == s.splits;
  Report report{{}, !whole, {{"splits", study.splits}}};
  for (const auto& [question, table] : tables(study)) {
    print(question, table.table);
    report.tables.push_back(table);
  }
  std::map<std::string, Tensor> bits;
  for (const auto& [set, arms] : study.of)
    for (const auto& [arm, answers] : arms) {
      report.more["rates"][set][arm] = answers.rate;
      for (const auto& [name, each] : answers.bits)
        if (!each.empty()) bits[join(set, "/", arm, "/", name)] = stack(each, 0);
    }
  program.write(report);
  if (!s.bits.empty()) save_npz(s.bits.string(), bits);
  draw(s, study);
  return whole;
}

}  // namespace
}  // namespace ladon::example

int main(int argc, char** argv) {
  using namespace ladon::example;
  Settings settings;
  Program program("bnn_regression", {summary, duration, lesson, trials}, settings.common);
  add_options(program, settings);
  return program.run(argc, argv, [&] { return teach(program, settings); });
}
