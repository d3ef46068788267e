// The example of attention at finite width as a user runs it: exit statuses, the format of its JSON
// report, determinism, and agreement of measurement and theory.

#include <cmath>
#include <string>
#include <vector>

#include "ladon/tests/examples/program.h"

namespace ladon::finite_width_test {
namespace {

class FiniteWidthExample : public test::Program {
 protected:
  FiniteWidthExample() : Program("finite_width") {}

  struct Figure {
    double value, se;
  };
  /// A column of a table's rows.
  static std::vector<Figure> column(const Run& run, const std::string& table,
                                    const std::string& name) {
    std::vector<Figure> all;
    for (const auto& row : run.report.at("rows"))
      if (row.at("table") == table && !row.at(name).at("mean").is_null())
        all.push_back({row.at(name).at("mean"), row.at(name).at("se").is_null()
                                                    ? NAN
                                                    : row.at(name).at("se").get<double>()});
    return all;
  }
  static void expect_same(const Figure& a, const Figure& b) {
    EXPECT_NEAR(a.value, b.value, 4 * std::hypot(a.se, b.se));
  }
};

TEST_F(FiniteWidthExample, HelpSaysWhatItTeaches) {
  const Run help = run("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("falls as K/n²"), std::string::npos);
  for (const char* option : {"--heads", "--widths", "--head-width", "--draws", "--repetitions",
                             "--outputs", "--threads", "--seed", "--out", "--json"})
    EXPECT_NE(help.out.find(option), std::string::npos) << option;
}

TEST_F(FiniteWidthExample, BadUsageIsTwo) {
  refuses("--heads 0", "--heads");
  refuses("--heads 1,1", "--heads");
  refuses("--widths 3", "--widths");
  refuses("--widths 16,16", "--widths");
  refuses("--head-width 3", "--head-width");
  refuses("--repetitions 1", "--repetitions");
}

// The divergence falls as K/n² with the constant of theory, which two different formulas give; and
// the Gaussian of the same variance stays wrong.
TEST_F(FiniteWidthExample, TheConstantIsThatOfTheory) {
  const Run result =
      run("--heads 1 --widths 256,1024 --draws 5000 --repetitions 12 --head-width 16 --outputs 0");
  ASSERT_EQ(result.status, 0) << result.error;
  const auto constant = [&](const char* name) { return column(result, "constants", name).at(0); };
  expect_same(constant("measured"), constant("theory"));
  expect_same(constant("by_scores"), constant("theory"));
  EXPECT_LT(constant("measured").se, 0.15 * constant("measured").value);
  EXPECT_LT(constant("theory").se, 0.02 * constant("theory").value);
  const Figure exponent = column(result, "widths", "exponent").at(0);
  EXPECT_NEAR(exponent.value, -1.95, 4 * exponent.se);
  EXPECT_LT(exponent.se, 0.1);
  const auto gaussian = column(result, "widths", "from_gaussian");  // at two widths, and the limit
  ASSERT_EQ(gaussian.size(), 3u);
  EXPECT_GT(gaussian[2].value, 8e-4);
  EXPECT_GT(gaussian[1].value, gaussian[2].value);
  EXPECT_LT(column(result, "widths", "kl").at(1).value, 0.1 * gaussian[2].value);
  // Narrow heads leave a distance that wider tokens do not remove.
  const auto low_rank = column(result, "low_rank", "kl");
  const auto heads_alone = column(result, "low_rank", "n_infinite");
  ASSERT_EQ(low_rank.size(), 5u);
  EXPECT_GT(low_rank[2].value, heads_alone[2].value);
}

// Outputs instead of variances: the density estimate of so few sees nothing at large widths.
TEST_F(FiniteWidthExample, DensityEstimatesHaveAFloor) {
  const Run result = run("--heads 2 --widths 16,1024 --draws 500 --head-width 0 --outputs 2000");
  ASSERT_EQ(result.status, 0) << result.error;
  const auto kde = column(result, "kde", "kde");  // 16, 64, 256, 1024, the limit itself
  ASSERT_EQ(kde.size(), 5u);
  EXPECT_GT(kde[0].value, kde[4].value);
  EXPECT_GT(kde[4].value, 1e-3);
  EXPECT_GT(kde[3].value, 20 * column(result, "widths", "kl").at(1).value);
}

TEST_F(FiniteWidthExample, SameBitsAtAnyNumberOfThreads) {
  expect_same_bits(
      "--heads 2 --widths 4,64 --draws 300 --repetitions 3 --head-width 8 --outputs 200 ");
}

}  // namespace
}  // namespace ladon::finite_width_test
