#include "ladon/autograd/ops.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/head_roles/study.h"

namespace ladon::example {
namespace {

constexpr std::int64_t train_items = 2048, test_items = 1024;

std::vector<TextBatch> batches(const RuleSequences& s, const Tensor& order, std::int64_t size) {
  std::vector<TextBatch> cut;
  for (const Tensor& rows : split(order, size)) {
    const Tensor tokens = index_select(s.tokens, 0, rows);
    cut.push_back(
        {tokens, ones({tokens.size(0), tokens.size(1)}, boolean), index_select(s.labels, 0, rows)});
  }
  return cut;
}

}  // namespace

Task rules_task(const Settings& settings, Generator rng) {
  const RulesTask rules;
  const RuleSequences train = draw_sequences(rules, train_items, false, rng);
  const RuleSequences test = draw_sequences(rules, test_items, false, rng);
  const RuleSequences unfamiliar = draw_sequences(rules, test_items, true, rng);
  const std::int64_t size = settings.batch_size;
  const Tensor in_order = arange(0, test_items);
  return {
      .description =
          join(rules.rules, " rules over ", rules.length, " tokens, ", rules.values, " values; ",
               train_items, " training and ", test_items, " test sequences"),
      .unfamiliar_kind = "sequences in which one rule's key is missing",
      .vocabulary = rules.vocabulary(),
      .questions = rules.rules,
      .classes = rules.values,
      .max_length = rules.length,
      .train_items = train_items,
      .training =
          [=](Generator& order) { return batches(train, permutation(train_items, order), size); },
      .test = batches(test, in_order, size),
      .unfamiliar = batches(unfamiliar, in_order, size),
  };
}

}  // namespace ladon::example
