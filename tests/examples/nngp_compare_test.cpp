// The comparison example as a user runs it: exit statuses, the JSON contract, determinism, and the
// lesson itself.

#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ladon/core/io/tensors/npy.h"
#include "ladon/core/random.h"
#include "ladon/tests/examples/program.h"

namespace ladon {
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
  for (const char* option :
       {"--preset", "--inputs", "--zeta", "--scaling", "--widths", "--draws", "--heads",
        "--head-width", "--gaussian-draws", "--threads", "--seed", "--out", "--json"})
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
  EXPECT_NE(flat.error.find("[N, T, d]"), std::string::npos) << flat.error;
  EXPECT_EQ(std::count(flat.error.begin(), flat.error.end(), '\n'), 1) << flat.error;
  EXPECT_TRUE(flat.report.is_null()) << "a failed run wrote a report";
}

TEST_F(NngpCompare, ShowsThatOneHeadIsNotEnough) {
  const Run result = run(
      "--widths 16,64,256 --draws 60 --heads 1,4,16 --head-width 32 --gaussian-draws 600 --seed 3");
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
  for (const int heads : {1, 4, 16}) {
    const auto& found = row(result, "sqrt, H = " + std::to_string(heads));
    const double z =
        (found.at("kurtosis").at("mean").get<double>() - found.at("law").at("mean").get<double>()) /
        found.at("kurtosis").at("se").get<double>();
    EXPECT_LT(std::abs(z), 3) << heads << " heads";
  }
  EXPECT_LT(row(result, "sqrt, H = 1").at("ks_p").at("mean").get<double>(), 1e-6);
  if (std::system("gnuplot --version >/dev/null 2>&1") == 0) {
    EXPECT_EQ(result.error, "") << "progress or noise where there is no terminal";
    for (const char* picture :
         {"nngp_compare.svg", "nngp_compare_kurtosis.svg", "nngp_compare_density.svg",
          "nngp_compare_mean.svg", "nngp_compare_heads.svg"})
      EXPECT_NE(contents(pictures() / picture).find("</svg>"), std::string::npos) << picture;
  }
}

TEST_F(NngpCompare, EveryColumnIsExplained) {
  const std::string small = " --draws 3 --heads 1 --head-width 8 --gaussian-draws 3";
  for (const char* preset : {"tour --widths 8", "reference --widths 8"}) {
    const Run result = run("--preset " + std::string(preset) + small);
    ASSERT_EQ(result.status, 0) << result.error;
    nlohmann::json columns;
    for (const auto& table : result.report.at("tables")) columns.update(table.at("columns"));
    EXPECT_EQ(columns.contains("reference"), std::string(preset).starts_with("reference"));
    EXPECT_EQ(columns.contains("kurtosis"), std::string(preset).starts_with("tour"));
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

TEST_F(NngpCompare, DrawsWhateverThereIsWithoutNoise) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs gnuplot";
  Generator rng(1);
  save_npy((folder_ / "one.npy").string(), normal({1, 1, 4}, rng));
  const std::string one_position = "--inputs " + (folder_ / "one.npy").string();
  const std::string few = " --widths 16 --draws 3 --heads 1 --gaussian-draws 3 --head-width 16";
  const auto has_heads = [&] {
    return std::filesystem::exists(pictures() / "nngp_compare_heads.svg");
  };
  for (const std::string& arguments :
       {one_position, std::string("--scaling linear"), std::string("--preset reference"),
        std::string("--zeta relu"), std::string()}) {
    std::filesystem::remove_all(pictures());
    const Run result = run(arguments + few);
    EXPECT_EQ(result.status, 0) << arguments;
    EXPECT_EQ(result.error, "") << arguments;
    EXPECT_TRUE(std::filesystem::exists(pictures() / "nngp_compare.svg")) << arguments;
    EXPECT_EQ(has_heads(), arguments.empty() || arguments == "--zeta relu") << arguments;
  }
}

TEST_F(NngpCompare, SameBitsAtAnyNumberOfThreads) {
  const std::string arguments =
      "--widths 8,16 --draws 12 --heads 1,2 --head-width 8 --gaussian-draws 40 ";
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

TEST_F(NngpCompare, TakesInputsAndEveryZeta) {
  Generator rng(1);
  save_npy((folder_ / "x.npy").string(), normal({2, 3, 5}, rng));
  const std::string small = " --widths 8 --draws 6 --heads 2 --head-width 8 --gaussian-draws 20 ";
  for (const char* zeta : {"softmax", "relu", "abs"}) {
    const Run result = run("--inputs " + (folder_ / "x.npy").string() + small + "--zeta " + zeta);
    EXPECT_EQ(result.status, 0) << zeta << '\n' << result.error;
    EXPECT_NE(result.out.find("2 inputs of 3 tokens of 5 channels"), std::string::npos);
    EXPECT_GT(row(result, "sqrt, H = 2").at("wide_law").at("mean").get<double>(), 0) << zeta;
  }
  EXPECT_EQ(run("--scaling linear" + small).status, 0);
  EXPECT_EQ(run("--scaling sqrt" + small).status, 0);
}

TEST_F(NngpCompare, WhatAnOptionMayBeIsSaidInWords) {
  for (const auto& [option, value] : {std::pair<std::string, std::string>("--widths", "0"),
                                      {"--widths", "8,-1"},
                                      {"--draws", "2"},
                                      {"--heads", "1,x"},
                                      {"--head-width", "99999999999999999999"},
                                      {"--gaussian-draws", "1e9"},
                                      {"--scaling", "sqrt,sqrt"},
                                      {"--seed", "-1"}}) {
    const Run bad = run(option + " " + value);
    test::expect_bad_usage(bad.status, bad.error, option);
  }
  EXPECT_EQ(run_bare("--json /proc/x.json").status, 1);
}

TEST_F(NngpCompare, TheReportHoldsWhatThePanelsDraw) {
  const Run result =
      run("--widths 8,16 --draws 12 --heads 1,2,4,8 --head-width 8 --gaussian-draws 90");
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

// The lines of the densities are the law that the table's kurtosis is held to: for wide heads with
// identity ζ that is known exactly.
TEST_F(NngpCompare, TheLawOfHeadsHasTheKurtosisOfTheory) {
  const Run result =
      run("--scaling sqrt --widths 8 --draws 3 --heads 1,4 --head-width 8 --gaussian-draws 3");
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
  const Run linear = run("--scaling linear --widths 8 --draws 3 --heads 1 --gaussian-draws 3");
  EXPECT_TRUE(linear.report.at("density").at(0).at("law").is_null());
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
}  // namespace ladon
