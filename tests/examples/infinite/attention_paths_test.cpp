// The study attention_paths: at finite width the data change the weights of paths of heads.

#include <cmath>

#include "ladon/tests/examples/program.h"

namespace ladon::attention_paths_test {
namespace {

class AttentionPaths : public test::Program {
 protected:
  AttentionPaths() : Program("attention_paths") {}

  static double figure(const Run& run, const std::string& table, const std::string& row,
                       const std::string& column) {
    for (const auto& each : run.report.at("rows"))
      if (each.at("table") == table && each.at("method") == row)
        return each.at(column).at("mean").get<double>();
    ADD_FAILURE() << "no row " << row << " of " << table;
    return std::nan("");
  }
};

const std::string quick = "--seeds 1 --exact 10 --networks 10 --particles 20 --draws 4 ";

TEST_F(AttentionPaths, NarrowNetworksWeighTheirPaths) {
  const Run run = this->run(quick + "--widths 10,1000");
  ASSERT_EQ(run.status, 0) << run.error;
  // A share of 400 chains has a standard error of .02: six of them.
  EXPECT_GT(figure(run, "predictors", "N = 10", "difference"), 0.05);
  EXPECT_NEAR(figure(run, "predictors", "N = 1000", "difference"), 0, 0.05);
  EXPECT_LT(figure(run, "orders", "N = 10", "cross"), -1);
  EXPECT_NEAR(figure(run, "orders", "N = 1000", "cross"), 0, 0.1);
  EXPECT_GT(figure(run, "predictors", "after pruning", "difference"), 0.05);
  EXPECT_GT(figure(run, "predictors", "N = 10, no cross entries", "difference"), 0.05);
  EXPECT_GT(figure(run, "exact", "N = 10", "evidence"), 20);
}

TEST_F(AttentionPaths, SameBitsAtAnyNumberOfThreads) { expect_same_bits(quick + "--widths 10"); }

TEST_F(AttentionPaths, BadUsageIsTwo) {
  EXPECT_EQ(run("--widths 10,10").status, 2);
  EXPECT_EQ(run("--widths 3").status, 2);
  EXPECT_EQ(run("--seeds 0").status, 2);
}

}  // namespace
}  // namespace ladon::attention_paths_test
