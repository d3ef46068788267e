// The study how_many_heads, on how many heads are enough, as a user runs it.

#include <cmath>
#include <fstream>
#include <string>

#include "ladon/tests/examples/program.h"

namespace ladon::how_many_heads_test {
namespace {

class HowManyHeads : public test::Program {
 protected:
  HowManyHeads() : Program("how_many_heads") {}

  static double figure(const Run& run, const std::string& table, const std::string& name,
                       const char* column, const char* key, double value) {
    for (const auto& row : run.report.at("rows"))
      if (row.at("table") == table && row.at("method") == name && row.at(key).at("mean") == value)
        return row.at(column).at("mean").get<double>();
    ADD_FAILURE() << table << ' ' << name;
    return NAN;
  }
};

TEST_F(HowManyHeads, BadUsageIsTwo) {
  refuses("--part all", "--part");
  refuses("--tokens 0", "--tokens");
  refuses("--tokens 8,8", "--tokens");
  refuses("--truths 1,1", "--truths");
  refuses("--targets 6,6", "--targets");
  refuses("--sets 1", "--sets");
  refuses("--particles none", "--particles");
  refuses("--data one", "--data");
  refuses("--data one,two --sets 8", "--sets");
}

// Heads below the number of retrievals miss some; width does not replace them.
TEST_F(HowManyHeads, FourHeadsRetrieveWhatFewerMiss) {
  const Run result = run("--part errors --tokens 4 --seeds 2 --steps 150");
  ASSERT_EQ(result.status, 0) << result.error;
  const auto error = [&](const std::string& law, double heads) {
    return figure(result, "errors", law, "error", "heads", heads);
  };
  const double four = error("8 for each head", 4);
  EXPECT_EQ(four, error("total width 32", 4)) << "one layer of both laws";
  EXPECT_LT(four, 0.5 * error("8 for each head", 1));
  EXPECT_LT(four, 0.8 * error("1 wide head", 1));
  EXPECT_LT(error("1 wide head", 1), 1) << "a constant's error";
  EXPECT_GT(figure(result, "contrasts", "lack of 1 wide head", "difference", "T", 4),
            std::log(2) / 2);
}

// More particles bring two runs of the same data nearer to each other.
TEST_F(HowManyHeads, MoreParticlesAgreeBetter) {
  const std::string sets = "--part evidence --truths 64 --targets 5 --sets 6 --particles ";
  const Run few = run(sets + "1"), many = run(sets + "40");
  ASSERT_EQ(few.status, 0) << few.error;
  ASSERT_EQ(many.status, 0) << many.error;
  const auto runs = [&](const Run& of) {
    return figure(of, "evidence", "64 heads", "runs", "N", 5);
  };
  EXPECT_GT(runs(many), 0);
  EXPECT_LT(runs(many), 0.5 * runs(few));
}

TEST_F(HowManyHeads, ReadsQuestionsOfFiveClasses) {
  const auto questions = folder_ / "questions", vectors = folder_ / "vectors";
  const auto write = [&](int classes) {
    std::ofstream out(questions);
    for (int i = 0; i < 100 * classes; ++i)
      out << "C" << i % classes << ":fine word" << i % 7 << " unheard word" << i % 11 << '\n';
  };
  std::ofstream words(vectors);
  for (int i = 0; i < 12; ++i) {
    words << "word" << i;
    for (int k = 0; k < 5; ++k) words << ' ' << std::cos(1.0 + i * (k + 1));
    words << '\n';
  }
  words.close();
  const std::string data =
      "--sets 10 --targets 2,4 --particles 2 --data " + questions.string() + "," + vectors.string();
  write(5);
  const Run result = run(data);
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.report.at("rows").size(), 6u);
  EXPECT_TRUE(std::isfinite(figure(result, "evidence", "TREC's classes", "ln_B", "N", 4)));
  write(4);
  const Run four = run(data);
  EXPECT_EQ(four.status, 1);
  EXPECT_NE(four.error.find("4 classes"), std::string::npos) << four.error;
}

TEST_F(HowManyHeads, SameBitsAtAnyNumberOfThreads) {
  expect_same_bits("--tokens 4 --seeds 2 --steps 5 --targets 3 --sets 2 --particles 2");
}

}  // namespace
}  // namespace ladon::how_many_heads_test
