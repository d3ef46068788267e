#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/text/glove.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/repulsive_heads/task.h"

namespace ladon::example {
namespace {

constexpr std::int64_t min_count = 2;  // rarer words are <unk>
constexpr std::int64_t max_length = 128;
constexpr double unknown_scale = 0.1;  // of words without a vector, against those with one

TextDataset read(const Settings& s, const std::vector<std::string>& files,
                 const std::vector<std::string>& names) {
  if (s.format == "lines") return read_lines(files, names);
  if (s.format == "trec") return read_trec(files[0], names);
  const TsvColumns columns = guess_columns(files[0]);
  LADON_CHECK(columns.separator == '\t', "repulsive_heads", "--format tsv: ", files[0],
              " has no tab in its first line; label<TAB>text is needed");
  return read_tsv(files[0], columns, names);
}

std::vector<TextBatch> with_one_question(std::vector<TextBatch> batches) {
  for (TextBatch& batch : batches) batch.labels = unsqueeze(batch.labels, 1);
  return batches;
}

/// Each token replaced by one of the training set's tokens, drawn as often as it occurs there.
std::vector<TextBatch> redrawn(std::vector<TextBatch> batches, const TextBatches& train,
                               Generator& rng) {
  std::vector<Tensor> seen;
  for (const TextBatch& batch : train.in_order())
    seen.push_back(masked_select(batch.tokens, batch.mask));
  const Tensor words = concat(seen, 0);
  for (TextBatch& batch : batches) {
    const Tensor drawn =
        index_select(words, 0, randint({batch.tokens.count()}, rng, 0, words.count()));
    batch.tokens = where(batch.mask, reshape(drawn, batch.tokens.shape()), batch.tokens);
  }
  return batches;
}

/// The training set's words, and all that have a vector: so that a test sentence's words which
/// training never showed are known too.
Vocabulary known_words(const TextDataset& train, const Glove& glove) {
  const auto seen = Vocabulary::from_texts(train.texts, {.min_count = min_count});
  std::vector<std::string> words(seen.words().begin() + 2,
                                 seen.words().end());  // without <pad>, <unk>
  for (const std::string& word : glove.words)
    if (!seen.contains(word)) words.push_back(word);
  return Vocabulary(words);
}

}  // namespace

Task text_task(const Settings& s, Generator rng) {
  const TextDataset train_texts = read(s, s.train, {});
  const TextDataset test_texts = read(s, s.test, train_texts.label_names);
  const Glove glove = s.glove.empty() ? Glove{} : read_glove(s.glove);
  const Vocabulary vocabulary = known_words(train_texts, glove);
  const TextBatchOptions options{
      .batch_size = s.batch_size, .max_length = max_length, .by_length = true};
  const TextBatches train(train_texts, vocabulary, options), test(test_texts, vocabulary, options);
  std::string description =
      join(train.texts(), " training and ", test.texts(), " test sentences, ",
           train_texts.label_names.size(), " classes, ", vocabulary.size(), " words");
  Tensor word_vectors;
  if (!s.glove.empty()) {
    const EmbeddingTable table = embedding_table(vocabulary, glove, rng, unknown_scale);
    word_vectors = table.weights;
    description += join(", ", table.found, " with vectors of width ", word_vectors.size(1));
  }
  const std::vector<TextBatch> test_batches = with_one_question(test.in_order());
  return {
      .description = description,
      .unfamiliar_kind = "sentences whose every word is redrawn from the training set's",
      .vocabulary = vocabulary.size(),
      .questions = 1,
      .classes = static_cast<std::int64_t>(train_texts.label_names.size()),
      .max_length = max_length,
      .train_items = train.texts(),
      .word_vectors = word_vectors,
      .training = [=](Generator& order) { return with_one_question(train.shuffled(order)); },
      .test = test_batches,
      .unfamiliar = redrawn(test_batches, train, rng),
      .right_tokens = {},
  };
}

}  // namespace ladon::example
