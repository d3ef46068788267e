#include "ladon/core/extra/text/text.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "ladon/core/extra/text/vocabulary.h"
#include "ladon/core/io/utf8.h"
#include "ladon/tests/core/io/damaged.h"

namespace ladon::text_test {
namespace {

static_assert(!std::is_reference_v<decltype(std::declval<Vocabulary>().words())>,
              "the words of a temporary vocabulary outlive it");

using test::expect_error;
using test::TemporaryFolder;
using test::write;
using Strings = std::vector<std::string>;
using Labels = std::vector<std::int64_t>;

TEST(Trec, ReadsCoarseLabelsAndSharesThemWithTheTestSet) {
  const TemporaryFolder folder;
  const TextDataset train = read_trec(write(folder,
                                            "NUM:dist How far ?\nHUM:desc Who was Galileo "
                                            "?\r\nNUM:date  When ? \n"));
  EXPECT_EQ(train.texts, (Strings{"How far ?", "Who was Galileo ?", "When ?"}));
  EXPECT_EQ(train.label_names, (Strings{"HUM", "NUM"}));
  EXPECT_EQ(train.labels, (Labels{1, 0, 1}));

  const std::string path = write(folder, "NUM:count How many ?");
  EXPECT_EQ(read_trec(path).labels, Labels{0});
  EXPECT_EQ(read_trec(path, train.label_names).labels, Labels{1});
  EXPECT_EQ(read_trec(path, train.label_names).label_names, train.label_names);
  const std::string other = write(folder, "NUM:a b\nLOC:city Where ?\n");
  expect_error([&] { read_trec(other, train.label_names); },
               other + ":2: the label 'LOC' is not one of the 2 label names: HUM, NUM");
  expect_error([&] { read_trec(other, {"NUM", "LOC", "NUM"}); }, "'NUM' occurs twice");
}

TEST(Trec, ConvertsLatin1) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_trec(write(folder, "HUM:ind Qui\xe9n ?\n")).texts[0], "Qui\xc3\xa9n ?");
  EXPECT_EQ(read_trec(write(folder, "HUM:ind Qui\xc3\xa9n ?\n")).texts[0], "Qui\xc3\xa9n ?");
}

TEST(Trec, NamesTheLineThatDoesNotFit) {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& bytes, const std::string& fragment) {
    const std::string path = write(folder, bytes);
    expect_error([&] { read_trec(path); }, path + fragment);
  };
  refuse("", ": the file holds no text; it is 0 bytes long");
  refuse("\n \n", ": the file holds no text; it is 3 bytes long");
  refuse("A:b c\n\nA:b c\n", ":2: needs 'COARSE:fine words …', got ''");
  refuse("A:b c\nno label here: none\n", ":2: needs 'COARSE:fine words …', got 'no label");
  refuse("A:b", ":1: needs 'COARSE:fine words …', got 'A:b'");
  refuse(":b c", ":1: the label is empty");
  const std::string missing = folder / "missing";
  expect_error([&] { read_trec(missing); }, missing + ": cannot open: No such file");
}

TEST(Lines, TakesOneFileAClass) {
  const TemporaryFolder folder;
  const std::string a = write(folder, "good \n\nfine\n", "pos"), b = write(folder, "ba\xe9", "neg");
  const TextDataset data = read_lines({a, b});
  EXPECT_EQ(data.texts, (Strings{"good", "fine", "ba\xc3\xa9"}));
  EXPECT_EQ(data.labels, (Labels{0, 0, 1}));
  EXPECT_EQ(data.label_names, (Strings{"pos", "neg"}));
  EXPECT_EQ(read_lines({a, b}, {"p", "n"}).label_names, (Strings{"p", "n"}));
  expect_error([&] { read_lines({a, b}, {"p"}); }, "got 2 files but 1 label names");
  expect_error([] { read_lines({}); }, "needs at least one file");
  const std::string empty = write(folder, "", "empty"), missing = folder / "missing";
  expect_error([&] { read_lines({a, empty}); }, empty + ": the file holds no text");
  expect_error([&] { read_lines({a, missing}); }, missing + ": cannot open");
}

struct TsvCase {
  const char* what;
  std::string bytes;
  TsvColumns columns;
};

TEST(Tsv, ReadsEveryLayoutAndGuessesIt) {
  const TemporaryFolder folder;
  const TsvCase cases[] = {
      {"text, label",
       "a good one  \t1\na bad one\t0\na\tb\t1\n",
       {.label_column = 1, .text_column = 0}},
      {"label, text", "1\ta good one\n0\ta bad one\n1\ta\tb\n", {}},
      {"label, rating, id, text",
       "1\t10\t3\ta good one\n0\t2\t5\ta bad one\n1\t8\t7\ta\tb\n",
       {.columns = 4, .text_column = 3}},
      {"label words", "1 a good one\n0 a bad one\n1 a\tb\n", {.separator = ' '}}};
  for (const TsvCase& layout : cases) {
    SCOPED_TRACE(layout.what);
    const std::string path = write(folder, layout.bytes);
    const TextDataset data = read_tsv(path, layout.columns);
    EXPECT_EQ(data.texts, (Strings{"a good one", "a bad one", "a\tb"}));
    EXPECT_EQ(data.labels, (Labels{1, 0, 1}));
    EXPECT_EQ(data.label_names, (Strings{"0", "1"}));
    const TsvColumns guess = guess_columns(path);
    EXPECT_EQ(guess.separator, layout.columns.separator);
    EXPECT_EQ(guess.columns, layout.columns.columns);
    EXPECT_EQ(guess.label_column, layout.columns.label_column);
    EXPECT_EQ(guess.text_column, layout.columns.text_column);
  }
}

TEST(Tsv, NamesTheLineThatDoesNotFit) {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& bytes, const TsvColumns& columns,
                          const std::string& fragment) {
    const std::string path = write(folder, bytes);
    expect_error([&] { read_tsv(path, columns); }, path + fragment);
  };
  refuse("1\ta\nno label\n", {}, ":2: has 1 column, needs 2; the line is 'no label'");
  refuse("1\ta\n\n", {}, ":2: has 1 column, needs 2; the line is ''");
  refuse("1\t2\ta\n1\ta\n", {.columns = 3, .text_column = 2}, ":2: has 2 columns, needs 3");
  refuse("1\ta\n\tb\n", {}, ":2: the label is empty");
  refuse("", {}, ": the file holds no text");
  const std::string path = write(folder, "1\ta\n");
  for (const TsvColumns& columns : {TsvColumns{.label_column = 1}, TsvColumns{.text_column = 2},
                                    TsvColumns{.label_column = -1}, TsvColumns{.columns = 1}})
    expect_error([&] { read_tsv(path, columns); }, "must be distinct and within the");
  expect_error([&] { read_tsv(path, {}, {"0"}); }, path + ":1: the label '1' is not one of the 1");
  EXPECT_EQ(read_tsv(write(folder, "1\t\n")).texts, Strings{""});
  const std::string uneven = write(folder, "1\ta\nb\n");
  expect_error([&] { guess_columns(uneven); }, uneven + ":2: has no tab, unlike line 1");
}

TEST(Text, MutationsAreReadOrRefused) {
  const auto read = [](const std::string& path) {
    const TextDataset data = read_tsv(path, guess_columns(path));
    EXPECT_EQ(data.texts.size(), data.labels.size());
    for (const std::string& text : data.texts) {
      EXPECT_TRUE(is_utf8(text));
      for (const std::string& token : tokenize(text)) EXPECT_FALSE(token.empty());
    }
  };
  EXPECT_LT(test::refused_mutations("1\t10\t3\ta good one\n0\t2\t5\ta bad one\n", 2000, 3, read),
            2000);
}

TEST(Tokenize, SplitsAsDocumented) {
  const std::pair<const char*, Strings> cases[] = {
      {"", {}},
      {" \t\n", {}},
      {"Hello, World!", {"hello", ",", "world", "!"}},
      {"don't can't n't", {"do", "n't", "ca", "n't", "n't"}},
      {"It's we'll I'd they've I'm you're",
       {"it", "'s", "we", "'ll", "i", "'d", "they", "'ve", "i", "'m", "you", "'re"}},
      {"Australia 's flower", {"australia", "'s", "flower"}},
      {"O'Neill's rock'n'roll dogs' 'quoted'",
       {"o'neill", "'s", "rock'n'roll", "dogs", "'", "'", "quoted", "'"}},
      {"a well-known k-19 -- end-", {"a", "well-known", "k-19", "--", "end", "-"}},
      {"3.5 1,000 .5 5. end.Start a,b",
       {"3.5", "1,000", ".", "5", "5", ".", "end", ".", "start", "a", ",", "b"}},
      {"wait... ``so'' ?!!", {"wait", "...", "``", "so", "''", "?", "!", "!"}},
      {"CAF\u00c9 \u20ac5", {"caf\u00c9", "\u20ac5"}},
      {"a_b <br />", {"a", "_", "b", "<", "br", "/", ">"}}};
  for (const auto& [text, tokens] : cases) EXPECT_EQ(tokenize(text), tokens) << text;
  EXPECT_EQ(tokenize(std::string("a\0b", 3)), (Strings{"a", "b"}));
}

TEST(Tokenize, ReadsNothingBehindTheText) {
  for (const char* text :
       {"", "'", "a'", "a-", "1.", "1,", "'s", "n't", "\xc3", "\xe2\x82", "\xf0\x9f\x98"}) {
    const test::AtTheEdge bytes(text);
    EXPECT_EQ(tokenize(bytes.view()), tokenize(text));
    EXPECT_EQ(is_utf8(bytes.view()), is_utf8(text));
  }
}

TEST(Tokenize, IsIdempotent) {
  for (const char* text : {"Don't stop -- it's 3.5 (or 1,000)... ``ok'', well-known!",
                           "what 's the o'neill 's n't ?"}) {
    std::string joined;
    for (const std::string& token : tokenize(text)) joined += token + " ";
    EXPECT_EQ(tokenize(joined), tokenize(text));
  }
}

class TextOfRealData : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(test::shared_data()))
      GTEST_SKIP() << "no real data at " << test::shared_data();
  }
  std::string path(const std::string& name) const { return test::shared_data() / name; }
};

// Rows and classes as the data's own notes state them.
TEST_F(TextOfRealData, Trec) {
  const TextDataset train = read_trec(path("trec/TREC.train"));
  const TextDataset test = read_trec(path("trec/TREC.test"), train.label_names);
  EXPECT_EQ(train.texts.size(), 5452u);
  EXPECT_EQ(test.texts.size(), 500u);
  EXPECT_EQ(train.label_names, (Strings{"ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"}));
  EXPECT_EQ(std::count(test.labels.begin(), test.labels.end(), 1), 138);  // the majority's .276
  for (const std::string& text : train.texts) ASSERT_TRUE(is_utf8(text));
}

TEST_F(TextOfRealData, RtPolarity) {
  const TextDataset data =
      read_lines({path("rt_polarity/rt-polarity.neg"), path("rt_polarity/rt-polarity.pos")});
  EXPECT_EQ(data.texts.size(), 2u * 5331u);
  EXPECT_EQ(std::count(data.labels.begin(), data.labels.end(), 1), 5331);
}

TEST_F(TextOfRealData, LabelTsvInAllThreeLayouts) {
  const std::tuple<const char*, std::size_t, TsvColumns> files[] = {
      {"sst2/stsa.binary.train", 6920, {.separator = ' '}},
      {"sst2/stsa.binary.dev", 872, {.separator = ' '}},
      {"uci_sentences/amazon_cells_labelled.txt", 1000, {.label_column = 1, .text_column = 0}},
      {"uci_sentences/imdb_labelled.txt", 1000, {.label_column = 1, .text_column = 0}},
      {"imdb_subset/train.tsv", 3126, {.columns = 4, .text_column = 3}},
      {"imdb_subset/test.tsv", 1000, {.columns = 4, .text_column = 3}}};
  for (const auto& [name, rows, columns] : files) {
    SCOPED_TRACE(name);
    const TextDataset data = read_tsv(path(name), columns);
    EXPECT_EQ(data.texts.size(), rows);
    EXPECT_EQ(data.label_names, (Strings{"0", "1"}));
    const TextDataset guessed = read_tsv(path(name), guess_columns(path(name)));
    EXPECT_EQ(guessed.texts, data.texts);
    EXPECT_EQ(guessed.labels, data.labels);
  }
}

}  // namespace
}  // namespace ladon::text_test
