#include "ladon/examples/repulsive_heads/results.h"

#include <algorithm>
#include <cmath>

#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

const std::vector<Outcome>* runs_of(const Outcomes& outcomes, const std::string& method) {
  for (const auto& [name, runs] : outcomes)
    if (name == method) return &runs;
  return nullptr;
}

/// Differences per seed that both methods have a run with.
Comparison compare(const std::string& method, const std::vector<Outcome>& runs,
                   const std::string& against, const std::vector<Outcome>& others) {
  Comparison c{method, against, {}, std::vector<std::vector<double>>(figures_judged), {}};
  for (const Outcome& run : runs)
    for (const Outcome& other : others) {
      if (run.seed != other.seed) continue;
      c.seeds.push_back(run.seed);
      for (std::size_t f = 0; f < figures_judged; ++f)
        c.differences[f].push_back(run.figures[f] - other.figures[f]);
    }
  return c;
}

/// Mean differences with half of their corrected 95% intervals in place of standard errors.
Table intervals(const std::vector<Column>& columns, const std::vector<Comparison>& all) {
  Table table("difference", {columns.begin(), columns.begin() + figures_judged});
  for (const Comparison& c : all) {
    Row row{c.method + " - " + c.against, {}};
    for (const Difference& d : c.judged)
      row.figures.push_back({d.mean.value, d.pairs < 2 ? NAN : d.corrected});
    table.add(row);
  }
  return table;
}

/// "svgd against plain: nll worse (+0.0163); no clear difference in accuracy, ece, ood_auroc"
std::string sentence(const std::vector<Column>& columns, const Comparison& c) {
  std::string clear, unclear;
  for (std::size_t f = 0; f < figures_judged; ++f) {
    const Difference& d = c.judged[f];
    if (d.decision == Decision::unclear) {
      unclear += (unclear.empty() ? "" : ", ") + columns[f].name;
      continue;
    }
    const bool good = (d.decision == Decision::higher) == (columns[f].better == Better::higher);
    clear += (clear.empty() ? "" : ", ") + columns[f].name + (good ? " better" : " worse") + " (" +
             signed_number(d.mean.value) + ")";
  }
  std::string text = c.method + " against " + c.against + ": ";
  if (c.judged[0].pairs < 2) return text + "one seed, no verdict\n";
  if (!unclear.empty()) unclear = "no clear difference in " + unclear;
  return text + clear + (clear.empty() || unclear.empty() ? "" : "; ") + unclear + "\n";
}

/// The smallest differences that would be found.
std::string reach(const std::vector<Column>& columns, const std::vector<Comparison>& all) {
  std::size_t seeds = 0;
  std::vector<double> detectable(figures_judged, 0);
  for (const Comparison& c : all)
    for (std::size_t f = 0; f < figures_judged; ++f) {
      seeds = std::max(seeds, c.judged[f].pairs);
      if (c.judged[f].pairs > 1) detectable[f] = std::max(detectable[f], c.judged[f].detectable);
    }
  if (seeds < 2) return "";
  std::string text = join("smallest difference that ", seeds, " seeds detect with 80% power:");
  for (std::size_t f = 0; f < figures_judged; ++f)
    text += (f ? ", " : " ") + columns[f].name + " " + signed_number(detectable[f]).substr(1);
  return text + "\n";
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

nlohmann::ordered_json as_json(const std::vector<Column>& columns, const std::string& method,
                               const Outcome& run) {
  nlohmann::ordered_json figures;
  for (std::size_t f = 0; f < columns.size(); ++f) figures[columns[f].name] = run.figures[f];
  nlohmann::ordered_json entry{{"method", method},
                               {"seed", run.seed},
                               {"figures", figures},
                               {"train_loss", run.train_loss},
                               {"head_distance", run.head_distance}};
  for (const auto& [when, maps] : {std::pair("before", &run.before), {"after", &run.after}}) {
    entry[std::string("similarity_") + when] = matrix(maps->similarity);
    entry[std::string("right_tokens_") + when] = matrix(maps->right_tokens);
  }
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

Outcome typical(std::vector<Outcome> runs) {
  if (!runs[0].after.right_tokens.defined()) return runs[0];
  std::ranges::stable_sort(
      runs, {}, [](const Outcome& run) { return leaders(run.after.right_tokens).heads; });
  return runs[(runs.size() - 1) / 2];
}

Table table_of(const Task& task, const Outcomes& outcomes) {
  Table table("method", columns(task));
  for (const auto& [method, runs] : outcomes) {
    if (runs.empty()) continue;
    Row row{method, {}, std::any_of(runs.begin(), runs.end(), [](const Outcome& run) {
              return run.diverged();
            })};
    for (std::size_t f = 0; f < table.columns().size(); ++f) {
      std::vector<double> repetitions;
      for (const Outcome& run : runs) repetitions.push_back(run.figures[f]);
      row.figures.push_back(estimate(repetitions));
    }
    table.add(row);
  }
  return table;
}

std::vector<Comparison> comparisons(const Outcomes& outcomes) {
  std::vector<Comparison> all;
  const Outcomes usable = that_converged(outcomes);
  if (const auto* plain = runs_of(usable, "plain"))
    for (const auto& [method, runs] : usable)
      if (method != "plain") all.push_back(compare(method, runs, "plain", *plain));
  const auto *svgd = runs_of(usable, "svgd"), *smoothing = runs_of(usable, "smoothing");
  if (svgd && smoothing) all.push_back(compare("svgd", *svgd, "smoothing", *smoothing));
  std::erase_if(all, [](const Comparison& c) { return c.seeds.empty(); });
  const int tests = static_cast<int>(all.size() * figures_judged);
  for (Comparison& c : all)
    for (const auto& differences : c.differences) c.judged.push_back(judge(differences, tests));
  return all;
}

std::string verdict(const Task& task, const Outcomes& outcomes) {
  std::string text;
  const std::vector<Column> judged = columns(task);
  const std::vector<Comparison> all = comparisons(outcomes);
  if (!all.empty()) {
    text += join(
        "What did each method change? Mean difference on the same seeds ± half of its simultaneous "
        "95% interval\n(t test, Bonferroni over ",
        all.size() * figures_judged, ")\n", intervals(judged, all).text(), "\n");
    for (const Comparison& c : all) text += sentence(judged, c);
    text += reach(judged, all);
  }
  for (const auto& [method, runs] : outcomes)
    for (const Outcome& run : runs)
      if (run.diverged())
        text += join(method, " diverged with seed ", run.seed, " in epoch ", run.diverged_in_epoch,
                     ": ", run.diverged_because, "; try a smaller --lr or --alpha\n");
  return text;
}

nlohmann::ordered_json details(const Task& task, const Outcomes& outcomes) {
  const std::vector<Column> all = columns(task);
  auto runs = nlohmann::ordered_json::array(), verdicts = nlohmann::ordered_json::array();
  for (const auto& [method, of_seeds] : outcomes)
    for (const Outcome& run : of_seeds) runs.push_back(as_json(all, method, run));
  for (const Comparison& c : comparisons(outcomes))
    for (std::size_t f = 0; f < figures_judged; ++f) {
      verdicts.push_back({{"method", c.method},
                          {"against", c.against},
                          {"figure", all[f].name},
                          {"differences", c.differences[f]}});
      verdicts.back().update(ladon::example::as_json(c.judged[f]));
    }
  return {{"runs", runs}, {"verdict", verdicts}};
}

}  // namespace ladon::example
