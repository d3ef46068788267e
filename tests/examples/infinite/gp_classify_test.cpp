// The study gp_classify, classification by infinite networks, as a user runs it.

#include <cmath>
#include <csignal>
#include <fstream>
#include <regex>

#include "ladon/core/extra/data/images.h"
#include "ladon/core/extra/data/metrics.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/tests/examples/program.h"

namespace ladon::gp_classify_test {
namespace {

using test::contents;

class GpClassify : public test::Program {
 protected:
  GpClassify() : Program("gp_classify") {}

  /// Figures of the rows, without time and memory.
  static nlohmann::json figures(const Run& run) {
    nlohmann::json rows = run.report.at("rows");
    for (auto& row : rows) row.erase("seconds"), row.erase("peak_mb");
    return rows;
  }

  static double accuracy(const Run& run, const std::string& method) {
    for (const auto& row : run.report.at("rows"))
      if (row.at("method") == method) return row.at("accuracy").at("mean");
    ADD_FAILURE() << "no row " << method;
    return 0;
  }

  static bool has_gnuplot() { return std::system("gnuplot --version >/dev/null 2>&1") == 0; }
  bool drawn(const std::string& name) const {
    return contents(pictures() / (name + ".svg")).find("</svg>") != std::string::npos;
  }

  std::string write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
};

TEST_F(GpClassify, HelpSaysWhatItTeaches) {
  const Run help = run("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("infinite width"), std::string::npos);
  for (const char* option : {"--mnist", "--cifar", "--train", "--test", "--models",
                             "--memory-budget", "--threads", "--seed", "--out", "--json"})
    EXPECT_NE(help.out.find(option), std::string::npos) << option;
}

TEST_F(GpClassify, BadUsageIsTwoAndFailureIsOneLine) {
  for (const char* arguments : {"--no-such-option", "--models resnet", "--mnist one", "--width 0",
                                "--mnist a b --cifar c d"})
    EXPECT_EQ(run(arguments).status, 2) << arguments;
  for (const auto& [arguments, fragment] :
       {std::pair<std::string, std::string>("--mnist none.gz none.gz", "none.gz: cannot open"),
        {"--cifar " + write("short", "abc") + " x", "short: its 3 bytes are not"},
        {"--memory-budget 1 --train 2000 --test 10", "budget"}}) {
    const Run failed = run(arguments);
    EXPECT_EQ(failed.status, 1) << arguments;
    EXPECT_NE(failed.error.find(fragment), std::string::npos) << failed.error;
    EXPECT_EQ(std::count(failed.error.begin(), failed.error.end(), '\n'), 1) << failed.error;
    EXPECT_TRUE(failed.report.is_null()) << "a failed run wrote a report";
  }
}

TEST_F(GpClassify, ReportsEveryFigureAndDrawsThePicture) {
  const Run result = run("--train 150 --test 150 --epochs 2 --width 32");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.report.at("example"), "gp_classify");
  EXPECT_EQ(result.report.at("settings").at("train"), 150);
  EXPECT_EQ(result.report.at("rows").size(), 6u * 3u);
  for (const auto& row : result.report.at("rows"))
    for (const char* figure : {"accuracy", "nll", "ece", "seconds", "peak_mb"}) {
      EXPECT_TRUE(row.at(figure).at("mean").is_number()) << figure;
      EXPECT_TRUE(row.at(figure).at("se").is_number()) << figure;
    }
  // The lesson: the place of the mark does not matter, and only models that know it find
  // what the mark is. Chance is .25.
  for (const char* kernel : {" NNGP", " NTK"})
    EXPECT_GT(accuracy(result, std::string("pool") + kernel),
              accuracy(result, std::string("dense") + kernel) + 0.15);
  EXPECT_NE(result.out.find("for the result"), std::string::npos) << "memory was not foretold";
  EXPECT_NE(result.out.find("\nresidual NTK - linear "), std::string::npos) << result.out;
  if (has_gnuplot()) {
    EXPECT_EQ(result.error, "") << "progress or noise where there is no terminal";
    EXPECT_TRUE(drawn("gp_classify"));
  }
}

TEST_F(GpClassify, EveryColumnIsExplained) {
  const Run result = run("--train 40 --test 30 --models linear --no-finite");
  ASSERT_EQ(result.status, 0) << result.error;
  const auto& columns = result.report.at("columns");
  ASSERT_EQ(columns.size(), 5u);
  for (const auto& [name, column] : columns.items()) {
    const std::string arrow = column.at("better") == "higher" ? " ↑" : " ↓";
    const std::string meaning = column.at("meaning");
    EXPECT_FALSE(meaning.empty()) << name;
    const std::size_t line = result.out.find("\n" + name + arrow + " ");
    ASSERT_NE(line, std::string::npos) << name << " is not in the legend\n" << result.out;
    const std::string words = meaning.substr(0, 20);
    EXPECT_NE(result.out.substr(line, 60).find(words), std::string::npos) << words;
  }
}

TEST_F(GpClassify, TheVerdictComparesWhatTheLessonAsks) {
  const Run result =
      run("--train 150 --test 150 --epochs 2 --width 16 --models dense,pool,attention");
  ASSERT_EQ(result.status, 0) << result.error;
  const auto& verdict = result.report.at("verdict");
  ASSERT_EQ(verdict.size(), 6u) << "two kernels against two, a network against its two limits";
  EXPECT_NE(result.out.find("Bonferroni over 6"), std::string::npos) << result.out;
  for (const auto& entry : verdict) {
    const std::string method = entry.at("method"), against = entry.at("against");
    const double mean = entry.at("difference").at("mean"), half = entry.at("corrected_interval");
    EXPECT_EQ(entry.at("pairs"), 150);
    EXPECT_GT(half, entry.at("interval").get<double>());
    EXPECT_GT(entry.at("detectable").get<double>(), half);
    EXPECT_EQ(entry.at("decision"), mean > half ? "higher" : mean < -half ? "lower" : "unclear");
    EXPECT_NE(result.out.find("\n" + method + " - " + against + " "), std::string::npos)
        << method << ' ' << against << '\n'
        << result.out;
  }
  EXPECT_EQ(verdict[4].at("against"), "attention NNGP");
  EXPECT_NEAR(verdict[4].at("difference").at("mean").get<double>(),
              accuracy(result, "attention finite") - accuracy(result, "attention NNGP"), 1e-9);
  EXPECT_NE(result.out.find("\nsmallest difference that 150 test rows detect"), std::string::npos);
}

TEST_F(GpClassify, NoiseAtTheEdgeOfItsGridIsSaid) {
  const Run result = run("--models linear,dense,attention --no-finite --test 20");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_NE(result.out.find("(the largest tried)"), std::string::npos);
  EXPECT_NE(result.out.find("(the smallest tried)"), std::string::npos);
  EXPECT_NE(result.out.find("attention NNGP: noise 0.1 by leave-one-out"), std::string::npos);
}

TEST_F(GpClassify, SameBitsAtAnyNumberOfThreads) {
  const std::string small = "--train 60 --test 40 --epochs 1 --width 16 --models dense,attention ";
  const Run one = run(small + "--threads 1");
  ASSERT_EQ(one.status, 0) << one.error;
  EXPECT_EQ(figures(one), figures(run(small + "--threads 3")));
  EXPECT_NE(figures(one), figures(run(small + "--seed 2")));
}

TEST_F(GpClassify, ReadsDigitsAndPhotographs) {
  std::string images("\0\0\x08\x03\0\0\0\x0c\0\0\0\x0e\0\0\0\x0e", 16);  // of 14 × 14
  std::string labels("\0\0\x08\1\0\0\0\x0c", 8), pictures;
  for (int i = 0; i < 12; ++i) {
    for (int p = 0; p < 196; ++p) images += static_cast<char>(i % 2 ? 250 - p : p + i);
    labels += static_cast<char>(i % 2);
    pictures += static_cast<char>(i % 2) + std::string(3072, static_cast<char>(20 * i));
  }
  const std::string cifar = write("cifar", pictures);
  const std::string small = " --epochs 1 --width 8 ";
  const Run digits = run("--mnist " + write("images", images) + " " + write("labels", labels) +
                         " --train 8 --test 4" + small);
  ASSERT_EQ(digits.status, 0) << digits.error;
  EXPECT_NE(digits.out.find("8 training and 4 test images of 14 × 14 × 1"), std::string::npos);
  const Run colours = run("--cifar " + cifar + " " + cifar + " --models pool" + small);
  ASSERT_EQ(colours.status, 0) << colours.error;
  EXPECT_NE(colours.out.find("12 training and 12 test images of 32 × 32 × 3"), std::string::npos);
}

TEST_F(GpClassify, WhatAnOptionMayBeIsSaidInWords) {
  for (const auto& [option, value] : {std::pair<std::string, std::string>("--train", "-3"),
                                      {"--train", "abc"},
                                      {"--memory-budget", "0"},
                                      {"--memory-budget", "9999999999999999999999"},
                                      {"--lr", "-inf"},
                                      {"--seed", "-1"},
                                      {"--models", "dense,dense"}}) {
    const Run bad = run(option + " " + value);
    test::expect_bad_usage(bad.status, bad.error, option);
  }
  EXPECT_EQ(run_bare("--json /proc/x.json").status, 1);
}

TEST_F(GpClassify, TooLittleMemoryNamesTheOptionsThatHelp) {
  for (const char* arguments : {"--memory-budget 20", "--memory-budget 200 --threads 1000"}) {
    const Run failed = run(std::string("--models dense ") + arguments);
    EXPECT_EQ(failed.status, 1);
    for (const char* option : {"--memory-budget", "--threads"})
      EXPECT_NE(failed.error.find(option), std::string::npos) << failed.error;
    EXPECT_NE(failed.error.find("MB"), std::string::npos);
    EXPECT_EQ(failed.error.find("MiB"), std::string::npos) << failed.error;
  }
}

TEST_F(GpClassify, ADivergedNetworkIsSaidAndSpoilsNoOther) {
  const std::string small = "--train 100 --test 60 --models dense ";
  const Run healthy = run(small), wild = run(small + "--lr 1e9");
  ASSERT_EQ(wild.status, 0) << wild.error;
  for (std::size_t i = 0; i < 2; ++i)  // NNGP and NTK: the same figures, in the same digits
    EXPECT_EQ(figures(wild)[i], figures(healthy)[i]);
  EXPECT_EQ(wild.report.at("rows")[2].at("diverged"), true);
  EXPECT_TRUE(wild.report.at("rows")[2].at("nll").at("mean").is_null());
  EXPECT_FALSE(wild.report.at("rows")[0].contains("diverged"));
  EXPECT_NE(wild.out.find(" diverged"), std::string::npos) << wild.out;
  EXPECT_NE(wild.out.find("dense finite diverged; try a smaller --lr"), std::string::npos);
  if (has_gnuplot()) {
    EXPECT_EQ(wild.error, "");
    EXPECT_TRUE(drawn("gp_classify"));
  }
  for (const char* bad : {"inf", "nan ±", "1 ± 0 "})
    EXPECT_EQ(wild.out.substr(wild.out.find("\nmethod")).find(bad), std::string::npos) << wild.out;
}

TEST_F(GpClassify, AnInterruptLeavesWhatIsFinished) {
  const Run ended =
      interrupted("--train 100 --test 60 --models linear,dense --epochs 1000000", SIGTERM);
  EXPECT_EQ(ended.status, 130) << ended.error;
  ASSERT_FALSE(ended.report.is_null());
  EXPECT_EQ(ended.report.at("interrupted"), true);
  const std::size_t rows = ended.report.at("rows").size();
  EXPECT_TRUE(rows == 1 || rows == 2) << rows << ": the kernels are done, the network is not";
  EXPECT_NE(ended.out.find("\nlinear NNGP "), std::string::npos) << ended.out;
}

// Its stages are many, and the first of them short.
TEST_F(GpClassify, ProgressIsThatOfTheWholeRun) {
  if (std::system("script -qec true /dev/null >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "no terminal to be had";
  const std::string command = std::string(LADON_EXAMPLES_DIR) +
                              "/gp_classify --train 60 --test 40 --epochs 3 --models dense,pool "
                              "--out " +
                              pictures().string();
  ASSERT_EQ(
      std::system(
          ("script -qec '" + command + "' /dev/null >" + (folder_ / "terminal").string()).c_str()),
      0);
  const std::string shown = contents(folder_ / "terminal");
  for (const char* stage : {"dense, train", "dense, test", "dense NNGP, leave-one-out",
                            "dense, finite network", "pool NTK, leave-one-out"})
    EXPECT_NE(shown.find(std::string("left  ") + stage), std::string::npos) << stage;
  const std::regex percent("\\] +([0-9]+)%");
  int before = 0;
  for (auto at = std::sregex_iterator(shown.begin(), shown.end(), percent);
       at != std::sregex_iterator(); ++at) {
    EXPECT_GE(std::stoi((*at)[1]), before) << "it began anew";
    before = std::stoi((*at)[1]);
  }
  EXPECT_GT(before, 95);
}

class DigitsOfRealData : public GpClassify {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data)) GTEST_SKIP() << "no real data at " << data;
  }
  const std::filesystem::path data = test::shared_data() / "mnist_t10k";
  const std::string images = data / "t10k-images-idx3-ubyte.gz";
  const std::string labels = data / "t10k-labels-idx1-ubyte.gz";
};

TEST_F(DigitsOfRealData, AreReadByTheProgram) {
  const Run result = run("--mnist " + images + " " + labels +
                         " --models dense --no-finite --train 300 --test 300");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_GT(accuracy(result, "dense NNGP"), 0.65);
  EXPECT_GT(accuracy(result, "dense NTK"), 0.65);
}

// Another program's figure for the same files, rows and kernel is .9505.
TEST_F(DigitsOfRealData, AreClassifiedAsWellAsElsewhere) {
  const ImageDataset all = read_mnist(images, labels);
  const ImageDataset train = take(all, 0, 4000), test = take(all, 8000, 2000);
  const Standardization standardize(train.images, Grouping::channel);
  Generator rng(1);
  LinearOptions options{.in = 784,
                        .out = 1,
                        .parameterization = Parameterization::ntk,
                        .weight_std = std::sqrt(2.0),
                        .bias_std = std::sqrt(0.1)};
  Sequential net;
  for (int depth = 0; depth < 3; ++depth) {
    net.append(Linear(options, rng));
    net.append(Activation(Nonlinearity::relu));
    options.in = 1;
  }
  net.append(Linear(options, rng));
  const auto limit = infinite::limit(net);
  const Tensor x = flatten(standardize(train.images), 1), y = flatten(standardize(test.images), 1);
  const infinite::GramOptions nngp{.get = infinite::Get::nngp};
  const GaussianProcess process(infinite::gram(limit, x, nngp).nngp,
                                classification_targets(train.labels, 10), {.jitter = 1e-3});
  const Tensor mean = process.predict(infinite::gram(limit, y, x, nngp).nngp).mean;
  EXPECT_NEAR(metrics::accuracy(mean, test.labels), 0.9505, 0.003);
}

}  // namespace
}  // namespace ladon::gp_classify_test
