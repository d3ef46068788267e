// Piecewise functions and losses, and their gradients, against long double.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "ladon/core/kernels/piecewise.h"
#include "ladon/core/kernels/piecewise_functions.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/tests/core/kernels/layouts.h"
#include "ladon/tests/core/kernels/ulp.h"

namespace ladon::kernels::kernels_piecewise_test {
namespace {

using layout::element;
using layout::layouts;
using layout::same_bits;
using layout::sample;
using Exact = long double;

const double inf = std::numeric_limits<double>::infinity();
const double nan = std::numeric_limits<double>::quiet_NaN();

Exact sigmoid(Exact x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
Exact softplus(Exact x) { return std::fmax(x, Exact(0)) + std::log1p(std::exp(-std::fabs(x))); }
Exact between(Exact x, Exact a, Exact b) { return x < a ? a : x > b ? b : x; }

struct Function {
  Piecewise f;
  Numbers p;
  std::function<Exact(Exact)> value, slope;
  double limit;  ///< Units in the last place.
};
const Function functions[] = {
    {Piecewise::leaky_relu,
     {0.25},
     [](Exact x) { return x > 0 ? x : x / 4; },
     [](Exact x) { return x > 0 ? 1 : Exact(0.25); },
     0.501},
    {Piecewise::elu,
     {2, 0.5},
     [](Exact x) { return x > 0 ? x / 2 : std::expm1(x); },
     [](Exact x) { return x > 0 ? Exact(0.5) : std::exp(x); },
     2},
    {Piecewise::clamp,
     {-1.5, 3},
     [](Exact x) { return between(x, -1.5, 3); },
     [](Exact x) { return x >= -1.5L && x <= 3 ? 1 : 0; },
     0},
};

/// Numbers of every size, kinks among them.
template <class T>
std::vector<T> points() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x{0,
                   T(-0.0),
                   3,
                   T(-1.5),
                   Limits::denorm_min(),
                   -700,
                   -80,
                   Limits::max(),
                   Limits::lowest(),
                   -Limits::min()};
  for (int i = -4000; i <= 4000; ++i) x.push_back(T(i) * T(0.0173));
  for (T v = 1; v > Limits::min(); v /= 3) x.push_back(v), x.push_back(-v);
  return x;
}

template <class T>
double ulps(T got, Exact want) {
  return static_cast<double>(std::fabs(got - want)) / test::ulp(static_cast<T>(want));
}

template <class T>
void check_functions() {
  const std::vector<T> x = points<T>();
  const Tensor at = from_vector(x, {std::int64_t(x.size())});
  for (const Function& f : functions) {
    const Tensor y = piecewise(f.f, at, f.p);
    const Tensor g = piecewise_gradient(f.f, ones_like(at), at, f.p);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_LE(ulps(y.data<T>()[i], f.value(x[i])), f.limit) << int(f.f) << " at " << x[i];
      EXPECT_LE(ulps(g.data<T>()[i], f.slope(x[i])), f.limit) << int(f.f) << "' at " << x[i];
    }
  }
}

TEST(KernelsPiecewise, FunctionsAndSlopesAreAccurate) {
  check_functions<float>();
  check_functions<double>();
}

struct LossRow {
  Loss f;
  Numbers p;
  std::function<Exact(Exact, Exact)> value, slope;
  double limit;
};
const LossRow losses[] = {
    {Loss::squared,
     {},
     [](Exact x, Exact t) { return (x - t) * (x - t); },
     [](Exact x, Exact t) { return 2 * (x - t); },
     2},  // the difference is rounded before it is squared
    {Loss::absolute,
     {},
     [](Exact x, Exact t) { return std::fabs(x - t); },
     [](Exact x, Exact t) { return (x > t) - (x < t); },
     0.501},
    {Loss::huber,
     {1.25, 0.5},
     [](Exact x, Exact t) {
       const Exact e = x - t, c = between(e, -1.25, 1.25);
       return c * (e - c / 2) * 2;
     },
     [](Exact x, Exact t) { return 2 * between(x - t, -1.25, 1.25); },
     2.5},
    {Loss::logistic,
     {},
     [](Exact x, Exact t) { return t * softplus(-x) + (1 - t) * softplus(x); },
     [](Exact x, Exact t) { return (1 - t) * sigmoid(x) - t * sigmoid(-x); },
     4},
};

template <class T>
void check_losses() {
  std::vector<T> x, t;
  for (int i = -300; i <= 300; ++i)
    for (const double target : {0.0, 1.0, 0.25, 0.875})
      x.push_back(T(i) * T(0.125)), t.push_back(T(target));
  const Shape shape{std::int64_t(x.size())};
  const Tensor at = from_vector(x, shape), target = from_vector(t, shape);
  for (const LossRow& f : losses) {
    const Tensor y = loss(f.f, at, target, f.p);
    const Tensor g = loss_gradient(f.f, ones_like(at), at, target, f.p);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Exact slope = f.slope(x[i], t[i]);
      EXPECT_LE(ulps(y.data<T>()[i], f.value(x[i], t[i])), f.limit)
          << int(f.f) << " of " << x[i] << " and " << t[i];
      // (1 − t)·σ(x) − t·σ(−x) cancels where σ(x) is near t.
      const Exact size = f.f == Loss::logistic ? std::fmax(std::fabs(slope), t[i] * sigmoid(-x[i]))
                                               : std::fabs(slope);
      EXPECT_LE(std::fabs(g.data<T>()[i] - slope), f.limit * test::ulp(static_cast<T>(size)))
          << int(f.f) << "' of " << x[i] << " and " << t[i];
    }
  }
}

TEST(KernelsPiecewise, LossesAndSlopesAreAccurate) {
  check_losses<float>();
  check_losses<double>();
}

TEST(KernelsPiecewise, HaveTheirLimitsAtInfinityAndKeepNaN) {
  const auto same = [](const Tensor& got, const std::vector<double>& want) {
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double y = element(got, std::int64_t(i));
      EXPECT_TRUE(std::isnan(want[i]) ? std::isnan(y) : y == want[i])
          << "element " << i << " is " << y << ", not " << want[i];
    }
  };
  for (const DType dtype : {f32, f64}) {
    const Tensor x = tensor({-inf, inf, nan}, dtype), one = ones({3}, dtype);
    same(piecewise(Piecewise::leaky_relu, x, {0.5}), {-inf, inf, nan});
    same(piecewise(Piecewise::elu, x, {2, 3}), {-6, inf, nan});
    same(piecewise(Piecewise::clamp, x, {-1, 4}), {-1, 4, nan});
    same(piecewise(Piecewise::clamp, x, {-inf, inf}), {-inf, inf, nan});
    same(piecewise_gradient(Piecewise::elu, one, x, {2, 3}), {0, 3, nan});
    same(piecewise_gradient(Piecewise::clamp, full({3}, nan, dtype), x, {-1, 4}), {0, 0, nan});
    const Tensor t = tensor({0, 1, 0.5}, dtype);
    same(loss(Loss::logistic, x, t, {}), {0, 0, nan});  // weights of 0 times ∞
    same(loss(Loss::logistic, x, tensor({1, 0, 0.5}, dtype), {}), {inf, inf, nan});
    same(loss_gradient(Loss::logistic, one, x, t, {}), {0, 0, nan});
    same(loss(Loss::huber, x, t, {1, 1}), {inf, inf, nan});
    same(loss_gradient(Loss::huber, one, x, t, {1, 1}), {-1, 1, nan});
    same(loss(Loss::squared, x, t, {}), {inf, inf, nan});
    same(loss_gradient(Loss::absolute, one, x, t, {}), {-1, 1, nan});
  }
}

TEST(KernelsPiecewise, AreTheSameInEveryLayout) {
  const Shape shape{3, 4, 37};
  const Tensor x = sample(shape, f64), t = sample(shape, f64, 2), g = sample(shape, f64, 3);
  const Numbers p{0.5, 2};
  for (std::size_t i = 0; i < layouts(x).size(); ++i) {
    const Tensor u = layouts(x)[i], v = layouts(t)[(i + 1) % layouts(t).size()],
                 w = layouts(g)[(i + 2) % layouts(g).size()];
    for (int f = 0; f < int(Piecewise::count); ++f) {
      EXPECT_TRUE(same_bits(piecewise(Piecewise(f), u, p), piecewise(Piecewise(f), x, p)));
      EXPECT_TRUE(same_bits(piecewise_gradient(Piecewise(f), w, u, p),
                            piecewise_gradient(Piecewise(f), g, x, p)));
    }
    for (int f = 0; f < int(Loss::count); ++f) {
      EXPECT_TRUE(same_bits(loss(Loss(f), u, v, p), loss(Loss(f), x, t, p)));
      EXPECT_TRUE(
          same_bits(loss_gradient(Loss(f), w, u, v, p), loss_gradient(Loss(f), g, x, t, p)));
    }
  }
}

// The gradient of a mean is one number, expanded.
TEST(KernelsPiecewise, GradientsBroadcast) {
  const Tensor x = sample({40, 50}), t = sample({40, 50}, f32, 2), g = full({}, 0.5);
  const Tensor wide = full({40, 50}, 0.5);
  EXPECT_TRUE(same_bits(piecewise_gradient(Piecewise::elu, g, x, {1, 1}),
                        piecewise_gradient(Piecewise::elu, wide, x, {1, 1})));
  EXPECT_TRUE(same_bits(loss_gradient(Loss::squared, view::expand(g, {40, 50}), x, t, {}),
                        loss_gradient(Loss::squared, wide, x, t, {})));
}

TEST(KernelsPiecewise, AreTheSameAtAnyNumberOfThreads) {
  const Tensor x = sample({300, 700}), t = sample({300, 700}, f32, 2);
  const auto all = [&] {
    return std::vector{piecewise(Piecewise::elu, x, {1, 1}),
                       piecewise_gradient(Piecewise::elu, t, x, {1, 1}),
                       loss(Loss::logistic, x, t, {}), loss_gradient(Loss::huber, t, x, t, {1, 1})};
  };
  const int before = num_threads();
  set_num_threads(1);
  const std::vector<Tensor> one = all();
  for (const int threads : {2, 3, 16}) {
    set_num_threads(threads);
    const std::vector<Tensor> several = all();
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(same_bits(one[i], several[i])) << i;
  }
  set_num_threads(before);
}

TEST(KernelsPiecewise, RefuseOtherDtypesAndTakeNothing) {
  EXPECT_THROW(piecewise(Piecewise::elu, sample({3}, i64), {1, 1}), Error);
  EXPECT_THROW(loss(Loss::squared, sample({3}), sample({3}, f64), {}), Error);
  EXPECT_THROW(piecewise_gradient(Piecewise::elu, sample({3}, f64), sample({3}), {}), Error);
  EXPECT_EQ(piecewise(Piecewise::clamp, empty({0, 3}), {0, 1}).shape(), (Shape{0, 3}));
  EXPECT_EQ(loss_gradient(Loss::huber, full({}, 1), empty({0, 3}), empty({0, 3}), {1, 1}).shape(),
            (Shape{0, 3}));
}

}  // namespace
}  // namespace ladon::kernels::kernels_piecewise_test
