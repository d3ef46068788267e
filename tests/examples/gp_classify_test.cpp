// Classification by infinite networks as a user runs it.

#include <cmath>
#include <regex>

#include "ladon/core/data/images.h"
#include "ladon/core/data/metrics.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/tests/examples/program.h"

namespace ladon {
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
  for (const char* option :
       {"--mnist", "--cifar", "--reviews", "--glove", "--train", "--test", "--models",
        "--memory-budget", "--checkpoint", "--solver", "--threads", "--seed", "--out", "--json"})
    EXPECT_NE(help.out.find(option), std::string::npos) << option;
}

TEST_F(GpClassify, BadUsageIsTwoAndFailureIsOneLine) {
  for (const char* arguments : {"--no-such-option", "--models resnet", "--mnist one", "--kept 2",
                                "--width 0", "--reviews a b", "--mnist a b --cifar c d"})
    EXPECT_EQ(run(arguments).status, 2) << arguments;
  for (const auto& [arguments, fragment] :
       {std::pair<std::string, std::string>("--mnist none.gz none.gz", "none.gz: cannot open"),
        {"--cifar " + write("short", "abc") + " x", "short: its 3 bytes are not"},
        {"--patch 5", "size 5 does not divide"},
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
    EXPECT_TRUE(drawn("gp_classify_attention"));
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
  int inside = 0;
  for (const auto& each : result.report.at("details")) {
    const double noise = each.at("noise");
    std::ostringstream line;
    line << "  " << each.at("method").get<std::string>() << ": noise " << noise
         << (noise == 1e-4 ? " (the smallest tried)"
             : noise == 1  ? " (the largest tried)"
                           : "")
         << " by leave-one-out";
    EXPECT_NE(result.out.find(line.str()), std::string::npos) << line.str() << result.out;
    if (noise > 1e-4 && noise < 1) ++inside;
  }
  EXPECT_NE(result.out.find("(the largest tried)"), std::string::npos);
  EXPECT_NE(result.out.find("(the smallest tried)"), std::string::npos);
  EXPECT_GT(inside, 0);
}

TEST_F(GpClassify, AttentionIsShownBeforeAndAfterTraining) {
  const Run result = run("--models dense,residual --train 200 --test 60");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_FALSE(result.report.at("details")[2].contains("attention")) << "dense does not attend";
  const auto& images = result.report.at("details")[5].at("attention");
  ASSERT_EQ(images.size(), 4u) << "one of each class";
  double before = 0, after = 0;  // the largest share of a patch
  for (const auto& image : images)
    for (const auto& [when, most] : {std::pair("before", &before), {"after", &after}}) {
      double total = 0;
      for (const auto& row : image.at(when))
        for (const double share : row) total += share, *most = std::max(*most, share);
      EXPECT_NEAR(total, 1, 1e-6);
    }
  EXPECT_LT(before, 0.3) << "nothing has taught it where to look";
  EXPECT_GT(after, before);
  if (!has_gnuplot()) return;
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(drawn("gp_classify_attention"));
  std::filesystem::remove_all(pictures());
  EXPECT_EQ(run("--models dense --train 40 --test 30 --epochs 1").status, 0);
  EXPECT_TRUE(drawn("gp_classify"));
  EXPECT_FALSE(drawn("gp_classify_attention"));
}

TEST_F(GpClassify, SameBitsAtAnyNumberOfThreadsAndFromACheckpoint) {
  const std::string small = "--train 60 --test 40 --epochs 1 --width 16 --models dense,attention ";
  const Run one = run(small + "--threads 1");
  ASSERT_EQ(one.status, 0) << one.error;
  EXPECT_EQ(figures(one), figures(run(small + "--threads 3")));
  EXPECT_NE(figures(one), figures(run(small + "--seed 2")));
  const std::string checkpoint = small + "--checkpoint " + (folder_ / "tiles").string();
  EXPECT_EQ(figures(one), figures(run(checkpoint)));
  EXPECT_FALSE(std::filesystem::is_empty(folder_ / "tiles"));
  EXPECT_EQ(figures(one), figures(run(checkpoint))) << "from finished tiles";
}

TEST_F(GpClassify, TilesOnDiskPredictWhatMemoryDoes) {
  const std::string small = "--train 200 --test 40 --models dense,pool --no-finite ";
  const auto solved = [&](const std::string& solver, const std::string& more = "") {
    return run(small + "--memory-budget 150 --checkpoint " + (folder_ / solver).string() +
               " --solver " + solver + more);
  };
  const Run memory = solved("memory");
  ASSERT_EQ(memory.status, 0) << memory.error;
  for (const std::string solver : {"direct", "cg"}) {
    const Run tiled = solved(solver);
    ASSERT_EQ(tiled.status, 0) << tiled.error;
    ASSERT_EQ(tiled.report.at("rows").size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
      const auto &row = tiled.report.at("rows")[i], &exact = memory.report.at("rows")[i];
      EXPECT_EQ(row.at("method"), exact.at("method"));
      EXPECT_EQ(row.at("accuracy"), exact.at("accuracy"));
      EXPECT_NEAR(row.at("nll").at("mean").get<double>(), exact.at("nll").at("mean").get<double>(),
                  solver == "direct" ? 1e-9 : 1e-5);
      EXPECT_EQ(row.contains("mean_error"), solver == "cg");
      if (solver == "direct") continue;
      EXPECT_GT(row.at("iterations").at("mean"), 1);
      for (const char* error : {"mean_error", "variance_error"}) {
        EXPECT_GT(row.at(error).at("mean").get<double>(), 0);
        EXPECT_LT(row.at(error).at("mean").get<double>(), 1e-5) << error;
      }
    }
    EXPECT_NE(tiled.out.find("dense NTK: noise"), std::string::npos);
    EXPECT_NE(tiled.out.find("by leave-one-out on 200 rows"), std::string::npos) << tiled.out;
    EXPECT_EQ(figures(tiled), figures(solved(solver))) << "from finished tiles";
  }
  const Run cut = solved("cg", " --bias-variance 0.2");  // another kernel: its tiles are no others'
  EXPECT_EQ(cut.status, 1);
  EXPECT_NE(cut.error.find((folder_ / "cg").string()), std::string::npos) << cut.error;
  EXPECT_EQ(figures(solved("cg")).size(), 4u) << "the tiles were lost";
}

TEST_F(GpClassify, ASolverOnDiskNeedsAFolderAndSomeMemory) {
  const Run bare = run("--solver cg");
  test::expect_bad_usage(bare.status, bare.error, "--checkpoint");
  test::expect_bad_usage(run("--solver lu").status, run("--solver lu").error, "--solver");
  const Run narrow =
      run("--models dense --no-finite --memory-budget 10 --solver direct --checkpoint " +
          (folder_ / "tiles").string());
  EXPECT_EQ(narrow.status, 1);
  EXPECT_NE(narrow.error.find("--memory-budget"), std::string::npos) << narrow.error;
  EXPECT_EQ(std::count(narrow.error.begin(), narrow.error.end(), '\n'), 1) << narrow.error;
}

TEST_F(GpClassify, ReadsImagesAndReviews) {
  std::string images("\0\0\x08\x03\0\0\0\x0c\0\0\0\4\0\0\0\4", 16);
  std::string labels("\0\0\x08\1\0\0\0\x0c", 8), pictures;
  for (int i = 0; i < 12; ++i) {
    for (int p = 0; p < 16; ++p) images += static_cast<char>(i % 2 ? 250 - p : 5 * p + i);
    labels += static_cast<char>(i % 2);
    pictures += static_cast<char>(i % 2) + std::string(3072, static_cast<char>(20 * i));
  }
  const std::string cifar = write("cifar", pictures);
  const std::string tsv = write("tsv", "1\tgood fine film\n0\tbad dull film\n1\tfine\n0\tdull\n");
  const std::string glove = write("glove", "good 1 0\nfine 1 .1\nbad -1 0\ndull -1 .1\nfilm 0 1\n");
  const std::string small = " --epochs 1 --width 8 ";
  const Run digits = run("--mnist " + write("images", images) + " " + write("labels", labels) +
                         " --train 8 --test 4 --patch 2" + small);
  ASSERT_EQ(digits.status, 0) << digits.error;
  EXPECT_NE(digits.out.find("8 training and 4 test images of 4 × 4 × 1"), std::string::npos);
  const Run colours = run("--cifar " + cifar + " " + cifar + " --models pool" + small);
  ASSERT_EQ(colours.status, 0) << colours.error;
  EXPECT_NE(colours.out.find("12 training and 12 test images of 32 × 32 × 3"), std::string::npos);
  const Run reviews = run("--reviews " + tsv + " " + tsv + " --glove " + glove +
                          " --skip 0 --tokens 2 --span 1" + small);
  ASSERT_EQ(reviews.status, 0) << reviews.error;
  EXPECT_EQ(accuracy(reviews, "naive Bayes"), 1);
  EXPECT_EQ(accuracy(reviews, "attention NNGP"), 1);
}

TEST_F(GpClassify, WhatAnOptionMayBeIsSaidInWords) {
  for (const auto& [option, value] : {std::pair<std::string, std::string>("--train", "-3"),
                                      {"--train", "abc"},
                                      {"--memory-budget", "0"},
                                      {"--memory-budget", "9999999999999999999999"},
                                      {"--lr", "-inf"},
                                      {"--kept", "2"},
                                      {"--seed", "-1"},
                                      {"--models", "dense,dense"},
                                      {"--glove", "x"},
                                      {"--tokens", "3"},
                                      {"--reviews", "a b"},
                                      {"--patch", "4 --reviews a b --glove c"}}) {
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

TEST_F(GpClassify, TheReportHoldsWhatPictureAndTestNeed) {
  const Run result = run("--train 80 --test 60 --epochs 1 --width 16 --models dense,attention");
  ASSERT_EQ(result.status, 0) << result.error;
  const auto& details = result.report.at("details");
  ASSERT_EQ(details.size(), 6u);
  for (const auto& each : details) {
    double rows = 0, right = 0;
    for (const auto& bin : each.at("calibration")) {
      rows += bin.at("rows").get<double>();
      right += bin.at("rows").get<double>() * bin.at("right").get<double>();
    }
    EXPECT_EQ(rows, 60);
    EXPECT_NEAR(right / rows, accuracy(result, each.at("method")), 1e-9);
    if (each.at("form") == "finite")
      EXPECT_GT(each.at("parameters"), 0);
    else
      EXPECT_GT(each.at("noise").get<double>() * each.at("amplitude").get<double>(), 0);
  }
  const auto& gain = result.report.at("verdict")[0];
  EXPECT_EQ(gain.at("method"), "attention NNGP");
  EXPECT_EQ(gain.at("against"), "dense");
  EXPECT_NEAR(gain.at("difference").at("mean").get<double>(),
              accuracy(result, "attention NNGP") - accuracy(result, "dense NNGP"), 1e-9);
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

class RealDigits : public GpClassify {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data)) GTEST_SKIP() << "no real data at " << data;
  }
  const std::filesystem::path data = test::shared_data() / "mnist_t10k";
  const std::string images = data / "t10k-images-idx3-ubyte.gz";
  const std::string labels = data / "t10k-labels-idx1-ubyte.gz";
};

TEST_F(RealDigits, AreReadByTheProgram) {
  const Run result = run("--mnist " + images + " " + labels +
                         " --models dense --no-finite --train 300 --test 300");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_GT(accuracy(result, "dense NNGP"), 0.65);
  EXPECT_GT(accuracy(result, "dense NTK"), 0.65);
}

// Another program's figure for the same files, rows and kernel is .9505.
TEST_F(RealDigits, AreClassifiedAsWellAsElsewhere) {
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
}  // namespace ladon
