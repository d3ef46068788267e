// The study kernels_on_disk as a user runs it: kernels in memory and on disk.

#include "ladon/tests/examples/program.h"

namespace ladon::kernels_on_disk_test {
namespace {

class KernelsOnDisk : public test::Program {
 protected:
  KernelsOnDisk() : Program("kernels_on_disk") {}

  static double figure(const nlohmann::json& row, const char* name) {
    return row.at(name).at("mean").get<double>();
  }
  /// Figures of the rows, without time and memory.
  static nlohmann::json figures(const Run& run) {
    nlohmann::json rows = run.report.at("rows");
    for (auto& row : rows) row.erase("seconds"), row.erase("peak_mb");
    return rows;
  }
  std::string folder() const { return folder_ / "tiles"; }
};

TEST_F(KernelsOnDisk, PredictWhatMemoryDoes) {
  for (const std::string model : {"dense", "pool"}) {
    const Run all = run("--train 200 --test 40 --memory-budget 150 --model " + model);
    ASSERT_EQ(all.status, 0) << all.error;
    const auto& rows = all.report.at("rows");
    ASSERT_EQ(rows.size(), 6u) << "three solvers of two kernels";
    for (std::size_t i = 0; i < 6; ++i) {
      const bool iterated = i >= 4;
      EXPECT_EQ(figure(rows[i], "accuracy"), figure(rows[i % 2], "accuracy"));
      EXPECT_NEAR(figure(rows[i], "nll"), figure(rows[i % 2], "nll"), iterated ? 1e-5 : 1e-9);
      EXPECT_LT(figure(rows[i], "apart"), iterated ? 1e-5 : 1e-9);
      EXPECT_EQ(rows[i].at("mean_error").at("mean").is_number(), iterated);
      if (!iterated) continue;
      EXPECT_GT(figure(rows[i], "iterations"), 1);
      for (const char* error : {"mean_error", "variance_error"}) {
        EXPECT_GT(figure(rows[i], error), 0);
        EXPECT_LT(figure(rows[i], error), 1e-5) << error;
      }
    }
    EXPECT_FALSE(std::filesystem::exists(pictures() / "tiles")) << "without --checkpoint";
  }
}

TEST_F(KernelsOnDisk, AreReadAgainAndKnowWhoseTheyAre) {
  const std::string tiled = "--test 40 --solvers direct,cg --checkpoint " + folder() + " --train ";
  const Run first = run(tiled + "200");
  ASSERT_EQ(first.status, 0) << first.error;
  EXPECT_NE(first.out.find("by leave-one-out on 200 rows"), std::string::npos) << first.out;
  EXPECT_EQ(figures(first), figures(run(tiled + "200"))) << "from finished tiles";
  EXPECT_EQ(figures(first), figures(run(tiled + "200 --threads 1")));
  const Run other = run(tiled + "150");
  EXPECT_EQ(other.status, 1);
  EXPECT_NE(other.error.find(folder()), std::string::npos) << other.error;
  EXPECT_EQ(figures(run(tiled + "200")).size(), 4u) << "the tiles were lost";
}

TEST_F(KernelsOnDisk, NeedSomeMemory) {
  refuses("--solvers lu", "--solvers");
  refuses("--solvers cg,cg", "--solvers");
  const Run narrow = run("--memory-budget 10 --solvers direct");
  EXPECT_EQ(narrow.status, 1);
  EXPECT_NE(narrow.error.find("--memory-budget"), std::string::npos) << narrow.error;
  EXPECT_EQ(std::count(narrow.error.begin(), narrow.error.end(), '\n'), 1) << narrow.error;
}

TEST_F(KernelsOnDisk, ReadDigitsOfRealData) {
  const std::filesystem::path data = test::shared_data() / "mnist_t10k";
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no real data at " << data;
  const Run digits = run("--mnist " + (data / "t10k-images-idx3-ubyte.gz").string() + " " +
                         (data / "t10k-labels-idx1-ubyte.gz").string() +
                         " --train 300 --test 300 --solvers direct");
  ASSERT_EQ(digits.status, 0) << digits.error;
  for (const auto& row : digits.report.at("rows")) EXPECT_GT(figure(row, "accuracy"), 0.65);
}

}  // namespace
}  // namespace ladon::kernels_on_disk_test
