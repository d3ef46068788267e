#include "ladon/examples/gp_classify/results.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ladon/autograd/ops.h"
#include "ladon/core/data/metrics.h"
#include "ladon/examples/common/statistics.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

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
  const bool together = solver == "memory";
  std::vector<Column> all = answer_columns(task);
  if (solver == "cg") {
    all.push_back({"iterations", "of conjugate gradients, for all classes at once", Better::lower});
    all.back().whole = true;
    all.push_back({"mean_error",
                   "no mean of a test input's outputs is farther from the exact one; outputs are "
                   "regressed to values that differ by 1",
                   Better::lower});
    all.back().tiny = true;
    all.push_back({"variance_error",
                   "no variance of a test input is farther from the exact one, as a share of the "
                   "kernel's mean diagonal",
                   Better::lower});
    all.back().tiny = true;
  }
  all.push_back({"seconds",
                 join("time it took. Kernels: ",
                      together ? "both of a model, which are computed together, then the choice of "
                                 "noise and the prediction"
                               : "each from the choice of noise to the prediction; tiles that were "
                                 "in the folder already take little",
                      ". Finite networks: training and prediction"),
                 Better::lower});
  all.push_back({"peak_mb",
                 join("largest resident memory of the whole program, data and all, since the ",
                      together ? "model's kernels" : "kernel",
                      " or its network were begun, in MB of a million bytes",
                      together ? "; of both kernels together" : ""),
                 Better::lower});
  return all;
}

/// "attention NNGP against pool: no clear difference"
std::string sentence(const Comparison& c) {
  const bool trained = c.method.ends_with(" finite");
  const std::string who =
      join(c.method, trained ? " (one training run)" : "", " against ", c.against, ": ");
  if (c.judged.pairs < 2) return who + "one test row, no verdict\n";
  if (c.judged.decision == Decision::unclear) return who + "no clear difference\n";
  return join(who, c.judged.decision == Decision::higher ? "better" : "worse", " (",
              signed_number(c.judged.mean.value), ")\n");
}

/// Mean differences with half of their corrected 95% intervals in place of standard errors.
Table intervals(const Task& task, const std::vector<Comparison>& all) {
  Table table("difference", {answer_columns(task)[0]});
  for (const Comparison& c : all)
    table.add({c.method + " - " + c.against,
               {{c.judged.mean.value, c.judged.pairs < 2 ? NAN : c.judged.corrected}}});
  return table;
}

/// The smallest difference that would be found.
std::string reach(const Task& task, const std::vector<Comparison>& all) {
  double detectable = 0;
  for (const Comparison& c : all) detectable = std::max(detectable, c.judged.detectable);
  if (!std::isfinite(detectable)) return "";
  return join("smallest difference that ", task.test.size(),
              " test rows detect with 80% power: ", signed_number(detectable).substr(1),
              "; four times as many see half of it\n");
}

nlohmann::ordered_json as_json(const Comparison& c) {
  nlohmann::ordered_json entry{
      {"method", c.method}, {"against", c.against}, {"figure", "accuracy"}};
  entry.update(ladon::example::as_json(c.judged));
  return entry;
}

/// An image's map as a list of rows.
nlohmann::ordered_json map_json(const Tensor& maps, std::int64_t image) {
  auto rows = nlohmann::ordered_json::array();
  for (std::int64_t row = 0; row < maps.size(1); ++row)
    rows.push_back(select(select(maps, 0, image), 0, row).to_vector<double>());
  return rows;
}

/// Of each shown image: its row of the test set, and the attention on its patches.
nlohmann::ordered_json attention_json(const Task& task, const AttentionMaps& maps) {
  auto images = nlohmann::ordered_json::array();
  const auto rows = task.shown.rows.to_vector<std::int64_t>();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto image = static_cast<std::int64_t>(i);
    images.push_back({{"row", rows[i]}, {"before", map_json(maps.before, image)}});
    if (maps.after.defined()) images.back()["after"] = map_json(maps.after, image);
  }
  return images;
}

}  // namespace

Outcome outcome(const std::string& model, const std::string& form, const Task& task,
                const Tensor& probabilities, double seconds, double megabytes) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  Outcome o{model, form, {unknown, unknown}, {unknown, unknown}, unknown, seconds, megabytes};
  if (!probabilities.defined()) return o;
  const auto rows = static_cast<double>(task.test.size());
  const double accuracy = metrics::accuracy(probabilities, task.test.labels);
  const Tensor losses = -log(gather(probabilities, 1, unsqueeze(task.test.labels, 1)));
  o.accuracy = {accuracy, std::sqrt(accuracy * (1 - accuracy) / rows)};
  o.nll = {mean(losses).item(), std::sqrt(var(losses).item() / rows)};
  o.ece = metrics::ece(probabilities, task.test.labels);
  o.probabilities = probabilities;
  return o;
}

Table table_of(const Task& task, const Settings& settings, const std::vector<Outcome>& outcomes) {
  Table table("method", columns(task, settings.solver));
  for (const Outcome& o : outcomes) {
    Row row{o.method(), {o.accuracy, o.nll, {o.ece}}, o.diverged()};
    if (settings.solver == "cg") {
      constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
      const Iterated how = o.iterated.value_or(Iterated{0, unknown, unknown});
      row.figures.push_back({o.iterated ? how.iterations : unknown});
      row.figures.push_back({how.mean_error});
      row.figures.push_back({how.variance_error});
    }
    row.figures.push_back({o.seconds});
    row.figures.push_back({o.peak_mb});
    table.add(std::move(row));
  }
  return table;
}

std::vector<Comparison> comparisons(const Task& task, const std::vector<Outcome>& outcomes) {
  struct Pair {
    const Outcome &method, &against;
  };
  std::vector<Pair> pairs;
  for (const Outcome& o : outcomes)
    for (const Outcome& other : outcomes)
      if (compared(o, other)) pairs.push_back({o, other});
  std::vector<Comparison> all;
  for (const auto& [o, other] : pairs) {
    const Tensor gain = right_answers(o, task) - right_answers(other, task);
    all.push_back({o.method(), other.form == o.form ? other.model : other.method(),
                   judge(gain.to_vector<double>(), static_cast<int>(pairs.size()))});
  }
  return all;
}

std::string verdict(const Task& task, const std::vector<Outcome>& outcomes) {
  std::string text;
  const std::vector<Comparison> all = comparisons(task, outcomes);
  if (!all.empty()) {
    text += join(
        "Does attention help, and is a finite network like its limit? Difference on the same test "
        "rows\n± half of its 95% interval",
        all.size() == 1 ? "" : join(", simultaneous"), " (t test",
        all.size() == 1 ? "" : join(", Bonferroni over ", all.size()), ")\n",
        intervals(task, all).text(), "\n");
    for (const Comparison& c : all) text += sentence(c);
    text += reach(task, all);
  }
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

std::vector<CalibrationBin> calibration(const Outcome& o, const Tensor& labels) {
  if (!o.probabilities.defined()) return {};
  constexpr std::size_t bins = 10;
  std::array<CalibrationBin, bins> sums{};
  const auto p = o.probabilities.to_vector<double>();
  const auto label = labels.to_vector<std::int64_t>();
  const std::int64_t classes = o.probabilities.size(1);
  for (std::size_t i = 0; i < label.size(); ++i) {
    const auto row = p.begin() + static_cast<std::int64_t>(i) * classes;
    const auto best = std::max_element(row, row + classes);
    CalibrationBin& bin = sums[std::min(bins - 1, static_cast<std::size_t>(*best * bins))];
    bin.confidence += *best;
    bin.right += best - row == label[i];
    ++bin.rows;
  }
  std::vector<CalibrationBin> means;
  for (const CalibrationBin& bin : sums)
    if (bin.rows > 0) means.push_back({bin.confidence / bin.rows, bin.right / bin.rows, bin.rows});
  return means;
}

nlohmann::ordered_json details(const Task& task, const std::vector<Outcome>& outcomes) {
  auto all = nlohmann::ordered_json::array(), verdicts = nlohmann::ordered_json::array();
  for (const Outcome& o : outcomes) {
    nlohmann::ordered_json entry{{"method", o.method()}, {"model", o.model}, {"form", o.form}};
    if (o.choice)
      entry.update({{"noise", o.choice->noise},
                    {"amplitude", o.choice->amplitude},
                    {"loo_nll", o.choice->loo_nll},
                    {"loo_accuracy", o.choice->loo_accuracy}});
    if (o.form == "finite") entry["parameters"] = o.parameters;
    entry["calibration"] = nlohmann::ordered_json::array();
    for (const CalibrationBin& bin : calibration(o, task.test.labels)) {
      const Interval range = wilson(bin.right, bin.rows);
      entry["calibration"].push_back({{"confidence", bin.confidence},
                                      {"right", bin.right},
                                      {"low", range.low},
                                      {"high", range.high},
                                      {"rows", bin.rows}});
    }
    if (o.attention.before.defined()) entry["attention"] = attention_json(task, o.attention);
    all.push_back(entry);
  }
  for (const Comparison& c : comparisons(task, outcomes)) verdicts.push_back(as_json(c));
  return {{"details", all}, {"verdict", verdicts}};
}

}  // namespace ladon::example
