#include "ladon/core/extra/text/glove.h"

#include <cmath>

#include "ladon/core/extra/text/text.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::glove_test {
namespace {

using test::expect_error;
using test::expect_same;
using test::TemporaryFolder;
using test::write;
using Strings = std::vector<std::string>;

Glove load(const std::string& bytes) {
  const TemporaryFolder folder;
  return read_glove(write(folder, bytes));
}

TEST(Glove, ReadsBothFormats) {
  for (const char* bytes :
       {"{\"the\": [0.5, -1], \"of\": [2e-1, 3]}", " \n{\"the\":[0.5,-1.0],\"of\":[0.2,3]}\n",
        "the 0.5 -1\nof 2e-1 3\n", "the 0.5 -1 \r\nof 0.2  3"}) {
    const Glove glove = load(bytes);
    EXPECT_EQ(glove.words, (Strings{"the", "of"})) << bytes;
    expect_same(glove.vectors, tensor({0.5, -1, 0.2, 3}, {2, 2}));
    EXPECT_EQ(glove.duplicates, 0);
  }
}

TEST(Glove, KeepsTheFirstOfDuplicates) {
  for (const char* bytes : {"{\"a\": [1], \"b\": [2], \"a\": [3]}", "a 1\nb 2\na 3\n"}) {
    const Glove glove = load(bytes);
    EXPECT_EQ(glove.words, (Strings{"a", "b"}));
    expect_same(glove.vectors, tensor({1, 2}, {2, 1}));
    EXPECT_EQ(glove.duplicates, 1);
  }
}

TEST(Glove, TakesAwkwardWords) {
  const Glove glove = load("{ 1 2\n. . . 3 4\n7 5 6\n\" 7 8\n");
  EXPECT_EQ(glove.words, (Strings{"{", ". . .", "7", "\""}));
  expect_same(glove.vectors, tensor({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2}));
  EXPECT_EQ(load("{\"\\u00e9\\\"\": [1]}").words, Strings{"\xc3\xa9\""});
}

TEST(Glove, RefusesMalformedText) {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& bytes, const std::string& fragment) {
    const std::string path = write(folder, bytes);
    expect_error([&] { read_glove(path); }, path + fragment);
  };
  refuse("", ": holds 0 word vectors");
  refuse("a 1 2\nb 3\n", ": word 'b' has 1 numbers, but the first word, 'a', has 2");
  refuse("a 1 2\nb 3 4 5\n", ": word 'b' has 3 numbers, but the first word, 'a', has 2");
  refuse("a 1 2\na 3\n", ": word 'a' has 1 numbers");
  refuse("a 1 2\nb 3 x\n", ":2: 'x' is not a number");
  refuse("a 1 2\nb 3 4x\n", ":2: '4x' is not a number");
  refuse("a 1 2\nb 3 1e999\n", ":2: '1e999' is not a number within the range of f64");
  refuse("a 1\nb\n", ":2: needs 'word v1 … vd', got 'b'");
  refuse("a 1\n\nb 1\n", ":2: needs 'word v1 … vd', got ''");
  refuse(" 1 2\n", ":1: needs 'word v1 … vd'");
  refuse("a 1 nan\n", ": word 'a' has the number nan, which is not finite");
  refuse("a 1 inf\n", ": word 'a' has the number inf, which is not finite");
  refuse("a 1 1e39\n", ": word 'a' has the number 1e+39, which is not finite in f32");
  const std::string missing = folder / "missing";
  expect_error([&] { read_glove(missing); }, missing + ": cannot open");
}

TEST(Glove, RefusesMalformedJson) {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& bytes, const std::string& fragment) {
    const std::string path = write(folder, bytes);
    expect_error([&] { read_glove(path); }, path + fragment);
  };
  refuse("{}", ": holds 0 word vectors");
  refuse("{", ": is not JSON");
  refuse("{\"a\": [1]", ": is not JSON");
  refuse("{\"a\": [1]} x", ": is not JSON");
  refuse("{\"a\": [1e999]}", ": is not JSON");
  refuse("{\"a\": [1], \"b\": []}", ": word 'b' has no numbers");
  refuse("{\"a\": [1, 2], \"b\": [3]}", ": word 'b' has 1 numbers, but the first word, 'a', has 2");
  refuse("{\"a\": [1, \"x\"]}",
         ": needs {\"word\": [numbers], …}, but has something else at word 'a'");
  refuse("{\"a\": [1, null]}",
         ": needs {\"word\": [numbers], …}, but has something else at word 'a'");
  refuse("{\"a\": 1}", ": needs {\"word\": [numbers], …}, but has something else at word 'a'");
  refuse("{\"a\": {\"b\": [1]}}",
         ": needs {\"word\": [numbers], …}, but has something else at word 'a'");
  refuse("{\"a\": [[1]]}", ": needs {\"word\": [numbers], …}, but has something else at word 'a'");
  refuse("{\"a\": [1e39]}", ": word 'a' has the number 1e+39, which is not finite in f32");
  refuse("{\"a\": " + std::string(200'000, '['),
         ": needs {\"word\": [numbers], …}, but has something else at word 'a'");
}

TEST(Glove, TruncationsAndMutationsAreReadOrRefused) {
  const std::string bytes = "{\"the\": [0.5, -1], \"of\": [2e-1, 3]}";
  test::expect_truncations_fail(bytes, [](const std::string& path) { read_glove(path); });
  const auto read = [](const std::string& path) {
    const Glove glove = read_glove(path);
    EXPECT_EQ(glove.vectors.size(0), static_cast<std::int64_t>(glove.words.size()));
    for (const double value : glove.vectors.to_vector()) EXPECT_TRUE(std::isfinite(value));
  };
  EXPECT_GT(test::refused_mutations(bytes, 2000, 5, read), 1000);
  EXPECT_GT(test::refused_mutations("the 0.5 -1\nof 2e-1 3\n", 2000, 6, read), 300);
}

TEST(EmbeddingTable, TakesVectorsAndDrawsTheRest) {
  Glove glove;
  glove.words = {"a", "b", "unused"};
  glove.vectors = tensor({3, -3, 3, -3, 3, -3, 100, 100, 100}, {3, 3});
  Strings words = {"b"};
  for (int i = 0; i < 4000; ++i) words.push_back("missing" + std::to_string(i));
  words.push_back("a");
  const Vocabulary vocabulary(words);
  Generator rng(1);
  const EmbeddingTable table = embedding_table(vocabulary, glove, rng);
  EXPECT_EQ(table.weights.shape(), Shape({4004, 3}));
  EXPECT_EQ(table.found, 2);
  EXPECT_EQ(table.words, 4002);
  EXPECT_DOUBLE_EQ(table.coverage(), 2.0 / 4002);
  const auto weights = table.weights.to_vector();
  const auto row = [&](std::int64_t i) {
    return std::vector<double>(weights.begin() + 3 * i, weights.begin() + 3 * i + 3);
  };
  EXPECT_EQ(row(Vocabulary::pad), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(row(vocabulary.at("b")), (std::vector<double>{-3, 3, -3}));
  EXPECT_EQ(row(vocabulary.at("a")), (std::vector<double>{3, -3, 3}));
  EXPECT_NE(row(Vocabulary::unknown), row(vocabulary.at("missing0")));
  // 12,000 draws of N(0, 3²), 3 being the root mean square of the rows found ("unused" is not one
  // of them): the variance's standard error is 9·sqrt(2/12000) = 0.116, the mean's 0.027.
  double sum = 0, squares = 0;
  for (std::int64_t i = 3; i < 4003; ++i) {
    for (const double x : row(i)) sum += x, squares += x * x;
  }
  EXPECT_NEAR(sum / 12000, 0, 4 * 0.027);
  EXPECT_NEAR(squares / 12000, 9, 4 * 0.116);

  Generator again(1);
  expect_same(embedding_table(vocabulary, glove, again).weights, table.weights);
}

TEST(EmbeddingTable, HandlesNoOverlapAndRefusesMismatches) {
  Generator rng(1);
  Glove glove{{"x"}, tensor({1, 2}, {1, 2}), 0};
  EXPECT_EQ(embedding_table(Vocabulary({"a"}), glove, rng).found, 0);
  EXPECT_EQ(embedding_table(Vocabulary(), glove, rng).coverage(), 0);
  EXPECT_EQ(embedding_table(Vocabulary(), glove, rng).weights.shape(), Shape({2, 2}));
  glove.words.push_back("y");
  expect_error([&] { embedding_table(Vocabulary(), glove, rng); },
               "there are 2 words but 1 word vectors");
  expect_error([&] { embedding_table(Vocabulary(), {}, rng); }, "[words, d]");
}

TEST(Glove, ReadsRealData) {
  const auto path = test::shared_data() / "glove" / "glove-50d-5k.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no word vectors at " << path;
  const Glove glove = read_glove(path);
  EXPECT_EQ(glove.vectors.shape(), Shape({5050, 50}));
  EXPECT_EQ(glove.words[0], "the");
  EXPECT_FLOAT_EQ(glove.vectors.data<float>()[1], 0.24968f);

  // The data's own notes say that they cover 82% of the IMDb tokens.
  const auto reviews = test::shared_data() / "imdb_subset" / "train.tsv";
  const TextDataset data = read_tsv(reviews, {.columns = 4, .text_column = 3});
  const Vocabulary vocabulary(glove.words);
  std::int64_t known = 0, all = 0;
  for (const std::string& text : data.texts) {
    for (const std::int64_t index : vocabulary.encode(text)) {
      known += index != Vocabulary::unknown;
      ++all;
    }
  }
  EXPECT_NEAR(double(known) / double(all), 0.82, 0.06);
}

}  // namespace
}  // namespace ladon::glove_test
