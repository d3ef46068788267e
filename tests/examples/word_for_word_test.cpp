// The study word_for_word, translation word for word, as a user runs it.

#include <fstream>

#include "ladon/tests/examples/program.h"

namespace ladon::word_for_word_test {
namespace {

class WordForWord : public test::Program {
 protected:
  WordForWord() : Program("word_for_word") {}

  static double figure(const nlohmann::json& row, const char* name) {
    return row.at(name).at("mean").get<double>();
  }
  std::string write(const std::string& name, const std::string& lines) {
    std::ofstream(folder_ / name) << lines;
    return folder_ / name;
  }
};

TEST_F(WordForWord, PairsTeachWordsAndNoOrder) {
  const Run learned = run("--pairs 2700");
  ASSERT_EQ(learned.status, 0) << learned.error;
  const auto& rows = learned.report.at("rows");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].at("method"), "100");
  EXPECT_EQ(rows[3].at("method"), "2700");
  EXPECT_GT(figure(rows[3], "words"), figure(rows[0], "words"));
  EXPECT_GT(figure(rows[0], "words"), 0.7);
  for (const auto& row : rows) EXPECT_LT(figure(row, "fours"), 0.1);
}

// Every number has one word, in the same place: nothing but a lexicon is needed.
TEST_F(WordForWord, IsRightWhereWordsAreAll) {
  std::string numbers, words;
  for (int i = 0; i < 200; ++i)
    for (int place = 0; place < 5; ++place) {
      const int number = (i * 7 + place * place * 3 + i / 10) % 10;
      const char* end = place < 4 ? " " : "\n";
      numbers += std::to_string(number) + end;
      words += std::string(1, static_cast<char>('a' + number)) + end;
    }
  const Run own = run("--source " + write("a", numbers) + " --target " + write("b", words));
  ASSERT_EQ(own.status, 0) << own.error;
  EXPECT_EQ(own.out.find("a: 181 pairs, 10 for the test"), 0u) << own.out;
  EXPECT_EQ(figure(own.report.at("rows")[3], "exact"), 1) << own.out;
}

TEST_F(WordForWord, BadUsageIsTwoAndFailureIsOneLine) {
  refuses("--source a", "--target");
  refuses("--pairs 5", "--pairs");
  const Run uneven = run("--source " + write("a", "1\n2\n") + " --target " + write("b", "1\n"));
  EXPECT_EQ(uneven.status, 1);
  EXPECT_NE(uneven.error.find("lines"), std::string::npos) << uneven.error;
}

}  // namespace
}  // namespace ladon::word_for_word_test
