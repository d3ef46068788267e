// The main example as a user runs it: exit statuses, the JSON contract, determinism.

#include "ladon/tests/examples/program.h"

namespace ladon {
namespace {

using test::contents;

class RepulsiveHeads : public test::Program {
 protected:
  RepulsiveHeads() : Program("repulsive_heads") {}

  /// What the rows say, without the time it took.
  static nlohmann::json figures(const Run& run) {
    nlohmann::json rows = run.report.at("rows");
    for (auto& row : rows) row.erase("epoch_seconds");
    return rows;
  }
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
  EXPECT_EQ(indivisible.status, 1);
  EXPECT_NE(indivisible.error.find("7 heads do not divide dim = 64"), std::string::npos);
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
    for (const char* figure : {"accuracy", "nll", "ece", "head_distance", "head_cosine",
                               "map_redundancy", "epoch_seconds", "ood_auroc"}) {
      EXPECT_TRUE(row.at(figure).at("mean").is_number()) << figure;
      EXPECT_TRUE(row.at(figure).at("se").is_number()) << figure;
    }
  }
  EXPECT_EQ(methods, (std::vector<std::string>{"plain", "svgd", "spos", "cosine", "wgd"}));
  if (std::system("gnuplot --version >/dev/null 2>&1") == 0) {
    EXPECT_EQ(result.error, "") << "progress or noise where there is no terminal";
    EXPECT_NE(contents(pictures() / "repulsive_heads.svg").find("</svg>"), std::string::npos);
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

}  // namespace
}  // namespace ladon
