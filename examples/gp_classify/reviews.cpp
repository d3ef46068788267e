// Reviews: their words' vectors for the kernels, and naive Bayes beside them.

#include "ladon/autograd/ops.h"
#include "ladon/core/text/glove.h"
#include "ladon/core/text/text.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/data.h"

namespace ladon::example {
namespace {

/// The file's first rows, as many as the option chose.
TextDataset read(const std::string& path, const char* option, int chosen,
                 const std::vector<std::string>& names) {
  TextDataset data = read_tsv(path, guess_columns(path), names);
  const std::int64_t there = std::ssize(data.texts);
  const auto rows = static_cast<std::size_t>(row_count(option, chosen, there, there));
  data.texts.resize(rows);
  data.labels.resize(rows);
  return data;
}

/// Texts cut into spans of words that have a vector and are not among the file's first, which are
/// the most frequent and say little.
Examples word_vectors(const TextDataset& data, const Glove& glove, const Settings& s) {
  constexpr std::int64_t reserved = 2;  // entries of a vocabulary without a vector, the first: none
  const Vocabulary vocabulary(glove.words);
  const std::int64_t n = std::ssize(data.texts), d = glove.vectors.size(1);
  std::vector<std::int64_t> words;
  for (const std::string& text : data.texts) {
    std::vector<std::int64_t> some = vocabulary.encode(text);
    std::erase_if(some, [&](std::int64_t word) { return word < reserved + s.skip; });
    some.resize(static_cast<std::size_t>(s.tokens * s.span), Vocabulary::pad);
    words.insert(words.end(), some.begin(), some.end());
  }
  const Tensor index = from_vector(words, {n, s.tokens, s.span});
  const Tensor table = cast(concat({zeros({reserved, d}), glove.vectors}, 0), f64);
  const Tensor in_span = sum(cast(greater(index, Vocabulary::pad), f64), 2, keep_dims);
  const Tensor tokens = sum(embedding(table, index), 2) / sqrt(maximum(in_span, 1));
  const Tensor mask = greater(reshape(in_span, {n, s.tokens}), 0);
  return {.tokens = {tokens, mask},
          .dense = sum(tokens, 1) / maximum(sum(cast(mask, f64), 1, keep_dims), 1),
          .labels = from_vector(data.labels, {n})};
}

/// Multinomial naive Bayes with one count added to each word of a class: p(c|text) ∝ p(c)·Π_words
/// p(word|c).
Outcome naive_bayes(const TextDataset& train, const TextDataset& test) {
  const Meter meter;
  const auto vocabulary = Vocabulary::from_texts(train.texts);
  const std::int64_t classes = std::ssize(train.label_names);
  Tensor count = ones({classes, vocabulary.size()}, f64), prior = zeros({classes}, f64);
  double *of_word = count.mutable_data<double>(), *of_class = prior.mutable_data<double>();
  for (std::size_t i = 0; i < train.texts.size(); ++i) {
    const std::int64_t c = train.labels[i];
    ++of_class[c];
    for (const std::int64_t word : vocabulary.encode(train.texts[i]))
      ++of_word[c * vocabulary.size() + word];
  }
  const Tensor log_p = log(count / sum(count, 1, keep_dims));
  std::vector<Tensor> log_odds;
  for (const std::string& text : test.texts) {
    std::vector<std::int64_t> words = vocabulary.encode(text);
    std::erase(words, Vocabulary::unknown);
    const Tensor index = from_vector(words, {std::ssize(words)});
    log_odds.push_back(log(prior) + sum(index_select(log_p, 1, index), 1));
  }
  return {.model = "naive Bayes",
          .form = "",
          .probabilities = softmax(stack(log_odds), 1),
          .seconds = meter.seconds()};
}

}  // namespace

Task review_task(const Settings& s) {
  const TextDataset train = read(s.reviews[0], "--train", s.train, {});
  const TextDataset test = read(s.reviews[1], "--test", s.test, train.label_names);
  Glove glove = read_glove(s.glove);
  // Together to mean 0 and variance 1: no direction that all words share outweighs the others.
  const Tensor mean_vector = mean(glove.vectors, 0, keep_dims);
  glove.vectors = (glove.vectors - mean_vector) / stddev(glove.vectors, 0, keep_dims);
  return {.name = "reviews",
          .description = join(train.texts.size(), " training and ", test.texts.size(),
                              " test reviews, ", train.label_names.size(), " classes; the first ",
                              s.tokens * s.span, " words of each that have a vector, without the ",
                              s.skip, " most frequent, in ", s.tokens, " spans"),
          .train = word_vectors(train, glove, s),
          .test = word_vectors(test, glove, s),
          .label_names = train.label_names,
          .bar = naive_bayes(train, test)};
}

}  // namespace ladon::example
