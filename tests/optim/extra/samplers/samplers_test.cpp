// Properties of all samplers that return chains.

#include <numbers>
#include <stdexcept>

#include "ladon/core/machine/parallel.h"
#include "ladon/tests/optim/samplers/densities.h"

namespace ladon::test::samplers_test {
namespace {

struct Course {
  std::int64_t draws = 1000, warmup = 300, thin = 1;
  double target_accept = 0.8;
  std::function<void(std::int64_t, std::int64_t)> progress = {};
};
struct Sampler {
  const char* name;
  std::function<Chains(const LogDensity&, const Tensor&, const Course&, Generator&)> run;
};

template <class Options>
Options filled(Options o, const Course& c) {
  o.draws = c.draws, o.warmup = c.warmup, o.thin = c.thin;
  o.target_accept = c.target_accept, o.progress = c.progress;
  return o;
}

const std::vector<Sampler>& samplers() {
  static const std::vector<Sampler> all{
      {"hmc", [](const LogDensity& p, const Tensor& start, const Course& c,
                 Generator& rng) { return hmc(p, start, filled(HmcOptions{.steps = 6}, c), rng); }},
      {"nuts", [](const LogDensity& p, const Tensor& start, const Course& c,
                  Generator& rng) { return nuts(p, start, filled(NutsOptions{}, c), rng); }},
      {"parallel_tempering",
       [](const LogDensity& p, const Tensor& start, const Course& c, Generator& rng) {
         const TemperingOptions options{.levels = 3, .lowest = 0.5, .steps = 6};
         return parallel_tempering(p, start, filled(options, c), rng).chains;
       }}};
  return all;
}

/// Tries every sampler.
void every(const std::function<void(const Sampler&)>& test) {
  for (const Sampler& sampler : samplers()) {
    SCOPED_TRACE(sampler.name);
    test(sampler);
  }
}
Chains run(const Sampler& sampler, const LogDensity& p, const Tensor& start,
           const Course& course = {}, std::uint64_t seed = 1) {
  Generator rng(seed);
  return sampler.run(p, start, course, rng);
}

TEST(Samplers, ReachACorrelatedGaussian) {
  const LogDensity p = Correlated(10).density();
  every([&](const Sampler& sampler) {
    const Chains chains = run(sampler, p, scattered(8, 10), {.draws = 1500});
    ASSERT_EQ(chains.draws.shape(), Shape({8, 1500, 10}));
    expect_correlated(chains.draws);
    EXPECT_EQ(chains.divergences, 0);
  });
}

// A coarse step, of which a good part is refused: a move that did not keep the density would show.
TEST(Samplers, KeepANonGaussianDensityAtACoarseStep) {
  every([](const Sampler& sampler) {
    const Chains chains =
        run(sampler, tilted_logistic(), scattered(16, 1), {.draws = 3000, .target_accept = 0.5});
    expect_tilted_logistic(chains.draws);
    for (const double a : chains.acceptance) EXPECT_NEAR(a, 0.5, 0.2);
  });
}

// Between walls at ±c the variance is 1 − 2c·φ(c)/(2Φ(c) − 1).
TEST(Samplers, RefuseProposalsThatAreNotFinite) {
  const double c = 1.5, phi = std::exp(-0.5 * c * c) / std::sqrt(2 * std::numbers::pi),
               variance = 1 - 2 * c * phi / std::erf(c / std::numbers::sqrt2);
  every([&](const Sampler& sampler) {
    const Chains chains =
        run(sampler, between_walls(), zeros({8, 1}, f64), {.draws = 2500, .target_accept = 0.7});
    const Tensor x = number(chains.draws, 0);
    EXPECT_LT(amax(abs(x)).item(), 1.5);
    expect_converged(chains.draws);
    expect_mean(x, 0);
    expect_mean(square(x), variance);
  });
}

TEST(Samplers, TellWhatTheyDid) {
  const LogDensity p = Correlated(3).density();
  every([&](const Sampler& sampler) {
    std::int64_t rows = 0, first = 0;
    const LogDensity counting = LogDensity::of_scores(3, [&](const Tensor& theta) {
      rows += theta.size(0);
      if (first == 0) first = theta.size(0);
      return p.score(theta);
    });
    const Chains chains = run(sampler, counting, scattered(2, 3), {.draws = 50, .warmup = 100});
    EXPECT_EQ(chains.gradients, rows - first);  // which are scored again, all equal
    EXPECT_EQ(chains.acceptance.size(), 2U);
    EXPECT_GT(chains.step, 0);
    ASSERT_EQ(chains.inverse_mass.shape(), Shape({3}));
    const DensityScore there = p.score(reshape(chains.draws, {100, 3}));
    expect_values(reshape(chains.log_density, {100}), there.value.to_vector(), 1e-12);
  });
}

TEST(Samplers, ThinKeepsOneDrawOfSeveral) {
  const LogDensity p = tilted_logistic();
  every([&](const Sampler& sampler) {
    const Tensor all = run(sampler, p, scattered(2, 1), {.draws = 30, .warmup = 40}).draws;
    const Tensor some =
        run(sampler, p, scattered(2, 1), {.draws = 10, .warmup = 40, .thin = 3}).draws;
    const Tensor third = slice(all, 1, {.start = 2, .step = 3});
    EXPECT_TRUE(same_bits(contiguous(third), some));
  });
}

// 36 rows of 1000 numbers: enough that operations share them out.
TEST(Samplers, DrawTheSameAtAnyNumberOfThreads) {
  const LogDensity p = tilted_logistic(1000);
  const int threads = num_threads();
  every([&](const Sampler& sampler) {
    std::vector<Tensor> draws, figures;
    for (const int n : {1, 2}) {
      set_num_threads(n);
      draws.push_back(run(sampler, p, scattered(36, 1000), {.draws = 4, .warmup = 2}).draws);
      figures.push_back(split_rhat(draws.back()));
    }
    set_num_threads(threads);
    EXPECT_TRUE(same_bits(draws[0], draws[1]));
    EXPECT_TRUE(same_bits(figures[0], figures[1]));
  });
}

TEST(Samplers, DrawOtherNumbersFromTheSameGeneratorLater) {
  every([](const Sampler& sampler) {
    Generator rng(1);
    const Course course{.draws = 5, .warmup = 20};
    const Chains first = sampler.run(tilted_logistic(), scattered(1, 1), course, rng);
    const Chains second = sampler.run(tilted_logistic(), scattered(1, 1), course, rng);
    EXPECT_EQ(rng.position(), 2U);
    EXPECT_FALSE(same_bits(first.draws, second.draws));
    EXPECT_TRUE(
        same_bits(first.draws, run(sampler, tilted_logistic(), scattered(1, 1), course).draws));
  });
}

TEST(Samplers, CallProgressWhichMayStopThem) {
  every([](const Sampler& sampler) {
    std::vector<std::int64_t> seen;
    Course course{.draws = 3, .warmup = 4, .thin = 2};
    course.progress = [&](std::int64_t done, std::int64_t of) {
      EXPECT_EQ(of, 10);
      seen.push_back(done);
    };
    run(sampler, tilted_logistic(), scattered(1, 1), course);
    EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    course.progress = [](std::int64_t done, std::int64_t) {
      if (done == 5) throw std::runtime_error("enough");
    };
    EXPECT_THROW(run(sampler, tilted_logistic(), scattered(1, 1), course), std::runtime_error);
  });
}

TEST(Samplers, RefuseBadSettings) {
  const LogDensity p(2, [](const Tensor& x) { return -0.5 * sum(square(x), 1); });
  every([&](const Sampler& sampler) {
    const auto refused = [&](const Tensor& start, const Course& course, const char* fragment) {
      expect_error([&] { run(sampler, p, start, course); }, fragment);
      expect_error([&] { run(sampler, p, start, course); }, detail::join("[", sampler.name, "]"));
    };
    const Tensor start = zeros({3, 2});
    const std::int64_t many = std::int64_t{1} << 40;
    refused(start, {.draws = 0}, "draws ≥ 1");
    refused(start, {.warmup = -1}, "warmup ≥ 0");
    refused(start, {.warmup = 0}, "warmup is 0, so no step size can be adapted");
    refused(start, {.thin = 0}, "thin ≥ 1");
    refused(start, {.draws = many, .thin = many}, "too many draws");
    refused(start, {.target_accept = 1}, "must be in (0, 1)");
    refused(zeros({3, 3}), {}, "must be [C, 2] with at least one chain, got [3, 3]");
    refused(zeros({0, 2}), {}, "at least one chain");
    refused(zeros({2}), {}, "must be [C, 2]");
    refused({}, {}, "must be [C, 2]");
  });
}

TEST(Samplers, RefuseStartsAndDensitiesThatWillNotDo) {
  every([](const Sampler& sampler) {
    const auto refused = [&](const LogDensity& p, const Tensor& start, const char* fragment) {
      expect_error([&] { run(sampler, p, start, {.draws = 10, .warmup = 10}); }, fragment);
    };
    const LogDensity p(2, [](const Tensor& x) { return -0.5 * sum(square(x), 1); });
    refused(p, tensor({0, 0, 1, 1e200}, {2, 2}, f64), "chain 1 starts where ln p is -inf");
    refused(between_walls(), tensor({0, 0.5, 2}, {3, 1}), "chain 2 starts where ln p is nan");
    const LogDensity root(1, [](const Tensor& x) { return sum(sqrt(x) - x, 1); });
    refused(root, zeros({1, 1}), "chain 0 starts where the gradient of ln p is not finite");
    const LogDensity flat(1, [](const Tensor& x) { return sum(0.0 * x, 1); });
    refused(flat, zeros({1, 1}), "the density is flat");
    const LogDensity wrong = LogDensity::of_scores(1, [](const Tensor& x) {
      return DensityScore{zeros({x.size(0)}, f64), full(x.shape(), 1e200, f64)};
    });
    refused(wrong, zeros({1, 1}), "or rescale the parameters");
    const LogDensity one(2, [](const Tensor& x) { return sum(x); });
    refused(one, zeros({3, 2}), "one number per row");
  });
}

// Rows that are equal at first hide it, until they have moved.
TEST(Samplers, RefuseDensitiesThatMixRows) {
  const LogDensity centred(
      2, [](const Tensor& x) { return -0.5 * sum(square(x - mean(x, 0, Dims::keep)), 1); });
  const LogDensity wrong_axis(4, [](const Tensor& x) { return -0.5 * sum(square(x), 0); });
  const LogDensity wrong_slope = LogDensity::of_scores(2, [](const Tensor& x) {
    return DensityScore{-0.5 * sum(square(x), 1), mean(x, 0, Dims::keep) - x};
  });
  every([&](const Sampler& sampler) {
    const auto refused = [&](const LogDensity& p, const Tensor& start, const char* fragment) {
      expect_error([&] { run(sampler, p, start, {.draws = 10, .warmup = 10}); }, fragment);
    };
    for (const Tensor& start : {zeros({3, 2}), scattered(3, 2)})
      refused(centred, start, "the density mixes chains");
    refused(wrong_slope, scattered(3, 2), "the density mixes chains");
  });
  const LogDensity p(2, [](const Tensor& x) { return -0.5 * sum(square(x), 1); });
  Generator rng(1);
  expect_error([&] { hmc(wrong_axis, scattered(4, 4), {}, rng); }, "the density mixes chains");
  expect_error([&] { parallel_tempering(centred, p, scattered(3, 2), {}, rng); }, "mixes chains");
}

}  // namespace
}  // namespace ladon::test::samplers_test
