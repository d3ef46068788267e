// The study of exact posteriors as a user runs it.

#include <csignal>
#include <string>

#include "ladon/tests/examples/program.h"

namespace ladon::exact_posterior_test {
namespace {

class ExactPosterior : public test::Program {
 protected:
  ExactPosterior() : Program("exact_posterior") {}

  /// A figure of the row of so many heads.
  static double figure(const Run& run, int heads, const char* name) {
    for (const auto& row : run.report.at("rows"))
      if (row.at("heads").at("mean") == heads) return row.at(name).at("mean");
    throw std::runtime_error(detail::join("no row of ", heads, " heads"));
  }
};

TEST_F(ExactPosterior, BadUsageIsTwo) {
  refuses("--heads 0", "--heads");
  refuses("--heads 1,1", "--heads");
  refuses("--labels two", "--labels");
}

// The lesson: the distance falls about as 1/H.
TEST_F(ExactPosterior, ComesToTheGaussianProcess) {
  const Run result = run("--draws 2 --heads 1,4,16 --particles 400");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.report.at("settings").at("draws"), 2);
  EXPECT_LT(figure(result, 4, "w2"), figure(result, 1, "w2"));
  EXPECT_LT(figure(result, 16, "w2"), 0.5 * figure(result, 4, "w2"));
  ASSERT_EQ(result.report.at("bands").size(), 4u);
  EXPECT_EQ(result.report.at("bands").at(3).at("method"), "gp");
}

// With linear scaling heads are all alike: every number of them is the Gaussian process.
TEST_F(ExactPosterior, LinearScalingIsTheControl) {
  const Run result = run("--draws 1 --heads 1,3 --scaling linear --particles 100");
  ASSERT_EQ(result.status, 0) << result.error;
  for (const int heads : {1, 3}) {
    EXPECT_LT(figure(result, heads, "w2"), 1e-5);
    EXPECT_NEAR(figure(result, heads, "evidence"), 0, 1e-8);
  }
}

TEST_F(ExactPosterior, SameBitsAtAnyNumberOfThreads) {
  expect_same_bits("--draws 1 --heads 2 --particles 60");
}

TEST_F(ExactPosterior, AnInterruptLeavesWhatIsFinished) {
  const Run stopped = interrupted("--draws 1000 --heads 1,2 --particles 60", SIGINT);
  EXPECT_EQ(stopped.status, 130);
  EXPECT_EQ(stopped.report.at("interrupted"), true);
  ASSERT_FALSE(stopped.report.at("rows").empty());
  const int sets = stopped.report.at("rows").at(0).at("data_sets").at("mean");
  const std::string line = detail::join("exact 1: mean over ", sets, " of 1000 data sets\n");
  EXPECT_NE(stopped.out.find(line), std::string::npos) << stopped.out;
}

}  // namespace
}  // namespace ladon::exact_posterior_test
