// The study nngp_compare as a user runs it: exit statuses, the format of its JSON report,
// determinism, and its main result.

#include <cmath>
#include <csignal>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ladon/core/extra/io/npy.h"
#include "ladon/core/random.h"
#include "ladon/tests/examples/program.h"

namespace ladon::nngp_compare_test {
namespace {

using test::contents;

class NngpCompare : public test::Program {
 protected:
  NngpCompare() : Program("nngp_compare") {}

  static const nlohmann::json& row(const Run& run, std::string_view method) {
    for (const auto& row : run.report.at("rows"))
      if (row.at("method") == method) return row;
    throw std::runtime_error("no row " + std::string(method));
  }
};

TEST_F(NngpCompare, HelpSaysWhatItTeaches) {
  const Run help = run("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("only many heads"), std::string::npos);
  for (const char* option : {"--preset", "--inputs", "--zeta", "--scaling", "--widths", "--draws",
                             "--threads", "--seed", "--out", "--json"})
    EXPECT_NE(help.out.find(option), std::string::npos) << option;
}

TEST_F(NngpCompare, BadUsageIsTwoAndFailureIsOneLine) {
  EXPECT_EQ(run("--no-such-option").status, 2);
  EXPECT_EQ(run("--zeta tanh").status, 2);
  EXPECT_EQ(run("--widths 0").status, 2);
  EXPECT_EQ(run("--inputs none.npy").status, 2);
  save_npy((folder_ / "flat.npy").string(), zeros({3, 4}));
  const Run flat = run("--inputs " + (folder_ / "flat.npy").string());
  EXPECT_EQ(flat.status, 1);
  EXPECT_NE(flat.error.find("[inputs, tokens, channels]"), std::string::npos) << flat.error;
  EXPECT_EQ(std::count(flat.error.begin(), flat.error.end(), '\n'), 1) << flat.error;
  EXPECT_TRUE(flat.report.is_null()) << "a failed run wrote a report";
}

TEST_F(NngpCompare, ShowsThatOneHeadIsNotEnough) {
  const Run result = run("--widths 16,64,256 --draws 60 --seed 3");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.report.at("example"), "nngp_compare");
  EXPECT_EQ(result.report.at("settings").at("draws"), 60);
  EXPECT_GT(result.report.at("seconds").get<double>(), 0);
  const auto slope = [&](const std::string& series) {
    const auto& figure = row(result, "slope, " + series).at("ntk_slope");
    return std::pair(figure.at("mean").get<double>(), figure.at("se").get<double>());
  };
  const auto [linear, linear_se] = slope("linear, 1 head");
  EXPECT_LT(linear + 4 * linear_se, -0.2);
  const auto [one, one_se] = slope("sqrt, 1 head");
  EXPECT_GT(one - 4 * one_se, linear + 0.1) << "one head converges, as it must not";
  if (std::system("gnuplot --version >/dev/null 2>&1") == 0) {
    EXPECT_EQ(result.error, "") << "progress or noise where there is no terminal";
    for (const char* picture : {"nngp_compare.svg", "nngp_compare_mean.svg"})
      EXPECT_NE(contents(pictures() / picture).find("</svg>"), std::string::npos) << picture;
  }
}

TEST_F(NngpCompare, EveryColumnIsExplained) {
  for (const char* preset : {"tour --widths 8", "reference --widths 8"}) {
    const Run result = run("--draws 3 --preset " + std::string(preset));
    ASSERT_EQ(result.status, 0) << result.error;
    nlohmann::json columns;
    for (const auto& table : result.report.at("tables")) columns.update(table.at("columns"));
    EXPECT_EQ(columns.contains("reference"), std::string(preset).starts_with("reference"));
    for (const auto& [name, column] : columns.items()) {
      // Its line begins with the name, and goes on with the meaning's first word.
      const std::string meaning = column.at("meaning");
      const std::size_t line = result.out.rfind('\n' + name + ' ');
      ASSERT_NE(line, std::string::npos) << name;
      const std::string text = result.out.substr(line, 100);
      EXPECT_NE(text.find(meaning.substr(0, meaning.find(' '))), std::string::npos) << text;
    }
  }
}

TEST_F(NngpCompare, DrawsWhateverThereIsWithoutNoiseByGnuplot) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs gnuplot";
  Generator rng(1);
  save_npy((folder_ / "one.npy").string(), normal({1, 1, 4}, rng));
  for (const std::string& arguments :
       {"--inputs " + (folder_ / "one.npy").string(), std::string("--scaling linear"),
        std::string("--preset reference")}) {
    std::filesystem::remove_all(pictures());
    const Run result = run(arguments + " --widths 16 --draws 3");
    EXPECT_EQ(result.status, 0) << arguments;
    EXPECT_EQ(result.error, "") << arguments;
    EXPECT_TRUE(std::filesystem::exists(pictures() / "nngp_compare.svg")) << arguments;
  }
}

TEST_F(NngpCompare, SameBitsAtAnyNumberOfThreads) {
  const std::string arguments = "--widths 8,16 --draws 12 ";
  const Run one = run(arguments + "--threads 1"), three = run(arguments + "--threads 3");
  ASSERT_EQ(one.status, 0) << one.error;
  EXPECT_EQ(one.report.at("rows"), three.report.at("rows"));
  EXPECT_NE(one.report.at("rows"), run(arguments + "--seed 2").report.at("rows"));
}

// 100 networks each; the figures of the other program have errors of their own, about as large.
TEST_F(NngpCompare, ReproducesKnownErrors) {
  const Run result = run("--preset reference --widths 16,64");
  ASSERT_EQ(result.status, 0) << result.error;
  for (const char* network :
       {"linear softmax, sqrt(w) heads, w = 16", "linear softmax, sqrt(w) heads, w = 64",
        "sqrt identity, sqrt(w) heads, w = 16", "sqrt identity, sqrt(w) heads, w = 64",
        "linear softmax, 1 head, w = 64", "linear softmax, 1 head, w = 256",
        "sqrt identity, 1 head, w = 64", "sqrt identity, 1 head, w = 256"}) {
    const auto& found = row(result, network);
    const double error = found.at("ntk_error").at("mean"), se = found.at("ntk_error").at("se");
    const double known = found.at("reference").at("mean");
    EXPECT_LT(std::abs(error - known), 3 * std::sqrt(2) * se) << network << ": " << error;
  }
  const Run other = run("--preset reference --widths 32 --draws 3");
  EXPECT_TRUE(row(other, "linear softmax, 1 head, w = 128").at("reference").at("mean").is_null());
}

TEST_F(NngpCompare, WhatAnOptionMayBeIsSaidInWords) {
  for (const auto& [option, value] : {std::pair<std::string, std::string>("--widths", "0"),
                                      {"--widths", "8,-1"},
                                      {"--draws", "2"},
                                      {"--scaling", "sqrt,sqrt"},
                                      {"--seed", "-1"}}) {
    const Run bad = run(option + " " + value);
    test::expect_bad_usage(bad.status, bad.error, option);
  }
  EXPECT_EQ(run_bare("--json /proc/x.json").status, 1);
}

TEST_F(NngpCompare, TheReportHoldsWhatThePanelsDraw) {
  const Run result = run("--widths 8,16 --draws 12");
  ASSERT_EQ(result.status, 0) << result.error;
  ASSERT_EQ(result.report.at("entries").size(), 3u);
  for (const auto& each : result.report.at("entries"))
    for (const char* kernel : {"nngp", "ntk"})
      for (const char* part : {"limit", "mean", "se"})
        EXPECT_EQ(each.at(kernel).at(part).size(), 144u) << kernel << ' ' << part;
  for (const auto& each : result.report.at("entries")) {
    // Of 12 positions, every pair once in each of two kernels.
    const std::vector<double> z = each.at("z_scores");
    ASSERT_EQ(z.size(), 2u * 12 * 13 / 2) << each.at("series");
    const double first = (each.at("nngp").at("mean").at(0).get<double>() -
                          each.at("nngp").at("limit").at(0).get<double>()) /
                         each.at("nngp").at("se").at(0).get<double>();
    EXPECT_NEAR(z[0], first, 1e-9 * std::abs(first));
  }
}

TEST_F(NngpCompare, TakesInputsAndEveryZeta) {
  Generator rng(1);
  save_npy((folder_ / "x.npy").string(), normal({2, 3, 5}, rng));
  for (const char* zeta : {"softmax", "relu", "abs"}) {
    const Run result = run("--inputs " + (folder_ / "x.npy").string() +
                           " --widths 8 --draws 6 --zeta " + std::string(zeta));
    EXPECT_EQ(result.status, 0) << zeta << '\n' << result.error;
    EXPECT_NE(result.out.find("2 inputs of 3 tokens of 5 channels"), std::string::npos);
  }
}

TEST_F(NngpCompare, AnInterruptLeavesWhatIsFinished) {
  std::string widths = "8";
  for (int i = 0; i < 3000; ++i) widths += ",8";
  const Run ended = interrupted("--draws 200 --widths " + widths, SIGTERM);
  EXPECT_EQ(ended.status, 130) << ended.error;
  ASSERT_FALSE(ended.report.is_null());
  EXPECT_EQ(ended.report.at("interrupted"), true);
  const std::size_t rows = ended.report.at("rows").size();
  EXPECT_GT(rows, 1u);
  EXPECT_LT(rows, 3000u);
  EXPECT_NE(ended.out.find("\nlinear, 1 head, w = 8"), std::string::npos) << ended.out;
}

}  // namespace
}  // namespace ladon::nngp_compare_test
