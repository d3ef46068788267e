#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/data/metrics.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/examples/common/page/attention.h"
#include "ladon/examples/heads_apart/study.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

/// Number of test sequences, from the first, whose maps are kept.
constexpr std::int64_t sequences_shown = 4;

/// State of a classifier after some epochs.
struct Frame {
  Tensor right_tokens, similarity;
  Tensor looks;    ///< [sequences_shown, heads, T]: the first token's attention in the last layer.
  Tensor weights;  ///< [heads, numbers]: W_q, W_k, W_v of all layers.
  double accuracy, distance;
};

/// Repeats a run's training, and returns a frame before it and after each epoch.
std::vector<Frame> frames_of(const Settings& s, const Task& task, const std::string& method,
                             std::uint64_t seed) {
  std::vector<Frame> frames;
  train(task, s, method, seed, [&](const Moment& moment, Run&) {
    const Tensor last = moment.model.attention_maps(task.test[0]).back();  // [B, H, T, T]
    std::vector<Tensor> weights;
    for (const ParticleBlock& block : moment.heads) weights.push_back(cast(block.values(), f64));
    const Predictions test = predict(moment.model, task.test);
    frames.push_back({on_right_tokens(moment.model, task), similarity(moment.model, task),
                      slice(select(last, 2, 0), 0, {.stop = sequences_shown}), concat(weights, 1),
                      metrics::accuracy(test.probabilities, test.labels),
                      head_distance(moment.heads)});
  });
  return frames;
}

/// Coordinates [n, 2] of rows [n, D] on their first two principal axes, and the share of variance
/// that these explain. With X, the rows minus their mean, and X·Xᵀ = U·Λ·Uᵀ [n, n], the coordinates
/// are the two columns of U·√Λ with the largest eigenvalues.
std::pair<Tensor, double> principal_places(const Tensor& rows) {
  const Tensor x = rows - mean(rows, 0, keep_dims);
  const auto [values, vectors] = lapack::eigh(matmul(x, transpose(x)));  // ascending
  const Slice two{.start = values.size(0) - 2};
  const Tensor largest = flip(slice(values, 0, two), {0});
  return {flip(slice(vectors, 1, two), {1}) * sqrt(largest), (sum(largest) / sum(values)).item()};
}

Json as_json(const Frame& frame, const Tensor& places) {
  Json looks = Json::array(), at = Json::array();
  for (const Tensor& of_heads : split(frame.looks, 1))
    looks.push_back(thousandths(select(of_heads, 0, 0)));
  for (const Tensor& place : split(places, 1)) {
    at.push_back(Json::array());
    for (const double number : contiguous(place).to_vector())
      at.back().push_back(std::round(1e4 * number) / 1e4);
  }
  return {{"rules", thousandths(frame.right_tokens)},
          {"alike", thousandths(frame.similarity)},
          {"looks", looks},
          {"places", at},
          {"leading", leaders(frame.right_tokens).heads},
          {"accuracy", frame.accuracy},
          {"distance", frame.distance},
          {"cosine", off_diagonal_mean(frame.similarity)}};
}

/// Index, from 1, of the rule whose key is at each position of the sequences; 0: no rule's key.
Json rules_at(const Task& task) {
  Json all = Json::array();
  const Tensor right = RulesTask{}.places(task.test[0].tokens);  // [B, rules]
  for (std::int64_t i = 0; i < sequences_shown; ++i) {
    std::vector<std::int64_t> rules(task.test[0].tokens.size(1));
    std::int64_t rule = 0;
    for (const std::int64_t place : select(right, 0, i).to_vector<std::int64_t>())
      rules[place] = ++rule;
    all.push_back(rules);
  }
  return all;
}

}  // namespace

Page page(const Settings& s, const Task& task, const Outcomes& outcomes) {
  const std::uint64_t seed = typical(outcomes.front().second).seed;
  std::vector<std::pair<std::string, std::vector<Frame>>> arms;
  std::vector<Tensor> weights;
  for (const auto& [method, runs] : outcomes) {
    if (std::ranges::find(runs, seed, &Run::seed) == runs.end()) continue;  // this run diverged
    arms.emplace_back(method, frames_of(s, task, method, seed));
    for (const Frame& frame : arms.back().second) weights.push_back(frame.weights);
  }
  const auto [places, share] = principal_places(concat(weights, 0));
  const std::vector<Tensor> of_frames = split(places, s.heads);
  Json all = Json::array();
  std::size_t at = 0;
  for (const auto& [method, frames] : arms) {
    Json epochs = Json::array();
    for (const Frame& frame : frames) epochs.push_back(as_json(frame, of_frames[at++]));
    all.push_back({{"name", method},
                   {"order", heads_by_rule(frames.back().right_tokens)},
                   {"epochs", epochs}});
  }
  return {.title = "Repulsion moves the heads apart in weights, and hardly in what they look at",
          .about =
              "One Transformer is trained by each method from the same start. Eight rules each ask "
              "for one token of a sequence, and one head has one look. Vary the method and the "
              "epoch: which head looks after which rule, and where are the heads?",
          .script = page_script,
          .data = {{"seed", seed},
                   {"alpha", s.alpha},
                   {"share", share},
                   {"sequences", rules_at(task)},
                   {"arms", all}}};
}

}  // namespace ladon::example
