// The study of how many heads are enough as a user runs it.

#include <cmath>
#include <string>

#include "ladon/tests/examples/program.h"

namespace ladon {
namespace {

class HowManyHeads : public test::Program {
 protected:
  HowManyHeads() : Program("how_many_heads") {}
};

TEST_F(HowManyHeads, BadUsageIsTwo) {
  refuses("--tokens 0", "--tokens");
  refuses("--tokens 8,8", "--tokens");
  refuses("--steps 0", "--steps");
  refuses("--draws none", "--draws");
}

// Evidence of 6 targets, the effective number of which is large; errors of layers at 8 tokens.
TEST_F(HowManyHeads, MoreHeadsErrLessAndEvidencePointsTheRightWay) {
  const Run result = run("--tokens 8 --seeds 2 --steps 300 --draws 20000");
  ASSERT_EQ(result.status, 0) << result.error;
  double one = NAN, sixteen = NAN, from_one = NAN, from_many = NAN, variance = 0;
  for (const auto& row : result.report.at("rows")) {
    if (row.at("table") == "errors" && row.at("method") == "8 for each head") {
      const double error = row.at("error").at("mean");
      if (row.at("heads").at("mean") == 1) one = error;
      if (row.at("heads").at("mean") == 16) sixteen = error;
    }
    if (row.at("table") == "evidence" && row.at("N").at("mean") == 6) {
      EXPECT_GT(row.at("effective").at("mean"), 100);
      const bool head = row.at("method") == "1 head", many = row.at("method") == "64 heads";
      const double se = row.at("ln_B").at("se");
      if (head) from_one = row.at("ln_B").at("mean");
      if (many) from_many = row.at("ln_B").at("mean");
      if (head || many) variance += se * se;
    }
  }
  EXPECT_LT(sixteen, 0.5 * one);
  EXPECT_GT((from_one - from_many) / std::sqrt(variance), 2);
}

TEST_F(HowManyHeads, SameBitsAtAnyNumberOfThreads) {
  const std::string small = "--tokens 4 --seeds 2 --steps 5 --draws 2000 --threads ";
  const Run one = run(small + "1"), two = run(small + "2");
  ASSERT_EQ(one.status, 0) << one.error;
  EXPECT_EQ(one.report.at("rows"), two.report.at("rows"));
}

}  // namespace
}  // namespace ladon
