// The study of readouts as a user runs it: the arithmetic of its tables, its main result,
// determinism.

#include <algorithm>
#include <cmath>
#include <string>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/io/npz.h"
#include "ladon/tests/examples/program.h"

namespace ladon::readouts_test {
namespace {

class Readouts : public test::Program {
 protected:
  Readouts() : Program("readouts") {}

  static nlohmann::json row(const Run& run, const std::string& table, const std::string& arm) {
    for (const auto& row : run.report.at("rows"))
      if (row.at("table") == table && row.at("method") == arm) return row;
    ADD_FAILURE() << table << ' ' << arm;
    return {};
  }
  static double figure(const nlohmann::json& row, const char* name, const char* of = "mean") {
    return row.at(name).at(of).get<double>();
  }
};

TEST_F(Readouts, BadUsageIsTwo) {
  refuses("--train -1", "--train");
  refuses("--width many", "--width");
  refuses("--cifar one", "--cifar");
}

// The lesson: a mark that may stand anywhere is told by the mean over places, and not by places
// side by side. Tables say what the answers in --bits say.
TEST_F(Readouts, PlacesSideBySideTellNoMark) {
  const std::string bits = (folder_ / "bits.npz").string();
  const Run result = run("--epochs 4 --seeds 2 --bits " + bits);
  ASSERT_EQ(result.status, 0) << result.error;
  const auto flatten = row(result, "limits", "flatten"), pool = row(result, "limits", "pool");
  EXPECT_LT(figure(flatten, "difference") / figure(flatten, "difference", "se"), -3);
  EXPECT_LT(figure(flatten, "holm"), 0.01);
  EXPECT_NEAR(figure(flatten, "difference"), figure(flatten, "accuracy") - figure(pool, "accuracy"),
              1e-12);
  EXPECT_GT(figure(flatten, "nll"), figure(pool, "nll"));

  auto answers = load_npz(bits);
  const Tensor labels = answers.at("labels");
  const auto share = [&](const std::string& arm) {
    const Tensor right = equal(argmax(answers.at(arm + "/probability"), -1), labels);
    EXPECT_EQ(cast(right, f64).to_vector(), answers.at(arm + "/right").to_vector()) << arm;
    return mean(answers.at(arm + "/right")).item();
  };
  EXPECT_NEAR(figure(pool, "ntk_accuracy"), share("pool, ntk"), 1e-12);
  const auto frozen = row(result, "networks", "attention, frozen");
  EXPECT_NEAR(figure(frozen, "accuracy"), share("attention, frozen"), 1e-12);
  EXPECT_NEAR(figure(frozen, "difference"),
              share("attention, frozen") - share("attention, trained"), 1e-12);
  EXPECT_NE(answers.at("attention, frozen/probability").to_vector(),
            answers.at("attention, trained/probability").to_vector());
  EXPECT_GT(figure(frozen, "moved"), 0) << "maps move with the tokens";
  EXPECT_TRUE(row(result, "networks", "pool").at("moved").at("mean").is_null());
}

TEST_F(Readouts, SameBitsAtAnyNumberOfThreads) {
  expect_same_bits("--train 20 --test 20 --epochs 2 --seeds 2");
}

}  // namespace
}  // namespace ladon::readouts_test
