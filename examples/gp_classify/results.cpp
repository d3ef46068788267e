#include "ladon/examples/gp_classify/results.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/core/data/metrics.h"
#include "ladon/examples/common/statistics.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

using nlohmann::ordered_json;

/// 1 where the most probable class is the label, else 0: f64 [test].
Tensor right_answers(const Outcome& o, const Task& task) {
  return cast(equal(argmax(o.probabilities, 1), task.test.labels), f64);
}

bool attends(const Outcome& o) { return o.model == "attention" || o.model == "residual"; }

/// Does attention help? Is the finite network like its limit?
bool compared(const Outcome& o, const Outcome& other) {
  if (!attends(o) || o.diverged() || other.diverged()) return false;
  if (o.form == "finite") return other.model == o.model && other.form != "finite";
  return !attends(other) && (other.form == o.form || other.form.empty());
}

std::vector<Column> answer_columns(const Task& task) {
  return classification_columns(task.test.size(), task.classes(),
                                "; ± is the standard error from the size of the test set");
}

/// Times and memory, which no two runs share, stand last.
std::vector<Column> columns(const Task& task, const std::string& solver) {
  std::vector<Column> all = answer_columns(task);
  if (solver == "cg") {
    all.push_back({.name = "iterations",
                   .meaning = "of conjugate gradients, for all classes at once",
                   .better = Better::lower,
                   .whole = true});
    all.push_back({.name = "mean_error",
                   .meaning = "no mean of a test input's outputs is farther from the exact one; "
                              "outputs are regressed to values that differ by 1",
                   .better = Better::lower,
                   .tiny = true});
    all.push_back({.name = "variance_error",
                   .meaning = "no variance of a test input is farther from the exact one, as a "
                              "share of the kernel's mean diagonal",
                   .better = Better::lower,
                   .tiny = true});
  }
  const char* kernels = solver == "memory"
                            ? "both of a model, which are computed together, then the choice of "
                              "noise and the prediction"
                            : "each from the choice of noise to the prediction; tiles that were in "
                              "the folder already take little";
  all.push_back(
      {"seconds",
       join("time it took. Kernels: ", kernels, ". Finite networks: training and prediction"),
       Better::lower});
  all.push_back({"peak_mb",
                 "largest resident memory of the whole program, data and all, since the model's "
                 "kernels or its network were begun, in MB of a million bytes",
                 Better::lower});
  return all;
}

/// Of each shown image: its row of the test set, and the attention on its patches.
ordered_json attention_json(const Task& task, const AttentionMaps& maps) {
  auto images = ordered_json::array();
  for (const std::int64_t row : task.shown.rows.to_vector<std::int64_t>()) {
    const std::int64_t image = std::ssize(images);
    images.push_back({{"row", row}, {"before", map_rows(maps.before, image)}});
    if (maps.after.defined()) images.back()["after"] = map_rows(maps.after, image);
  }
  return images;
}

ordered_json calibration_json(const Outcome& o, const Task& task) {
  auto bins = ordered_json::array();
  for (const CalibrationBin& bin : calibration(o, task))
    bins.push_back({{"confidence", bin.confidence},
                    {"right", bin.right},
                    {"low", bin.range.low},
                    {"high", bin.range.high},
                    {"rows", bin.rows}});
  return bins;
}

}  // namespace

Figures figures(const Outcome& o, const Task& task) {
  if (o.diverged()) return {{NAN, NAN}, {NAN, NAN}, NAN};
  const auto rows = static_cast<double>(task.test.size());
  const double accuracy = metrics::accuracy(o.probabilities, task.test.labels);
  const Tensor losses = -log(gather(o.probabilities, 1, unsqueeze(task.test.labels, 1)));
  return {{accuracy, std::sqrt(accuracy * (1 - accuracy) / rows)},
          {mean(losses).item(), std::sqrt(var(losses).item() / rows)},
          metrics::ece(o.probabilities, task.test.labels)};
}

Table table_of(const Task& task, const Settings& settings, const std::vector<Outcome>& outcomes) {
  Table table("method", columns(task, settings.solver));
  for (const Outcome& o : outcomes) {
    const Figures f = figures(o, task);
    Row row{o.method(), {f.accuracy, f.nll, {f.ece}}, o.diverged()};
    if (settings.solver == "cg") {
      const Iterated how = o.iterated.value_or(Iterated{});
      for (const double x : {how.iterations, how.mean_error, how.variance_error})
        row.figures.push_back({x});
    }
    row.figures.push_back({o.seconds});
    row.figures.push_back({o.peak_mb});
    table.add(std::move(row));
  }
  return table;
}

std::vector<Comparison> comparisons(const Task& task, const std::vector<Outcome>& outcomes) {
  std::vector<std::pair<const Outcome*, const Outcome*>> pairs;
  for (const Outcome& o : outcomes)
    for (const Outcome& other : outcomes)
      if (compared(o, other)) pairs.emplace_back(&o, &other);
  std::vector<Comparison> all;
  for (const auto& [o, other] : pairs) {
    const Tensor gain = right_answers(*o, task) - right_answers(*other, task);
    all.push_back({o->method(), other->form == o->form ? other->model : other->method(),
                   judge(gain.to_vector<double>(), static_cast<int>(pairs.size()))});
  }
  return all;
}

std::string verdict(const Task& task, const std::vector<Outcome>& outcomes,
                    const std::vector<Comparison>& all) {
  std::string text;
  Table differences("difference", {answer_columns(task)[0]});
  double detectable = 0;
  for (const Comparison& c : all) {
    differences.add({c.method + " - " + c.against, {{c.judged.mean.value, c.judged.corrected}}});
    detectable = std::max(detectable, c.judged.detectable);
  }
  if (!all.empty() && std::isfinite(detectable))
    text = join(
        "Does attention help, and is a finite network (trained once) like its limit? Difference on "
        "the same\ntest rows ± half of its 95% interval, simultaneous (t test, Bonferroni over ",
        all.size(), "); clear where larger\n", differences.text(), "smallest difference that ",
        task.test.size(), " test rows detect with 80% power: ", signed_number(detectable).substr(1),
        "; four times as many see half of it\n");
  for (const Outcome& o : outcomes)
    if (o.diverged()) text += o.method() + " diverged; try a smaller --lr\n";
  return text;
}

Interval wilson(double share, double n) {
  constexpr double z = 1.96;
  const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half =
      z * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n);
  return {middle - half, middle + half};
}

std::vector<CalibrationBin> calibration(const Outcome& o, const Task& task) {
  if (o.diverged()) return {};
  std::array<CalibrationBin, 10> bins{};  // sums, of equal parts of [0, 1]
  const auto confidence = amax(o.probabilities, 1).to_vector<double>(),
             right = right_answers(o, task).to_vector<double>();
  for (std::size_t i = 0; i < right.size(); ++i) {
    CalibrationBin& bin =
        bins[std::min<std::size_t>(9, static_cast<std::size_t>(confidence[i] * 10))];
    bin.confidence += confidence[i];
    bin.right += right[i];
    ++bin.rows;
  }
  std::vector<CalibrationBin> means;
  for (const auto& [sum, hits, rows, range] : bins)
    if (rows > 0) means.push_back({sum / rows, hits / rows, rows, wilson(hits / rows, rows)});
  return means;
}

std::vector<std::vector<double>> map_rows(const Tensor& maps, std::int64_t image) {
  std::vector<std::vector<double>> rows;
  for (std::int64_t row = 0; row < maps.size(1); ++row)
    rows.push_back(select(select(maps, 0, image), 0, row).to_vector<double>());
  return rows;
}

ordered_json details(const Task& task, const std::vector<Outcome>& outcomes,
                     const std::vector<Comparison>& all) {
  auto methods = ordered_json::array(), verdicts = ordered_json::array();
  for (const Outcome& o : outcomes) {
    ordered_json entry{{"method", o.method()}, {"model", o.model}, {"form", o.form}};
    if (o.choice)
      entry.update({{"noise", o.choice->noise},
                    {"amplitude", o.choice->amplitude},
                    {"loo_nll", o.choice->loo_nll},
                    {"loo_accuracy", o.choice->loo_accuracy}});
    if (o.form == "finite") entry["parameters"] = o.parameters;
    entry["calibration"] = calibration_json(o, task);
    if (o.attention.before.defined()) entry["attention"] = attention_json(task, o.attention);
    methods.push_back(entry);
  }
  for (const Comparison& c : all) {
    verdicts.push_back({{"method", c.method}, {"against", c.against}, {"figure", "accuracy"}});
    verdicts.back().update(as_json(c.judged));
  }
  return {{"details", methods}, {"verdict", verdicts}};
}

}  // namespace ladon::example
