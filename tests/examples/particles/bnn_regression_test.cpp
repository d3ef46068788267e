// The study bnn_regression as a user runs it: its tables are recomputed from the answers that it
// saves; its main result, judged by errors over splits; exit statuses, determinism.

#include <cmath>
#include <fstream>
#include <string>

#include "ladon/autograd/ops.h"
#include "ladon/core/extra/io/npz.h"
#include "ladon/tests/examples/program.h"

namespace ladon::bnn_regression_test {
namespace {

class BnnRegression : public test::Program {
 protected:
  BnnRegression() : Program("bnn_regression") {}

  static double figure(const Run& run, const std::string& table, const std::string& method,
                       const std::string& of = "mean", const std::string& set = "friedman") {
    for (const auto& row : run.report.at("rows"))
      if (row.at("table") == table && row.at("method") == method)
        return row.at(set).at(of).is_null() ? NAN : row.at(set).at(of).get<double>();
    return NAN;
  }
  Tensor saved(const std::string& name) const {
    return load_npz((folder_ / "bits.npz").string()).at("friedman/" + name);
  }
  std::string bits() const { return " --bits " + (folder_ / "bits.npz").string(); }
};

TEST_F(BnnRegression, BadUsageIsTwo) {
  refuses("--methods mcmc", "--methods");
  refuses("--methods wgd,wgd", "--methods");
  refuses("--splits 1", "--splits");
  refuses("--steps 0", "--steps");
  refuses("--data no_such_folder", "--data");
}

// The lesson: networks are better than the linear map by more than the errors over splits, and of
// the networks' own noise and that of the development part the former is too small.
TEST_F(BnnRegression, NetworksBeatALinearMapAndAreTooSure) {
  const Run result = run("--splits 4 --methods ensemble" + bits());
  ASSERT_EQ(result.status, 0) << result.error;
  for (const char* method : {"gp", "svgd", "ensemble"}) {
    const double gain = figure(result, "rmse", "linear") - figure(result, "rmse", method);
    EXPECT_GT(gain, 1.5 * figure(result, "rmse", method, "se")) << method;
  }
  for (const char* method : {"svgd", "ensemble"})
    EXPECT_LT(figure(result, "ll_own", method), figure(result, "ll", method)) << method;
  // The arithmetic of the tables, from the saved answers.
  const Tensor error = saved("svgd/mean") - saved("svgd/targets");
  const Tensor rmse = sqrt(mean(square(error), 1));
  EXPECT_NEAR(figure(result, "rmse", "svgd"), mean(rmse).item(), 1e-9);
  EXPECT_NEAR(figure(result, "rmse", "svgd", "se"), stddev(rmse).item() / 2, 1e-9);
  const Tensor other = sqrt(mean(square(saved("ensemble/mean") - saved("svgd/targets")), 1));
  EXPECT_NEAR(figure(result, "difference", "ensemble - svgd"), mean(other - rmse).item(), 1e-9);
  // Nadeau and Bengio: 20 of 200 examples test, 180 train.
  EXPECT_NEAR(figure(result, "difference", "ensemble - svgd", "se"),
              std::sqrt(1.0 / 4 + 20.0 / 180) * stddev(other - rmse).item(), 1e-9);
  EXPECT_NEAR(figure(result, "ll", "svgd"), mean(saved("svgd/ll")).item(), 1e-9);
  // For the Gaussian process, one normal law per answer, the density follows from mean and sd.
  const Tensor sd = saved("gp/sd"), z = (saved("gp/targets") - saved("gp/mean")) / sd;
  const Tensor density = -0.5 * square(z) - log(sd) - 0.5 * std::log(2 * M_PI);
  EXPECT_LT(amax(abs(density - saved("gp/ll"))).item(), 1e-9);
}

TEST_F(BnnRegression, SameBitsAtAnyNumberOfThreads) {
  const std::string arguments = "--splits 2 --steps 40 --threads ";
  const Run one = run(arguments + "1"), two = run(arguments + "2");
  ASSERT_EQ(one.status, 0) << one.error;
  EXPECT_EQ(one.report.at("rows"), two.report.at("rows"));
  EXPECT_NE(one.report.at("rows"), run(arguments + "2 --seed 2").report.at("rows"));
  for (const char* method : {"svgd_weights", "wgd", "function_svgd", "randomized_prior", "spos"})
    EXPECT_GT(figure(one, "rmse", method), 0) << method;
}

// Files as those of the UCI sets, with targets that a linear map knows up to their noise.
TEST_F(BnnRegression, ReadsSplitsFromFiles) {
  const std::pair<const char*, int> sets[] = {{"bostonHousing", 13},
                                              {"concrete", 8},
                                              {"energy", 8},
                                              {"wine-quality-red", 11},
                                              {"yacht", 6}};
  Generator rng(1);
  for (const auto& [name, inputs] : sets) {
    const auto files = folder_ / "uci" / name;
    std::filesystem::create_directories(files);
    std::ofstream data(files / "data.txt");
    for (int row = 0; row < 60; ++row) {
      double sum = 0;
      for (int i = 0; i < inputs; ++i) {
        const double x = rng.normal();
        data << x << ' ';
        sum += x;
      }
      data << sum + 0.1 * rng.normal() << '\n';
    }
    for (const int split : {0, 1}) {
      std::ofstream train(files / detail::join("index_train_", split, ".txt")),
          test(files / detail::join("index_test_", split, ".txt"));
      for (int row = 0; row < 60; ++row)
        (row % 10 == split ? test : train) << row << ".000000000000000000e+00\n";
    }
  }
  const std::string arguments =
      "--data " + (folder_ / "uci").string() + " --splits 2 --steps 8 --methods ensemble";
  const Run result = run(arguments);
  ASSERT_EQ(result.status, 0) << result.error;
  for (const char* set : {"boston", "concrete", "energy", "wine", "yacht"})
    EXPECT_NEAR(figure(result, "rmse", "linear", "mean", set), 0.1, 0.07) << set;
  EXPECT_EQ(figure(result, "rmse", "published svgd", "mean", "energy"), 1.374);
  std::ofstream(folder_ / "uci" / "yacht" / "data.txt") << "1 2 three\n";
  const Run refused = run(arguments);
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.error.find("has something other than a number after 2 numbers"),
            std::string::npos)
      << refused.error;
}

}  // namespace
}  // namespace ladon::bnn_regression_test
