#include "ladon/examples/gp_reviews/reviews.h"

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/text/glove.h"
#include "ladon/core/extra/text/text.h"
#include "ladon/examples/common/meter.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {
namespace {

/// Texts and word vectors. Tokens are made of the first `words` words of a text that have a vector
/// and are not among the first `skipped` words of the file of vectors. Those are the most frequent
/// words, and carry little information.
struct Reviews {
  TextDataset train, test;
  Glove glove;
  std::int64_t words, skipped;
};
constexpr std::int64_t span = 3;  // words per token

/// The first rows of a file, as many as the option asks for.
TextDataset read(const std::string& path, const char* option, int chosen,
                 const std::vector<std::string>& names) {
  TextDataset data = read_tsv(path, guess_columns(path), names);
  const std::int64_t there = std::ssize(data.texts);
  const auto rows = static_cast<std::size_t>(row_count(option, chosen, there, there));
  data.texts.resize(rows);
  data.labels.resize(rows);
  return data;
}

Reviews read_reviews(const ReviewSettings& s) {
  Reviews all{read(s.reviews[0], "--train", s.train, {}), {}, read_glove(s.glove), 96, 100};
  all.test = read(s.reviews[1], "--test", s.test, all.train.label_names);
  return all;
}

/// Generates reviews of 24 words from a vocabulary of 300. Half of a word's tendency to praise or
/// to blame is its vector's first entry, the other half is independent of the vector: a kernel
/// generalizes the former from word to word, while counts must learn both for each word.
Reviews generated(const ReviewSettings& s) {
  constexpr std::int64_t words = 300, length = 24;
  Generator rng(s.common.seed);
  Reviews all{{}, {}, {{}, normal({words, 8}, rng)}, length, 0};
  for (std::int64_t w = 0; w < words; ++w) all.glove.words.push_back(join("w", w));
  const auto lean =
      cast(select(all.glove.vectors, 1, 0) + normal({words}, rng), f64).to_vector<double>();
  const auto draw = [&](std::int64_t rows) {
    TextDataset data;
    data.label_names = {"blame", "praise"};
    for (std::int64_t i = 0; i < rows; ++i) {
      data.labels.push_back(rng.below(2));
      data.texts.emplace_back();
      for (std::int64_t count = 0; count < length;) {
        const auto w = static_cast<std::size_t>(rng.below(words));
        const double pull = 0.4 * (data.labels.back() == 1 ? lean[w] : -lean[w]);
        if (rng.uniform() > 1 / (1 + std::exp(-pull))) continue;
        data.texts.back() += " " + all.glove.words[w];
        ++count;
      }
    }
    return data;
  };
  all.train = draw(row_count("--train", s.train, 200, 1'000'000));
  all.test = draw(row_count("--test", s.test, 400, 1'000'000));
  return all;
}

ClassifierRows word_vectors(const TextDataset& data, const Reviews& of) {
  constexpr std::int64_t reserved = 2;  // first entries of a vocabulary, which have no vector
  const Vocabulary vocabulary(of.glove.words);
  const std::int64_t n = std::ssize(data.texts), d = of.glove.vectors.size(1),
                     tokens_each = of.words / span;
  std::vector<std::int64_t> words;
  for (const std::string& text : data.texts) {
    std::vector<std::int64_t> some = vocabulary.encode(text);
    std::erase_if(some, [&](std::int64_t word) { return word < reserved + of.skipped; });
    some.resize(of.words, Vocabulary::pad);
    words.insert(words.end(), some.begin(), some.end());
  }
  const Tensor index = from_vector(words, {n, tokens_each, span});
  const Tensor table = cast(concat({zeros({reserved, d}), of.glove.vectors}, 0), f64);
  const Tensor in_span = sum(cast(greater(index, Vocabulary::pad), f64), 2, keep_dims);
  const Tensor tokens = sum(embedding(table, index), 2) / sqrt(maximum(in_span, 1));
  const Tensor mask = greater(reshape(in_span, {n, tokens_each}), 0);
  return {.tokens = {tokens, mask},
          .dense = sum(tokens, 1) / maximum(sum(cast(mask, f64), 1, keep_dims), 1),
          .labels = from_vector(data.labels, {n})};
}

/// Multinomial naive Bayes with one added to each count of a word in a class: p(c|text) ∝
/// p(c)·Π_words p(word|c).
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

ReviewTask review_task(const ReviewSettings& s) {
  Reviews all = s.reviews.empty() ? generated(s) : read_reviews(s);
  // Standardize over the vocabulary, so that no direction shared by all words dominates.
  Tensor& vectors = all.glove.vectors;
  vectors = (vectors - mean(vectors, 0, keep_dims)) / stddev(vectors, 0, keep_dims);
  Task task{.name = s.reviews.empty() ? "generated reviews" : "reviews",
            .description = {},
            .train = word_vectors(all.train, all),
            .test = word_vectors(all.test, all),
            .classes = std::ssize(all.train.label_names)};
  task.description =
      join(task.train.size(), " training and ", task.test.size(), " test reviews, ", task.classes,
           " classes; the first ", all.words, " words of each that have a vector, without the ",
           all.skipped, " most frequent, in ", all.words / span, " spans");
  return {task, naive_bayes(all.train, all.test)};
}

}  // namespace ladon::example
