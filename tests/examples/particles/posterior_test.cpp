// The study posterior, which compares approximate methods with exact posteriors, as a user runs it:
// exit statuses, the format of its JSON report, determinism, and its main result.

#include <cmath>
#include <csignal>
#include <set>
#include <string>

#include "ladon/tests/examples/program.h"

namespace ladon::posterior_test {
namespace {

using test::expect_bad_usage;

class PosteriorExample : public test::Program {
 protected:
  PosteriorExample() : Program("posterior") {}

  /// A figure of the longest run of a method at so many heads, held against the exact posterior.
  static double figure(const Run& run, const std::string& method, int heads, const char* name,
                       const char* of = "mean") {
    double found = NAN;
    for (const auto& row : run.report.at("rows"))
      if (row.at("method") == method && row.at("heads").at("mean") == heads &&
          (!row.contains("against_gp") || row.at("against_gp").at("mean") == 0))
        found = row.at(name).at(of).is_null() ? NAN : row.at(name).at(of).get<double>();
    return found;
  }
};

TEST_F(PosteriorExample, HelpSaysWhatItTeaches) {
  const Run help = run("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("Samplers find both"), std::string::npos);
  for (const char* option : {"--heads", "--methods", "--draws", "--members", "--steps", "--labels",
                             "--particles", "--scaling", "--threads", "--seed", "--out", "--json"})
    EXPECT_NE(help.out.find(option), std::string::npos) << option;
}

TEST_F(PosteriorExample, BadUsageIsTwo) {
  refuses("--heads 0", "--heads");
  refuses("--methods mcmc", "--methods");
  refuses("--heads 1,1", "--heads");
  refuses("--members 1", "--members");
  refuses("--labels two", "--labels");
}

// The lesson. Samplers and ensembles are far apart where the network has many weights, so that no
// error bar is needed to tell them.
TEST_F(PosteriorExample, TellsWhoKnowsWhatItDoesNotKnow) {
  const Run result =
      run("--draws 2 --heads 1,4,16 --steps 240 --particles 400 --methods "
          "hmc,sghmc,svgd,ensemble,wrong_prior");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.report.at("settings").at("draws"), 2);
  for (const char* sampler : {"hmc", "sghmc"}) {
    EXPECT_NEAR(figure(result, sampler, 16, "variance_ratio"), 1, 0.2) << sampler;
    EXPECT_NEAR(figure(result, sampler, 16, "coverage"), 0.9, 0.03) << sampler;
  }
  for (const char* sure : {"svgd", "ensemble"}) {
    EXPECT_LT(figure(result, sure, 16, "variance_ratio"), 0.3) << sure;
    EXPECT_LT(figure(result, sure, 16, "log_density"), -0.1) << sure;
  }
  // The control: a prior twice as wide is seen, by many times the error of hmc's own ratio.
  EXPECT_GT(figure(result, "wrong_prior", 4, "variance_ratio"), 1.5);
  EXPECT_GT(figure(result, "hmc", 4, "gradients"), 4 * 20 * 200);
  EXPECT_LT(figure(result, "gp", 16, "mean_error"), figure(result, "gp", 1, "mean_error"));
  EXPECT_LT(figure(result, "finite_heads", 16, "mean_error"), 0.6);
  std::set<std::string> bands;
  for (const auto& band : result.report.at("bands")) bands.insert(band.at("method"));
  EXPECT_TRUE(bands.contains("gp") && bands.contains("svgd") && bands.contains("finite_heads"));
}

TEST_F(PosteriorExample, SameBitsAtAnyNumberOfThreads) {
  const std::string arguments =
      "--draws 1 --heads 2 --steps 12 --members 3 --particles 60 --methods "
      "hmc,sgld,sghmc,spos,svgd,svgd_auto,wgd,function_svgd,ensemble,randomized_prior,prior,"
      "sgld_minibatch,wrong_prior ";
  const Run one = run(arguments + "--threads 1"), three = run(arguments + "--threads 3");
  ASSERT_EQ(one.status, 0) << one.error;
  EXPECT_EQ(one.report.at("rows"), three.report.at("rows"));
  EXPECT_NE(one.report.at("rows"), run(arguments + "--seed 2").report.at("rows"));
}

TEST_F(PosteriorExample, AnInterruptLeavesWhatIsFinished) {
  const Run stopped =
      interrupted("--heads 1 --steps 20000 --methods ensemble --particles 60", SIGINT);
  EXPECT_EQ(stopped.status, 130);
  EXPECT_EQ(stopped.report.at("interrupted"), true);
  EXPECT_FALSE(stopped.report.at("rows").empty());
  // A mean over fewer data sets than were asked for says so.
  for (const auto& row : stopped.report.at("rows")) {
    const int sets = row.at("data_sets").at("mean");
    if (sets == 5) continue;
    const std::string line = detail::join("mean over ", sets, " of 5 data sets\n");
    EXPECT_NE(stopped.out.find(line), std::string::npos) << row << stopped.out;
  }
}

}  // namespace
}  // namespace ladon::posterior_test
