#include <algorithm>
#include <set>

#include "ladon/autograd/ops.h"
#include "ladon/examples/head_roles/study.h"

namespace ladon::example {

Tensor on_right_tokens(const Classifier& model, const Task& task) {
  std::vector<Tensor> all;
  for (std::size_t b = 0; b < std::min(map_batches, task.test.size()); ++b) {
    const Tensor from_first = select(model.attention_maps(task.test[b]).back(), 2, 0);  // [B, H, T]
    const Tensor places = unsqueeze(RulesTask{}.places(task.test[b].tokens), 1);  // [B, 1, rules]
    const Shape shape{places.size(0), from_first.size(1), places.size(2)};
    all.push_back(gather(from_first, 2, contiguous(expand(places, shape))));
  }
  return cast(mean(concat(all, 0), 0), f64);
}

Leaders leaders(const Tensor& right_tokens) {
  const std::vector<std::int64_t> leading = argmax(right_tokens, 0).to_vector<std::int64_t>();
  const std::set<std::int64_t> heads(leading.begin(), leading.end());
  return {static_cast<std::int64_t>(heads.size()), mean(amax(right_tokens, 0)).item()};
}

std::vector<std::size_t> heads_by_rule(const Tensor& right_tokens) {
  const auto values = right_tokens.to_vector();
  const auto rules = static_cast<std::size_t>(right_tokens.size(1));
  std::vector<std::size_t> entries = counted(right_tokens.count()),
                           left = counted(right_tokens.size(0));
  std::ranges::stable_sort(entries, std::greater(), [&](std::size_t i) { return values[i]; });
  const std::size_t none = left.size();
  std::vector<std::size_t> of_rule(rules, none);
  for (const std::size_t i : entries) {
    const std::size_t head = i / rules, rule = i % rules;
    if (of_rule[rule] == none && std::erase(left, head) > 0) of_rule[rule] = head;
  }
  std::erase(of_rule, none);
  of_rule.insert(of_rule.end(), left.begin(), left.end());
  return of_rule;
}

}  // namespace ladon::example
