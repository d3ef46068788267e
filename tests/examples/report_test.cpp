// Functions that report results in all examples: tables with explained columns, decisions of
// comparisons, and options with their purpose.

#include "ladon/examples/common/report.h"

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>

#include "ladon/core/error.h"
#include "ladon/examples/common/plot.h"
#include "ladon/examples/common/text.h"
#include "ladon/tests/examples/program.h"

namespace ladon::report_test {
namespace {

using namespace example;

TEST(Statistics, StudentsQuantilesAreThoseOfTheTables) {
  // Two-sided 95% and 99%: Abramowitz and Stegun, table 26.10.
  const std::tuple<int, double, double> rows[] = {{1, 12.706, 63.657}, {2, 4.303, 9.925},
                                                  {3, 3.182, 5.841},   {5, 2.571, 4.032},
                                                  {10, 2.228, 3.169},  {30, 2.042, 2.750}};
  for (const auto& [degrees, at_95, at_99] : rows) {
    EXPECT_NEAR(t_quantile(0.95, degrees), at_95, 6e-4) << degrees;
    EXPECT_NEAR(t_quantile(0.99, degrees), at_99, 6e-4) << degrees;
    EXPECT_NEAR(t_probability(t_quantile(0.7, degrees), degrees), 0.7, 1e-12) << degrees;
  }
  EXPECT_NEAR(t_quantile(0.95, 100000), 1.95996, 1e-4);
}

TEST(Statistics, ADifferenceIsJudgedByItsErrorAndByHowManyThereAre) {
  const std::vector<double> differences = {0.9, 1.1, 1.0, 1.2, 0.8};
  const Difference alone = judge(differences, 1), among_many = judge(differences, 1000000);
  EXPECT_NEAR(alone.mean.se, std::sqrt(0.025 / 5), 1e-12);
  EXPECT_NEAR(alone.interval, 2.7764 * alone.mean.se, 1e-4);
  EXPECT_EQ(alone.corrected, alone.interval);
  EXPECT_EQ(alone.decision, Decision::higher);
  EXPECT_EQ(judge({-0.9, -1.1, -1.0}, 1).decision, Decision::lower);
  EXPECT_GT(among_many.corrected, 5 * among_many.interval);
  EXPECT_EQ(among_many.decision, Decision::unclear);
  // The 80% quantile of t with 4 degrees of freedom is 0.941.
  EXPECT_NEAR(alone.detectable, (2.7764 + 0.9410) * alone.mean.se, 1e-4);
  EXPECT_EQ(judge({1}, 1).decision, Decision::unclear);
  EXPECT_TRUE(std::isinf(judge({1}, 1).corrected));
}

TEST(Table, ExplainsEveryColumnAndRefusesOneWithoutMeaning) {
  EXPECT_THROW(Table("method", {{"accuracy", ""}}), Error);
  Table table("method", {{"nll", "in nats", Better::lower}, {"heads", "how many"}});
  EXPECT_THROW(table.add({"plain", {{1, 0}}}), Error);
  table.add({"plain", {{1.25, 0.5}, {8, 0}}});
  EXPECT_EQ(table.text(),
            "method          nll ↓  heads\n"
            "plain   1.250 ± 0.500  8.000\n");
  EXPECT_EQ(table.explained(), "nll ↓  in nats\nheads  how many\n");
  EXPECT_EQ(table.part(1, 1).text(), "method  heads\nplain   8.000\n");
}

TEST(Report, RowsOfSeveralTablesAreNotMixed) {
  Table near("method", {{"error", "from the truth"}}), far("method", {{"error", "from the limit"}});
  near.add({"hmc", {{1, 0.5}}});
  far.add({"hmc", {{2, 0}}});
  const auto written = [](const std::vector<NamedTable>& tables) {
    Report report;
    report.tables = tables;
    return as_json(report);
  };
  const auto two = written({{"near", near}, {"far", far}});
  EXPECT_FALSE(two.contains("columns")) << "a name may mean two things";
  ASSERT_EQ(two.at("tables").size(), 2u);
  ASSERT_EQ(two.at("rows").size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto &table = two.at("tables")[i], &row = two.at("rows")[i];
    EXPECT_EQ(row.at("table"), table.at("name"));
    EXPECT_EQ(row.at("method"), "hmc");
    EXPECT_EQ(row.at("error").at("mean"), i + 1);
    EXPECT_EQ(table.at("columns").at("error").at("meaning"),
              i ? "from the limit" : "from the truth");
  }
  const auto one = written({{"near", near}});
  EXPECT_EQ(one.at("columns"), one.at("tables")[0].at("columns"));
  EXPECT_EQ(one.at("rows")[0].at("error").at("se"), 0.5);
}

TEST(Plot, WordsAreShownAsTheyAre) {
  EXPECT_EQ(quoted("ood_auroc of 'a'"), R"('ood\_auroc of ''a''')");
}

TEST(Plot, LabelsOfTheScriptThatTheDrawingByGnuplotLacksAreNamed) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no gnuplot";
  const test::TemporaryFolder folder;
  const auto said = [&](int left) {
    Picture picture(folder.path(), "labels");
    picture.panel({left, Picture::top, 400, 200}, "x_1 < 'y' & z",
                  "set xlabel 'D, of ''both'' kinds'\nset ylabel 'W_2 / sd'\n"
                  "set label 'inside' at graph 0.5,0.5\nplot [0:1] [-1.5:2] x notitle\n");
    testing::internal::CaptureStderr();
    picture.draw("Three labels", "of one panel", 600, 400);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said(120), "");
  for (const int narrow : {75, 70}) {  // gnuplot 5.4 cuts the label, or draws none
    const std::string lines = said(narrow);
    EXPECT_NE(lines.find("lacks the label \"W_2 / sd\""), std::string::npos) << narrow << lines;
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1) << narrow << lines;
  }
}

TEST(Plot, LegendsThatTheDrawingByGnuplotLacksAreNamed) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no gnuplot";
  const test::TemporaryFolder folder;
  const auto said = [&](const std::string& name, const std::string& others) {
    Picture picture(folder.path(), "legends");
    picture.legend("NaN with lines title '" + name + "'" + others);
    picture.panel(slide, "", "plot [0:1] [0:1] x title 'x\\_1 of ''both''', 0.5 notitle\n");
    testing::internal::CaptureStderr();
    picture.draw("Legends", "in the panel, and below it");
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said("short", ", NaN with points title 'names'"), "");
  const std::string lines = said(std::string(40, 'n'), ", NaN title 'two', NaN title 'three'");
  EXPECT_NE(lines.find("lacks the label \"three\""), std::string::npos) << lines;
}

TEST(Plot, PanelsAreSlidesByGnuplotWhereOneAsks) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no gnuplot";
  const test::TemporaryFolder folder;
  for (const bool each : {false, true}) {
    Picture picture(folder.path(), "parts", each);
    picture.shared("set ylabel 'height'\n");
    picture.legend("NaN with lines title 'a line'");
    for (const std::size_t i : {0, 1})
      picture.panel(column(i, 2), i == 0 ? "left" : "", "plot [0:1] [0:1] x notitle\n");
    picture.further("another", "plot [0:1] [0:1] x**2 notitle\n");
    picture.draw("The message", "settings");
    for (const char* part : {"parts_1.svg", "parts_2.svg", "parts_3.svg"})
      EXPECT_EQ(std::filesystem::exists(folder.path() / part), each) << part;
  }
  EXPECT_EQ(test::contents(folder.path() / "parts.svg").find("another"), std::string::npos);
  int number = 0;
  for (const std::string title : {"left", "The message", "another"}) {
    const std::string svg =
        test::contents(folder.path() / detail::join("parts_", ++number, ".svg"));
    for (const std::string& text : {"<title>" + title + "</title>", std::string("height"),
                                    std::string("a line"), std::string("viewBox=\"0 0 960 540\"")})
      EXPECT_NE(svg.find(text), std::string::npos) << number << ": " << text;
  }
}

TEST(Plot, SlidesByGnuplotNeedNoPanelOfTheirPicture) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no gnuplot";
  const test::TemporaryFolder folder;
  Picture picture(folder.path(), "further", true);
  for (const char* title : {"one", "two"}) picture.further(title, "plot [0:1] [0:1] x notitle\n");
  picture.draw("No panel", "and two slides");
  for (const char* part : {"further.svg", "further_1.svg", "further_2.svg"})
    EXPECT_TRUE(std::filesystem::exists(folder.path() / part)) << part;
}

/// Card of every example.
class EveryExample : public test::Program, public testing::WithParamInterface<std::string> {
 protected:
  EveryExample() : Program(GetParam()) {}
};

/// The options of a help text, each as one line.
std::vector<std::string> options_of(const std::string& help) {
  std::vector<std::string> options;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  -"))
      options.push_back(line);
    else if (line.starts_with("    ") && !options.empty())
      options.back() += " " + line.substr(line.find_first_not_of(' '));
    else if (!options.empty())
      break;
  }
  return options;
}

TEST_P(EveryExample, SaysOfEveryOptionWhenOneWouldChangeIt) {
  const std::vector<std::string> options = options_of(run_bare("--help").out);
  ASSERT_GE(options.size(), 8u);
  const std::regex two_sentences("  -.*[^.]\\. [A-Z0-9].*");
  for (const std::string& option : options)
    EXPECT_TRUE(option.starts_with("  -h,--help") || std::regex_match(option, two_sentences))
        << option;
}

TEST_P(EveryExample, HelpStaysWithinItsWidth) {
  std::istringstream lines(run_bare("--help").out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width(line), 90u) << line;
}

TEST_P(EveryExample, ASeedThatIsTooLargeIsToldTheLargest) {
  const Run bad = run_bare("--seed 99999999999999999999999");
  test::expect_bad_usage(bad.status, bad.error, "--seed");
  EXPECT_NE(bad.error.find("at most 18446744073709551615"), std::string::npos) << bad.error;
}

TEST_P(EveryExample, NamesCommandsToTryAndWhatToWatch) {
  std::istringstream lines(run_bare("--help").out);
  std::string line;
  while (std::getline(lines, line) && !line.ends_with(". Try")) {
  }
  const std::string begin = "  examples/run " + GetParam() + " ";
  int commands = 0;
  while (std::getline(lines, line)) {
    if (!line.starts_with(begin)) continue;
    for (std::string more; line.ends_with(" \\") && std::getline(lines, more);)
      line = line.substr(0, line.size() - 1) + more;
    // The command is understood up to the folder without a name, which is refused.
    const Run refused = run_bare(line.substr(begin.size()) + " --out ''");
    test::expect_bad_usage(refused.status, refused.error, "--out");
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_TRUE(line.starts_with("      ")) << "what to watch: " << line;
    ++commands;
  }
  EXPECT_GE(commands, 2);
}

INSTANTIATE_TEST_SUITE_P(All, EveryExample, testing::ValuesIn(test::studies()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace ladon::report_test
