// The study gp_reviews, which classifies reviews by networks and by word counts, as a user runs it.

#include <fstream>

#include "ladon/tests/examples/program.h"

namespace ladon::gp_reviews_test {
namespace {

class GpReviews : public test::Program {
 protected:
  GpReviews() : Program("gp_reviews") {}

  static double accuracy(const Run& run, const std::string& method) {
    for (const auto& row : run.report.at("rows"))
      if (row.at("method") == method) return row.at("accuracy").at("mean");
    ADD_FAILURE() << "no row " << method;
    return 0;
  }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
};

TEST_F(GpReviews, BadUsageIsTwoAndFailureIsOneLine) {
  for (const auto& [arguments, option] :
       {std::pair<std::string, std::string>("--reviews a b", "--glove"),
        {"--glove x", "--reviews"},
        {"--reviews a --glove x", "--reviews"},
        {"--models resnet", "--models"}})
    refuses(arguments, option);
  for (const std::string arguments : {"--reviews a b --glove none", "--models flatten"}) {
    const Run failed = run(arguments);
    EXPECT_EQ(failed.status, 1) << arguments;
    EXPECT_EQ(std::count(failed.error.begin(), failed.error.end(), '\n'), 1) << failed.error;
  }
}

// Words lean half by their vectors and half by themselves: counts learn both halves of the words
// that they see, kernels the former of all words.
TEST_F(GpReviews, CountsAndKernelsLearnWhichWordsPraise) {
  const Run small = run("--models pool --epochs 2 --width 8");
  ASSERT_EQ(small.status, 0) << small.error;
  for (const char* method : {"naive Bayes", "pool NNGP", "pool NTK"})
    EXPECT_GT(accuracy(small, method), 0.75) << method;
  EXPECT_TRUE(small.report.at("verdict").empty()) << "nothing attends";
  const Run large = run("--models pool,attention --no-finite --train 800 --test 200");
  ASSERT_EQ(large.status, 0) << large.error;
  EXPECT_GT(accuracy(large, "naive Bayes"), accuracy(small, "naive Bayes"));
  EXPECT_EQ(large.report.at("verdict")[0].at("against"), "naive Bayes");
}

TEST_F(GpReviews, SameBitsAtAnyNumberOfThreads) {
  const auto figures = [&](const std::string& arguments) {
    nlohmann::json rows =
        run("--train 60 --test 40 --epochs 1 --width 8 --models pool " + arguments)
            .report.at("rows");
    for (auto& row : rows) row.erase("seconds"), row.erase("peak_mb");
    return rows;
  };
  EXPECT_EQ(figures("--threads 1"), figures("--threads 3"));
  EXPECT_NE(figures(""), figures("--seed 2"));
}

// In training a frequent word goes with each class, in the test with the other one: who counts it
// is wrong, and who sees vectors leaves it out.
TEST_F(GpReviews, ReadsFilesAndLeavesOutTheMostFrequentWords) {
  std::string vectors;
  for (int i = 0; i < 100; ++i)
    vectors += "the" + std::to_string(i) + (i % 2 ? " 9 1\n" : " -9 1\n");
  const std::string glove =
      write("glove", vectors + "good 1 0\nfine 1 .1\nbad -1 0\ndull -1 .1\nfilm 0 1\n");
  const std::string train =
      write("train", "1\tgood the4 film\n0\tbad the7 film\n1\tfine the4\n0\tdull the7\n");
  const std::string test = write("test", "1\tgood the7 the7\n0\tbad the4 the4\n");
  const Run read = run("--reviews " + train + " " + test + " --glove " + glove +
                       " --models linear,attention --epochs 1 --width 8");
  ASSERT_EQ(read.status, 0) << read.error;
  EXPECT_EQ(read.out.find("4 training and 2 test reviews, 2 classes; the first 96 words"), 0u)
      << read.out;
  EXPECT_EQ(accuracy(read, "naive Bayes"), 0);
  for (const char* method : {"linear NNGP", "attention NNGP"})
    EXPECT_EQ(accuracy(read, method), 1) << method;
}

}  // namespace
}  // namespace ladon::gp_reviews_test
