#include "ladon/examples/repulsive_heads/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "ladon/autograd/ops.h"
#include "ladon/core/data/metrics.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/particles/diagnostics.h"

namespace ladon::example {
namespace {

constexpr std::size_t map_batches = 4;  // test batches whose attention maps are compared

/// Attention maps of a batch: of each layer [B, H, queries, T], and which queries count, [B,
/// queries].
struct BatchMaps {
  std::vector<Tensor> weights;
  Tensor counts;
};

/// Only the queries that are read count: the first where the first is pooled, else every token.
BatchMaps maps_of(Classifier& model, const TextBatch& batch) {
  BatchMaps maps{model.attention_maps(batch), batch.mask};
  if (model.pooling != Pooling::first) return maps;
  for (Tensor& weights : maps.weights) weights = slice(weights, 2, {.stop = 1});
  maps.counts = slice(batch.mask, 1, {.stop = 1});
  return maps;
}

/// [heads, heads], mean over layers and batches.
Tensor similarity(const std::vector<BatchMaps>& batches) {
  const std::int64_t heads = batches[0].weights[0].size(1);
  Tensor all = eye(heads, f64);
  double* entry = all.mutable_data<double>();
  const auto count = static_cast<double>(batches.size() * batches[0].weights.size());
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t g = 0; g < h; ++g) {
      const Tensor pair = from_vector(std::vector<std::int64_t>{h, g}, {2});
      double total = 0;
      for (const BatchMaps& maps : batches)
        for (const Tensor& weights : maps.weights)
          total += map_redundancy(index_select(weights, 1, pair), maps.counts);
      entry[h * heads + g] = entry[g * heads + h] = total / count;
    }
  return all;
}

/// [heads, rules]: the attention of the first query of the last layer, mean over the sequences.
Tensor on_right_tokens(const std::vector<BatchMaps>& batches, const Task& task) {
  std::vector<Tensor> all;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const Tensor from_first = select(batches[b].weights.back(), 2, 0);    // [B, H, T]
    const Tensor places = unsqueeze(task.right_tokens(task.test[b]), 1);  // [B, 1, rules]
    const Shape shape{places.size(0), from_first.size(1), places.size(2)};
    all.push_back(gather(from_first, 2, contiguous(expand(places, shape))));
  }
  return cast(mean(concat(all, 0), 0), f64);
}

/// Mean over the pairs of different heads; NaN with one head.
double off_diagonal_mean(const Tensor& matrix) {
  const auto heads = static_cast<double>(matrix.size(0));
  return (sum(matrix).item() - heads) / (heads * (heads - 1));
}

/// The chance that an unfamiliar sequence has the larger predictive entropy, mean over questions.
double unfamiliar_auroc(const Predictions& familiar, const Predictions& unfamiliar,
                        std::int64_t questions) {
  const auto entropy = [questions](const Predictions& p) {
    const auto rows = metrics::predictive_entropy(p.probabilities);
    const Tensor each = from_vector(rows, {static_cast<std::int64_t>(rows.size())});
    return mean(reshape(each, {-1, questions}), 1).to_vector();
  };
  return metrics::auroc(entropy(unfamiliar), entropy(familiar));
}

std::int64_t answers(const std::vector<TextBatch>& batches) {
  std::int64_t count = 0;
  for (const TextBatch& batch : batches) count += batch.labels.count();
  return count;
}

double mean_over_blocks(const Particles& heads, PairSpread (*spread)(const Tensor&)) {
  double total = 0;
  for (const ParticleBlock& block : heads)
    total += spread(block.values()).mean / static_cast<double>(heads.size());
  return total;
}

double force_ratio(const ParticleMethod* method) {
  if (method == nullptr) return std::numeric_limits<double>::quiet_NaN();
  double total = 0;
  const auto report = method->report();
  for (const BlockReport& block : report) total += block.ratio;
  return total / static_cast<double>(report.size());
}

}  // namespace

HeadMaps head_maps(Classifier& model, const Task& task) {
  NoGrad no_grad;
  model.eval();
  std::vector<BatchMaps> batches;
  for (std::size_t b = 0; b < std::min(map_batches, task.test.size()); ++b)
    batches.push_back(maps_of(model, task.test[b]));
  model.train();
  return {similarity(batches), task.right_tokens ? on_right_tokens(batches, task) : Tensor()};
}

Predictions predict(Classifier& model, const std::vector<TextBatch>& batches) {
  NoGrad no_grad;
  model.eval();
  std::vector<Tensor> probabilities, labels;
  for (const TextBatch& batch : batches) {
    probabilities.push_back(flatten(softmax(model.logits(batch)), 0, 1));
    labels.push_back(flatten(batch.labels));
  }
  model.train();
  return {concat(probabilities, 0), concat(labels, 0)};
}

Leaders leaders(const Tensor& right_tokens) {
  const std::vector<std::int64_t> leading = argmax(right_tokens, 0).to_vector<std::int64_t>();
  const std::set<std::int64_t> heads(leading.begin(), leading.end());
  return {static_cast<std::int64_t>(heads.size()), mean(amax(right_tokens, 0)).item()};
}

std::vector<std::size_t> heads_by_rule(const Tensor& right_tokens) {
  const auto values = right_tokens.to_vector();
  std::vector<std::size_t> heads(static_cast<std::size_t>(right_tokens.size(0)));
  std::iota(heads.begin(), heads.end(), std::size_t{0});
  const std::size_t rules = static_cast<std::size_t>(right_tokens.size(1)), none = heads.size();
  std::vector<std::size_t> of_rule(rules, none);
  for (std::size_t n = 0; n < rules && !heads.empty(); ++n) {
    std::size_t best_head = none, best_rule = 0;
    for (const std::size_t h : heads)
      for (std::size_t r = 0; r < rules; ++r)
        if (of_rule[r] == none &&
            (best_head == none || values[h * rules + r] > values[best_head * rules + best_rule]))
          best_head = h, best_rule = r;
    of_rule[best_rule] = best_head;
    std::erase(heads, best_head);
  }
  std::erase(of_rule, none);
  of_rule.insert(of_rule.end(), heads.begin(), heads.end());
  return of_rule;
}

double head_distance(const Particles& heads) { return mean_over_blocks(heads, pairwise_distance); }

std::vector<Column> columns(const Task& task) {
  std::vector<Column> all = classification_columns(answers(task.test), task.classes, "");
  const std::vector<Column> more = {
      {"ood_auroc",
       join("chance that an unfamiliar sequence makes the model less sure than a familiar one (by "
            "the entropy of its answers); 0.5 if it does not notice. Unfamiliar are ",
            task.unfamiliar_kind),
       Better::higher}};
  all.insert(all.end(), more.begin(), more.end());
  const std::vector<Column> of_rules = {
      {"leading_heads",
       join("heads that attend more to some rule's token than all other heads do: ", task.questions,
            " would be one for each rule")},
      {"untrained_heads", "the same before training"},
      {"leading_attention",
       "share of its attention that the leading head gives to its rule's token, mean over rules"},
      {"untrained_attention", "the same before training"}};
  if (task.right_tokens) all.insert(all.end(), of_rules.begin(), of_rules.end());
  const std::vector<Column> of_heads = {
      {"head_distance",
       "Euclidean distance between the weights of two heads, mean over pairs and over W_q, W_k, "
       "W_v: what repulsion acts on"},
      {"head_cosine", "cosine of the same weights; about 0 between random heads"},
      {"map_redundancy",
       "cosine between the attention maps of two heads on test sequences, mean over pairs: 1 if "
       "all attend alike, 0 if to different tokens"},
      {"force_ratio",
       "repulsive over driving force on the heads at the last step: how much of what moves them is "
       "repulsion; – without repulsion"},
      {"epoch_seconds", "time of one pass over the training data", Better::lower}};
  all.insert(all.end(), of_heads.begin(), of_heads.end());
  return all;
}

std::size_t rule_columns(const Task& task) { return task.right_tokens ? 4 : 0; }

std::vector<double> measure(Classifier& model, const Task& task, const Predictions& test,
                            const Particles& heads, const HeadMaps& before, const HeadMaps& after,
                            const ParticleMethod* repulsion) {
  const Predictions strange = predict(model, task.unfamiliar);
  std::vector<double> figures = {metrics::accuracy(test.probabilities, test.labels),
                                 metrics::nll(test.probabilities, test.labels),
                                 metrics::ece(test.probabilities, test.labels),
                                 unfamiliar_auroc(test, strange, task.questions)};
  if (task.right_tokens) {
    const Leaders first = leaders(before.right_tokens), last = leaders(after.right_tokens);
    figures.insert(figures.end(),
                   {static_cast<double>(last.heads), static_cast<double>(first.heads),
                    last.attention, first.attention});
  }
  figures.insert(figures.end(), {head_distance(heads), mean_over_blocks(heads, pairwise_cosine),
                                 off_diagonal_mean(after.similarity), force_ratio(repulsion)});
  return figures;
}

}  // namespace ladon::example
