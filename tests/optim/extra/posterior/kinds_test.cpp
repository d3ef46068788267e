// All matrices of a posterior must be of the same kernel: matrices of different kernels are refused
// if they carry the name of their kernel, and if their numbers are impossible for one kernel.

#include <functional>
#include <string>

#include "ladon/autograd/ops.h"
#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/extra/posterior/cg_solver.h"
#include "ladon/optim/extra/posterior/distributed_factor.h"
#include "ladon/optim/extra/posterior/stored_factor.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/gradient_flow.h"
#include "ladon/optim/posterior/kernel_blocks.h"
#include "ladon/optim/posterior/predict.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::kinds_test {
namespace {

using infinite::Get;
using infinite::Gram;
using infinite::KernelMatrix;
using test::expect_error;
using test::expect_near;

Sequential network() {
  Generator rng(1);
  const auto ntk = Parameterization::ntk;
  return Sequential(Linear({.in = 3, .out = 8, .parameterization = ntk}, rng),
                    Activation(Nonlinearity::relu),
                    Linear({.in = 8, .out = 1, .parameterization = ntk}, rng));
}

class Kinds : public testing::Test {
 protected:
  static const KernelMatrix& of(const Gram& gram, Get kind) {
    return kind == Get::nngp ? gram.nngp : gram.ntk;
  }

  const test::TemporaryFolder folder_;
  const Sequential net_ = network();
  const infinite::Limit limit_{net_};
  const Tensor x_ = test::gaussian({12, 3}, 1), z_ = test::gaussian({4, 3}, 2),
               y_ = test::gaussian({12}, 3);
  const Gram among_ = gram(limit_, x_), across_ = gram(limit_, z_, x_), own_ = gram(limit_, z_),
             self_ = gram_diagonal(limit_, z_);
  const GpOptions noise_{.noise = 0.1};
};

TEST_F(Kinds, AreCarriedByWhatGramsGive) {
  for (const Gram* g : {&among_, &across_, &own_, &self_}) {
    EXPECT_EQ(g->nngp.kind(), Get::nngp);
    EXPECT_EQ(g->ntk.kind(), Get::ntk);
  }
  EXPECT_EQ(gram(limit_, x_, Get::nngp).nngp.kind(), Get::nngp);
  EXPECT_EQ(gram_diagonal(limit_, zeros({0, 3}, f64)).ntk.kind(), Get::ntk);
  const KernelMatrix copy = among_.ntk;
  EXPECT_EQ(copy.kind(), Get::ntk);
  EXPECT_FALSE(KernelMatrix(among_.nngp + among_.ntk).kind()) << "a mixture is neither";
}

// Every solver, of either kind, with every cross and test kernel of either kind.
TEST_F(Kinds, AreComparedByEverySolver) {
  for (const Get kind : {Get::nngp, Get::ntk}) {
    const std::string name = kind == Get::nngp ? "k" : "t";
    const auto stored = store_gram(limit_, x_, folder_ / name, {.get = kind});
    EXPECT_EQ(stored.kind(), kind);
    const std::vector<std::pair<std::string, GaussianProcess>> processes = {
        {"dense", GaussianProcess(of(among_, kind), y_, noise_)},
        {"DenseFactor", GaussianProcess(DenseFactor(of(among_, kind), noise_), y_)},
        {"stored", GaussianProcess(store_factor(stored, folder_ / (name + "f"), noise_), y_)},
        {"distributed", GaussianProcess(distribute_factor(stored, noise_), y_)},
        {"cg, stored", GaussianProcess(CgSolver(kernel_map(stored), noise_), y_)},
        {"cg", GaussianProcess(CgSolver(kernel_map(of(among_, kind)), noise_), y_)}};
    for (const auto& process : processes)
      for (const Get cross : {Get::nngp, Get::ntk})
        for (const Get test : {Get::nngp, Get::ntk})
          for (const Gram* tests : {&own_, &self_}) {
            SCOPED_TRACE(process.first);
            const auto predict = [&] {
              return process.second.predict(of(across_, cross), of(*tests, test));
            };
            if (cross == kind && test == kind) {
              EXPECT_NO_THROW(predict());
              continue;
            }
            expect_error(predict, "an NNGP kernel");
            expect_error(predict, "an NTK");
            expect_error(predict, "one kind for both");
            if (cross != kind) {
              EXPECT_THROW(process.second.predict(of(across_, cross)), Error);
            }
          }
    // a tensor of unknown kind is taken as what it is said to be, and what is known is compared
    const Tensor plain = of(across_, kind) * 1;
    const Get other = kind == Get::nngp ? Get::ntk : Get::nngp;
    EXPECT_THROW(processes[0].second.predict(plain, of(self_, other)), Error);
    EXPECT_THROW(GaussianProcess(of(among_, kind) * 1, y_, noise_)
                     .predict(of(across_, kind), of(self_, other)),
                 Error);
    expect_near(processes[0].second.predict(plain).mean,
                processes[2].second.predict(of(across_, kind)).mean, 1e-9);
  }
}

TEST_F(Kinds, AreComparedByGradientFlow) {
  const GradientFlow flow(among_.ntk, y_);
  EXPECT_NO_THROW(flow.ensemble(2, across_.ntk, {among_.nngp, across_.nngp, self_.nngp}));
  expect_error([&] { flow.test(2, across_.nngp); }, "the training kernel is an NTK");
  expect_error(
      [&] {
        flow.ensemble(2, across_.nngp, {among_.nngp, across_.nngp, self_.nngp});
      },
      "the cross kernel is an NNGP kernel");
  for (int wrong = 0; wrong < 3; ++wrong)
    expect_error(
        [&] {
          flow.ensemble(
              2, across_.ntk,
              {wrong == 0 ? among_.ntk : among_.nngp, wrong == 1 ? across_.ntk : across_.nngp,
               wrong == 2 ? self_.ntk : self_.nngp});
        },
        "a matrix of NngpBlocks is an NTK");
  const GradientFlow last(among_.nngp, y_);  // only the last layer is trained
  EXPECT_NO_THROW(last.ensemble(2, across_.nngp, {among_.nngp, across_.nngp, self_.nngp}));
  EXPECT_THROW(last.test(2, across_.ntk), Error);
}

// What one stored matrix is, has to be said: the posterior and gradient descent mean others.
TEST_F(Kinds, OfAStoredMatrixIsSaid) {
  for (const char* folder : {"", "gram"}) {
    const std::string where = *folder ? std::string(folder_ / folder) : std::string();
    expect_error([&] { store_gram(limit_, x_, where); },
                 "[store_gram] the kernel to store is not given; set .get = "
                 "infinite::Get::nngp");
    EXPECT_THROW(estimate_stored_gram(limit_, x_, where, {.dtype = f32}), Error);
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "gram"));
  const auto stored = store_gram(limit_, x_, {}, {.get = Get::nngp});
  const GaussianProcess gp(CgSolver(kernel_map(stored), noise_), y_);
  expect_near(gp.predict(across_.nngp).mean,
              GaussianProcess(among_.nngp, y_, noise_).predict(across_.nngp).mean, 1e-6);
}

// --- variances that no kernel gives ---

TEST(NegativeVariance, BeyondRoundingIsAnError) {
  const test::Problem p(14, 5, 1);
  const std::vector<std::pair<std::string, std::shared_ptr<const Solver>>> solvers = {
      {"dense", std::make_shared<DenseFactor>(p.train, GpOptions{.noise = 0.01})},
      {"cg", std::make_shared<CgSolver>(kernel_map(p.train), GpOptions{.noise = 0.01})}};
  for (const auto& [name, solver] : solvers) {
    SCOPED_TRACE(name);
    const GaussianProcess gp(solver, p.targets);
    for (const bool variances : {false, true}) {
      const Tensor test = variances ? clone(diagonal(p.test)) : p.test;
      EXPECT_NO_THROW(gp.predict(p.cross, test));
      const std::string hint = "K, K* and K** must be blocks of the same kernel, in the same units";
      expect_error([&] { gp.predict(p.cross, 0.1 * test); }, hint);
      expect_error([&] { gp.predict(3.0 * p.cross, test); }, hint);
      expect_error([&] { gp.predict(3.0 * p.cross, test); }, "with_landmarks");
      expect_error([&] { gp.predict(p.cross, -test); }, "the variance at test input");
    }
  }
  const GradientFlow flow(p.train, p.targets);
  expect_error(
      [&] {
        flow.ensemble(infinite_time, p.cross, {p.train, p.cross, 0.1 * p.test});
      },
      "of the same kernel");
}

TEST(NegativeVariance, IsJudgedByWhatRoundingCanBe) {
  using kernel_blocks::proper_covariance;
  const Tensor prior = tensor({1, 4}, f64);
  int asked = 0;
  const auto left = [&](double first, double second, double allowed, DType precision = f64) {
    return proper_covariance(
               "test", tensor({first, second}, f64), prior, precision,
               [&] {
                 ++asked;
                 return tensor({0, allowed}, f64);
               },
               "the hint")
        .to_vector();
  };
  EXPECT_EQ(left(-1e-8, -4e-8, 0), (std::vector<double>{0, 0})) << "√ε of the prior variances";
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(left(0.5, -1e-6, 1e-6), (std::vector<double>{0.5, 0}));
  EXPECT_EQ(asked, 1);
  expect_error([&] { left(0.5, -1e-6, 0.9e-6); }, "at test input 1 would be -1e-06");
  expect_error([&] { left(-1e-6, -1e-6, 1); }, "at test input 0");
  EXPECT_EQ(left(-3e-4, 1, 0, f32), (std::vector<double>{0, 1}));
  EXPECT_THROW(left(-4e-4, 1, 0, f32), Error);
}

// Of right kernels rounding is all that is negative: duplicates, hardly any jitter, f32.
TEST(NegativeVariance, ByRoundingIsZero) {
  Generator rng(3);
  for (const double jitter : {1e-8, 1e-10, 1e-12, 1e-14})
    for (const double length : {1.0, 0.1}) {  // the smaller, the nearer to singular
      const Tensor x = length * normal({150, 2}, rng, 0, 1, f64), k = test::unit_rbf(x, x);
      const Tensor some = concat({slice(x, 0, {.stop = 40}), x + 1e-7}, 0);
      const Tensor cross = test::unit_rbf(some, x), y = test::gaussian({150}, 4);
      std::unique_ptr<GaussianProcess> gp;
      try {
        gp = std::make_unique<GaussianProcess>(k, y, GpOptions{.jitter = jitter});
      } catch (const Error&) {
        continue;  // not positive definite to rounding: said before
      }
      SCOPED_TRACE(testing::Message() << jitter << ' ' << length);
      const Tensor variance = gp->predict(cross, ones({190}, f64)).covariance;
      EXPECT_GE(amin(variance).item(), 0);
      EXPECT_LT(amax(variance).item(), 1e-2);
      EXPECT_NO_THROW(gp->predict(cross, test::unit_rbf(some, some)));
    }
  const Tensor x = normal({60, 2}, rng, 0, 1, f64), k = cast(test::unit_rbf(x, x), f32);
  const GaussianProcess single(k, test::gaussian({60}, 4), {.jitter = 1e-5});
  EXPECT_NO_THROW(single.predict(k, cast(ones({60}, f64), f32)));
}

// Drawn kernels without common landmarks are those of different processes.
TEST(NegativeVariance, OfDrawnKernelsAsksForLandmarks) {
  Generator rng(3);
  const auto ntk = Parameterization::ntk;
  MultiHeadAttentionOptions o{
      .dim = 8, .heads = 2, .prior = {.parameterization = ntk, .query_key_std = 2}};
  o.limit_draws.samples = 32;
  o.limit_draws.coordinates = 16;
  const Sequential net(Linear({.in = 4, .out = 8, .parameterization = ntk}, rng),
                       Activation(Nonlinearity::relu), MultiHeadAttention(o, rng),
                       Activation(Nonlinearity::relu), MeanPositions(),
                       Linear({.in = 8, .out = 1, .parameterization = ntk}, rng));
  const Tensor a = test::gaussian({12, 5, 4}, 1), b = slice(a, 0, {.stop = 6}),
               y = test::gaussian({12}, 2);
  const auto predict = [&](const infinite::Limit& limit) {
    const auto of = [&](auto&... x) { return gram(limit, infinite::Inputs(x)..., Get::nngp).nngp; };
    const KernelMatrix k = of(a);
    return GaussianProcess(k, y, {.noise = 1e-5 * mean(diagonal(k)).item()})
        .predict(of(b, a), of(b));
  };
  expect_error([&] { predict(infinite::limit(net)); }, "limit.with_landmarks(x)");
  EXPECT_GT(amin(predict(infinite::limit(net).with_landmarks(a)).variance()).item(), 0);
}

// --- what predict() and choose_noise() take ---

TEST(ChooseNoise, RefusesAnIndefiniteKernelAsGaussianProcessDoes) {
  Generator rng(1);
  const Tensor y = test::gaussian({10}, 2), x = normal({10, 2}, rng, 0, 1, f64);
  const Tensor good = test::unit_rbf(x, x);
  for (const double shift : {0.5, 1e-3, 1e-6}) {
    const auto [values, vectors] = eigh(good);
    Tensor lowered = clone(values.detach());
    lowered.mutable_data<double>()[0] = -shift;
    const Tensor bad = matmul(vectors * lowered, transpose(vectors));
    const Tensor k = 0.5 * (bad + transpose(bad));
    for (const NoiseCriterion by :
         {NoiseCriterion::leave_one_out, NoiseCriterion::marginal_likelihood})
      expect_error([&] { choose_noise(k, y, by); }, "is not positive definite");
    EXPECT_THROW(GaussianProcess(k, y), Error);
  }
  for (const Tensor& k : {good, concat({concat({good, good}, 1), concat({good, good}, 1)}, 0)})
    EXPECT_NO_THROW(choose_noise(k, test::gaussian({k.size(0)}, 3), NoiseCriterion::leave_one_out));
  EXPECT_NO_THROW(choose_noise(cast(good, f32), y, NoiseCriterion::leave_one_out));
}

TEST(PredictCenter, MustBeSaidOfTargetsFarFromZero) {
  const Sequential net = network();
  const Tensor x = test::gaussian({20, 3}, 1), z = test::gaussian({5, 3}, 2);
  const Tensor y = sin(sum(x, 1));
  const Tensor two = stack({y, 100 + y}, 1);
  expect_error([&] { predict(net, x, 100 + y, z); },
               "the standard deviation of all targets around the mean of their output; set .center "
               "= true to subtract the mean, or .center = false to keep it");
  expect_error([&] { predict(net, x, two, z); }, "targets of output 1");
  const Predicted plain = predict(net, x, y - mean(y), z);
  const Predicted far = predict(net, x, 100 + y, z, {.center = true});
  expect_near(far.mean, plain.mean + 100 + mean(y).item(), 1e-9);
  expect_near(far.left_out.mean, plain.left_out.mean + 100 + mean(y).item(), 1e-9);
  expect_near(far.variance(), plain.variance(), 1e-9);
  EXPECT_NEAR(far.left_out.log_density, plain.left_out.log_density, 1e-6);
  EXPECT_LT(amax(abs(predict(net, x, 100 + y, z, {.center = false}).mean - far.mean)).item(), 100);
  const PredictOptions gradient{.kernel = Get::ntk, .center = true};
  expect_near(predict(net, x, 100 + y, z, gradient).mean,
              predict(net, x, y, z, gradient).mean + 100, 1e-9);
  EXPECT_NO_THROW(predict(net, x, y + 0.5, z)) << "a mean of the size of the deviations";
}

// The outputs share a kernel and an amplitude: one class of ten with few examples, or none, is not
// far from 0.
TEST(PredictCenter, OfRareClassesNeedsNotBeSaid) {
  const Sequential net = network();
  const std::int64_t n = 300;
  const Tensor x = test::gaussian({n, 3}, 1), z = test::gaussian({5, 3}, 2);
  for (const std::int64_t rare : {0, 1, 5}) {
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < n; ++i) labels.push_back(i < rare ? 9 : i % 9);
    EXPECT_NO_THROW(predict(net, x, classification_targets(from_vector(labels, {n}), 10), z,
                            {.relative_noise = 0.1}))
        << rare;
  }
}

TEST(PredictCenter, OfEqualTargets) {
  const Sequential net = network();
  const Tensor x = test::gaussian({5, 3}, 1), z = test::gaussian({2, 3}, 2);
  for (const double y : {3.0, 0.1}) {
    expect_error([&] { predict(net, x, full({5}, y, f64), z, {.center = true}); },
                 "all targets of each output are equal, so nothing is left after .center subtracts "
                 "their mean; pass .center = false");
    EXPECT_NO_THROW(predict(net, x, full({5}, y, f64), z, {.relative_noise = 0.1}));
  }
}

}  // namespace
}  // namespace ladon::kinds_test
