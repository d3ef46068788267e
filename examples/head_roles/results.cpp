#include <algorithm>

#include "ladon/examples/common/text.h"
#include "ladon/examples/head_roles/study.h"

namespace ladon::example {

std::string settings_line(const Settings& s, const Outcomes& outcomes) {
  const std::vector<Run>& first = outcomes[0].second;  // methods after it may have fewer runs
  return join(first[0].parameters, " parameters; heads: ", s.heads, "; alpha: ", s.alpha,
              "; seeds: ", first.size(), "; mean ± standard error over seeds\n");
}

Outcomes that_converged(const Outcomes& outcomes) {
  Outcomes kept = outcomes;
  for (auto& [method, runs] : kept)
    std::erase_if(runs, [](const Run& run) { return run.diverged_in_epoch > 0; });
  std::erase_if(kept, [](const auto& entry) { return entry.second.empty(); });
  return kept;
}

std::string diverged_lines(const Outcomes& outcomes) {
  std::string text;
  for (const auto& [method, runs] : outcomes)
    for (const Run& run : runs)
      if (run.diverged_in_epoch > 0)
        text += join(method, " diverged with seed ", run.seed, " in epoch ", run.diverged_in_epoch,
                     ": ", run.diverged_because, "; try a smaller --lr or --alpha\n");
  return text;
}

Run typical(std::vector<Run> runs) {
  std::ranges::stable_sort(runs, {}, &Run::leading);
  return runs[(runs.size() - 1) / 2];
}

Table table_of(const std::vector<Column>& columns, const Outcomes& outcomes) {
  Table table("method", columns);
  for (const auto& [method, runs] : outcomes) {
    if (runs.empty()) continue;
    Row row{method, {}};
    for (const Run& run : runs) row.diverged |= run.diverged_in_epoch > 0;
    for (std::size_t f = 0; f < columns.size(); ++f) {
      std::vector<double> repetitions;
      for (const Run& run : runs) repetitions.push_back(run.figures[f]);
      row.figures.push_back(estimate(repetitions));
    }
    table.add(row);
  }
  return table;
}

nlohmann::ordered_json details(const std::vector<Column>& columns, const Outcomes& outcomes) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& [method, runs] : outcomes)
    for (const Run& run : runs) {
      nlohmann::ordered_json figures;
      for (std::size_t f = 0; f < columns.size(); ++f) figures[columns[f].name] = run.figures[f];
      all.push_back({{"method", method},
                     {"seed", run.seed},
                     {"figures", figures},
                     {"train_loss", run.train_loss},
                     {"diverged_in_epoch", run.diverged_in_epoch},
                     {"diverged_because", run.diverged_because}});
      for (const auto& [when, matrix] : {std::pair("before", run.before), {"after", run.after}})
        if (matrix.defined()) all.back()[when] = json_rows(matrix);
    }
  return all;
}

}  // namespace ladon::example
