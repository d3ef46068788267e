// Prediction with a model in one call, and hyper-parameters learned by the marginal likelihood.

#include "ladon/optim/posterior/predict.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/running_moments.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/layers/activation.h"
#include "ladon/layers/attention/attention.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/infinite/gram/backward.h"
#include "ladon/layers/linear.h"
#include "ladon/layers/pooling.h"
#include "ladon/optim/posterior/gradient_flow.h"
#include "ladon/optim/posterior/learn.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::predict_test {
namespace {

using infinite::Get;
using infinite::limit;

constexpr auto in_ntk = Parameterization::ntk;

/// On sequences [N, T, 3]; softmax over 3 tokens or more is averaged over draws.
Sequential transformer(Weighting zeta, double query_key = 1.2,
                       const LimitDraws& draws = {.samples = 16}) {
  Generator rng(1);
  return Sequential(
      Linear({.in = 3, .out = 8, .parameterization = in_ntk, .weight_std = 1.3, .bias_std = 0.2},
             rng),
      Activation(Nonlinearity::relu),
      MultiHeadAttention({.dim = 8,
                          .heads = 2,
                          .form = {.weighting = zeta},
                          .prior = {.parameterization = in_ntk,
                                    .query_key_std = query_key,
                                    .value_output_std = 0.9,
                                    .bias_std = 0.1},
                          .limit_draws = draws},
                         rng),
      MeanPositions(), Linear({.in = 8, .out = 1, .parameterization = in_ntk}, rng));
}

struct Data {
  Tensor train, targets, test;

  Data(std::int64_t n, std::int64_t m, std::int64_t outputs) {
    Generator rng(2);
    train = normal({n, 4, 3}, rng, 0, 1, f64);
    test = normal({m, 4, 3}, rng, 0, 1, f64);
    targets = normal({n, outputs}, rng, 0, 1, f64);
  }
};

TEST(Predict, IsTheGaussianProcessOfTheLimit) {
  const Sequential net = transformer(Weighting::identity);
  const Data d(9, 4, 2);
  const Predicted y = predict(net, d.train, d.targets, d.test, {.relative_noise = 0.2});
  const Tensor k = limit(net)(d.train, Get::nngp).nngp;
  const Tensor cross = limit(net)(d.test, d.train, Get::nngp).nngp;
  const Tensor self = diagonal(limit(net)(d.test, Get::nngp).nngp);
  const double unit = mean(diagonal(k)).item();
  EXPECT_EQ(y.relative_noise, 0.2);
  EXPECT_NEAR(y.noise, 0.2 * unit * y.amplitude, 1e-14);
  const GaussianProcess process(y.amplitude * k, d.targets, {.noise = y.noise});
  const GpPrediction expected = process.predict(y.amplitude * cross, y.amplitude * self);
  test::expect_near(y.mean, expected.mean, 1e-9);
  test::expect_near(y.covariance, expected.covariance, 1e-9);
  EXPECT_NEAR(y.log_marginal_likelihood, process.log_marginal_likelihood(), 1e-8);
  const LeaveOneOut left = process.leave_one_out();
  test::expect_near(y.left_out.mean, left.mean, 1e-9);
  test::expect_near(y.left_out.variance, left.variance, 1e-9);
  EXPECT_NEAR(y.left_out.log_density, left.log_density, 1e-8);
}

// The best noise with the best amplitude: as good as any that a fine search of refits finds.
TEST(Predict, ChoosesNoiseAndAmplitude) {
  const test::Problem p(14, 1, 2);
  for (const NoiseCriterion by :
       {NoiseCriterion::leave_one_out, NoiseCriterion::marginal_likelihood}) {
    const NoiseChoice choice = choose_noise(3 * p.train, p.targets, by);
    const auto density = [&](double noise, double amplitude) {
      const GaussianProcess process(amplitude * p.train, p.targets,
                                    {.noise = amplitude * noise, .jitter = 0});
      return by == NoiseCriterion::leave_one_out ? process.leave_one_out().log_density
                                                 : process.log_marginal_likelihood();
    };
    EXPECT_NEAR(choice.log_density, density(choice.relative_noise, choice.amplitude), 1e-8);
    for (double noise = 1e-5; noise < 10; noise *= 1.2)
      for (const double factor : {0.8, 1.0, 1.25})
        EXPECT_LE(density(noise, factor * choice.amplitude), choice.log_density + 1e-5);
  }
}

TEST(Predict, WithTheNtkIsTheEndOfTraining) {
  const Sequential net = transformer(Weighting::identity);
  const Data d(8, 3, 1);
  const Predicted y =
      predict(net, d.train, d.targets, d.test, {.kernel = Get::ntk, .relative_noise = 0.1});
  const infinite::Kernel k = limit(net)(d.train), cross = limit(net)(d.test, d.train),
                         test = limit(net)(d.test);
  const GradientFlow flow(k.ntk, d.targets, {.jitter = 0.1 + 1e-8});
  const GpPrediction expected =
      flow.ensemble(infinite_time, cross.ntk, {k.nngp, cross.nngp, diagonal(test.nngp)});
  test::expect_near(y.mean, expected.mean, 1e-9);
  // In units of what explains the targets.
  const Tensor ratio = y.variance() / expected.covariance;
  test::expect_near(ratio, expand(select(ratio, 0, 0), {3}), 1e-9);
}

// Evidence and leave-one-out predictions are those of the NTK with its own amplitude; noise and
// amplitude are those of the NNGP kernel, from which networks start.
TEST(Predict, WithTheNtkReportsItsEvidenceAndTheNoiseOfTheNngpKernel) {
  const Sequential net = transformer(Weighting::identity);
  const Data d(8, 3, 1);
  const Predicted y = predict(net, d.train, d.targets, d.test,
                              {.kernel = Get::ntk,
                               .relative_noise = 0.1,
                               .choose_by = NoiseCriterion::marginal_likelihood});
  const infinite::Kernel k = limit(net)(d.train);
  const auto unit = [](const Tensor& kernel) { return mean(diagonal(kernel)).item(); };
  const GaussianProcess ntk(k.ntk, d.targets, {.noise = 0.1 * unit(k.ntk)});
  const double a = ntk.amplitude();
  const GaussianProcess scaled(a * k.ntk, d.targets, {.noise = 0.1 * unit(a * k.ntk)});
  EXPECT_NEAR(y.log_marginal_likelihood, scaled.log_marginal_likelihood(), 1e-6);
  test::expect_near(y.left_out.mean, scaled.leave_one_out().mean, 1e-6);
  const GaussianProcess nngp(k.nngp, d.targets, {.noise = 0.1 * unit(k.nngp)});
  EXPECT_NEAR(y.amplitude, nngp.amplitude(), 1e-6 * y.amplitude);
  EXPECT_NEAR(y.noise, y.amplitude * 0.1 * unit(k.nngp), 1e-6 * y.noise);
}

TEST(Predict, KeepsWithinItsBudget) {
  const Sequential net = transformer(Weighting::identity);
  const Data d(60, 40, 1);
  const PredictEstimate estimate = estimate_predict(net, d.train, d.test);
  EXPECT_GT(estimate.bytes, 8u * (5 * 60 * 60 + 3 * 60 * 40));
  EXPECT_GT(estimate.seconds, 0);
  PredictOptions small;
  small.gram.memory_budget = 100'000;
  test::expect_error([&] { predict(net, d.train, d.targets, d.test, small); }, "MB");
  small.gram.memory_budget = 200'000'000;
  EXPECT_NO_THROW(predict(net, d.train, d.targets, d.test, small));
}

// Of a kernel of lower rank than inputs, without noise: the jitter decides.
TEST(Predict, OfASingularKernelIsFinite) {
  const Data d(9, 4, 1);
  const Sequential net = transformer(Weighting::identity);
  const Tensor twice = concat({d.train, d.train}, 0), targets = concat({d.targets, d.targets}, 0);
  for (const Get kernel : {Get::nngp, Get::ntk}) {
    const Predicted y =
        predict(net, twice, targets, d.test, {.kernel = kernel, .relative_noise = 0});
    for (const Tensor& x : {y.mean, y.covariance, y.left_out.variance})
      EXPECT_TRUE(test::finite(x));
    EXPECT_TRUE(std::isfinite(y.log_marginal_likelihood + y.left_out.log_density));
  }
  const Predicted none = predict(net, d.train, d.targets, slice(d.test, 0, {.stop = 0}));
  EXPECT_EQ(none.mean.shape(), (Shape{0, 1}));
  EXPECT_EQ(none.covariance.shape(), (Shape{0}));
}

#ifndef LADON_WITHOUT_EXTRA
TEST(Predict, KeepsFinishedTiles) {
  const Data d(9, 4, 1);
  const Sequential net = transformer(Weighting::identity);
  const auto folder =
      std::filesystem::temp_directory_path() / ("ladon_predict_" + std::to_string(getpid()));
  PredictOptions options{.relative_noise = 0.1};
  const Predicted plain = predict(net, d.train, d.targets, d.test, options);
  options.gram.checkpoint = folder;
  for (int run = 0; run < 2; ++run)
    EXPECT_TRUE(all_equal(predict(net, d.train, d.targets, d.test, options).mean, plain.mean));
  std::filesystem::remove_all(folder);
}
#endif

TEST(Predict, RefusesWhatDoesNotFit) {
  const Data d(5, 2, 1);
  Generator rng(1);
  const Linear positions({.in = 3, .out = 2, .parameterization = in_ntk}, rng);
  test::expect_error([&] { predict(positions, d.train, d.targets, d.test); },
                     "ends with positions");
  const Sequential net = transformer(Weighting::identity);
  test::expect_error([&] { predict(net, d.train, ones({4}, f64), d.test); }, "targets");
  test::expect_error([&] { predict(net, d.train, zeros({5}, f64), d.test); }, "targets are 0");
  test::expect_error([&] { predict(net, d.train, 1e200 * d.targets, d.test); }, "no amplitude");
  test::expect_error([&] { predict(net, d.train, d.targets, {}); }, "test inputs are undefined");
  Sequential plain(MeanPositions(), Linear({.in = 3, .out = 1, .parameterization = in_ntk}, rng));
  test::expect_error(
      [&] {
        predict(plain, zeros({5, 4, 3}, f64), d.targets, d.test);
      },
      "mean of the kernel's diagonal is 0");
  test::expect_error(
      [&] { choose_noise(-eye(3, f64), ones({3}, f64), NoiseCriterion::leave_one_out); }, "is -1");
  test::expect_error(  // no option of another function's is advised
      [] {
        choose_noise(tensor({1, 2, 2, 1}, {2, 2}, f64), ones({2}, f64),
                     NoiseCriterion::leave_one_out);
      },
      "check the kernel, which must be a covariance");
  test::expect_error([&] { predict(net, d.train, d.targets, d.test, {.relative_noise = -1}); },
                     "must be at least 0");
}

TEST(Predict, TellsWhatCoordinatesLeaveOut) {
  const Data d(6, 4, 1);
  const Sequential net = transformer(Weighting::softmax, 1.2, {.samples = 8, .coordinates = 3});
  const Predicted y = predict(net, d.train, d.targets, d.test, {.gram = {.replicates = 2}});
  const auto by = limit(net).with_landmarks(d.train);
  ASSERT_EQ(y.unexplained.size(), 1u);
  EXPECT_GT(y.unexplained[0], 0.05);
  // The largest error of the three kernels, in units of the mean of the diagonal.
  const infinite::GramOptions two{.get = infinite::Get::nngp, .replicates = 2};
  const infinite::Gram among = infinite::gram(by, d.train, two),
                       across = infinite::gram(by, d.test, d.train, two),
                       self = infinite::gram_diagonal(by, d.test, two);
  double largest = 0;
  for (const infinite::Gram* k : {&among, &across, &self})
    largest = std::max(largest, amax(k->nngp_se).item());
  EXPECT_NEAR(y.kernel_se, largest / mean(diagonal(among.nngp)).item(), 1e-12);
  EXPECT_NEAR(y.unexplained[0], by.unexplained(concat({d.train, d.test}, 0)).at(0), 1e-12);
  const Predicted alone =
      predict(net, d.train, d.targets, slice(d.test, 0, {.stop = 0}), {.gram = {.replicates = 2}});
  EXPECT_NEAR(alone.unexplained.at(0), by.unexplained(d.train).at(0), 1e-12);
  EXPECT_TRUE(
      predict(transformer(Weighting::identity), d.train, d.targets, d.test).unexplained.empty());
  EXPECT_EQ(predict(transformer(Weighting::identity), d.train, d.targets, d.test).kernel_se, 0);
}

// --- learning ---

/// The gradients of ⟨c, K⟩ + ½⟨c, Θ⟩ by all hyper-parameters and the inputs: tile by tile, or at
/// once.
std::vector<double> gradients(Sequential& net, const infinite::Inputs& inputs, const Tensor& c,
                              std::int64_t tile) {
  const infinite::Inputs x(clone(inputs.x).set_requires_grad(), inputs.mask);
  std::vector<Tensor> leaves;
  for (const auto& [path, value] : net.hyperparameters()) {
    leaves.push_back(clone(value).detach().set_requires_grad());
    net.set_hyperparameter(path, leaves.back());
  }
  if (tile > 0)
    infinite::backward_gram(limit(net), x, c, 0.5 * c, {.tile = tile, .replicates = 2});
  else
    for (const std::uint64_t r : {0, 1}) {
      const infinite::Kernel k = limit(net).with_replicate(r)(x);
      backward(sum(0.5 * c * (k.nngp + 0.5 * k.ntk)));
    }
  std::vector<double> all;
  for (const Tensor& leaf : leaves) all.push_back(leaf.grad().defined() ? leaf.grad().item() : 0);
  for (const double by_input : x.x.grad().to_vector()) all.push_back(by_input);
  return all;
}

TEST(LearnHyperparameters, GradientsOfTilesAreThoseOfTheWhole) {
  const Data d(7, 1, 1);
  Generator rng(3);
  const Tensor half = normal({7, 7}, rng, 0, 1, f64), c = half + transpose(half);
  const LimitDraws few{.samples = 16, .coordinates = 3};
  for (Sequential net : {transformer(Weighting::identity), transformer(Weighting::softmax),
                         transformer(Weighting::softmax, 1.2, few)})
    for (const Tensor& mask : {Tensor(), bernoulli({7, 4}, rng, 0.8)}) {
      const infinite::Inputs x(d.train, mask);
      const auto whole = gradients(net, x, c, 0);
      for (const std::int64_t tile : {1, 3, 16}) {
        const auto tiles = gradients(net, x, c, tile);
        ASSERT_EQ(whole.size(), tiles.size());
        for (std::size_t i = 0; i < whole.size(); ++i)
          EXPECT_NEAR(tiles[i], whole[i], 1e-11 * (1 + std::abs(whole[i]))) << i;
      }
    }
}

TEST(LearnHyperparameters, GradientsOfTilesRefuseWhatDoesNotFit) {
  const Data d(6, 1, 1);
  const Sequential net = transformer(Weighting::softmax);
  Tensor one = zeros({6, 6}, f64);
  one.mutable_data<double>()[8] = 1;
  const auto refuse = [&](const Layer& model, const Tensor& c, int replicates,
                          const std::string& why) {
    test::expect_error(
        [&] { infinite::backward_gram(limit(model), d.train, c, {}, {.replicates = replicates}); },
        why);
  };
  refuse(net, one, 2, "is not symmetric");
  refuse(net, eye(5, f64), 2, "has shape [5, 5]");
  refuse(net, eye(6, f64), 0, "at least 2");
  Generator rng(1);
  refuse(Linear({.in = 3, .out = 2, .parameterization = in_ntk}, rng), eye(6, f64), 2,
         "ends with positions");
}

// Targets of a network's own process, learned from elsewhere, are explained at least as well as by
// the hyper-parameters that they were drawn with.
TEST(LearnHyperparameters, ExplainTargetsAsWellAsTheTruth) {
  Generator rng(4);
  const Tensor x = normal({40, 4, 3}, rng, 0, 1, f64);
  const Sequential truth = transformer(Weighting::identity, 1.2);
  const Tensor k = limit(truth)(x, Get::nngp).nngp;
  const double noise = 0.05 * mean(diagonal(k)).item();
  const Tensor factor = lapack::cholesky(k + noise * eye(40, f64));
  const Tensor y = matmul(factor, normal({40, 3}, rng, 0, 1, f64));
  const double expected = log_marginal_likelihood(k, y, scalar(noise, f64)).item();
  Sequential net = transformer(Weighting::identity, 0.4);
  int told = 0;
  const NoGrad off;  // the gradients are its own affair
  const LearnedHyperparameters learned = learn_hyperparameters(
      net, x, y, {.steps = 60, .progress = [&](const LearningStep&) { ++told; }});
  EXPECT_EQ(told, 61);
  EXPECT_LT(learned.steps.front().log_likelihood, expected - 10);
  EXPECT_GT(learned.best.log_likelihood, expected - 1);
  // The model has what was best.
  const Tensor now = limit(net)(x, Get::nngp).nngp;
  EXPECT_NEAR(log_marginal_likelihood(now, y, scalar(learned.best.noise, f64)).item(),
              learned.best.log_likelihood, 1e-7);
  for (const auto& p : learned.parameters) EXPECT_GT(p.after, 0) << p.path;
}

// The likelihood that is told is that of draws which nothing was chosen by: over many runs with few
// draws of their own, it differs from that of other draws by nothing but chance.
TEST(LearnHyperparameters, TellHowLikelyTheBestIsWithoutBias) {
  const Data d(16, 1, 1);
  RunningMoments difference;
  const auto likelihood = [&](const Sequential& net, double noise) {
    const Tensor k = gram(limit(net), d.train, {.get = Get::nngp, .replicates = 2}).nngp;
    return log_marginal_likelihood(k, d.targets, scalar(noise, f64));
  };
  for (std::uint64_t run = 0; run < 24; ++run) {
    LimitDraws draws{.samples = 2, .coordinates = 3, .seed = run};
    Sequential net = transformer(Weighting::softmax, 3, draws);
    const LearnedHyperparameters learned =
        learn_hyperparameters(net, d.train, d.targets, {.steps = 12, .gram = {.replicates = 2}});
    EXPECT_EQ(learned.steps.at(static_cast<std::size_t>(learned.best.step)).noise,
              learned.best.noise);
    draws.seed = run + 1000;
    Sequential other = transformer(Weighting::softmax, 3, draws);
    for (const auto& p : learned.parameters) other.set_hyperparameter(p.path, scalar(p.after, f64));
    difference.add(learned.best.log_likelihood - likelihood(other, learned.best.noise));
  }
  EXPECT_LT(std::abs(difference.mean().item()), 4 * difference.standard_error().item())
      << difference.mean().item() << " ± " << difference.standard_error().item();
}

TEST(LearnHyperparameters, LeaveTheModelAsItWasWhereTheyFail) {
  const Data d(5, 1, 1);
  Sequential net = transformer(Weighting::identity);
  const auto before = net.hyperparameters();
  test::expect_error([&] { learn_hyperparameters(net, d.train, ones({4}, f64)); }, "targets");
  const auto after = net.hyperparameters();
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(before[i].second.item(), after[i].second.item());
  Generator rng(1);
  Sequential plain(MeanPositions(), Linear({.in = 3, .out = 1}, rng));
  test::expect_error([&] { learn_hyperparameters(plain, d.train, d.targets); },
                     "no hyper-parameter");
}

}  // namespace
}  // namespace ladon::predict_test
