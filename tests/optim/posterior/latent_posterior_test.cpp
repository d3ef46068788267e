// The sampled posterior of finitely many heads, compared with exact integrals, with samples of the
// weights of the finite network, and with the Gaussian process that is its limit for many heads.

#include "ladon/optim/posterior/latent_posterior.h"

#include <cmath>

#include "ladon/core/machine/parallel.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/linear.h"
#include "ladon/layers/pooling.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/tests/optim/posterior/one_channel.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::latent_posterior_test {
namespace {

using infinite::finite_heads;
using infinite::latent_kernel;
using infinite::LatentKernel;

// Gated on the errors over 20 replicates: of 20 the error itself is known to a sixth, and the
// largest of the few figures of Student's law with 19 degrees of freedom is above 6 once in a
// hundred thousand.
void expect_close(const Tensor& got, const Tensor& se, const Tensor& expected) {
  const auto a = flatten(got).to_vector(), e = flatten(se).to_vector(),
             b = flatten(expected).to_vector();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_LT(std::abs(a[i] - b[i]), 6 * e[i]) << i;
}

// One channel: a head is one number, and the posterior of one and of two heads an integral over one
// or two numbers, known to 1e-8 by an independent program.
TEST(LatentPosterior, IsTheExactIntegralOverOneAndTwoHeads) {
  const double evidence[] = {-3.968724908, -3.340360498};
  const std::vector<double> mean[] = {{-1.948168124, 0.92227828}, {-1.513201128, 0.824596236}};
  const std::vector<double> covariance[] = {{0.114406554, -0.020289822, -0.020289822, 0.040194641},
                                            {0.168063982, -0.030715918, -0.030715918, 0.027387014}};
  const Sequential net = test::one_channel::network();
  for (const std::int64_t heads : {1, 2}) {
    const auto at = static_cast<std::size_t>(heads - 1);
    Generator rng(static_cast<std::uint64_t>(heads));
    const LatentKernel kernel =
        latent_kernel(finite_heads(net, {.heads = heads}), test::one_channel::inputs());
    const LatentPosterior p = sample_posterior(
        kernel, 6, test::one_channel::targets(),
        {.noise = test::one_channel::noise, .smc = {.particles = 200}, .replicates = 20}, rng);
    EXPECT_LT(std::abs(p.log_evidence.value - evidence[at]), 6 * p.log_evidence.se);
    EXPECT_LT(p.log_evidence.se, 0.05);
    expect_close(p.mean, p.mean_se, from_vector(mean[at], {2, 1}));
    expect_close(p.covariance(), p.within_se + select(p.between_se, 0, 0),
                 from_vector(covariance[at], {2, 2}));
    EXPECT_EQ(p.latents.shape(), (Shape{4000, heads}));
    EXPECT_EQ(p.means.shape(), (Shape{4000, 2, 1}));
    EXPECT_EQ(p.variances.shape(), (Shape{4000, 2}));
  }
}

// The mean of three evidences Z, which the same runs give one by one, and the error of a mean of
// three.
TEST(LatentPosterior, HasTheErrorOfAMeanOfEvidences) {
  const LatentKernel kernel = latent_kernel(
      finite_heads(test::one_channel::network(), {.heads = 1}), test::one_channel::inputs());
  const Tensor y = test::one_channel::targets();
  const double noise = test::one_channel::noise;
  const SmcOptions smc{.particles = 20, .recorded = 1};
  Generator rng(5), same(5);
  const Measured found =
      sample_posterior(kernel, 6, y, {.noise = noise, .smc = smc, .replicates = 3}, rng)
          .log_evidence;
  const Generator source = same.split(same.reserve(1));
  double sum = 0, squares = 0;  // of Z over their mean, as it should be
  for (std::uint64_t r = 0; r < 3; ++r) {
    Generator own = source.split(r);
    const SmcResult run = tempered_smc(kernel.dim, latent_likelihood(kernel, y, noise), smc, own);
    const double z = std::exp(run.log_evidence - found.value);
    sum += z;
    squares += (z - 1) * (z - 1);
  }
  EXPECT_NEAR(sum / 3, 1, 1e-12);
  EXPECT_NEAR(found.se, std::sqrt(squares / 2 / 3), 1e-12);
}

/// A kernel that does not depend on its latents.
LatentKernel constant(const Tensor& k) {
  return {2, 1, [=](const Tensor& z, std::int64_t inputs) {
            const Slice some{.stop = inputs};
            const Tensor one = slice(slice(k, 0, some), 1, some);
            return contiguous(expand(one, {z.size(0), inputs, inputs}));
          }};
}

TEST(LatentPosterior, WithoutLatentsIsTheGaussianProcess) {
  const test::Problem p(5, 3, 2);
  const Tensor joint =
      concat({concat({p.train, transpose(p.cross)}, 1), concat({p.cross, p.test}, 1)}, 0);
  Generator rng(1);
  const LatentPosterior sampled = sample_posterior(
      constant(joint), 8, p.targets, {.noise = 0.1, .smc = {.particles = 4}, .replicates = 2}, rng);
  const GaussianProcess gp(p.train, p.targets, {.noise = 0.1, .jitter = 0});
  const GpPrediction exact = gp.predict(p.cross, p.test);
  test::expect_near(sampled.mean, exact.mean, 1e-12);
  test::expect_near(sampled.within, exact.covariance, 1e-12);
  test::expect_near(sampled.between, zeros({2, 3, 3}, f64), 1e-12);
  test::expect_near(sampled.variance(1), clone(diagonal(exact.covariance)), 1e-12);
  EXPECT_NEAR(sampled.log_evidence.value, gp.log_marginal_likelihood(), 1e-10);
  EXPECT_EQ(sampled.stages, 1);
}

// Functions drawn given latents have m_z and C_z: 4,000 of one kernel, whose means' errors are
// C_z/4000, and whose covariances' (C_ii·C_jj + C_ij²)/4000.
TEST(LatentPosterior, DrawsFunctions) {
  const test::Problem p(5, 3, 1);
  const Tensor joint =
      concat({concat({p.train, transpose(p.cross)}, 1), concat({p.cross, p.test}, 1)}, 0);
  Generator rng(7);
  const std::int64_t n = 4000;
  const Tensor f =
      select(draw_functions(constant(joint), 8, p.targets, 0.1, zeros({n, 2}, f64), rng), 2, 0);
  const GpPrediction exact =
      GaussianProcess(p.train, p.targets, {.noise = 0.1, .jitter = 0}).predict(p.cross, p.test);
  const Tensor c = exact.covariance, variances = diagonal(c);
  const Tensor error = mean(f, 0) - select(exact.mean, 1, 0);
  EXPECT_LT(amax(abs(error) / sqrt(variances / double(n))).item(), 4.5);
  const Tensor apart = f - mean(f, 0), sample = matmul(transpose(apart), apart) / double(n);
  const Tensor se =
      sqrt((unsqueeze(variances, 1) * unsqueeze(variances, 0) + square(c)) / double(n));
  EXPECT_LT(amax(abs(sample - c) / se).item(), 4.5);
  test::expect_error(
      [&] {
        draw_functions(constant(joint), 8, p.targets, 0.1, zeros({n, 3}, f64), rng);
      },
      "latents must be [F, 2], got [4000, 3]");
}

TEST(LatentPosterior, HasTheSameBitsAtAnyNumberOfThreads) {
  const Sequential net = test::one_channel::network();
  const auto run = [&] {
    Generator rng(3);
    return sample_posterior(
        latent_kernel(finite_heads(net, {.heads = 4, .key_width = 2, .value_width = 3}),
                      test::one_channel::inputs()),
        6, test::one_channel::targets(),
        {.noise = 0.05, .smc = {.particles = 40, .recorded = 2}, .replicates = 2}, rng);
  };
  const int threads = num_threads();
  set_num_threads(1);
  const LatentPosterior one = run();
  set_num_threads(3);
  const LatentPosterior three = run();
  set_num_threads(threads);
  EXPECT_TRUE(all_equal(one.latents, three.latents));
  EXPECT_TRUE(all_equal(one.within, three.within));
  EXPECT_EQ(one.log_evidence.value, three.log_evidence.value);
}

TEST(LatentPosterior, RefusesWhatDoesNotFit) {
  Generator rng(1);
  const LatentKernel k = constant(eye(3, f64));
  const Tensor y = ones({2}, f64);
  const auto refuses = [&](const LatentPosteriorOptions& options, const std::string& message) {
    test::expect_error([&] { sample_posterior(k, 3, y, options, rng); }, message);
  };
  refuses({}, "the noise is 0; it must be positive");
  refuses({.noise = NAN}, "the noise is nan");
  refuses({.noise = 1, .replicates = 1}, "needs at least two replicates");
  refuses({.noise = 1, .smc = {.particles = 1}}, "particles must be at least 2");
  refuses({.noise = 1, .smc = {.keep = 1}}, "keep is 1");
  refuses({.noise = 1, .smc = {.sweeps = 0}}, "must be at least 1 and 0");
  test::expect_error([&] { sample_posterior(k, 2, y, {.noise = 1}, rng); },
                     "2 targets for 2 inputs");
  test::expect_error([&] { sample_posterior({}, 3, y, {.noise = 1}, rng); }, "has no latents");
  const std::vector<Tensor> odd{Tensor(),
                                eye(3, f64),
                                zeros({1, 3, 3}, f64),
                                ones({4, 2, 2}, f64),
                                ones({9, 9, 9}, f64),
                                ones({4, 3, 3})};
  for (const Tensor& wrong : odd) {
    LatentKernel other = k;
    other.at = [wrong](auto&&...) { return wrong; };
    test::expect_error([&] { sample_posterior(other, 3, y, {.noise = 1}, rng); }, "`at` returns");
    test::expect_error(
        [&] {
          draw_functions(other, 3, y, 1, zeros({4, other.dim}, f64), rng);
        },
        "`at` returns");
  }
  int told = 0;
  const LatentPosteriorOptions stops{
      .noise = 1, .smc = {.particles = 4}, .progress = [&](std::int64_t done, std::int64_t of) {
        told += static_cast<int>(done);
        EXPECT_EQ(of, 6);
        if (done == 2) throw Error("enough");
      }};
  refuses(stops, "enough");
  EXPECT_EQ(told, 3);
}

}  // namespace
}  // namespace ladon::latent_posterior_test
