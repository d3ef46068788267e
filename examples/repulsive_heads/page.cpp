#include "ladon/examples/repulsive_heads/page.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/page/attention.h"
#include "ladon/examples/repulsive_heads/frames.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

Json as_json(const Frame& frame, const Tensor& places) {
  Json looks = Json::array(), at = Json::array();
  for (const Tensor& of_heads : split(frame.looks, 1))
    looks.push_back(thousandths(select(of_heads, 0, 0)));
  for (const Tensor& place : split(places, 1)) {
    at.push_back(Json::array());
    for (const double number : contiguous(place).to_vector())
      at.back().push_back(std::round(1e4 * number) / 1e4);
  }
  const auto heads = static_cast<double>(frame.maps.similarity.size(0));
  const double cosine = (sum(frame.maps.similarity).item() - heads) / (heads * (heads - 1));
  return {{"rules", thousandths(frame.maps.right_tokens)},
          {"alike", thousandths(frame.maps.similarity)},
          {"looks", looks},
          {"places", at},
          {"leading", leaders(frame.maps.right_tokens).heads},
          {"accuracy", frame.accuracy},
          {"distance", frame.distance},
          {"cosine", cosine}};
}

/// Rule, counted from 1, whose key stands at each place of the sequences; 0: none.
Json rules_at(const Task& task) {
  Json all = Json::array();
  const Tensor right = task.right_tokens(task.test[0]);  // [B, rules]
  for (std::int64_t i = 0; i < sequences_shown; ++i) {
    std::vector<std::int64_t> rules(static_cast<std::size_t>(task.test[0].tokens.size(1)));
    std::int64_t rule = 0;
    for (const std::int64_t place : select(right, 0, i).to_vector<std::int64_t>())
      rules[static_cast<std::size_t>(place)] = ++rule;
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
    if (std::ranges::find(runs, seed, &Outcome::seed) == runs.end()) continue;  // it diverged
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
                   {"order", heads_by_rule(frames.back().maps.right_tokens)},
                   {"epochs", epochs}});
  }
  return {.title = "Repulsion moves the heads apart in weights, and hardly in what they look at",
          .about =
              "One Transformer is trained by each method from the same start. Eight rules each ask "
              "for one token of a sequence, and one head has one look. Turn the method and the "
              "epoch: which head looks after which rule, and where are the heads?",
          .script = page_script,
          .data = {{"seed", seed},
                   {"alpha", s.alpha},
                   {"share", share},
                   {"sequences", rules_at(task)},
                   {"arms", all}}};
}

}  // namespace ladon::example
