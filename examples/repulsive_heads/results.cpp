#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/data/metrics.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/repulsive_heads/study.h"

namespace ladon::example {
namespace {

constexpr std::size_t figures = 4;

/// Probability that the predictive entropy, averaged over a sequence's questions, is larger for an
/// unfamiliar sequence than for a test sequence.
double unfamiliar_auroc(const Predictions& familiar, const Predictions& unfamiliar,
                        std::int64_t questions) {
  const auto entropy = [questions](const Predictions& p) {
    const auto rows = metrics::predictive_entropy(p.probabilities);
    const Tensor each = from_vector(rows, {static_cast<std::int64_t>(rows.size())});
    return mean(reshape(each, {-1, questions}), 1).to_vector();
  };
  return metrics::auroc(entropy(unfamiliar), entropy(familiar));
}

std::int64_t answers_of(const std::vector<TextBatch>& batches) {
  std::int64_t count = 0;
  for (const TextBatch& batch : batches) count += batch.labels.count();
  return count;
}

const std::vector<Run>* runs_of(const Outcomes& outcomes, const std::string& method) {
  for (const auto& [name, runs] : outcomes)
    if (name == method) return &runs;
  return nullptr;
}

/// Differences per seed, over the seeds that both methods have run.
Comparison compare(const std::string& method, const std::vector<Run>& runs,
                   const std::string& against, const std::vector<Run>& others) {
  Comparison c{method, against, {}, std::vector<std::vector<double>>(figures), {}};
  for (const Run& run : runs)
    for (const Run& other : others) {
      if (run.seed != other.seed) continue;
      c.seeds.push_back(run.seed);
      for (std::size_t f = 0; f < figures; ++f)
        c.differences[f].push_back(run.figures[f] - other.figures[f]);
    }
  return c;
}

/// Mean differences, with half-widths of their corrected 95% intervals instead of standard errors.
Table intervals(const std::vector<Column>& columns, const std::vector<Comparison>& all) {
  Table table("difference", {columns.begin(), columns.begin() + figures});
  for (const Comparison& c : all) {
    Row row{c.method + " - " + c.against, {}};
    for (const Difference& d : c.judged)
      row.figures.push_back({d.mean.value, d.pairs < 2 ? NAN : d.corrected});
    table.add(row);
  }
  return table;
}

/// Sentence such as "svgd against plain: nll worse (+0.0163); no clear difference in accuracy, ece,
/// ood_auroc".
std::string sentence(const std::vector<Column>& columns, const Comparison& c) {
  std::string clear, unclear;
  for (std::size_t f = 0; f < figures; ++f) {
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

/// Sentence with the smallest differences that these seeds would detect.
std::string reach(const std::vector<Column>& columns, const std::vector<Comparison>& all) {
  std::size_t seeds = 0;
  std::vector<double> detectable(figures, 0);
  for (const Comparison& c : all)
    for (std::size_t f = 0; f < figures; ++f) {
      seeds = std::max(seeds, c.judged[f].pairs);
      if (c.judged[f].pairs > 1) detectable[f] = std::max(detectable[f], c.judged[f].detectable);
    }
  if (seeds < 2) return "";
  std::string text = join("smallest difference that ", seeds, " seeds detect with 80% power:");
  for (std::size_t f = 0; f < figures; ++f)
    text += (f ? ", " : " ") + columns[f].name + " " + signed_number(detectable[f]).substr(1);
  return text + "\n";
}

}  // namespace

std::vector<Column> columns(const Task& task) {
  std::vector<Column> all = classification_columns(answers_of(task.test), task.classes, "");
  all.push_back(
      {"ood_auroc",
       join("chance that an unfamiliar sequence makes the model less sure than a familiar one (by "
            "the entropy of its answers); 0.5 if it does not notice. Unfamiliar are ",
            task.unfamiliar_kind),
       Better::higher});
  return all;
}

Watch answers(const Task& task) {
  return [&task](const Moment& moment, Run& run) {
    if (!moment.last) return;
    const auto [p, labels] = predict(moment.model, task.test);
    const double total = sum(p).item();
    if (!std::isfinite(total)) throw Diverged{join("the sum of test probabilities is ", total)};
    run.figures = {
        metrics::accuracy(p, labels), metrics::nll(p, labels), metrics::ece(p, labels),
        unfamiliar_auroc({p, labels}, predict(moment.model, task.unfamiliar), task.questions)};
  };
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
  const int tests = static_cast<int>(all.size() * figures);
  for (Comparison& c : all)
    for (const auto& differences : c.differences) c.judged.push_back(judge(differences, tests));
  return all;
}

std::string verdict(const std::vector<Column>& columns, const std::vector<Comparison>& all) {
  if (all.empty()) return "";
  std::string text = join(
      "\nWhat did each method change? Mean difference on the same seeds ± half of its simultaneous "
      "95% interval\n(t test, Bonferroni over ",
      all.size() * figures, ")\n", intervals(columns, all).text(), "\n");
  for (const Comparison& c : all) text += sentence(columns, c);
  return text + reach(columns, all);
}

nlohmann::ordered_json as_json(const std::vector<Column>& columns,
                               const std::vector<Comparison>& all) {
  auto verdicts = nlohmann::ordered_json::array();
  for (const Comparison& c : all)
    for (std::size_t f = 0; f < figures; ++f) {
      verdicts.push_back({{"method", c.method},
                          {"against", c.against},
                          {"figure", columns[f].name},
                          {"differences", c.differences[f]}});
      verdicts.back().update(as_json(c.judged[f]));
    }
  return verdicts;
}

}  // namespace ladon::example
