// The study of repulsive attention on sentences as a user runs it: exit statuses, the format of its
// JSON report, determinism, the answers per question that it saves, and the arithmetic of its
// tables.

#include <algorithm>
#include <cmath>
#include <string>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/io/npz.h"
#include "ladon/tests/examples/program.h"

namespace ladon::repulsive_sentences_test {
namespace {

class RepulsiveSentences : public test::Program {
 protected:
  RepulsiveSentences() : Program("repulsive_sentences") {}

  /// A figure of a table's row, whose name may end in the arm's number.
  static double figure(const Run& run, const std::string& table, const std::string& row,
                       const char* name, const char* of = "mean") {
    for (const auto& each : run.report.at("rows"))
      if (each.at("table") == table && each.at("method").get<std::string>().starts_with(row))
        return each.at(name).at(of).is_null() ? NAN : each.at(name).at(of).get<double>();
    ADD_FAILURE() << "no row " << row << " in " << table;
    return NAN;
  }
};

TEST_F(RepulsiveSentences, BadUsageIsTwo) {
  refuses("--arms wgd", "--arms");
  refuses("--arms svgd,svgd", "--arms");
  refuses("--folds 1", "--folds");
  refuses("--format trec", "--data");
  refuses("--glove vectors.txt", "--data");
}

// The lesson: a larger start, which makes maps differ, answers more than plain training, and svgd,
// whose matrix is larger too, does not. The bits say what the tables say.
TEST_F(RepulsiveSentences, ComparesArmsOnTheSameSentences) {
  const std::string bits = (folder_ / "bits.npz").string();
  const Run result = run("--arms start,svgd --bits " + bits);
  ASSERT_EQ(result.status, 0) << result.error;
  const auto arm = [&](const std::string& row, const char* name) {
    return figure(result, "arms", row, name);
  };
  EXPECT_GT(arm("start", "rms_w"), 1.5 * arm("plain", "rms_w"));
  EXPECT_LT(arm("start", "redundancy"), arm("plain", "redundancy"));
  EXPECT_GT(arm("svgd", "rms_w"), 1.5 * arm("plain", "rms_w"));
  EXPECT_GT(arm("svgd", "force_ratio"), 0);
  const auto in_errors = [&](const std::string& row) {
    return figure(result, "contrasts", row, "accuracy") /
           figure(result, "contrasts", row, "accuracy", "se");
  };
  EXPECT_GT(in_errors("start - plain"), 2);
  EXPECT_LT(in_errors("svgd - start"), -4);

  const auto kept = load_npz(bits);
  const Tensor svgd = kept.at("svgd/right"), plain = kept.at("plain/right");
  ASSERT_EQ(svgd.shape(), (Shape{1, 480}));
  ASSERT_EQ(kept.at("svgd/probability").shape(), (Shape{1, 480, 4}));
  EXPECT_EQ(sum(kept.at("fold")).item(), 160 * (0 + 1 + 2));
  const Tensor guess = select(argmax(kept.at("svgd/probability"), 2), 0, 0);
  EXPECT_EQ(sum(cast(equal(guess, kept.at("labels")), f64)).item(), sum(svgd).item());
  EXPECT_NEAR(arm("svgd", "accuracy"), mean(svgd).item(), 1e-12);
  const double difference = mean(svgd - plain).item();
  const double error = std::sqrt(mean(square(svgd - plain - difference)).item() / 479);
  EXPECT_NEAR(figure(result, "contrasts", "svgd - plain", "accuracy"), difference, 1e-12);
  EXPECT_NEAR(figure(result, "contrasts", "svgd - plain", "accuracy", "se"), error, 1e-12);
}

// Each arm's number is the one with the highest accuracy on the inner fold, among three.
TEST_F(RepulsiveSentences, ChoosesOneNumberOfThree) {
  const Run result = run("--arms rate --folds 2 --epochs 2");
  ASSERT_EQ(result.status, 0) << result.error;
  int tried = 0, chosen = 0;
  double best = 0, of_chosen = 0;
  for (const auto& row : result.report.at("rows")) {
    if (row.at("table") != "tuning" || row.at("method") == "plain") continue;
    const double accuracy = row.at("accuracy").at("mean");
    ++tried;
    best = std::max(best, accuracy);
    if (row.at("chosen").at("mean") == 0) continue;
    ++chosen;
    of_chosen = accuracy;
    EXPECT_GT(figure(result, "arms", row.at("method"), "rms_w"), 0) << "another is in the table";
  }
  EXPECT_EQ(tried, 3);
  EXPECT_EQ(chosen, 1);
  EXPECT_EQ(of_chosen, best);
  // The rate of plain training is among the three, and its fit is plain training's.
  for (const char* name : {"accuracy", "nll", "rms_w"})
    EXPECT_EQ(figure(result, "tuning", "rate 1", name), figure(result, "tuning", "plain", name));
}

TEST_F(RepulsiveSentences, SameBitsAtAnyNumberOfThreadsAndFromACheckpoint) {
  const std::string arguments = "--arms spos,function --folds 2 --epochs 1 ",
                    kept = "--checkpoint " + (folder_ / "fits.npz").string() + " ";
  const Run one = run(arguments + "--threads 1"), two = run(arguments + kept + "--threads 2");
  ASSERT_EQ(one.status, 0) << one.error;
  EXPECT_EQ(one.report.at("rows"), two.report.at("rows"));
  const Run again = run(arguments + kept);
  EXPECT_EQ(one.report.at("rows"), again.report.at("rows"));
  EXPECT_NE(one.report.at("rows"), run(arguments + "--seed 2").report.at("rows"));
}

}  // namespace
}  // namespace ladon::repulsive_sentences_test
