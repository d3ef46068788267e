#include "ladon/autograd/ops.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/repulsive_heads/task.h"

namespace ladon::example {
namespace {

constexpr std::int64_t rules = 8;        // keys that are asked for, and so questions
constexpr std::int64_t distractors = 8;  // keys that are not
constexpr std::int64_t values = 8;
constexpr std::int64_t length = 24;
constexpr std::int64_t train_items = 2048, test_items = 1024;
constexpr std::int64_t question_mark = 0;  // stands first; the answers are read there
constexpr std::int64_t first_key = 1, first_value = first_key + rules + distractors;
constexpr std::int64_t vocabulary = first_value + values;

struct Sequences {
  Tensor tokens, labels;  // i64 [n, length, 2] (key and value), [n, rules]
};

/// Positions 1 … length−1 in random order: the first `rules` of them hold the rules' keys, the
/// others distractors; every value is drawn evenly. In an unfamiliar sequence a distractor takes
/// the place of one rule's key.
Sequences draw(std::int64_t n, bool unfamiliar, Generator& rng) {
  Sequences s{full({n, length, 2}, question_mark, i64), empty({n, rules}, i64)};
  std::int64_t* tokens = s.tokens.mutable_data<std::int64_t>();
  std::int64_t* labels = s.labels.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < n; ++i, tokens += 2 * length, labels += rules) {
    const auto places = permutation(length - 1, rng).to_vector<std::int64_t>();
    const std::int64_t missing = unfamiliar ? rng.below(rules) : -1;
    for (std::int64_t j = 0; j < length - 1; ++j) {
      const std::int64_t key = j < rules && j != missing ? j : rules + rng.below(distractors);
      const std::int64_t value = rng.below(values);
      std::int64_t* token = tokens + 2 * (1 + places[static_cast<std::size_t>(j)]);
      token[0] = first_key + key;
      token[1] = first_value + value;
      if (j < rules) labels[j] = value;
    }
  }
  return s;
}

std::vector<TextBatch> batches(const Sequences& s, const Tensor& order, std::int64_t batch_size) {
  std::vector<TextBatch> cut;
  for (const Tensor& rows : split(order, batch_size)) {
    const Tensor tokens = index_select(s.tokens, 0, rows);
    cut.push_back(
        {tokens, ones({tokens.size(0), length}, boolean), index_select(s.labels, 0, rows)});
  }
  return cut;
}

/// The place of each rule's key, which stands once in a sequence.
Tensor right_tokens(const TextBatch& batch) {
  const Tensor keys = select(batch.tokens, 2, 0);  // [B, T]
  std::vector<Tensor> places;
  for (std::int64_t r = 0; r < rules; ++r)
    places.push_back(argmax(cast(equal(keys, first_key + r), f32), 1));
  return stack(places, 1);
}

}  // namespace

Task generated_task(const Settings& settings, Generator rng) {
  const Sequences train = draw(train_items, false, rng);
  const Sequences test = draw(test_items, false, rng);
  const Sequences unfamiliar = draw(test_items, true, rng);
  const Tensor in_order = arange(0, test_items);
  const std::int64_t batch_size = settings.batch_size;
  return {
      .description = join(rules, " rules over ", length, " tokens, ", values, " values; ",
                          train_items, " training and ", test_items, " test sequences"),
      .unfamiliar_kind = "sequences in which one rule's key is missing",
      .vocabulary = vocabulary,
      .questions = rules,
      .classes = values,
      .max_length = length,
      .train_items = train_items,
      .word_vectors = {},
      .training =
          [=](Generator& order) {
            return batches(train, permutation(train_items, order), batch_size);
          },
      .test = batches(test, in_order, batch_size),
      .unfamiliar = batches(unfamiliar, in_order, batch_size),
      .right_tokens = right_tokens,
  };
}

}  // namespace ladon::example
