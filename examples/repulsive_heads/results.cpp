#include "ladon/examples/repulsive_heads/results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

/// 97.5% quantile of Student's t with n − 1 degrees of freedom (2.0 from n = 11 on, a little low).
double t_quantile(std::size_t n) {
  constexpr double table[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26};
  return n < 2 ? INFINITY : n - 2 < std::size(table) ? table[n - 2] : 2.0;
}

/// What was found for each seed of a method against plain's run with the same seed.
Comparison compare(const std::string& method, const std::vector<Outcome>& runs,
                   const std::vector<Outcome>& plain) {
  Comparison c;
  c.method = method;
  std::vector<double> ratios;
  for (const Outcome& run : runs)
    for (const Outcome& other : plain)
      if (run.seed == other.seed) {
        c.differences.push_back(run.figures[0].second - other.figures[0].second);
        ratios.push_back(run.force_ratio);
      }
  if (c.differences.empty()) return c;
  c.difference = estimate(c.differences);
  c.force_ratio = estimate(ratios);
  c.t = c.difference.value / c.difference.se;
  c.t_needed = t_quantile(c.differences.size());
  c.decided = c.differences.size() < 2 ? "one seed, no verdict"
              : !(std::abs(c.difference.value) > c.t_needed * c.difference.se)
                  ? "no clear difference"
              : c.difference.value > 0 ? "better"
                                       : "worse";
  return c;
}

/// "-0.0028 ± 0.0006", or without an error where that is not known.
std::string shown(const char* format, const Measured& e) {
  char mean[32], se[32];
  std::snprintf(mean, sizeof mean, format, e.value);
  std::snprintf(se, sizeof se, "%.4f", e.se);
  return std::isfinite(e.se) ? join(mean, " ± ", se) : mean;
}

/// A matrix as a list of rows.
nlohmann::ordered_json matrix(const Tensor& m) {
  auto rows = nlohmann::ordered_json::array();
  if (!m.defined()) return rows;
  const auto values = m.to_vector();
  for (auto row = values.begin(); row != values.end(); row += m.size(1))
    rows.push_back(std::vector<double>(row, row + m.size(1)));
  return rows;
}

nlohmann::ordered_json as_json(const std::string& method, const Outcome& run) {
  nlohmann::ordered_json figures;
  for (const auto& [name, value] : run.figures) figures[name] = value;
  nlohmann::ordered_json entry{{"method", method},
                               {"seed", run.seed},
                               {"figures", figures},
                               {"force_ratio", run.force_ratio},
                               {"train_loss", run.train_loss},
                               {"test_accuracy", run.test_accuracy},
                               {"head_distance", run.head_distance},
                               {"similarity_before", matrix(run.similarity_before)},
                               {"similarity_after", matrix(run.similarity_after)}};
  if (run.diverged())
    entry.update(
        {{"diverged_in_epoch", run.diverged_in_epoch}, {"diverged_because", run.diverged_because}});
  return entry;
}

}  // namespace

Outcomes that_converged(const Outcomes& outcomes) {
  Outcomes kept = outcomes;
  for (auto& [method, runs] : kept)
    std::erase_if(runs, [](const Outcome& run) { return run.diverged(); });
  std::erase_if(kept, [](const auto& entry) { return entry.second.empty(); });
  return kept;
}

std::vector<Row> rows_of(const Outcomes& outcomes) {
  std::vector<Row> rows;
  for (const auto& [method, runs] : outcomes) {
    if (runs.empty()) continue;
    Row row{.method = method,
            .figures = {},
            .diverged = std::any_of(runs.begin(), runs.end(),
                                    [](const Outcome& run) { return run.diverged(); })};
    for (std::size_t f = 0; f < runs[0].figures.size(); ++f) {
      std::vector<double> repetitions;
      for (const Outcome& run : runs) repetitions.push_back(run.figures[f].second);
      row.figures.emplace_back(runs[0].figures[f].first, estimate(repetitions));
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<Comparison> against_plain(const Outcomes& outcomes) {
  std::vector<Comparison> comparisons;
  const Outcomes all = that_converged(outcomes);
  const auto plain =
      std::find_if(all.begin(), all.end(), [](const auto& o) { return o.first == "plain"; });
  if (plain == all.end()) return {};
  for (const auto& [method, runs] : all)
    if (method != "plain") comparisons.push_back(compare(method, runs, plain->second));
  std::erase_if(comparisons, [](const Comparison& c) { return c.differences.empty(); });
  return comparisons;
}

std::string verdict(const Outcomes& outcomes) {
  std::string text;
  for (const Comparison& c : against_plain(outcomes)) {
    char name[16];
    std::snprintf(name, sizeof name, "%-6s", c.method.c_str());
    text += join(name, " against plain: accuracy ", shown("%+.4f", c.difference), ", ", c.decided);
    if (c.force_ratio.value > 0)
      text += join("; repulsive/driving force at the end ",
                   shown(c.force_ratio.value < 1e4 ? "%.4f" : "%.3g", c.force_ratio));
    text += '\n';
  }
  for (const auto& [method, runs] : outcomes)
    for (const Outcome& run : runs)
      if (run.diverged())
        text += join(method, " diverged with seed ", run.seed, " in epoch ", run.diverged_in_epoch,
                     ": ", run.diverged_because, "; try a smaller --lr or --alpha\n");
  return text;
}

nlohmann::ordered_json details(const Outcomes& outcomes) {
  auto runs = nlohmann::ordered_json::array(), verdicts = nlohmann::ordered_json::array();
  for (const auto& [method, all] : outcomes)
    for (const Outcome& run : all) runs.push_back(as_json(method, run));
  for (const Comparison& c : against_plain(outcomes))
    verdicts.push_back({{"method", c.method},
                        {"against", "plain"},
                        {"figure", "accuracy"},
                        {"differences", c.differences},
                        {"difference", as_json(c.difference)},
                        {"t", c.t},
                        {"t_needed", c.t_needed},
                        {"decided", c.decided},
                        {"force_ratio", as_json(c.force_ratio)}});
  return {{"runs", runs}, {"verdict", verdicts}};
}

}  // namespace ladon::example
