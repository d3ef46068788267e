// The study heads_apart as a user runs it, and its interactive page: distances of heads in weights
// and in attention.

#include <algorithm>
#include <string>

#include "ladon/tests/examples/program.h"

namespace ladon::heads_apart_test {
namespace {

using test::contents;

class HeadsApart : public test::Program {
 protected:
  HeadsApart() : Program("heads_apart") {}

  /// Figures of the rows, without times.
  static nlohmann::json figures(const Run& run) {
    nlohmann::json rows = run.report.at("rows");
    for (auto& row : rows) row.erase("epoch_seconds");
    return rows;
  }
};

// The page trains once more, to look at every epoch: it must end where the run does.
TEST_F(HeadsApart, ThePageEndsWhereTheRunDoes) {
  const std::string small = "--seeds 1 --epochs 2 --dim 16 --heads 2 --methods plain,svgd,spos ";
  const std::filesystem::path file = folder_ / "page.html";
  const Run without = run(small), with = run(small + "--page " + file.string());
  ASSERT_EQ(with.status, 0) << with.error;
  EXPECT_EQ(figures(with), figures(without));
  const nlohmann::json page = test::page_data(file), rows = with.report.at("rows");
  ASSERT_EQ(page.at("arms").size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const nlohmann::json& arm = page.at("arms")[i];
    EXPECT_EQ(arm.at("name"), rows[i].at("method"));
    ASSERT_EQ(arm.at("epochs").size(), 3u);
    const nlohmann::json& last = arm.at("epochs")[2];
    for (const auto& [name, column] :
         {std::pair("distance", "head_distance"), {"cosine", "map_redundancy"}})
      EXPECT_EQ(last.at(name).get<double>(), rows[i].at(column).at("mean").get<double>()) << name;
  }
  refuses("--heads 1 --page " + file.string(), "--page");
}

TEST_F(HeadsApart, ReportsEveryFigureAndDrawsThePictureByGnuplot) {
  const Run result = run("--seeds 2 --epochs 2 --dim 16 --heads 4 --methods plain,wgd");
  ASSERT_EQ(result.status, 0) << result.error;
  double ratio = 0;
  for (const auto& each : result.report.at("runs")) {
    for (const char* when : {"before", "after"}) {
      const auto& likeness = each.at(when);
      ASSERT_EQ(likeness.size(), 4u);
      for (std::size_t h = 0; h < 4; ++h) {
        EXPECT_EQ(likeness[h][h], 1);
        for (std::size_t g = 0; g < h; ++g) EXPECT_EQ(likeness[h][g], likeness[g][h]);
      }
    }
    double total = 0;
    for (const auto& row : each.at("after"))
      for (const auto& entry : row) total += entry.get<double>();
    EXPECT_NEAR(each.at("figures").at("map_redundancy"), (total - 4) / 12, 1e-12);
    const auto& force = each.at("figures").at("force_ratio");
    EXPECT_EQ(force.is_null(), each.at("method") == "plain");
    if (force.is_number()) ratio += force.get<double>() / 2;
    EXPECT_GT(each.at("figures").at("epoch_seconds"), 0);
  }
  EXPECT_NEAR(result.report.at("rows")[1].at("force_ratio").at("mean").get<double>(), ratio, 1e-12);
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs gnuplot";
  const std::string svg = contents(pictures() / "heads_apart.svg");
  EXPECT_NE(svg.find("<desc>generated task, 4 heads, 1 layer of width 16"), std::string::npos);
  EXPECT_EQ(result.error, "");
}

// The lesson: repulsion moves the heads apart in weights, and hardly in what they look at.
TEST_F(HeadsApart, RepulsionMovesWeightsAndNotMaps) {
  const Run result = run("--seeds 1 --methods plain,svgd");
  ASSERT_EQ(result.status, 0) << result.error;
  const auto &plain = result.report.at("rows")[0], &svgd = result.report.at("rows")[1];
  const auto of = [](const nlohmann::json& row, const char* figure) {
    return row.at(figure).at("mean").get<double>();
  };
  EXPECT_GT(of(svgd, "head_distance"), 1.3 * of(plain, "head_distance"));
  EXPECT_NEAR(of(svgd, "map_redundancy"), of(plain, "map_redundancy"), 0.1);
}

TEST_F(HeadsApart, OneHeadHasNothingToRepel) {
  const Run result = run("--seeds 1 --epochs 1 --heads 1 --dim 16 --methods plain,svgd");
  ASSERT_EQ(result.status, 0) << result.error;
  for (const auto& row : result.report.at("rows"))
    for (const char* figure : {"head_distance", "head_cosine", "map_redundancy"})
      EXPECT_TRUE(row.at(figure).at("mean").is_null()) << figure;
}

TEST_F(HeadsApart, SameBitsAtAnyNumberOfThreads) {
  const std::string arguments = "--seeds 1 --epochs 2 --heads 4 --dim 32 --methods plain,svgd ";
  const Run one = run(arguments + "--threads 1"), three = run(arguments + "--threads 3");
  ASSERT_EQ(one.status, 0) << one.error;
  EXPECT_EQ(figures(one), figures(three));
}

}  // namespace
}  // namespace ladon::heads_apart_test
