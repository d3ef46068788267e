// The study trained_attention as a user runs it: where attention looks before and after training.

#include "ladon/tests/examples/program.h"

namespace ladon::trained_attention_test {
namespace {

class TrainedAttention : public test::Program {
 protected:
  TrainedAttention() : Program("trained_attention") {}

  static double figure(const nlohmann::json& row, const char* name) {
    return row.at(name).at("mean").get<double>();
  }
};

TEST_F(TrainedAttention, MovesToTheMark) {
  const Run result = run("");
  ASSERT_EQ(result.status, 0) << result.error;
  ASSERT_EQ(result.report.at("rows").size(), 2u);
  for (const auto& row : result.report.at("rows")) {
    const double error = row.at("after").at("se");
    EXPECT_NEAR(figure(row, "before"), 1.0 / 9, 0.05) << "nothing has taught it where to look";
    EXPECT_GT((figure(row, "after") - figure(row, "before")) / error, 10);
    EXPECT_GT(figure(row, "accuracy"), 0.8);
  }
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) return;
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(std::filesystem::exists(pictures() / "trained_attention.svg"));
}

// Attention to all alike, and no time to learn another.
TEST_F(TrainedAttention, StaysWhereSharpnessIsZero) {
  const Run flat = run("--train 100 --test 50 --epochs 1 --width 8 --sharpness 0 --lr 1e-6");
  ASSERT_EQ(flat.status, 0) << flat.error;
  for (const auto& row : flat.report.at("rows"))
    for (const char* when : {"before", "after"}) EXPECT_NEAR(figure(row, when), 1.0 / 9, 1e-3);
}

TEST_F(TrainedAttention, SameBitsAtAnyNumberOfThreads) {
  expect_same_bits("--train 60 --test 40 --epochs 2 --width 8");
}

TEST_F(TrainedAttention, BadUsageIsTwo) {
  refuses("--train -1", "--train");
  refuses("--lr 0", "--lr");
}

}  // namespace
}  // namespace ladon::trained_attention_test
