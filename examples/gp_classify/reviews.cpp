// Reviews: their words' vectors for the kernels, and naive Bayes beside them.

#include <chrono>
#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/text/glove.h"
#include "ladon/core/text/text.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/data.h"

namespace ladon::example {
namespace {

TextDataset read(const std::string& path, int rows, const std::vector<std::string>& names) {
  const TsvColumns columns = guess_columns(path);
  LADON_CHECK(columns.separator == '\t', "gp_classify", path,
              " has no tab in its first line; label<TAB>text is needed");
  TextDataset data = read_tsv(path, columns, names);
  if (rows == 0) return data;
  const auto n = static_cast<std::size_t>(rows);
  LADON_CHECK(n <= data.texts.size(), "gp_classify", path, ": ", rows, " rows are wanted, it has ",
              data.texts.size());
  data.texts.resize(n);
  data.labels.resize(n);
  return data;
}

/// Texts cut into spans of words that have a vector and are not among the file's first, which are
/// the most frequent and say little. The sum of a span's vectors over the square root of their
/// number is a token: [N, T, d] with a mask, as texts have T tokens or fewer (or none).
Examples word_vectors(const TextDataset& data, const Glove& glove, const Settings& s) {
  const Vocabulary vocabulary(glove.words);
  const std::int64_t n = static_cast<std::int64_t>(data.texts.size()), d = glove.vectors.size(1);
  Tensor tokens = zeros({n, s.tokens, d}, f64), mask = zeros({n, s.tokens}, boolean);
  const Tensor vectors = contiguous(cast(glove.vectors, f64));
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<std::int64_t> words = vocabulary.encode(data.texts[static_cast<std::size_t>(i)]);
    std::erase_if(words, [&](std::int64_t w) { return w < 2 + s.skip; });
    const auto count =
        std::min(static_cast<std::int64_t>(words.size()), std::int64_t{s.tokens} * s.span);
    for (std::int64_t w = 0; w < count; ++w) {
      const std::int64_t t = i * s.tokens + w / s.span;
      const std::int64_t in_span = std::min<std::int64_t>(s.span, count - w / s.span * s.span);
      const double* vector = vectors.data<double>() + (words[static_cast<std::size_t>(w)] - 2) * d;
      double* token = tokens.mutable_data<double>() + t * d;
      for (std::int64_t c = 0; c < d; ++c)
        token[c] += vector[c] / std::sqrt(static_cast<double>(in_span));
      mask.mutable_data<bool>()[t] = true;
    }
  }
  const Tensor present = maximum(sum(cast(mask, f64), 1, keep_dims), ones({1, 1}, f64));
  return {.tokens = {tokens, mask},
          .dense = sum(tokens, 1) / present,
          .labels = from_vector(data.labels, {n})};
}

/// Multinomial naive Bayes with one count added to each word of a class: p(c|text) ∝ p(c)·Π_words
/// p(word|c).
Task::Bar naive_bayes(const TextDataset& train, const TextDataset& test) {
  const auto start = std::chrono::steady_clock::now();
  const auto vocabulary = Vocabulary::from_texts(train.texts);
  const auto classes = train.label_names.size(),
             words = static_cast<std::size_t>(vocabulary.size());
  std::vector<std::vector<double>> count(classes, std::vector<double>(words, 1));
  std::vector<double> total(classes, static_cast<double>(words)), prior(classes, 0);
  for (std::size_t i = 0; i < train.texts.size(); ++i) {
    const auto c = static_cast<std::size_t>(train.labels[i]);
    ++prior[c];
    for (const std::int64_t w : vocabulary.encode(train.texts[i])) ++count[c][w], ++total[c];
  }
  std::vector<double> log_odds;
  for (const std::string& text : test.texts) {
    const std::vector<std::int64_t> encoded = vocabulary.encode(text);
    for (std::size_t c = 0; c < classes; ++c) {
      double sum = std::log(prior[c]);
      for (const std::int64_t w : encoded)
        if (w != Vocabulary::unknown) sum += std::log(count[c][w] / total[c]);
      log_odds.push_back(sum);
    }
  }
  const Shape shape{static_cast<std::int64_t>(test.texts.size()),
                    static_cast<std::int64_t>(classes)};
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  return {"naive Bayes", softmax(from_vector(log_odds, shape), 1), spent.count()};
}

}  // namespace

Task review_task(const Settings& s) {
  const TextDataset train = read(s.reviews[0], s.train, {});
  const TextDataset test = read(s.reviews[1], s.test, train.label_names);
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
