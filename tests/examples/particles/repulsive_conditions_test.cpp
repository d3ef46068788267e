// The study of conditions for repulsion as a user runs it: exit statuses, the format of its JSON
// report, determinism, the answers per question that it saves, the arithmetic of its tables, and
// which heads each kind of repulsion moves.

#include <cmath>
#include <string>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/io/npz.h"
#include "ladon/tests/examples/program.h"

namespace ladon::repulsive_conditions_test {
namespace {

class RepulsiveConditions : public test::Program {
 protected:
  RepulsiveConditions() : Program("repulsive_conditions") {}

  static nlohmann::json row(const Run& run, const std::string& table, const std::string& name) {
    for (const auto& each : run.report.at("rows"))
      if (each.at("table") == table && each.at("method") == name) return each;
    ADD_FAILURE() << "no row " << name << " in " << table;
    return {};
  }
};

TEST_F(RepulsiveConditions, BadUsageIsTwo) {
  refuses("--questions 4", "--questions");
  refuses("--questions 1,1", "--questions");
  refuses("--seeds 0", "--seeds");
  refuses("--steps 5", "--steps");
  refuses("--alpha -1", "--alpha");
}

// Dropout of the attention slows learning by many errors, and repulsion changes little beside it.
// The tables say what the bits say.
TEST_F(RepulsiveConditions, ComparesArmsOfTheSameSeeds) {
  const std::string file = (folder_ / "bits.npz").string();
  const Run result = run("--seeds 2 --bits " + file);
  ASSERT_EQ(result.status, 0) << result.error;
  const auto slower = row(result, "family 1", "dropout 0.3 - 0, none").at("accuracy");
  EXPECT_LT(slower.at("mean").get<double>(), -4 * slower.at("se").get<double>());
  const std::string base = "4 heads, 512 sequences";
  const auto gain = row(result, "family 1", "always - none, " + base);
  EXPECT_LT(std::abs(gain.at("accuracy").at("mean").get<double>()), 0.02);
  EXPECT_GT(row(result, "arms 1", "none, " + base).at("accuracy").at("mean").get<double>(), 0.6);

  const auto bits = load_npz(file);
  const Tensor right = bits.at("always, " + base + "/right");
  ASSERT_EQ(right.shape(), (Shape{2, 4096}));
  ASSERT_EQ(bits.at("always, " + base + "/probability").shape(), (Shape{2, 4096, 8}));
  const auto difference = [&](const std::string& condition) {  // [seeds, sequences]
    const Tensor each =
        bits.at("always, " + condition + "/right") - bits.at("none, " + condition + "/right");
    return mean(reshape(each, {2, 1024, 4}), 2);
  };
  const Tensor d = difference(base), seeds = mean(d, 1), sequences = mean(d, 0);
  const double m = mean(d).item();
  EXPECT_NEAR(gain.at("accuracy").at("mean").get<double>(), m, 1e-12);
  EXPECT_NEAR(gain.at("accuracy").at("se").get<double>(), std::sqrt(mean(square(seeds - m)).item()),
              1e-12);
  EXPECT_NEAR(gain.at("over_sequences").at("mean").get<double>(),
              std::sqrt(mean(square(sequences - m)).item() / 1023), 1e-12);
  EXPECT_NEAR(
      row(result, "family 1", "interaction, dropout 0.1").at("accuracy").at("mean").get<double>(),
      mean(difference("dropout 0.1")).item() - m, 1e-12);
}

// The control: with weight 0 no kind of repulsion changes a bit. Heads that begin alike have maps
// that are alike, and so all of their pairs repel at first.
TEST_F(RepulsiveConditions, NoWeightIsNoRepulsion) {
  const Run result = run("--questions 2 --seeds 1 --steps 10 --alpha 0");
  ASSERT_EQ(result.status, 0) << result.error;
  const auto repelled = [&](const std::string& arm) {
    return row(result, "arms 2", arm).at("repelled").at("mean").get<double>();
  };
  for (const char* condition : {"4 heads, 512 sequences", "equal start"}) {
    const auto none = row(result, "arms 2", std::string("none, ") + condition);
    for (const char* repulsion : {"always, ", "layer, ", "pairs, ", "apart, "}) {
      const auto arm = row(result, "arms 2", std::string(repulsion) + condition);
      for (const char* figure : {"accuracy", "nll", "redundancy"})
        EXPECT_EQ(arm.at(figure), none.at(figure)) << repulsion << condition;
    }
    EXPECT_EQ(repelled(std::string("none, ") + condition), 0);
    EXPECT_NEAR(repelled(std::string("always, ") + condition), 1, 1e-12);
    EXPECT_NEAR(
        repelled(std::string("pairs, ") + condition) + repelled(std::string("apart, ") + condition),
        1, 1e-12);
  }
  EXPECT_NEAR(repelled("pairs, equal start"), 1, 1e-12);
}

TEST_F(RepulsiveConditions, SameBitsAtAnyNumberOfThreads) {
  expect_same_bits("--questions 2 --seeds 1 --steps 12");
}

}  // namespace
}  // namespace ladon::repulsive_conditions_test
