// The study head_roles as a user runs it, on whether heads divide the rules of a task between them.

#include <algorithm>
#include <csignal>
#include <tuple>

#include "ladon/tests/examples/program.h"

namespace ladon::head_roles_test {
namespace {

using test::contents;

class HeadRoles : public test::Program {
 protected:
  HeadRoles() : Program("head_roles") {}
};

// Of two heads and eight rules: each head that is the first for some rule leads.
TEST_F(HeadRoles, LeadersAreCountedFromTheMaps) {
  const Run result = run("--seeds 1 --epochs 1 --dim 16 --heads 2 --methods plain");
  ASSERT_EQ(result.status, 0) << result.error;
  const auto& trained = result.report.at("runs")[0];
  for (const auto& [map, heads, attention] :
       {std::tuple("after", "leading_heads", "leading_attention"),
        {"before", "untrained_heads", "untrained_attention"}}) {
    const auto& rows = trained.at(map);
    bool leads[2] = {};
    double total = 0;
    for (std::size_t rule = 0; rule < 8; ++rule) {
      const double first = rows[0][rule], second = rows[1][rule];
      leads[second > first] = true;
      total += std::max(first, second) / 8;
    }
    EXPECT_EQ(trained.at("figures").at(heads), leads[0] + leads[1]) << map;
    EXPECT_NEAR(trained.at("figures").at(attention), total, 1e-6) << map;
  }
}

// The lesson of the picture, at the default settings: an untrained head has no rule, and a
// trained one has its own.
TEST_F(HeadRoles, TrainedHeadsLookAfterARuleEach) {
  const Run result = run("--seeds 1 --methods plain");
  ASSERT_EQ(result.status, 0) << result.error;
  const auto& trained = result.report.at("runs")[0];
  const auto looks_most = [](const nlohmann::json& row) {
    return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
  };
  std::vector<int> heads_of_rule(8, 0);
  for (const auto& row : trained.at("after")) ++heads_of_rule[looks_most(row)];
  EXPECT_LE(*std::max_element(heads_of_rule.begin(), heads_of_rule.end()), 2);
  const auto mean_of_best = [&](const char* when) {
    double total = 0;
    for (const auto& row : trained.at(when)) total += row[looks_most(row)].get<double>() / 8;
    return total;
  };
  EXPECT_LT(mean_of_best("before"), 0.15);
  EXPECT_GT(mean_of_best("after"), 0.3);
}

// Heads of the picture's seed stand by rules: the diagonal is what heads_by_rule chose first.
TEST_F(HeadRoles, DrawsTheMapsOfTheRunInTheMiddleByGnuplot) {
  const Run result = run("--seeds 3 --epochs 1 --dim 16 --heads 4 --methods plain,svgd");
  ASSERT_EQ(result.status, 0) << result.error;
  std::vector<double> leading;
  for (const auto& each : result.report.at("runs"))
    if (each.at("method") == "plain") leading.push_back(each.at("figures").at("leading_heads"));
  std::sort(leading.begin(), leading.end());
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs gnuplot";
  const std::string svg = contents(pictures() / "head_roles.svg"),
                    after = std::to_string(static_cast<int>(leading[1])) + " after</title>";
  EXPECT_NE(svg.find(after), std::string::npos) << svg.substr(0, 400);
  for (const char* title : {"before training", "plain, trained", "svgd, trained"})
    EXPECT_NE(svg.find(title), std::string::npos) << title;
}

TEST_F(HeadRoles, OneHeadHasNoPicture) {
  const Run result = run("--seeds 1 --epochs 1 --dim 16 --heads 1 --methods plain,svgd");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.report.at("rows")[0].at("leading_heads").at("mean"), 1);
  EXPECT_FALSE(std::filesystem::exists(pictures() / "head_roles.svg"));
}

TEST_F(HeadRoles, ADivergedMethodIsSaidAndSpoilsNoOther) {
  const Run result =
      run("--seeds 1 --epochs 1 --dim 16 --heads 2 --methods plain,svgd --alpha 1e200");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_NE(result.out.find("svgd diverged with seed 1 in epoch 1"), std::string::npos)
      << result.out;
  EXPECT_FALSE(result.report.at("rows")[0].contains("diverged"));
  EXPECT_EQ(result.report.at("rows")[1].at("diverged"), true);
}

TEST_F(HeadRoles, SameBitsAtAnyNumberOfThreads) {
  expect_same_bits("--seeds 1 --epochs 2 --heads 4 --dim 32 --methods plain,spos");
}

TEST_F(HeadRoles, SaysWhatIsWrongWithAnOption) {
  for (const auto& [option, value] : {std::pair("--heads", "7"),
                                      {"--methods", "plain,plain"},
                                      {"--alpha", "nan"},
                                      {"--epochs", "-3"}})
    refuses(std::string(option) + " " + value, option);
}

TEST_F(HeadRoles, AnInterruptLeavesWhatIsFinished) {
  const Run ended =
      interrupted("--seeds 100000 --epochs 1 --dim 8 --heads 2 --methods plain,svgd", SIGINT);
  EXPECT_EQ(ended.status, 130) << ended.error;
  EXPECT_EQ(ended.report.at("interrupted"), true);
  EXPECT_GE(ended.report.at("runs").size(), 2u);
}

}  // namespace
}  // namespace ladon::head_roles_test
