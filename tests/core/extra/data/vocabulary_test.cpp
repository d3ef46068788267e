#include "ladon/core/extra/text/vocabulary.h"

#include "ladon/tests/core/io/damaged.h"

namespace ladon::vocabulary_test {
namespace {

using test::expect_error;
using test::TemporaryFolder;
using test::write;
using Strings = std::vector<std::string>;
using Indices = std::vector<std::int64_t>;

const Strings texts = {"b a c", "b a", "B d", "e c"};  // b 3, a 2, c 2, d 1, e 1

TEST(Vocabulary, RanksByCountThenAlphabetically) {
  EXPECT_EQ(Vocabulary::from_texts(texts).words(),
            (Strings{"<pad>", "<unk>", "b", "a", "c", "d", "e"}));
  EXPECT_EQ(Vocabulary::from_texts(texts, {.min_count = 2}).words(),
            (Strings{"<pad>", "<unk>", "b", "a", "c"}));
  EXPECT_EQ(Vocabulary::from_texts(texts, {.max_size = 4}).words(),
            (Strings{"<pad>", "<unk>", "b", "a"}));
  EXPECT_EQ(Vocabulary::from_texts(texts, {.max_size = 2}).size(), 2);
  EXPECT_EQ(Vocabulary::from_texts(texts, {.max_size = 100}).size(), 7);
  EXPECT_EQ(Vocabulary::from_texts({}).size(), 2);
  expect_error([] { Vocabulary::from_texts(texts, {.min_count = 0}); }, "at least 1, got 0");
  expect_error([] { Vocabulary::from_texts(texts, {.max_size = 1}); }, "entries; got 1");
  expect_error([] { Vocabulary::from_texts(texts, {.max_size = -5}); }, "entries; got -5");
}

TEST(Vocabulary, EncodesLenientlyAndLooksUpStrictly) {
  const Vocabulary vocabulary({"b", "a"});
  EXPECT_EQ(vocabulary.encode("A zebra, b"), (Indices{3, 1, 1, 2}));
  EXPECT_TRUE(vocabulary.encode("  ").empty());
  EXPECT_EQ(vocabulary.at("a"), 3);
  EXPECT_EQ(vocabulary.at("<pad>"), Vocabulary::pad);
  EXPECT_EQ(vocabulary.at("<unk>"), Vocabulary::unknown);
  EXPECT_EQ(vocabulary.find("zebra"), Vocabulary::unknown);
  EXPECT_TRUE(vocabulary.contains("b"));
  EXPECT_FALSE(vocabulary.contains("zebra"));
  expect_error([&] { vocabulary.at("zebra"); }, "the word 'zebra' is not among the 4");
}

TEST(Vocabulary, ReservedEntriesCannotBeWrittenInAText) {
  const Vocabulary vocabulary = Vocabulary::from_texts({"<pad> <unk>"});
  for (const std::int64_t index : vocabulary.encode("<pad> <unk>")) EXPECT_GE(index, 2);
}

// Counts of b, a, c, d, e are 3, 2, 2, 1, 1.
TEST(Vocabulary, MarksTheEndsOfTexts) {
  const Vocabulary vocabulary = Vocabulary::from_texts(texts, {.max_size = 6, .ends = true});
  EXPECT_EQ(vocabulary.words(), (Strings{"<pad>", "<unk>", "<bos>", "<eos>", "b", "a"}));
  EXPECT_EQ(vocabulary.at(Vocabulary::bos), 2);
  EXPECT_EQ(vocabulary.at(Vocabulary::eos), 3);
  for (const std::int64_t index : vocabulary.encode("<bos> a <eos>"))
    EXPECT_TRUE(index == Vocabulary::unknown || index == 5);
  EXPECT_EQ(vocabulary.decode({2, 4, 1, 5, 3, 0, 4}), "b <unk> a");
  EXPECT_EQ(vocabulary.decode({}), "");
  EXPECT_EQ(Vocabulary({"x"}).decode({2, 0, 2}), "x x");
  expect_error([&] { vocabulary.decode({6}); }, "index 6 is outside [0, 6)");
  expect_error([&] { vocabulary.decode({-1}); }, "index -1 is outside [0, 6)");
  expect_error([] { Vocabulary({"x"}).at(Vocabulary::bos); }, "the word '<bos>' is not among");
  expect_error([] { Vocabulary::from_texts(texts, {.max_size = 3, .ends = true}); },
               "at least 4, for the reserved entries; got 3");
}

TEST(Vocabulary, RefusesBadWords) {
  expect_error(
      [] {
        Vocabulary({"a", "b", "a"});
      },
      "the word 'a' occurs twice, with the indices 2 and 4");
  expect_error([] { Vocabulary({"<unk>"}); }, "the word '<unk>' occurs twice, with the indices 1");
  expect_error([] { Vocabulary(Strings{""}); }, "a word is empty");
  expect_error([] { Vocabulary({"a b"}); }, "the word 'a b' contains white space");
}

TEST(Vocabulary, RoundTripsAsText) {
  const TemporaryFolder folder;
  const std::string path = folder / "words";
  for (const Vocabulary& vocabulary :
       {Vocabulary(), Vocabulary::from_texts({"n't \xc3\xa9 . b a"})}) {
    vocabulary.save(path);
    EXPECT_EQ(Vocabulary::load(path).words(), vocabulary.words());
  }
  EXPECT_EQ(Vocabulary::load(path).at("n't"), 5);
}

TEST(Vocabulary, NamesTheLineThatDoesNotFit) {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& bytes, const std::string& fragment) {
    const std::string path = write(folder, bytes);
    expect_error([&] { Vocabulary::load(path); }, path + fragment);
  };
  refuse("", ":1: needs <pad>, got ''");
  refuse("<pad>", ":2: needs <unk>, got ''");
  refuse("<pad>\n", ":2: needs <unk>, got ''");
  refuse("<unk>\n<pad>\n", ":1: needs <pad>, got '<unk>'");
  refuse("<pad>\n<unk>\na\n\n", ":4: a word is empty");
  refuse("<pad>\n<unk>\na\nb\na\n", ":5: the word 'a' occurs twice, with the indices 2 and 4");
  refuse("<pad>\n<unk>\na b\n", ":3: the word 'a b' contains white space");
  const std::string missing = folder / "missing";
  expect_error([&] { Vocabulary::load(missing); }, missing + ": cannot open");
}

TEST(Vocabulary, MutationsAreReadOrRefused) {
  const auto read = [](const std::string& path) {
    const Vocabulary vocabulary = Vocabulary::load(path);
    for (std::int64_t i = 0; i < vocabulary.size(); ++i)
      EXPECT_EQ(vocabulary.at(vocabulary.words()[static_cast<std::size_t>(i)]), i);
  };
  EXPECT_GT(test::refused_mutations("<pad>\n<unk>\nthe\nof\nand\nto\n", 2000, 4, read), 500);
}

}  // namespace
}  // namespace ladon::vocabulary_test
