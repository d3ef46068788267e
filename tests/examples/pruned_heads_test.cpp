// The study of pruned heads as a user runs it: the arithmetic of its tables, its main result,
// determinism.

#include <string>

#include "ladon/tests/examples/program.h"

namespace ladon::pruned_heads_test {
namespace {

class PrunedHeadsExample : public test::Program {
 protected:
  PrunedHeadsExample() : Program("pruned_heads") {}

  static double figure(const Run& run, const std::string& table, const std::string& rule,
                       const char* name, double n) {
    for (const auto& row : run.report.at("rows"))
      if (row.at("table") == table && row.at("method") == rule &&
          (!row.contains("n") || row.at("n").at("mean") == n))
        return row.at(name).at("mean").get<double>();
    ADD_FAILURE() << table << ' ' << rule;
    return 0;
  }
};

TEST_F(PrunedHeadsExample, BadUsageIsTwo) {
  refuses("--sizes 4", "--sizes");
  refuses("--sizes 32,32", "--sizes");
  refuses("--data one,two", "--data");
  refuses("--networks 0", "--networks");
}

// Four questions need four heads: the process of the four that the evidence keeps knows the
// answers, and a certificate from enough data holds. All rules agree where nothing is removed.
TEST_F(PrunedHeadsExample, KeepsTheHeadsThatAnswer) {
  const Run result = run("--networks 2 --splits 1 --sizes 128");
  ASSERT_EQ(result.status, 0) << result.error;
  const double all = figure(result, "network", "evidence", "keep8", 128);
  EXPECT_GT(all, 0.9);
  for (const char* rule : {"gradient", "magnitude", "random"}) {
    EXPECT_EQ(figure(result, "network", rule, "keep8", 128), all) << rule;
    EXPECT_GE(figure(result, "process", "evidence", "keep4", 128),
              figure(result, "process", rule, "keep4", 128) - 0.02)
        << rule;
    EXPECT_NEAR(figure(result, "contrasts", rule, "difference", 128),
                figure(result, "network", "evidence", "keep4", 128) -
                    figure(result, "network", rule, "keep4", 128),
                1e-9)
        << rule;
  }
  EXPECT_GT(figure(result, "network", "evidence", "keep4", 128), 0.4) << "chance is a quarter";
  EXPECT_GE(figure(result, "certificates", "evidence", "kept", 128), 1);
  EXPECT_NE(result.out.find("so it stays"), std::string::npos) << result.out;
}

TEST_F(PrunedHeadsExample, SameBitsAtAnyNumberOfThreads) {
  expect_same_bits("--networks 2 --splits 1 --sizes 32 --epochs 2 ");
}

}  // namespace
}  // namespace ladon::pruned_heads_test
