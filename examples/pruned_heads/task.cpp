#include "ladon/examples/pruned_heads/task.h"

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/data/batches.h"
#include "ladon/core/extra/text/glove.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/extra/penalties/head_mask.h"
#include "ladon/optim/schedule.h"

namespace ladon::example {
namespace {

constexpr std::int64_t rules = 4, distractors = 8, values = 4, length = 1 + rules + distractors;
constexpr std::int64_t learned = 2048, pooled_items = 1024, tested = 500, longest = 16;

/// Draws n sequences. Position 0 holds the query, the others the keys in random order, each with a
/// random value.
Items draw(std::int64_t n, Generator& rng) {
  Items s{full({n, length, 2}, 0, i64), ones({n, length}, boolean), empty({n, rules}, i64)};
  std::int64_t* tokens = s.tokens.mutable_data<std::int64_t>();
  std::int64_t* labels = s.labels.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < n; ++i, tokens += 2 * length, labels += rules) {
    const auto places = permutation(length - 1, rng).to_vector<std::int64_t>();
    for (std::int64_t key = 0; key < length - 1; ++key) {
      const std::int64_t value = rng.below(values);
      std::int64_t* token = tokens + 2 * (1 + places[key]);
      token[0] = 1 + key;
      token[1] = length + value;
      if (key < rules) labels[key] = value;
    }
  }
  return s;
}

Items encoded(const TextDataset& data, const Vocabulary& words) {
  const auto n = static_cast<std::int64_t>(data.texts.size());
  const TextBatch all =
      TextBatches(data, words, {.batch_size = n, .max_length = longest}).in_order().at(0);
  return {unsqueeze(all.tokens, 2), all.mask, unsqueeze(all.labels, 1)};
}

}  // namespace

Items Items::at(const Tensor& rows) const {
  return {index_select(tokens, 0, rows), index_select(mask, 0, rows),
          index_select(labels, 0, rows)};
}

Task generated_task(Generator rng) {
  Task task{.vocabulary = length + values, .classes = values};
  task.train = draw(learned, rng);
  task.pool = draw(pooled_items, rng);
  task.test = draw(tested, rng);
  return task;
}

Task text_task(const Settings& s, Generator rng) {
  const TextDataset learn = read_trec(s.data[0]), test = read_trec(s.data[1], learn.label_names);
  const Vocabulary words = Vocabulary::from_texts(learn.texts, {.min_count = 2});
  const EmbeddingTable table = embedding_table(words, read_glove(s.data[2]), rng, 0.1);
  const Items all = encoded(learn, words);
  LADON_CHECK(all.size() > pooled_items, "pruned_heads", s.data[0], " has ", all.size(),
              " questions, but must have more than ", pooled_items,
              ", which are set aside for choosing heads");
  const Tensor order = permutation(all.size(), rng);
  return {.vocabulary = words.size(),
          .classes = static_cast<std::int64_t>(learn.label_names.size()),
          .dim = table.weights.size(1),
          .vectors = table.weights,
          .train = all.at(slice(order, 0, {.start = pooled_items})),
          .pool = all.at(slice(order, 0, {.stop = pooled_items})),
          .test = encoded(test, words)};
}

Network::Network(const Task& task, Generator rng)
    : embedding({.count = task.vocabulary, .dim = task.dim, .stddev = 0.5}, rng),
      positions(parameter(normal({longest, task.dim}, rng, 0, 0.1))),
      attention({.dim = task.dim,
                 .heads = heads,
                 .head_dim = 8,
                 .out = task.questions() * task.classes,
                 .projection_bias = false},
                rng),
      questions(task.questions()),
      pooling(questions > 1 ? Pooling::first : Pooling::mean) {
  if (task.vectors.defined()) embedding.weight = parameter(task.vectors);
}

Tensor Network::embed(const Items& items) const {
  const Tensor x = sum(embedding(items.tokens), 2);  // [n, T, fields, dim] → [n, T, dim]
  return x + slice(positions, 0, {.stop = x.size(1)});
}

Tensor Network::logits(const Items& items) const {
  const Tensor y = pool(pooling, attention.forward(embed(items), padding(items.mask)), items.mask);
  return reshape(y, {y.size(0), questions, y.size(1) / questions});
}

Tensor Network::contexts(const Items& items) const {
  const Tensor x = embed(items);
  const Tensor maps = attention.forward_with_weights(x, x, x, padding(items.mask)).weights;
  std::vector<Tensor> each;
  for (std::int64_t h = 0; h < heads; ++h)  // [n, T, T] · [n, T, dim] → [n, T, dim] → [n, dim]
    each.push_back(cast(pool(pooling, matmul(select(maps, 1, h), x), items.mask), f64));
  return stack(each);
}

Tensor Network::parts(const Items& items) {
  std::vector<Tensor> each;
  const Tensor bias = reshape(attention.output_bias, {questions, -1});
  for (std::int64_t h = 0; h < heads; ++h) {
    const HeadMask alone(attention, select(eye(heads), 0, h));
    each.push_back(logits(items) - bias);
  }
  return stack(each);
}

void Network::visit(Visitor& v) {
  v("embedding", embedding);
  v("positions", positions);
  v("attention", attention);
}

void train(Network& network, const Items& items, std::int64_t epochs, Generator order) {
  constexpr std::int64_t batch = 64;
  constexpr double rate = 0.01;
  AdamW adam(network.parameters(), {.lr = rate, .weight_decay = 0.01});
  const std::int64_t steps = epochs * ((items.size() + batch - 1) / batch);
  const Schedule factor = schedule::cosine({.steps = steps, .warmup = steps / 10});
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch)
    for (const Tensor& rows : split(permutation(items.size(), order), batch)) {
      stop_if_interrupted();
      const Items part = items.at(rows);
      adam.zero_grad();
      backward(cross_entropy(network.logits(part), part.labels));
      adam.set_lr(rate * factor(adam.steps()));
      adam.step();
    }
}

}  // namespace ladon::example
