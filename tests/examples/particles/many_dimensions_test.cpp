// The study many_dimensions, of particles in many dimensions, as a user runs it, and the formula
// for the variance that remains.

#include <cmath>
#include <csignal>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ladon/tests/examples/program.h"

namespace ladon::many_dimensions_test {
namespace {

class ManyDimensions : public test::Program {
 protected:
  ManyDimensions() : Program("many_dimensions") {}

  static const nlohmann::json& row(const Run& run, std::string_view name) {
    for (const auto& each : run.report.at("rows"))
      if (each.at("method") == name) return each;
    throw std::runtime_error("no row " + std::string(name));
  }
};

// Variance α·ln(M + 1)/D with divisor M − 1 for D ≥ M − 1, as lesson 10 derives it; M/(M − 1) with
// automatic α, which makes the mean of |θ|² that of the target; and a kernel per coordinate makes
// of D dimensions D times one.
TEST_F(ManyDimensions, VarianceCollapsesAsTheLawSays) {
  for (const auto& [m, alpha] : {std::pair(10, 1.0), {4, 2.5}}) {
    const Run result =
        run(detail::join("--alpha ", alpha, " --particles ", m, " --dimensions 1,2,9,10,40,1000"));
    ASSERT_EQ(result.status, 0) << result.error;
    const auto at = [&](int dim, const char* column) {
      return row(result, "D = " + std::to_string(dim)).at(column).at("mean");
    };
    for (const int dim : {9, 10, 40, 1000}) {
      const double law = alpha * std::log(m + 1.0) / dim;
      EXPECT_NEAR(at(dim, "law").get<double>() / law, 1, 1e-12) << dim;
      EXPECT_NEAR(at(dim, "svgd").get<double>() / law, 1, 1e-3) << dim;
    }
    for (const int dim : {1, 2, 9, 10, 40, 1000})
      EXPECT_NEAR(at(dim, "automatic"), m / (m - 1.0), 1e-4) << dim;
    for (const int dim : {1, 2, 9, 10, 40})
      EXPECT_NEAR(at(dim, "per_coordinate"), at(1, "svgd").get<double>(), 1e-4) << dim;
    EXPECT_TRUE(at(1, "law").is_null());
    EXPECT_TRUE(at(1000, "per_coordinate").is_null());
  }
}

TEST_F(ManyDimensions, SaysWhatIsWrongWithAnOption) {
  for (const auto& [option, value] : {std::pair("--dimensions", "3,x"),
                                      {"--dimensions", "3,3"},
                                      {"--particles", "1"},
                                      {"--alpha", "auto"}})
    refuses(std::string(option) + " " + value, option);
}

TEST_F(ManyDimensions, SameBitsAtAnyNumberOfThreads) {
  const Run one = run("--dimensions 2,30 --threads 1"),
            three = run("--dimensions 2,30 --threads 3");
  ASSERT_EQ(one.status, 0) << one.error;
  EXPECT_EQ(one.report.at("rows"), three.report.at("rows"));
}

TEST_F(ManyDimensions, AnInterruptLeavesWhatIsFinished) {
  const Run ended =
      interrupted("--particles 20 --dimensions 1,10000,9999,9998,9997,9996,9995", SIGTERM);
  EXPECT_EQ(ended.status, 130) << ended.error;
  ASSERT_FALSE(ended.report.is_null());
  EXPECT_EQ(ended.report.at("interrupted"), true);
  EXPECT_LT(ended.report.at("rows").size(), 7u);
}

}  // namespace
}  // namespace ladon::many_dimensions_test
