#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/text/glove.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/repulsive_heads/study.h"

namespace ladon::example {
namespace {

constexpr std::int64_t min_count = 2;  // rarer words are <unk>
constexpr std::int64_t max_length = 128;
constexpr double unknown_scale = 0.1;  // scale of the embedding of words without a vector
// RMS of the given word vectors: large, since they carry information, but not so large that the
// remaining columns of the embedding, of scale 0.1, vanish in the first layer norm.
constexpr double vector_rms = 0.25, column_stddev = 0.1;

TextDataset read(const TextFiles& s, const std::vector<std::string>& files,
                 const std::vector<std::string>& names) {
  if (s.format == "lines") return read_lines(files, names);
  if (s.format == "trec") return read_trec(files[0], names);
  const TsvColumns columns = guess_columns(files[0]);
  LADON_CHECK(
      columns.separator == '\t', "repulsive_heads", "--format tsv: ", files[0],
      " has no tab in its first line, which must be label<TAB>text; is it of another --format?");
  return read_tsv(files[0], columns, names);
}

std::vector<TextBatch> with_one_question(std::vector<TextBatch> batches) {
  for (TextBatch& batch : batches) batch.labels = unsqueeze(batch.labels, 1);
  return batches;
}

/// The batches with each token replaced by <unk> with this probability.
std::vector<TextBatch> with_hidden(std::vector<TextBatch> batches, double probability,
                                   Generator rng) {
  for (TextBatch& batch : batches) {
    const Shape& shape = batch.tokens.shape();
    const Tensor hidden = logical_and(bernoulli(shape, rng, probability), batch.mask);
    batch.tokens = where(hidden, full(shape, Vocabulary::unknown, i64), batch.tokens);
  }
  return batches;
}

/// The batches with each token replaced by one that is drawn from all tokens of the training texts,
/// so that frequent words are drawn often.
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

/// Words of the training set, and all words that have a vector, so that words of test sentences
/// which do not occur in training are known, too.
Vocabulary known_words(const TextDataset& train, const Glove& glove) {
  const auto seen = Vocabulary::from_texts(train.texts, {.min_count = min_count});
  std::vector<std::string> words(seen.words().begin() + 2,
                                 seen.words().end());  // without <pad>, <unk>
  for (const std::string& word : glove.words)
    if (!seen.contains(word)) words.push_back(word);
  return Vocabulary(words);
}

/// Embedding [vocabulary, dim]: the first columns are the given vectors, scaled; the others are
/// N(0, column_stddev²).
Tensor with_word_vectors(const Tensor& vectors, std::int64_t dim, Generator& rng) {
  const std::int64_t width = vectors.size(1);
  LADON_CHECK(width <= dim, "repulsive_heads", "the word vectors have ", width,
              " channels, more than the ", dim, " of --dim; raise --dim");
  const Tensor rest = normal({vectors.size(0), dim - width}, rng, 0, column_stddev);
  const double rms = std::sqrt(mean(square(vectors)).item());
  return concat({vectors * (vector_rms / rms), rest}, 1);
}

}  // namespace

Task text_task(const TextFiles& files, const Settings& s, Generator rng) {
  const TextDataset train_texts = read(files, files.train, {});
  const TextDataset test_texts = read(files, files.test, train_texts.label_names);
  const Glove glove = files.glove.empty() ? Glove{} : read_glove(files.glove);
  const Vocabulary vocabulary = known_words(train_texts, glove);
  const TextBatchOptions options{
      .batch_size = s.batch_size, .max_length = max_length, .by_length = true};
  const TextBatches train(train_texts, vocabulary, options), test(test_texts, vocabulary, options);
  std::string description =
      join(train.texts(), " training and ", test.texts(), " test sentences, ",
           train_texts.label_names.size(), " classes, ", vocabulary.size(), " words");
  Tensor embedding;
  if (!files.glove.empty()) {
    const EmbeddingTable table = embedding_table(vocabulary, glove, rng, unknown_scale);
    embedding = with_word_vectors(table.weights, s.dim, rng);
    description += join(", ", table.found, " with vectors of width ", table.weights.size(1));
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
      .embedding = embedding,
      .training =
          [=, hide = files.word_dropout](Generator& order) {
            const auto batches = with_one_question(train.shuffled(order));
            return with_hidden(batches, hide, order.split(order.reserve(1)));
          },
      .test = test_batches,
      .unfamiliar = redrawn(test_batches, train, rng),
  };
}

}  // namespace ladon::example
