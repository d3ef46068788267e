#include "ladon/core/extra/data/batches.h"

#include <algorithm>
#include <set>

#include "ladon/core/machine/parallel.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::batches_test {
namespace {

using test::expect_error;
using test::expect_same;
using Indices = std::vector<std::int64_t>;

// n texts of 1 to 9 words; the label of text i is i, so that a batch tells which texts it holds.
TextDataset numbered(int n) {
  TextDataset data;
  for (int i = 0; i < n; ++i) {
    std::string text;
    for (int k = 0; k <= i * 7 % 9; ++k) text += "w" + std::to_string(i) + " ";
    data.texts.push_back(text);
    data.labels.push_back(i);
    data.label_names.push_back(std::to_string(i));
  }
  return data;
}

Indices labels_of(const std::vector<TextBatch>& batches) {
  Indices labels;
  for (const TextBatch& batch : batches) {
    for (const std::int64_t label : batch.labels.to_vector<std::int64_t>()) labels.push_back(label);
  }
  return labels;
}

std::int64_t padding(const std::vector<TextBatch>& batches) {
  std::int64_t n = 0;
  for (const TextBatch& batch : batches) {
    for (const bool token : batch.mask.to_vector<bool>()) n += !token;
  }
  return n;
}

TEST(TextBatches, PadsToTheLongestOfABatch) {
  const TextDataset data{{"a b a", "b", "", "zebra a"}, {0, 1, 0, 1}, {"no", "yes"}};
  const TextBatches batches(data, Vocabulary({"a", "b"}), {.batch_size = 3});
  EXPECT_EQ(batches.texts(), 4);
  EXPECT_EQ(batches.size(), 2);
  const std::vector<TextBatch> pass = batches.in_order();
  ASSERT_EQ(pass.size(), 2u);
  expect_same(pass[0].tokens, tensor({2, 3, 2, 3, 0, 0, 1, 0, 0}, {3, 3}, i64));
  expect_same(pass[0].mask, tensor({1, 1, 1, 1, 0, 0, 1, 0, 0}, {3, 3}, boolean));
  expect_same(pass[0].labels, tensor({0, 1, 0}, i64));
  expect_same(pass[1].tokens, tensor({1, 2}, {1, 2}, i64));
  expect_same(pass[1].mask, tensor({1, 1}, {1, 2}, boolean));
  expect_same(pass[1].labels, tensor({1}, i64));
}

TEST(TextBatches, CutsAtTheLengthAsked) {
  const TextDataset data{{"a b a b", "b"}, {0, 0}, {"only"}};
  const Vocabulary vocabulary({"a", "b"});
  const TextBatch cut = TextBatches(data, vocabulary, {.max_length = 2}).in_order().at(0);
  expect_same(cut.tokens, tensor({2, 3, 3, 0}, {2, 2}, i64));
  const TextBatch whole = TextBatches(data, vocabulary, {.max_length = 4}).in_order().at(0);
  EXPECT_EQ(whole.tokens.shape(), Shape({2, 4}));
}

TEST(TextBatches, AShuffledPassHoldsEveryTextOnce) {
  const TextDataset data = numbered(103);
  const Vocabulary vocabulary = Vocabulary::from_texts(data.texts);
  for (const bool by_length : {false, true}) {
    SCOPED_TRACE(by_length);
    const TextBatches batches(data, vocabulary, {.batch_size = 10, .by_length = by_length});
    Generator rng(5);
    const std::vector<TextBatch> first = batches.shuffled(rng), second = batches.shuffled(rng);
    EXPECT_NE(labels_of(first), labels_of(second));
    for (const auto& pass : {first, second}) {
      Indices labels = labels_of(pass);
      EXPECT_FALSE(std::is_sorted(labels.begin(), labels.end()));
      std::sort(labels.begin(), labels.end());
      EXPECT_EQ(labels, data.labels);
      std::multiset<std::int64_t> sizes;
      for (const TextBatch& batch : pass) {
        sizes.insert(batch.tokens.size(0));
        const auto tokens = batch.tokens.to_vector<std::int64_t>();
        const auto mask = batch.mask.to_vector<bool>();
        const auto rows = batch.labels.to_vector<std::int64_t>();
        for (std::size_t i = 0; i < tokens.size(); ++i) {
          const std::string& text =
              data.texts[static_cast<std::size_t>(rows[i / (tokens.size() / rows.size())])];
          EXPECT_EQ(tokens[i], mask[i] ? vocabulary.at(text.substr(0, text.find(' '))) : 0);
        }
      }
      EXPECT_EQ(sizes.count(10), 10u);
      EXPECT_EQ(sizes.count(3), 1u);
    }
  }
}

TEST(TextBatches, DependOnTheGeneratorAlone) {
  const TextDataset data = numbered(1000);
  const Vocabulary vocabulary = Vocabulary::from_texts(data.texts);
  const int threads = num_threads();
  for (const bool by_length : {false, true}) {
    const TextBatches batches(data, vocabulary, {.batch_size = 7, .by_length = by_length});
    std::vector<Indices> passes;
    for (const int n : {1, 2, 2}) {
      set_num_threads(n);
      Generator rng(11);
      passes.push_back(labels_of(batches.shuffled(rng)));
    }
    EXPECT_EQ(passes[0], passes[1]);
    EXPECT_EQ(passes[0], passes[2]);
    Generator other(12);
    EXPECT_NE(passes[0], labels_of(batches.shuffled(other)));
  }
  set_num_threads(threads);
}

TEST(TextBatches, SortingByLengthSavesPadding) {
  const TextDataset data = numbered(600);
  const Vocabulary vocabulary = Vocabulary::from_texts(data.texts);
  Generator rng(1), same(1);
  const auto plain = TextBatches(data, vocabulary, {.batch_size = 8}).shuffled(rng);
  const auto sorted =
      TextBatches(data, vocabulary, {.batch_size = 8, .by_length = true}).shuffled(same);
  EXPECT_LT(5 * padding(sorted), padding(plain));
  EXPECT_EQ(sorted.size(), plain.size());
}

TEST(TextBatches, RefuseWhatCannotBeCut) {
  const Vocabulary vocabulary({"a"});
  const TextDataset good{{"a"}, {0}, {"x"}};
  expect_error([&] { TextBatches({}, vocabulary); }, "the dataset is empty: it has 0 texts");
  expect_error([&] { TextBatches({{"a", "a"}, {0}, {"x"}}, vocabulary); }, "2 texts but 1 labels");
  expect_error(
      [&] {
        TextBatches({{"a"}, {1}, {"x"}}, vocabulary);
      },
      "label 1, outside the 1 label");
  expect_error([&] { TextBatches({{"a"}, {-1}, {"x"}}, vocabulary); }, "text 0 has label -1");
  expect_error([&] { TextBatches(good, vocabulary, {.batch_size = 0}); }, "at least 1, got 0");
  expect_error([&] { TextBatches(good, vocabulary, {.max_length = -3}); }, "at least 1, got -3");
  EXPECT_EQ(TextBatches(good, vocabulary, {.batch_size = INT64_MAX}).in_order().size(), 1u);
}

}  // namespace
}  // namespace ladon::batches_test
