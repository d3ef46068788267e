// The example of particles in the plane as a user runs it: exit statuses, the format of its JSON
// report, determinism, the exact moments that it compares with, and its main results.

#include <cmath>
#include <csignal>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ladon/tests/examples/program.h"

namespace ladon::particles_test {
namespace {

using test::contents;

class Particles : public test::Program {
 protected:
  Particles() : Program("particles") {}

  static const nlohmann::json& of(const Run& run, std::string_view target,
                                  std::string_view method) {
    for (const auto& each : run.report.at("runs"))
      if (each.at("target") == target && each.at("method") == method) return each;
    throw std::runtime_error("no run of " + std::string(method) + " on " + std::string(target));
  }
  static const nlohmann::json& row(const Run& run, std::string_view name) {
    for (const auto& each : run.report.at("rows"))
      if (each.at("method") == name) return each;
    throw std::runtime_error("no row " + std::string(name));
  }
  /// Average of independent draws.
  static double chance(const Run& run, const std::string& target, const char* figure) {
    return row(run, target + ", independent draws").at(figure).at("mean");
  }
  static bool has_gnuplot() { return std::system("gnuplot --version >/dev/null 2>&1") == 0; }

  const std::string once = " --seeds 1 ";  ///< One run of each method.
};

TEST_F(Particles, HelpSaysWhatItTeaches) {
  const Run help = run("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("start at one side"), std::string::npos);
  for (const char* option :
       {"--targets", "--methods", "--particles", "--steps", "--rate", "--alpha", "--noise",
        "--apart", "--seeds", "--threads", "--seed", "--out", "--json"})
    EXPECT_NE(help.out.find(option), std::string::npos) << option;
}

TEST_F(Particles, WhatAnOptionMayBeIsSaidInWords) {
  for (const auto& [option, value] : {std::pair<std::string, std::string>("--targets", "cube"),
                                      {"--targets", "ring,ring"},
                                      {"--methods", "adam"},
                                      {"--methods", "svgd,svgd"},
                                      {"--particles", "0"},
                                      {"--seeds", "0"},
                                      {"--steps", "1e9"},
                                      {"--rate", "0"},
                                      {"--alpha", "automatic"},
                                      {"--alpha", "0"},
                                      {"--noise", "-1"},
                                      {"--apart", "7"}}) {
    const Run bad = run(option + " " + value);
    EXPECT_EQ(bad.status, 2) << option << ' ' << value;
    EXPECT_NE(bad.error.find(option), std::string::npos) << bad.error;
  }
  EXPECT_EQ(run("--no-such-option").status, 2);
  const Run failed = run_bare("--json /proc/x.json");
  EXPECT_EQ(failed.status, 1);
  EXPECT_EQ(std::count(failed.error.begin(), failed.error.end(), '\n'), 1) << failed.error;
}

// Moments by hand. Ring: the density of the radius is r·N(r; 2, 0.35²), so E r² = E₀r³/E₀r = (8 +
// 6·0.1225)/2, half of it a coordinate. Banana: y = ½x² − 1 + e, var x² = 2·1.44². Funnel: E e^x =
// e^(1.44/2).
TEST_F(Particles, TheTruthIsThatOfClosedForms) {
  const Run result = run("--steps 1 --methods none --particles 50 --apart 3" + once);
  ASSERT_EQ(result.status, 0) << result.error;
  const auto expect = [&](const char* target, double mean_y, double variance_x, double variance_y) {
    const auto& truth = result.report.at("truth").at(target);
    EXPECT_NEAR(truth.at("mean").at(0), 0, 1e-6) << target;
    EXPECT_NEAR(truth.at("mean").at(1), mean_y, 1e-6) << target;
    EXPECT_NEAR(truth.at("variance").at(0), variance_x, 1e-5) << target;
    EXPECT_NEAR(truth.at("variance").at(1), variance_y, 1e-5) << target;
    // 200 sets of 50 draws: their inner half is known to 0.005, one standard error.
    EXPECT_NEAR(chance(result, target, "inner_half"), 0.5, 0.02) << target;
  };
  expect("gaussian", 0, 2, 1);
  expect("modes", 0, 0.36 + 1.5 * 1.5, 0.36);
  expect("ring", 0, (8 + 6 * 0.1225) / 4, (8 + 6 * 0.1225) / 4);
  expect("banana", 0.72 - 1, 1.44, 0.25 + 0.5 * 1.44 * 1.44);
  expect("funnel", 0, 1.44, std::exp(0.72));
  EXPECT_NEAR(result.report.at("truth").at("modes").at("mode_mass"), 0.5, 1e-9);
  // Of 50 draws the variance, divided by 50, is 49/50 of the target's on average.
  EXPECT_NEAR(chance(result, "gaussian", "variance_ratio"), 0.98, 0.04);
}

// A particle that climbs alone ends at the nearest mode. Repulsion carries some to the other;
// chains forget where they began: of the second half, 40 units of time, 50 chains that cross about
// every five tell the share to 0.5/sqrt(50·40/10) = 0.035.
TEST_F(Particles, RepulsionAndChainsReachTheSecondMode) {
  const Run result = run("--targets modes" + once);
  ASSERT_EQ(result.status, 0) << result.error;
  const auto mass = [&](const char* method) {
    return of(result, "modes", method).at("mode_mass").get<double>();
  };
  EXPECT_EQ(mass("none"), 0);
  EXPECT_LT(of(result, "modes", "none").at("variance_ratio"), 1e-12);
  EXPECT_EQ(of(result, "modes", "none").at("inner_half"), 1);
  EXPECT_GE(mass("svgd"), 0.1);
  EXPECT_LE(mass("svgd"), 0.4) << "is it no longer slow?";
  for (const char* method : {"spos", "wgd"}) {
    EXPECT_GE(mass(method), 0.25) << method;
    EXPECT_LE(mass(method), 0.75) << method;
  }
  for (const char* method : {"sgld", "hmc"})
    EXPECT_NEAR(of(result, "modes", method).at("pooled_mode_mass"), 0.5, 4 * 0.035) << method;
}

// The discrepancy looks at scores, and those at one of two modes far apart are as they should be.
TEST_F(Particles, TheDiscrepancyDoesNotMissAMode) {
  const Run result = run("--targets modes --apart 4 --methods none,svgd" + once);
  ASSERT_EQ(result.status, 0) << result.error;
  const auto& svgd = of(result, "modes", "svgd");
  EXPECT_EQ(svgd.at("mode_mass"), 0);
  EXPECT_GT(svgd.at("mean_error"), 0.8);
  const double by_chance = chance(result, "modes", "ksd");
  EXPECT_LT(svgd.at("ksd"), by_chance);
  EXPECT_GT(of(result, "modes", "none").at("ksd"), by_chance);
}

/// The smaller eigenvalue of the covariance of places.
double narrow_variance(const nlohmann::json& places) {
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  const auto n = static_cast<double>(places.size());
  for (const auto& p : places) {
    const double px = p.at(0), py = p.at(1);
    x += px / n;
    y += py / n;
    xx += px * px / n;
    yy += py * py / n;
    xy += px * py / n;
  }
  const double a = xx - x * x, b = yy - y * y, c = xy - x * y;
  return (a + b) / 2 - std::hypot((a - b) / 2, c);
}

// N(0, [[2, 1.2], [1.2, 1]]) has variances 2.80 and 0.20 along its axes. wgd sees its particles
// through a blur of width h, and holds a direction of variance λ at λ − h²: h² is above 0.2 here,
// and they become a line. Chains, over the second half: the slow direction forgets in 2.8 units of
// time, so 50 chains of 40 units know its mean to sqrt(2·2.8/(50·40)) = 0.053 standard deviations
// and its variance to sqrt(2) times half of that (squares forget twice as fast: sqrt(2·2.8/(50·40))
// = 0.053 again).
TEST_F(Particles, OnAGaussianChainsAreRightAndWgdIsALine) {
  const Run result = run("--targets gaussian" + once);
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_LT(narrow_variance(of(result, "gaussian", "wgd").at("places")), 1e-3);
  const double svgd = narrow_variance(of(result, "gaussian", "svgd").at("places"));
  EXPECT_GT(svgd, 0.1);
  EXPECT_LT(svgd, 0.25);
  for (const char* method : {"sgld", "hmc"}) {
    const auto& chains = of(result, "gaussian", method);
    EXPECT_LT(chains.at("pooled_mean_error"), 4 * 0.053) << method;
    EXPECT_NEAR(chains.at("pooled_variance_ratio"), 1, 4 * 0.053) << method;
    EXPECT_NEAR(chains.at("pooled_inner_half"), 0.5, 0.1) << method;
  }
  EXPECT_LT(of(result, "gaussian", "none").at("mean_error"), 1e-6) << "the mode is the mean";
  EXPECT_LT(of(result, "gaussian", "none").at("variance_ratio"), 1e-12);
}

TEST_F(Particles, EveryColumnIsExplained) {
  const Run result = run("--targets modes --steps 20 --particles 5" + once);
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.report.at("example"), "particles");
  EXPECT_EQ(result.report.at("rows").size(), 6u + 1);
  nlohmann::json columns;
  for (const auto& table : result.report.at("tables")) columns.update(table.at("columns"));
  for (const auto& [name, column] : columns.items()) {
    const std::string meaning = column.at("meaning");
    const std::size_t line = result.out.rfind('\n' + name + ' ');
    ASSERT_NE(line, std::string::npos) << name;
    const std::string text = result.out.substr(line, 100);
    EXPECT_NE(text.find(meaning.substr(0, meaning.find(' '))), std::string::npos) << text;
  }
  const auto& figures = row(result, "modes, svgd");
  for (const char* name : {"mean_error", "variance_ratio", "inner_half", "mode_mass", "ksd"})
    EXPECT_EQ(figures.at(name).at("mean"), of(result, "modes", "svgd").at(name)) << name;
}

TEST_F(Particles, SameBitsAtAnyNumberOfThreads) {
  const std::string arguments = "--seeds 2 --steps 60 --particles 20 ";
  const Run one = run(arguments + "--threads 1"), three = run(arguments + "--threads 3");
  ASSERT_EQ(one.status, 0) << one.error;
  for (const char* what : {"rows", "runs", "truth"})
    EXPECT_EQ(one.report.at(what), three.report.at(what)) << what;
  EXPECT_NE(one.report.at("rows"), run(arguments + "--seed 2").report.at("rows"));
}

TEST_F(Particles, RowsAreMeansOverSeeds) {
  const std::string few = "--targets modes --methods svgd,sgld --steps 200 --particles 10 ";
  const Run three = run(few + "--seed 4 --seeds 3"), last = run(few + "--seed 6 --seeds 1");
  ASSERT_EQ(three.status, 0) << three.error;
  std::vector<double> figures;
  for (const auto& each : three.report.at("runs")) {
    if (each.at("method") != "sgld") continue;
    EXPECT_EQ(each.at("seed"), 4 + figures.size());
    figures.push_back(each.at("variance_ratio"));
  }
  ASSERT_EQ(figures.size(), 3u);
  const double mean = (figures[0] + figures[1] + figures[2]) / 3;
  double squares = 0;
  for (const double x : figures) squares += (x - mean) * (x - mean);
  const auto& found = row(three, "modes, sgld").at("variance_ratio");
  EXPECT_NEAR(found.at("mean"), mean, 1e-12);
  EXPECT_NEAR(found.at("se"), std::sqrt(squares / 2 / 3), 1e-12);
  EXPECT_EQ(of(last, "modes", "sgld").at("variance_ratio"), figures[2]) << "a seed alone differs";
}

TEST_F(Particles, DrawsWhateverThereIsWithoutNoiseByGnuplot) {
  if (!has_gnuplot()) GTEST_SKIP() << "needs gnuplot";
  for (const std::string& arguments :
       {std::string("--particles 1"), std::string("--targets banana --methods wgd"),
        std::string("--alpha auto"), std::string("--rate 30 --methods none,svgd,hmc")}) {
    std::filesystem::remove_all(pictures());
    const Run result = run("--seeds 1 --steps 30 " + arguments);
    EXPECT_EQ(result.status, 0) << arguments;
    EXPECT_EQ(result.error, "") << arguments;
    EXPECT_NE(contents(pictures() / "particles.svg").find("</svg>"), std::string::npos)
        << arguments;
  }
}

TEST_F(Particles, WhoRunsAwayIsToldAndNotJudged) {
  const Run result = run("--rate 2 --targets banana --methods none,svgd --steps 200" + once);
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(row(result, "banana, none").at("diverged"), true);
  EXPECT_TRUE(row(result, "banana, none").at("ksd").at("mean").is_null());
  EXPECT_GT(of(result, "banana", "none").at("diverged_at"), 1);
  EXPECT_NE(result.out.find("diverged"), std::string::npos);
}

TEST_F(Particles, AnInterruptLeavesWhatIsFinished) {
  const Run ended = interrupted("--seeds 1 --particles 150 --steps 100000", SIGTERM);
  EXPECT_EQ(ended.status, 130) << ended.error;
  ASSERT_FALSE(ended.report.is_null());
  EXPECT_EQ(ended.report.at("interrupted"), true);
  EXPECT_GE(ended.report.at("rows").size(), 2u);
  EXPECT_LT(ended.report.at("rows").size(), 35u);
  EXPECT_NE(ended.out.find("\nnone "), std::string::npos) << ended.out;
}

}  // namespace
}  // namespace ladon::particles_test
