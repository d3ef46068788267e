// The study of a copy head as a user runs it; its likelihood is compared with a Gaussian process.

#include <cmath>
#include <string>

#include "ladon/examples/copy_head/task.cpp"
#include "ladon/optim/posterior/gp.h"
#include "ladon/tests/examples/program.h"

namespace ladon::copy_head_test {
namespace {

using test::expect_bad_usage;

class CopyHeadExample : public test::Program {
 protected:
  CopyHeadExample() : Program("copy_head") {}

  /// A figure of the row of a method, at N or at so many steps (0: the only row).
  static double figure(const Run& run, const std::string& method, int first, const char* name,
                       const char* of = "mean") {
    for (const auto& row : run.report.at("rows")) {
      if (row.at("method") != method || !row.contains(name)) continue;
      const char* key = row.contains("N") ? "N" : row.contains("steps") ? "steps" : "";
      if (first == 0 ? *key == '\0' : *key != '\0' && row.at(key).at("mean") == first)
        return row.at(name).at(of).is_null() ? NAN : row.at(name).at(of).get<double>();
    }
    return NAN;
  }
};

// Given its map the head is a Gaussian process over the outputs at all positions: the likelihood of
// pairs of positions against the one with the kernel of all of them.
TEST(CopyHeadTask, LikelihoodIsThatOfTheGaussianProcess) {
  Generator rng(5);
  const example::CopyData data = example::copy_data(7, rng).first(4);
  const Tensor y = reshape(data.y, {-1, example::symbols});
  const auto evidence = [&](const Tensor& kernel) {
    return GaussianProcess(kernel, y, {.noise = example::noise, .jitter = 0})
        .log_marginal_likelihood();
  };
  const Tensor z = normal({3, example::logits}, rng, 0, 1, f64);
  for (const Weighting weighting : {Weighting::softmax, Weighting::identity}) {
    const Tensor maps = example::attention_maps(weighting, z);
    const Tensor found = example::copy_likelihood(data, weighting)(z);
    for (std::int64_t i = 0; i < 3; ++i) {
      const Tensor f = reshape(matmul(select(maps, 0, i), data.x), {-1, example::symbols});
      const Tensor kernel = 0.09 / example::symbols * matmul(f, transpose(f));
      EXPECT_NEAR(at(found, {i}).item(), evidence(kernel) - evidence(zeros_like(kernel)), 1e-9);
    }
  }
}

// The network's functions at drawn weights have the covariance of that process.
TEST(CopyHeadTask, NetworkHasTheSameLaw) {
  Generator rng(6);
  const NoGrad off;
  const example::CopyData data = example::copy_data(2, rng);
  const RegressionTask task = example::copy_network(data, Weighting::softmax);
  const Tensor b = normal({1, example::logits}, rng, 0, 1, f64);
  constexpr std::int64_t draws = 4000;
  const Tensor m = normal({draws, task.dim - example::logits}, rng, 0, 1, f64);
  const Tensor theta = concat({expand(b, {draws, example::logits}), m}, 1);
  const Tensor f = reshape(task.functions(theta, task.targets.size(0)),
                           {draws, example::length, 2, example::symbols});
  const Tensor a = select(example::attention_maps(Weighting::softmax, b), 0, 0);
  const Tensor features = matmul(a, data.x);  // [2, T, V]
  for (std::int64_t t = 0; t < example::length; ++t) {
    const Tensor one = select(select(features, 0, 1), 0, t);
    const double variance = 0.09 / example::symbols * dot(one, one).item();
    const Tensor values = select(select(f, 1, t), 1, 1);  // [draws, V]
    // The variance of V·draws independent squares of normal numbers.
    const double se = variance * std::sqrt(2.0 / (draws * example::symbols));
    EXPECT_NEAR(mean(square(values)).item(), variance, 5 * se) << t;
  }
  EXPECT_TRUE(all_close(select(test_functions(task, theta), 1, 0),
                        expand(example::alignment(unsqueeze(a, 0)), {draws}), 1e-12, 1e-12));
}

TEST_F(CopyHeadExample, BadUsageIsTwo) {
  refuses("--sequences 0", "--sequences");
  refuses("--sequences 8,8", "--sequences");
  refuses("--particles 10", "--particles");
  refuses("--steps 2", "--steps");
}

// The lesson: two peaks with softmax, one without it; and optimizers that stay where they began.
TEST_F(CopyHeadExample, SoftmaxJumpsAndLinearMoves) {
  const Run result = run("--sets 2 --sequences 16,30,32,48 --particles 60 --steps 60");
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_LT(figure(result, "softmax", 16, "ordered"), 0.1);
  EXPECT_GT(figure(result, "softmax", 48, "ordered"), 0.9);
  const double depth = figure(result, "difference", 0, "valley");
  EXPECT_GT(depth, 3 * figure(result, "difference", 0, "valley", "se"));
  EXPECT_GT(figure(result, "softmax", 0, "valley"), 0.3);
  EXPECT_LT(figure(result, "linear", 0, "valley"), 0.2);
  EXPECT_LT(figure(result, "ensemble", 60, "after"), 0.7);
}

TEST_F(CopyHeadExample, SameBitsAtAnyNumberOfThreads) {
  expect_same_bits("--sets 1 --sequences 8,16,24 --steps 8 --particles 40 ");
}

}  // namespace
}  // namespace ladon::copy_head_test
