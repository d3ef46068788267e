// Values and gradients in extreme cases that the rows of the contract do not cover: infinities in
// rows of logits, rows that a loss ignores, classes with probability 1, products whose factors
// overflow or underflow.

#include <cmath>
#include <limits>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/autograd/running_moments.h"
#include "ladon/tests/support.h"

namespace ladon::test::edges_test {
namespace {

const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");

Tensor leaf(const std::vector<double>& x, const Shape& shape, DType dtype) {
  Tensor y = cast(reshape(from_vector(x, {static_cast<std::int64_t>(x.size())}), shape), dtype);
  y.set_requires_grad();
  return y;
}

std::vector<double> gradient(const Tensor& y, const Tensor& x, bool record) {
  return grad(std::vector<Tensor>{y}, std::vector<Tensor>{x}, {.create_graph = record})[0]
      .detach()
      .to_vector<double>();
}

TEST(Softmax, OneInfinityTakesAll) {
  for (const DType dtype : {f32, f64}) {
    const Tensor x = leaf({1, inf, -inf}, {3}, dtype);
    EXPECT_EQ(softmax(x).detach().to_vector<double>(), (std::vector<double>{0, 1, 0}));
    EXPECT_EQ(log_softmax(x).detach().to_vector<double>(), (std::vector<double>{-inf, 0, -inf}));
    EXPECT_EQ(logsumexp(x, 0).item(), inf);
    for (const bool record : {false, true}) {
      EXPECT_EQ(gradient(logsumexp(x, 0), x, record), (std::vector<double>{0, 1, 0}));
      EXPECT_EQ(gradient(sum(square(softmax(x))), x, record), (std::vector<double>{0, 0, 0}));
    }
    const Tensor two = leaf({inf, inf, 1}, {3}, dtype);  // their order is lost
    EXPECT_EQ(logsumexp(two, 0).item(), inf);
    for (const Tensor& y : {softmax(two), log_softmax(two)})
      for (const double v : y.detach().to_vector<double>()) EXPECT_TRUE(std::isnan(v));
    for (const double v : gradient(logsumexp(two, 0), two, false)) EXPECT_TRUE(std::isnan(v));
  }
}

// −ln p of a class with logit z beside another with 0 is ln(1 + e^−z).
TEST(CrossEntropy, KeepsTheDigitsOfSureClasses) {
  for (const DType dtype : {f32, f64}) {
    const double bound = dtype == f32 ? 1e-6 : 1e-14;
    for (const double z : {2., 5., 8., 12., 20., 30., 40., 80.}) {
      const Tensor x = leaf({z, 0}, {1, 2}, dtype), t = zeros({1}, i64);
      const double p = std::exp(-z) / (1 + std::exp(-z));
      // Below a rest of 1/128 the digits of 1 + rest are kept as they are.
      const double loose = z < 5 ? bound : 100 * bound;
      EXPECT_NEAR(cross_entropy(x, t).item() / std::log1p(std::exp(-z)), 1, loose) << z;
      EXPECT_NEAR(logsumexp(x - z, -1).item() / std::log1p(std::exp(-z)), 1, loose) << z;
      for (const bool record : {false, true}) {
        const std::vector<double> g = gradient(cross_entropy(x, t), x, record);
        EXPECT_NEAR(g[0] + g[1], 0, z < 5 ? bound : 0) << z << ", recorded " << record;
        EXPECT_NEAR(g[1] / p, 1, loose) << z << ", recorded " << record;
      }
    }
  }
}

TEST(CrossEntropy, SureRowsSumToNothingWhereverTheyStand) {
  const Tensor x = leaf({0, 20, 1, -3, 0, 0, 25, 0}, {2, 4}, f32), t = tensor({1, 2}, {2}, i64);
  for (const int axis : {-1, 0})
    for (const bool record : {false, true}) {
      const Tensor scores = axis == 0 ? transpose(x) : x;  // along columns
      const Tensor c = cast(tensor({1, 0.5, 2, -1, 0, 1, 3, 0.25}, {2, 4}, f64), f32);
      const Tensor along = axis == 0 ? transpose(c) : c;
      const Tensor y = sum(softmax(scores, axis) * along) + sum(log_softmax(scores, axis) * along);
      const std::vector<double> g = gradient(y, x, record);
      for (int r = 0; r < 2; ++r) {
        double total = 0, size = 0;
        for (int i = 0; i < 4; ++i) total += g[4 * r + i], size += std::abs(g[4 * r + i]);
        EXPECT_NEAR(total, 0, 1e-7 * size);
      }
    }
  EXPECT_EQ(cross_entropy(x, t).dtype(), f32);
}

// With the winner's own cotangent an element's derivative is p_i times the small part of the mean.
TEST(Softmax, KeepsDerivativesBesideASureWinner) {
  const Tensor x = leaf({40, 0, 1, -2}, {4}, f64), c = tensor({1, -0.5, 2, 1}, f64);
  const double want = -std::exp(-42.0) * (-1.5 * std::exp(-40.0) + std::exp(-39.0));
  for (const bool record : {false, true})
    EXPECT_NEAR(gradient(sum(softmax(x) * c), x, record)[3] / want, 1, 1e-14);
}

// What stands in a row that is ignored takes no part in any derivative.
TEST(CrossEntropy, IgnoredRowsMayHoldAnything) {
  for (const DType dtype : {f32, f64})
    for (const double poison : {nan, inf, -inf, 1e30})
      for (const double smoothing : {0.0, 0.1})
        for (const bool nll : {false, true}) {
          if (nll && smoothing > 0) continue;
          const Tensor t = tensor({0, -100, 1}, {3}, i64);
          const auto loss = [&](const Tensor& z) {
            return nll ? nll_loss(log_softmax(z), t)
                       : cross_entropy(z, t, {.label_smoothing = smoothing});
          };
          const Tensor clean = leaf({1, 2, 0, 0, 0.5, -1}, {3, 2}, dtype);
          const Tensor x = leaf({1, 2, poison, poison, 0.5, -1}, {3, 2}, dtype);
          EXPECT_EQ(loss(x).item(), loss(clean).item());
          for (const bool record : {false, true}) {
            const std::vector<double> want = gradient(loss(clean), clean, record);
            EXPECT_EQ(want[2], 0);
            EXPECT_EQ(gradient(loss(x), x, record), want) << poison << ", nll " << nll;
          }
          if (nll) continue;  // log_softmax alone does not know that a row does not count
          const auto second = [&](const Tensor& z) {
            return hvp(loss, z.detach(), ones_like(z)).to_vector<double>();
          };
          EXPECT_EQ(second(x), second(clean));
          const auto f = [&](const std::vector<Tensor>& v) { return loss(v[0]); };
          EXPECT_EQ(jvp(f, {x.detach()}, {ones_like(x)}).tangent.item(),
                    jvp(f, {clean.detach()}, {ones_like(x)}).tangent.item());
        }
}

TEST(Prod, PartialProductsMayLeaveTheRange) {
  for (const auto& [x, want] :
       std::vector<std::pair<std::vector<double>, double>>{{{1e30, 1e30, 1e-30, 1e-30}, 1},
                                                           {{1e-30, 1e-15, 1e30}, 1e-15},
                                                           {{1e-30, 1e-30}, 0},
                                                           {{0, 1e30, 1e30}, 0},
                                                           {{-1e-40, 1e30, 1e20}, -1e10}})
    EXPECT_NEAR(prod(leaf(x, {static_cast<std::int64_t>(x.size())}, f32)).item(), want,
                1e-5 * std::abs(want))
        << want;
  EXPECT_EQ(prod(leaf({1e30, 1e30}, {2}, f32)).item(), inf);
  const Tensor x = leaf({1e20, 1e18}, {2}, f32);
  const std::vector<double> g = gradient(prod(x) * 100, x, false);
  EXPECT_NEAR(g[0], 1e20, 1e14);
  EXPECT_NEAR(g[1], 1e22, 1e16);
  EXPECT_TRUE(std::isnan(prod(leaf({nan, 2}, {2}, f32)).item()));
  EXPECT_EQ(prod(leaf({-inf, 2}, {2}, f32)).item(), -inf);
}

// Products of a part may leave the range where all of a gradient is within it.
TEST(Scan, PartialProductsMayLeaveTheRange) {
  const auto of_cumprod = [](const Tensor& values, std::int64_t of) {
    const Tensor x = clone(values).set_requires_grad();
    return grad({select(cumprod(x, 0), 0, of)}, {x})[0];
  };
  const Tensor mixed = tensor({1e-30, 1e-30, 1e30, 1e30}, f32);
  EXPECT_TRUE(all_close(of_cumprod(mixed, 3), tensor({1e30, 1e30, 1e-30, 1e-30}, f32), 1e-6, 0));
  for (const DType dtype : {f32, f64}) {
    const double large = dtype == f32 ? 3e38 : 1e308;
    EXPECT_TRUE(all_close(of_cumprod(tensor({2, large, large, 0}, dtype), 0),
                          tensor({1, 0, 0, 0}, dtype), 0, 0));
    const Tensor a = tensor({2, large, large, 0}, dtype).set_requires_grad(), b = ones_like(a);
    const Tensor h = linear_recurrence(a, b, 0);
    EXPECT_TRUE(all_close(grad({select(h, 0, 0)}, {a})[0], zeros_like(a), 0, 0));
  }
}

TEST(Recurrence, OfAGruThatKeepsItsStateAddsTheLittleThatIsNew) {
  for (const double update : {-3., 3., 6., 20., 60.}) {
    const Tensor gates = tensor({0, update, -5}, {1, 1, 3});
    const double want = std::tanh(-5.) / (1 + std::exp(update));
    const double got = recurrence(RecurrentCell::gru, gates, zeros({3, 1})).item();
    EXPECT_NEAR(got / want, 1, 1e-5) << update;
  }
}

TEST(SmoothL1, HasAnyBeta) {
  const auto at = [](double e, double beta) {
    const Tensor x = tensor({e}, f32).set_requires_grad();
    const Tensor y = smooth_l1_loss(x, zeros({1}, f32), beta);
    return std::pair{y.item(), grad({y}, {x})[0].item()};
  };
  EXPECT_NEAR(at(5e19, 1e20).first / 1.25e19, 1, 1e-6);
  EXPECT_NEAR(at(5e19, 1e20).second, 0.5, 1e-6);
  EXPECT_NEAR(at(2, 1e-30).first, 2, 1e-6);
  EXPECT_NEAR(at(-2, 1e-30).second, -1, 1e-6);
  for (const double beta : {1e-44, 7e-46, 1e-300}) {  // that round to 0, or hardly not
    EXPECT_EQ(at(-2, beta), std::pair(2., -1.)) << beta;
    EXPECT_EQ(at(0, beta), std::pair(0., 0.)) << beta;
  }
}

// Bounds that f32 rounds to 0, to ∞ or to few digits are those numbers all the same.
TEST(Huber, HasAnyBound) {
  const auto at = [](double e, double bound, bool divided, DType dtype) {
    const Tensor x = tensor({e, 0}, dtype).set_requires_grad(), none = zeros({2}, dtype);
    const Tensor y = divided ? smooth_l1_loss(x, none, bound, Reduction::none)
                             : huber_loss(x, none, bound, Reduction::none);
    EXPECT_EQ(y.dtype(), dtype);
    const Tensor g = grad({sum(y)}, {x})[0];
    EXPECT_EQ(y.to_vector()[1], 0);
    EXPECT_EQ(g.to_vector()[1], 0);
    return std::pair{y.to_vector()[0], g.to_vector()[0]};
  };
  for (const DType dtype : {f32, f64}) {
    const double rounding = dtype == f32 ? 1e-6 : 1e-14;
    for (const double bound : {5e-324, 1e-300, 1e-50, 1e-44, 3e-39, 1e-30, 1., 1e30, 1e39, 1e300})
      for (const double e : {2e38, -2e38, 1e20, 1.5, 1e-15, 1e-44})
        for (const bool divided : {false, true}) {
          if (dtype == f32 && e == 1e-44) continue;  // itself rounded
          const double size = std::abs(e), sign = e < 0 ? -1 : 1;
          const bool inside = size <= bound;
          const double loss = inside ? (divided ? size / bound : size) * (size / 2)
                                     : (divided ? 1 : bound) * (size - bound / 2);
          const double slope =
              sign * (inside ? (divided ? size / bound : size) : (divided ? 1 : bound));
          const auto narrow = [&](double x) { return dtype == f32 ? double(float(x)) : x; };
          const auto [y, g] = at(e, bound, divided, dtype);
          SCOPED_TRACE(testing::Message()
                       << to_string(dtype) << " " << e << " " << bound << divided);
          const auto expect_near = [&](double found, double want) {
            if (std::isinf(want)) {
              EXPECT_EQ(found, want);
              return;
            }
            EXPECT_NEAR(found, want, rounding * std::abs(want) + (dtype == f32 ? 2e-45 : 5e-324));
          };
          expect_near(y, narrow(loss));
          expect_near(g, narrow(slope));
        }
  }
  EXPECT_TRUE(all_equal(smooth_l1_loss(tensor({-2, 0, 3}, {3}), zeros({3}), 0, Reduction::none),
                        tensor({2, 0, 3}, {3})));
  for (const double odd : {-1., double(NAN)}) {
    expect_error([&] { smooth_l1_loss(zeros({3}), zeros({3}), odd); }, "it must be at least 0");
    expect_error([&] { huber_loss(zeros({3}), zeros({3}), odd); }, "it must be positive");
  }
  expect_error([] { huber_loss(zeros({3}), zeros({3}), 0); }, "delta is 0; it must be positive");
}

// An infinite loss of what has no weight.
TEST(Losses, WithoutWeightAreNothing) {
  for (const DType dtype : {f32, f64}) {
    const Tensor x = tensor({1, -inf, 0.5, 0.2, -inf, 0.3}, {2, 3}, dtype).set_requires_grad();
    const Tensor y = tensor({0, 2}, {2}, i64);
    const CrossEntropyOptions options{.label_smoothing = 0.1, .weight = tensor({1, 0, 1}, dtype)};
    const Tensor loss = cross_entropy(x, y, options);
    const Tensor few = tensor({1, 0.5, 0.2, 0.3}, {2, 2}, dtype).set_requires_grad();
    const Tensor log_p = log_softmax(few, -1);  // 0.1/3 for each class of three
    const double wanted = -(0.9 * (at(log_p, {0, 0}).item() + at(log_p, {1, 1}).item()) +
                            0.1 / 3 * sum(log_p).item()) /
                          2;
    EXPECT_NEAR(loss.item(), wanted, 1e-6);
    EXPECT_TRUE(all(isfinite(grad({loss}, {x})[0])).item<bool>());

    const Tensor sure = tensor({inf, -inf, 40}, dtype).set_requires_grad();
    const Tensor of_sure = binary_cross_entropy_with_logits(sure, tensor({1, 0, 1}, dtype));
    EXPECT_NEAR(of_sure.item(), 0, 1e-12);
    EXPECT_TRUE(all_close(grad({of_sure}, {sure})[0], zeros_like(sure), 0, 1e-12));
    EXPECT_EQ(binary_cross_entropy_with_logits(sure.detach(), tensor({0, 0, 1}, dtype)).item(),
              inf);
  }
}

TEST(BatchNorm, OfSmallVariancesHasTangents) {
  const Tensor x = tensor({1e-15, -2e-15}, {2, 1}, f32), mean = zeros({1}, f32),
               var = full({1}, 1e-30, f32);
  const TensorFunction f = [&](const std::vector<Tensor>& c) {
    return batch_norm(c[0], c[1], c[2], {}, {}, 0);
  };
  EXPECT_TRUE(all_close(f({x, mean, var}), tensor({1, -2}, {2, 1}, f32), 1e-6, 0));
  const Tensor by_var =
      jvp(f, {x, mean, var}, {zeros_like(x), zeros_like(mean), ones_like(var)}).tangent;
  EXPECT_TRUE(all_close(by_var, tensor({-0.5e30, 1e30}, {2, 1}, f32), 1e-6, 0));
}

TEST(Pooling, HasMeansWhoseSumsAreNotInTheRange) {
  const Tensor x = full({1, 6, 6, 2}, 3e38, f32).set_requires_grad();
  for (const Tensor& y :
       {average_pool(x, {2, 2}), average_pool(x, {3, 3}, {.count_padding = false}),
        average_pool(x, {2, 2}, {.divisor = 4}), adaptive_average_pool(x, {2, 4})}) {
    EXPECT_TRUE(all_close(y, full_like(y, 3e38), 1e-6, 0));
    EXPECT_NEAR(sum(grad({sum(y)}, {x})[0]).item() / static_cast<double>(y.count()), 1, 1e-5);
  }
}

// A standard error scales with its draws, within all of f64.
TEST(RunningMoments, HaveAStandardErrorAtAnyScale) {
  const std::vector<double> draws{1, -0.3, 2.5, 0.25, 1.75};
  double mean = 0, squares = 0;
  for (const double x : draws) mean += x / 5;
  for (const double x : draws) squares += (x - mean) * (x - mean);
  for (const double scale : {1.0, 1e-170, 1e-300, 1e160, 1e300}) {
    RunningMoments moments;
    for (const double x : draws) moments.add(tensor({x * scale, 3.0}, f64));
    EXPECT_NEAR(at(moments.mean(), {0}).item() / scale, mean, 1e-15);
    EXPECT_NEAR(at(moments.standard_error(), {0}).item() / scale, std::sqrt(squares / 20), 1e-15);
    EXPECT_EQ(at(moments.standard_error(), {1}).item(), 0);
  }
}

TEST(Polygamma, HasItsPolesAndItsTail) {
  const Tensor poles = tensor({0, -1, -7}, f64);
  for (const int n : {1, 3, 19})
    EXPECT_EQ(polygamma(n, poles).to_vector<double>(), (std::vector<double>{inf, inf, inf})) << n;
  for (const int n : {0, 2, 20})
    for (const double v : polygamma(n, poles).to_vector<double>()) EXPECT_TRUE(std::isnan(v)) << n;
  EXPECT_TRUE(std::isnan(polygamma(1, full({}, -inf, f64)).item()));
  for (const double x : {1e100, 1e170, 1e300})
    EXPECT_NEAR(polygamma(1, full({}, x, f64)).item() * x, 1, 1e-14) << x;
}

}  // namespace
}  // namespace ladon::test::edges_test
