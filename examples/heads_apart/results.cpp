#include <algorithm>
#include <cmath>
#include <limits>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/data/metrics.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/heads_apart/study.h"
#include "ladon/optim/particles/diagnostics.h"

namespace ladon::example {
namespace {

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

/// Orders heads so that similar ones are neighbours: a chain that starts with the most similar two,
/// and grows at either end by the most similar remaining head.
std::vector<std::size_t> chained(const Tensor& similarity) {
  const auto values = similarity.to_vector();
  std::vector<std::size_t> left = counted(similarity.size(0)), chain;
  const std::size_t heads = left.size();
  const auto alike = [&](std::size_t head, bool at_front) {
    if (!chain.empty()) return values[(at_front ? chain.front() : chain.back()) * heads + head];
    double most = -2;
    for (const std::size_t other : left)
      if (other != head) most = std::max(most, values[head * heads + other]);
    return most;
  };
  while (!left.empty()) {
    std::size_t next = left[0];
    bool front = false;
    for (const bool at_front : {false, true})
      for (const std::size_t head : left)
        if (alike(head, at_front) > alike(next, front)) next = head, front = at_front;
    chain.insert(front ? chain.begin() : chain.end(), next);
    std::erase(left, next);
  }
  return chain;
}

}  // namespace

Tensor similarity(const Classifier& model, const Task& task) {
  Tensor all;
  double count = 0;
  for (std::size_t b = 0; b < std::min(map_batches, task.test.size()); ++b)
    for (const Tensor& weights : model.attention_maps(task.test[b])) {
      const Tensor read = slice(weights, 2, {.stop = 1}),  // [B, H, 1, T]
          counts = slice(task.test[b].mask, 1, {.stop = 1});
      const std::int64_t heads = weights.size(1);
      if (!all.defined()) all = zeros({heads, heads}, f64);
      double* entry = all.mutable_data<double>();
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t g = 0; g < h; ++g) {
          const Tensor pair = from_vector(std::vector<std::int64_t>{h, g}, {2});
          entry[h * heads + g] += map_redundancy(index_select(read, 1, pair), counts);
        }
      ++count;
    }
  return (all + transpose(all)) / count + eye(all.size(0), f64);
}

double off_diagonal_mean(const Tensor& matrix) {
  const auto heads = static_cast<double>(matrix.size(0));
  return (sum(matrix).item() - heads) / (heads * (heads - 1));
}

double head_distance(const Particles& heads) { return mean_over_blocks(heads, pairwise_distance); }

Watch apart(const Task& task) {
  return [&task](const Moment& moment, Run& run) {
    if (moment.first) run.before = similarity(moment.model, task);
    if (!moment.last) return;
    run.after = similarity(moment.model, task);
    run.leading = leaders(on_right_tokens(moment.model, task)).heads;
    run.figures = {head_distance(moment.heads), mean_over_blocks(moment.heads, pairwise_cosine),
                   off_diagonal_mean(run.after), force_ratio(moment.repulsion), run.epoch_seconds};
  };
}

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
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
  return all;
}

void draw(const Settings& s, const Outcomes& outcomes) {
  std::vector<HeadMap> maps = shown_maps(outcomes);
  for (HeadMap& map : maps) {
    map.title += join(": ", std::round(100 * off_diagonal_mean(map.matrix)) / 100);
    map.rows = map.columns = chained(map.matrix);
  }
  draw_maps(s, "heads_apart", "How alike the heads attend: mean cosine",
            join("generated task, ", picture_line(s), ", seed ", typical(outcomes[0].second).seed),
            maps, "head", "cosine of attention maps");
}

}  // namespace ladon::example
