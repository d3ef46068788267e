#include "ladon/examples/common/rules_task.h"

#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon::example {
namespace {

constexpr std::int64_t question_mark = 0, first_key = 1;

}  // namespace

std::int64_t RulesTask::vocabulary() const { return first_key + rules + distractors + values; }

Tensor RulesTask::places(const Tensor& tokens) const {
  const Tensor keys = select(tokens, 2, 0);  // [n, length]
  std::vector<Tensor> all;
  for (std::int64_t r = 0; r < rules; ++r)
    all.push_back(argmax(cast(equal(keys, first_key + r), f32), 1));
  return stack(all, 1);
}

RuleSequences draw_sequences(const RulesTask& task, std::int64_t n, bool unfamiliar,
                             Generator& rng) {
  const auto& [rules, distractors, values, length] = task;
  LADON_CHECK(length > rules, "draw_sequences", rules, " rules do not fit into ", length,
              " tokens, the first of which is the question mark; take ", rules + 1, " at least");
  const std::int64_t first_value = first_key + rules + distractors;
  RuleSequences s{full({n, length, 2}, question_mark, i64), empty({n, rules}, i64)};
  std::int64_t* tokens = s.tokens.mutable_data<std::int64_t>();
  std::int64_t* labels = s.labels.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < n; ++i, tokens += 2 * length, labels += rules) {
    const auto places = permutation(length - 1, rng).to_vector<std::int64_t>();
    const std::int64_t missing = unfamiliar ? rng.below(rules) : -1;
    for (std::int64_t j = 0; j < length - 1; ++j) {
      const std::int64_t key = j < rules && j != missing ? j : rules + rng.below(distractors);
      const std::int64_t value = rng.below(values);
      std::int64_t* token = tokens + 2 * (1 + places[j]);
      token[0] = first_key + key;
      token[1] = first_value + value;
      if (j < rules) labels[j] = value;
    }
  }
  return s;
}

}  // namespace ladon::example
