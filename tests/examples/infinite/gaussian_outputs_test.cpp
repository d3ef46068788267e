// The study gaussian_outputs as a user runs it: exit statuses, the format of its JSON report,
// determinism, and its main result.

#include <cmath>
#include <csignal>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ladon/core/extra/io/npy.h"
#include "ladon/core/random.h"
#include "ladon/tests/examples/program.h"

namespace ladon::gaussian_outputs_test {
namespace {

class GaussianOutputs : public test::Program {
 protected:
  GaussianOutputs() : Program("gaussian_outputs") {}

  static const nlohmann::json& row(const Run& run, std::string_view method) {
    for (const auto& row : run.report.at("rows"))
      if (row.at("method") == method) return row;
    throw std::runtime_error("no row " + std::string(method));
  }
};

TEST_F(GaussianOutputs, BadUsageIsTwo) {
  refuses("--heads 1,x", "--heads");
  refuses("--width 99999999999999999999", "--width");
  refuses("--draws 1e9", "--draws");
  refuses("--scaling sqrt,sqrt", "--scaling");
  refuses("--scaling linear --page " + (folder_ / "page.html").string(), "--page");
}

TEST_F(GaussianOutputs, TailsFollowTheirLaw) {
  const Run result = run("--heads 1,4,16 --width 32 --draws 600 --seed 3");
  ASSERT_EQ(result.status, 0) << result.error;
  for (const int heads : {1, 4, 16}) {
    const auto& found = row(result, "sqrt, H = " + std::to_string(heads));
    const double z =
        (found.at("kurtosis").at("mean").get<double>() - found.at("law").at("mean").get<double>()) /
        found.at("kurtosis").at("se").get<double>();
    EXPECT_LT(std::abs(z), 3) << heads << " heads";
  }
  EXPECT_LT(row(result, "sqrt, H = 1").at("ks_p").at("mean").get<double>(), 1e-6);
}

TEST_F(GaussianOutputs, DrawsWhateverThereIsWithoutNoiseByGnuplot) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs gnuplot";
  Generator rng(1);
  save_npy((folder_ / "one.npy").string(), normal({1, 1, 4}, rng));
  const std::string one_position = "--inputs " + (folder_ / "one.npy").string();
  for (const std::string& arguments :
       {one_position, std::string("--scaling linear"), std::string("--zeta relu"), std::string()}) {
    std::filesystem::remove_all(pictures());
    const Run result = run(arguments + " --draws 3 --heads 1 --width 16");
    EXPECT_EQ(result.status, 0) << arguments;
    EXPECT_EQ(result.error, "") << arguments;
    for (const char* picture : {"gaussian_outputs_kurtosis.svg", "gaussian_outputs_density.svg"})
      EXPECT_TRUE(std::filesystem::exists(pictures() / picture)) << arguments;
    EXPECT_EQ(std::filesystem::exists(pictures() / "gaussian_outputs.svg"),
              arguments.empty() || arguments == "--zeta relu")
        << arguments;
  }
}

TEST_F(GaussianOutputs, SameBitsAtAnyNumberOfThreads) {
  expect_same_bits("--heads 1,2 --width 8 --draws 40");
}

TEST_F(GaussianOutputs, KnowsTheLawOfEveryZeta) {
  for (const char* zeta : {"softmax", "relu", "abs"}) {
    const Run result = run("--heads 2 --width 8 --draws 20 --zeta " + std::string(zeta));
    EXPECT_EQ(result.status, 0) << zeta << '\n' << result.error;
    EXPECT_GT(row(result, "sqrt, H = 2").at("wide_law").at("mean").get<double>(), 0) << zeta;
  }
}

TEST_F(GaussianOutputs, TheReportHoldsWhatThePanelsDraw) {
  const Run result = run("--heads 1,2,4,8 --width 8 --draws 90");
  ASSERT_EQ(result.status, 0) << result.error;
  const auto& densities = result.report.at("density");
  ASSERT_EQ(densities.size(), 3u);
  for (const auto& each : densities) {
    const std::vector<double> x = each.at("output_over_sd"), p = each.at("density"),
                              widths = each.at("bin_width"), se = each.at("se");
    ASSERT_EQ(x.size(), p.size());
    ASSERT_EQ(widths.size(), p.size());
    ASSERT_EQ(se.size(), p.size());
    double all = 0;
    for (std::size_t i = 0; i < p.size(); ++i) all += p[i] * widths[i];
    EXPECT_NEAR(all, 1, 0.02) << each.at("heads");
    const std::size_t middle = p.size() / 2;
    EXPECT_NEAR(x[middle], 0, 1e-9);
    EXPECT_GT(se[middle], 0);
    EXPECT_LT(se[middle], p[middle] / 4) << each.at("heads");
  }
}

// The lines of the densities are the law that the table's kurtosis is held to: for wide heads with
// identity ζ that is known exactly.
TEST_F(GaussianOutputs, TheLawOfHeadsHasTheKurtosisOfTheory) {
  const Run result = run("--scaling sqrt --draws 3 --heads 1,4 --width 8");
  ASSERT_EQ(result.status, 0) << result.error;
  for (const auto& each : result.report.at("density")) {
    const std::vector<double> x = each.at("law").at("output_over_sd"),
                              p = each.at("law").at("density");
    ASSERT_EQ(x.size(), p.size());
    double all = 0, second = 0, fourth = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double mass = p[i] * (x[1] - x[0]);
      all += mass;
      second += mass * x[i] * x[i];
      fourth += mass * std::pow(x[i], 4);
    }
    EXPECT_NEAR(all, 1, 1e-4);
    EXPECT_NEAR(second, 1, 0.03);
    const std::string name = detail::join("sqrt, H = ", each.at("heads").get<int>());
    const double expected = row(result, name).at("wide_law").at("mean");
    EXPECT_NEAR(fourth / (second * second) - 3, expected, 0.15 * expected) << name;
  }
  const Run linear = run("--scaling linear --draws 3 --heads 1");
  EXPECT_TRUE(linear.report.at("density").at(0).at("law").is_null());
}

TEST_F(GaussianOutputs, AnInterruptLeavesWhatIsFinished) {
  std::string heads = "1";
  for (int i = 0; i < 3000; ++i) heads += ",1";
  const Run ended = interrupted("--draws 200 --width 8 --heads " + heads, SIGTERM);
  EXPECT_EQ(ended.status, 130) << ended.error;
  ASSERT_FALSE(ended.report.is_null());
  EXPECT_EQ(ended.report.at("interrupted"), true);
  EXPECT_GT(ended.report.at("rows").size(), 0u);
  EXPECT_LT(ended.report.at("rows").size(), 3000u);
}

}  // namespace
}  // namespace ladon::gaussian_outputs_test
