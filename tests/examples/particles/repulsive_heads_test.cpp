// The main example, repulsive_heads, as a user runs it: exit statuses, the format of its JSON
// report, determinism.

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>

#include "ladon/core/version.h"
#include "ladon/tests/examples/program.h"

namespace ladon::repulsive_heads_test {
namespace {

using test::contents;

class RepulsiveHeads : public test::Program {
 protected:
  RepulsiveHeads() : Program("repulsive_heads") {}

  static nlohmann::json figures(const Run& run) { return run.report.at("rows"); }
};

TEST_F(RepulsiveHeads, HelpSaysWhatItTeaches) {
  const Run help = run("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("repel each other"), std::string::npos);
  for (const char* option : {"--format", "--glove", "--heads", "--layers", "--dim", "--alpha",
                             "--seeds", "--epochs", "--threads", "--seed", "--out", "--json"})
    EXPECT_NE(help.out.find(option), std::string::npos) << option;
}

TEST_F(RepulsiveHeads, BadUsageIsTwoAndFailureIsOneLine) {
  EXPECT_EQ(run("--no-such-option").status, 2);
  EXPECT_EQ(run("--format parquet").status, 2);
  EXPECT_EQ(run("--heads 0").status, 2);
  const Run missing = run("--format trec --train none.train --test none.test");
  EXPECT_EQ(missing.status, 1);
  EXPECT_NE(missing.error.find("none.train"), std::string::npos);
  EXPECT_EQ(std::count(missing.error.begin(), missing.error.end(), '\n'), 1) << missing.error;
  const Run indivisible = run("--heads 7");
  EXPECT_EQ(indivisible.status, 2);
  EXPECT_NE(indivisible.error.find("7 heads do not divide --dim 64"), std::string::npos);
  EXPECT_TRUE(missing.report.is_null()) << "a failed run wrote a report";
}

TEST_F(RepulsiveHeads, ReportsEveryFigureAndDrawsThePicture) {
  const Run result = run("--seeds 2 --epochs 1 --dim 16 --heads 2 --seed 5");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.report.at("example"), "repulsive_heads");
  EXPECT_EQ(result.report.at("settings").at("heads"), 2);
  EXPECT_GT(result.report.at("seconds").get<double>(), 0);
  std::vector<std::string> methods;
  for (const auto& row : result.report.at("rows")) {
    methods.push_back(row.at("method"));
    for (const char* figure : {"accuracy", "nll", "ece", "ood_auroc"}) {
      EXPECT_TRUE(row.at(figure).at("mean").is_number()) << figure;
      EXPECT_TRUE(row.at(figure).at("se").is_number()) << figure;
    }
  }
  EXPECT_EQ(methods,
            (std::vector<std::string>{"plain", "smoothing", "svgd", "spos", "wgd", "cosine"}));
  if (std::system("gnuplot --version >/dev/null 2>&1") == 0) {
    EXPECT_EQ(result.error, "") << "progress or noise where there is no terminal";
    const std::string svg = contents(pictures() / "repulsive_heads.svg");
    EXPECT_NE(svg.find("</svg>"), std::string::npos);
    EXPECT_NE(svg.find("<desc>generated task, 2 heads, 1 layer of width 16"), std::string::npos)
        << svg.substr(0, 400);
  }
  const std::string legend = result.out.substr(result.out.find("accuracy ↑  "));
  for (const auto& [column, what] : result.report.at("columns").items()) {
    EXPECT_FALSE(what.at("meaning").get<std::string>().empty());
    EXPECT_NE(legend.find("\n" + column + " "), std::string::npos) << column;
  }
}

TEST_F(RepulsiveHeads, SameBitsAtAnyNumberOfThreads) {
  const std::string arguments =
      "--seeds 1 --epochs 2 --heads 4 --dim 32 --methods plain,svgd,spos ";
  const Run one = run(arguments + "--threads 1"), three = run(arguments + "--threads 3");
  ASSERT_EQ(one.status, 0) << one.error;
  EXPECT_EQ(figures(one), figures(three));
  EXPECT_NE(figures(one), figures(run(arguments + "--seed 2")));
}

TEST_F(RepulsiveHeads, OneHeadHasNothingToRepel) {
  const Run result = run("--seeds 1 --epochs 1 --heads 1 --dim 16 --methods plain,svgd");
  ASSERT_EQ(result.status, 0) << result.error;
  auto rows = figures(result);
  for (auto& row : rows) row.erase("method");
  EXPECT_EQ(rows[0], rows[1]);
}

TEST_F(RepulsiveHeads, ReadsEveryTextFormat) {
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  };
  const std::string trec = write("trec", "NUM:count How many heads ?\nHUM:ind Who slew it ?\n");
  const std::string tsv = write("tsv", "0\tdull and long\n1\ta fine film\n");
  const std::string bad = write("bad", "dull and long\n"), good = write("good", "a fine film\n");
  const std::string small = " --seeds 1 --epochs 1 --dim 8 --heads 2 --methods plain,svgd ";
  for (const std::string& source :
       {"--format trec --train " + trec + " --test " + trec,
        "--format tsv --train " + tsv + " --test " + tsv,
        "--format lines --train " + bad + " " + good + " --test " + bad + " " + good}) {
    const Run result = run(source + small);
    EXPECT_EQ(result.status, 0) << source << '\n' << result.error;
    EXPECT_NE(result.out.find("2 training and 2 test sentences, 2 classes"), std::string::npos)
        << result.out;
  }
}

TEST_F(RepulsiveHeads, WhatAnOptionMayBeIsSaidInWords) {
  for (const auto& [option, value] : {std::pair<std::string, std::string>("--epochs", "-3"),
                                      {"--epochs", "abc"},
                                      {"--seeds", "0"},
                                      {"--lr", "inf"},
                                      {"--lr", "0"},
                                      {"--dropout", "1.5"},
                                      {"--noise", "-1"},
                                      {"--alpha", "nan"},
                                      {"--seed", "-1"},
                                      {"--seed", "99999999999999999999999"},
                                      {"--threads", "-1"},
                                      {"--threads", "100000"},
                                      {"--heads", "7"},
                                      {"--methods", "plain,plain"},
                                      {"--train", "x"},
                                      {"--test", "x"},
                                      {"--glove", "x"},
                                      {"--format", "trec"},
                                      {"--format", "trec --train x"},
                                      {"--format", "trec --train x y --test z"}}) {
    const Run bad = run(option + " " + value);
    test::expect_bad_usage(bad.status, bad.error, option);
    EXPECT_EQ(bad.out, "") << option << ' ' << value;
  }
  for (const char* option : {"--out", "--json"}) {
    const Run bad = run_bare(std::string(option) + " ''");
    test::expect_bad_usage(bad.status, bad.error, option);
  }
}

TEST_F(RepulsiveHeads, OutputsAreTriedBeforeTheWork) {
  const std::string file = folder_ / "file";
  std::ofstream(file) << "a file";
  for (const std::string& place :
       {"--json " + file + "/x.json", std::string("--json /proc/x.json"),
        "--json " + folder_.path().string(), "--out " + file, std::string("--out /proc")}) {
    const Run failed = run_bare(place);
    EXPECT_EQ(failed.status, 1) << place;
    EXPECT_EQ(failed.out, "") << "it began: " << place;
    EXPECT_NE(failed.error.find(place.substr(place.find(' ') + 1)), std::string::npos)
        << failed.error;
  }
  EXPECT_EQ(contents(file), "a file");
}

TEST_F(RepulsiveHeads, TabsAreWhatTheTsvFormatNeeds) {
  const std::string trec = folder_ / "trec";
  std::ofstream(trec) << "NUM:count How many heads ?\nHUM:ind Who slew it ?\n";
  const Run failed = run("--format tsv --train " + trec + " --test " + trec);
  EXPECT_EQ(failed.status, 1);
  EXPECT_NE(failed.error.find(trec + " has no tab"), std::string::npos) << failed.error;
}

TEST_F(RepulsiveHeads, OneSeedClaimsNoErrorAndNoVerdict) {
  const Run one = run("--seeds 1 --epochs 1 --dim 16 --heads 2 --methods plain,svgd");
  ASSERT_EQ(one.status, 0) << one.error;
  for (const auto& row : one.report.at("rows")) {
    EXPECT_TRUE(row.at("accuracy").at("se").is_null());
    EXPECT_TRUE(row.at("accuracy").at("mean").is_number());
  }
  EXPECT_NE(one.out.find(" ± –"), std::string::npos) << one.out;
  EXPECT_EQ(one.out.find("± 0.0000"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("one seed, no verdict"), std::string::npos) << one.out;
  EXPECT_TRUE(one.report.at("verdict")[0].at("interval").is_null());
  EXPECT_EQ(one.report.at("verdict")[0].at("decision"), "unclear");
  if (std::system("gnuplot --version >/dev/null 2>&1") == 0) {
    EXPECT_EQ(one.error, "") << "gnuplot warns";
  }
}

TEST_F(RepulsiveHeads, ADivergedMethodIsSaidAndSpoilsNoOther) {
  const std::string small = "--seeds 2 --epochs 1 --dim 16 --heads 2 --methods plain,svgd ";
  const Run mixed = run(small + "--alpha 1e200");
  ASSERT_EQ(mixed.status, 0) << mixed.error;
  EXPECT_NE(mixed.out.find("svgd diverged with seed 2 in epoch 1"), std::string::npos) << mixed.out;
  const auto &plain = mixed.report.at("rows")[0], &svgd = mixed.report.at("rows")[1];
  EXPECT_FALSE(plain.contains("diverged"));
  EXPECT_EQ(plain.at("accuracy"), run(small).report.at("rows")[0].at("accuracy"));
  EXPECT_EQ(svgd.at("diverged"), true);
  EXPECT_TRUE(svgd.at("accuracy").at("mean").is_null());
  EXPECT_EQ(mixed.out.find("nan ±"), std::string::npos) << mixed.out;
  const Run all = run(small + "--lr 1e6");
  EXPECT_EQ(all.status, 0) << all.error;
  EXPECT_NE(all.out.find("plain diverged with seed 1 in epoch 1"), std::string::npos) << all.out;
}

TEST_F(RepulsiveHeads, TheReportHoldsWhatPictureAndTestNeed) {
  const Run result = run("--seeds 2 --epochs 3 --dim 16 --heads 4 --methods plain,wgd --threads 1");
  ASSERT_EQ(result.status, 0) << result.error;
  const auto& report = result.report;
  EXPECT_EQ(report.at("settings").at("methods"), (std::vector<std::string>{"plain", "wgd"}));
  EXPECT_EQ(report.at("threads"), 1);
  EXPECT_EQ(report.at("interrupted"), false);
  EXPECT_EQ(report.at("schema"), 2);
  EXPECT_EQ(report.at("version"), version());
  EXPECT_EQ(run_bare("--version").out, "repulsive_heads " + std::string(version()) + " (" +
                                           report.at("commit").get<std::string>() + ")\n");
  const auto& runs = report.at("runs");
  ASSERT_EQ(runs.size(), 4u);
  std::vector<double> accuracy;
  for (const auto& each : runs) {
    EXPECT_EQ(each.at("seed"), accuracy.size() % 2 + 1);
    EXPECT_EQ(each.at("train_loss").size(), 3u);
    EXPECT_LT(each.at("train_loss")[2], each.at("train_loss")[0]);
    EXPECT_EQ(each.at("diverged_in_epoch"), 0);
    accuracy.push_back(each.at("figures").at("accuracy"));
  }
  EXPECT_NEAR(report.at("rows")[1].at("accuracy").at("mean").get<double>(),
              (accuracy[2] + accuracy[3]) / 2, 1e-12);
  const auto& verdict = report.at("verdict")[0];
  EXPECT_EQ(verdict.at("method"), "wgd");
  const double first = accuracy[2] - accuracy[0], second = accuracy[3] - accuracy[1];
  EXPECT_EQ(verdict.at("differences"), (std::vector<double>{first, second}));
  EXPECT_NEAR(verdict.at("difference").at("se").get<double>(), std::abs(first - second) / 2, 1e-12);
  // Four figures are judged together: 5%/4 at one degree of freedom is |t| = 50.923.
  EXPECT_NEAR(verdict.at("corrected_interval").get<double>() / std::abs(first - second) * 2, 50.923,
              1e-3);
  EXPECT_NE(result.out.find("wgd against plain: "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("smallest difference that 2 seeds detect"), std::string::npos)
      << result.out;
}

TEST_F(RepulsiveHeads, SmoothingIsSvgdWithoutRepulsion) {
  const std::string small = "--seeds 1 --epochs 1 --dim 16 --heads 4 ";
  const Run both = run(small + "--methods smoothing,svgd");
  ASSERT_EQ(both.status, 0) << both.error;
  EXPECT_NE(both.out.find("svgd against smoothing: "), std::string::npos) << both.out;
  EXPECT_NE(both.report.at("rows")[0].at("nll"), both.report.at("rows")[1].at("nll"));
  auto none = run(small + "--methods smoothing,svgd --alpha 0").report.at("rows");
  for (auto& row : none) row.erase("method");
  EXPECT_EQ(none[0], none[1]);
}

TEST_F(RepulsiveHeads, AnInterruptLeavesWhatIsFinished) {
  const Run ended =
      interrupted("--seeds 100000 --epochs 1 --dim 8 --heads 2 --methods plain,svgd", SIGINT);
  EXPECT_EQ(ended.status, 130) << ended.error;
  ASSERT_FALSE(ended.report.is_null());
  EXPECT_EQ(ended.report.at("interrupted"), true);
  EXPECT_EQ(ended.report.at("rows").size(), 2u);
  EXPECT_GE(ended.report.at("runs").size(), 2u);
  EXPECT_NE(ended.out.find("\nsvgd "), std::string::npos) << ended.out;
  EXPECT_NE(ended.error.find("repulsive_heads: interrupted"), std::string::npos) << ended.error;
  EXPECT_EQ(ended.out.find("seeds: 100000"), std::string::npos) << ended.out;
  if (std::system("gnuplot --version >/dev/null 2>&1") == 0) {
    const std::string svg = contents(pictures() / "repulsive_heads.svg");
    EXPECT_EQ(svg.find("100000"), std::string::npos) << "seeds that were not run";
  }
}

}  // namespace
}  // namespace ladon::repulsive_heads_test
