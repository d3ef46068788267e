#include "ladon/examples/gp_classify/results.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "ladon/autograd/ops.h"
#include "ladon/core/data/metrics.h"

namespace ladon::example {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// 1 where the most probable class is the label, else 0: f64 [test].
Tensor right_answers(const Outcome& o, const Task& task) {
  return cast(equal(argmax(o.probabilities, 1), task.test.labels), f64);
}

bool attends(const Outcome& o) { return o.model == "attention" || o.model == "residual"; }

}  // namespace

bool Outcome::diverged() const { return !std::isfinite(nll.value); }

Row Outcome::row() const {
  return {method(),
          {{"accuracy", accuracy},
           {"nll", nll},
           {"ece", {ece}},
           {"seconds", {seconds}},
           {"peak_mb", {peak_mb}}},
          diverged()};
}

Outcome outcome(const std::string& model, const std::string& form, const Task& task,
                const Tensor& probabilities, double seconds, double megabytes) {
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

std::vector<Gain> paired_gains(const Task& task, const std::vector<Outcome>& outcomes) {
  std::vector<Gain> gains;
  for (const Outcome& o : outcomes) {
    if (!attends(o) || o.form == "finite") continue;
    for (const Outcome& other : outcomes) {
      if (attends(other) || (other.form != o.form && !other.form.empty())) continue;
      const Tensor gain = right_answers(o, task) - right_answers(other, task);
      const double error = std::sqrt(var(gain).item() / static_cast<double>(task.test.size()));
      gains.push_back({o.method(), other.model, {mean(gain).item(), error}});
    }
  }
  return gains;
}

std::string verdict(const std::vector<Gain>& gains) {
  std::string text, method;
  for (const Gain& gain : gains) {
    if (gain.method != method) text += (text.empty() ? "" : "\n") + gain.method + ": accuracy";
    char part[96];
    std::snprintf(part, sizeof part, "%s %+.4f ± %.4f against %s", gain.method == method ? "," : "",
                  gain.accuracy.value, gain.accuracy.se, gain.against.c_str());
    text += part;
    method = gain.method;
  }
  return text.empty() ? text : text + "\n";
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
  auto all = nlohmann::ordered_json::array(), gains = nlohmann::ordered_json::array();
  for (const Outcome& o : outcomes) {
    nlohmann::ordered_json entry{{"method", o.method()}, {"model", o.model}, {"form", o.form}};
    if (o.choice)
      entry.update({{"noise", o.choice->noise},
                    {"amplitude", o.choice->amplitude},
                    {"loo_nll", o.choice->loo_nll},
                    {"loo_accuracy", o.choice->loo_accuracy}});
    if (o.form == "finite") entry["parameters"] = o.parameters;
    entry["calibration"] = nlohmann::ordered_json::array();
    for (const CalibrationBin& bin : calibration(o, task.test.labels))
      entry["calibration"].push_back(
          {{"confidence", bin.confidence}, {"right", bin.right}, {"rows", bin.rows}});
    all.push_back(entry);
  }
  for (const Gain& gain : paired_gains(task, outcomes))
    gains.push_back({{"method", gain.method},
                     {"against", gain.against},
                     {"figure", "accuracy"},
                     {"difference", as_json(gain.accuracy)}});
  return {{"details", all}, {"verdict", gains}};
}

}  // namespace ladon::example
