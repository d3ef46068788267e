// A posterior variance that is negative by more than rounding is an Error. The bound for rounding
// is computed for each test input separately, so other inputs in the batch, of whatever scale, do
// not change the decision.

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/layers/infinite/dual/dual.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/layers.h"
#include "ladon/optim/extra/posterior/cg_solver.h"
#include "ladon/optim/extra/posterior/distributed_factor.h"
#include "ladon/optim/extra/posterior/first_order.h"
#include "ladon/optim/extra/posterior/pivoted_cholesky.h"
#include "ladon/optim/extra/posterior/stored_factor.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/gradient_flow.h"
#include "ladon/optim/posterior/kernel_blocks.h"
#include "ladon/optim/posterior/latent_posterior.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::rounding_test {
namespace {

using infinite::Get;
using test::expect_error;
using test::expect_near;

constexpr double huge = 1e9;  // ε·huge² is 222 in f64, far above any variance of ordinary inputs

/// Kernels of one homogeneous network, K(ax, z) = a·K(x, z), of training and test inputs.
struct Blocks {
  Tensor inputs, train, cross, test;
};

infinite::Limit limit_of_network() {
  Generator rng(1);
  const auto ntk = Parameterization::ntk;
  return infinite::limit(
      Sequential(Linear({.in = 3, .out = 8, .bias = false, .parameterization = ntk}, rng),
                 Activation(Nonlinearity::relu),
                 Linear({.in = 8, .out = 1, .bias = false, .parameterization = ntk}, rng)));
}

Blocks blocks_of(const Tensor& x, const Tensor& z) {
  const infinite::Limit limit = limit_of_network();
  return {x, gram(limit, x, Get::nngp).nngp * 1, gram(limit, z, x, Get::nngp).nngp * 1,
          gram(limit, z, Get::nngp).nngp * 1};
}

Blocks in(const Blocks& b, DType dtype) {
  return {b.inputs, cast(b.train, dtype), cast(b.cross, dtype), cast(b.test, dtype)};
}

/// `b` with test input i of another kernel's K**: `factor` times the one that K* and K have.
Blocks inconsistent(const Blocks& b, std::int64_t i, double factor) {
  Tensor scale = ones({b.test.size(0)}, f64);
  scale.mutable_data<double>()[i] = factor;
  return {b.inputs, b.train, b.cross, b.test * unsqueeze(scale, 1) * unsqueeze(scale, 0)};
}

Tensor joint(const Blocks& b) {
  return concat({concat({b.train, transpose(b.cross)}, 1), concat({b.cross, b.test}, 1)}, 0);
}

/// A solver that knows neither its factor nor its variances.
class Plain : public Solver {
 public:
  explicit Plain(DenseFactor factor) : factor_(std::move(factor)) {}
  std::int64_t size() const override { return factor_.size(); }
  LinearSolution solve(const Tensor& b) const override { return factor_.solve(b); }
  double log_determinant() const override { return factor_.log_determinant(); }
  DType precision() const override { return factor_.precision(); }

 private:
  DenseFactor factor_;
};

/// A function that gives the variances at the test inputs from the kernels' blocks, of which some
/// take the variances K** alone.
struct Way {
  std::string name;
  std::function<Tensor(const Blocks&, const Tensor& y, const GpOptions&, const Tensor& test)>
      variances;
  bool takes_dtypes = true;
};

Tensor by(const GaussianProcess& gp, const Blocks& b, const Tensor& test) {
  return gp.predict(b.cross, test).variance();
}

/// Predictions with a kernel in tiles, whose matrix is computed from b's inputs.
std::vector<Way> ways_of_tiles(const test::TemporaryFolder& folder) {
  const auto stored = [](const Blocks& b) {
    return store_gram(limit_of_network(), b.inputs, {}, {.get = Get::nngp});
  };
  return {
      {"StoredFactor",
       [stored, &folder](const Blocks& b, const Tensor& y, const GpOptions& o, const Tensor& test) {
         static int count = 0;
         const std::string own = folder / std::to_string(++count);
         return by(GaussianProcess(store_factor(stored(b), own, o), y), b, test);
       },
       false},
      {"DistributedFactor",
       [stored](const Blocks& b, const Tensor& y, const GpOptions& o, const Tensor& test) {
         return by(GaussianProcess(distribute_factor(stored(b), o), y), b, test);
       },
       false}};
}

std::vector<Way> ways(const test::TemporaryFolder& folder) {
  std::vector<Way> all = ways_of_tiles(folder);
  const auto add = [&](const std::string& name, auto variances) {
    all.push_back({name, variances});
  };
  using const_ref = const Tensor&;
  add("GaussianProcess", [](const Blocks& b, const_ref y, const GpOptions& o, const_ref test) {
    return by(GaussianProcess(b.train, y, o), b, test);
  });
  add("CgSolver", [](const Blocks& b, const_ref y, const GpOptions& o, const_ref test) {
    return by(GaussianProcess(CgSolver(kernel_map(b.train), o), y), b, test);
  });
  add("solver of a user", [](const Blocks& b, const_ref y, const GpOptions& o, const_ref test) {
    return by(GaussianProcess(Plain(DenseFactor(b.train, o)), y), b, test);
  });
  for (const double t : {infinite_time, 1e9})
    add("GradientFlow", [t](const Blocks& b, const_ref y, const GpOptions& o, const_ref test) {
      const GradientFlow flow(b.train, y, {.jitter = o.jitter});
      return flow.ensemble(t, b.cross, {b.train, b.cross, test}).variance();
    });
  add("FirstOrder", [](const Blocks& b, const_ref y, const GpOptions& o, const_ref) {
    return FirstOrder(joint(b), y, o).predict(std::numeric_limits<double>::infinity()).variance();
  });
  return all;
}

class Rounding : public testing::Test {
 protected:
  const test::TemporaryFolder folder_;
  const std::vector<Way> ways_ = ways(folder_);
  const Tensor x_ = test::gaussian({12, 3}, 1), z_ = test::gaussian({3, 3}, 2),
               y_ = test::gaussian({12}, 3);
};

// The second test input is inconsistent; the third is huge, or not.
TEST_F(Rounding, OfAHugeInputExcusesNoOther) {
  const GpOptions options{.jitter = 1e-4};
  for (const double size : {1.0, 1e-9, huge}) {
    const Tensor z = z_ * unsqueeze(tensor({1, 1, size}, f64), 1);
    const Blocks right = blocks_of(x_, z);
    for (const DType dtype : {f64, f32})
      for (const double factor : {0.0, 0.5, 0.9}) {
        const Blocks wrong = in(inconsistent(right, 1, factor), dtype);
        for (const Way& way : ways_) {
          if (dtype != f64 && !way.takes_dtypes) continue;
          SCOPED_TRACE(testing::Message()
                       << way.name << ' ' << size << ' ' << dtype << ' ' << factor);
          for (const Tensor& test : {wrong.test, clone(diagonal(wrong.test))})
            expect_error([&] { way.variances(wrong, y_, options, test); },
                         "the variance at test input 1 would be -");
        }
      }
  }
}

// Latents give the blocks of one matrix, which need not be a covariance.
TEST_F(Rounding, OfAHugeInputExcusesNoKernelOfLatents) {
  for (const double size : {1.0, huge}) {
    const Blocks right = blocks_of(x_, z_ * unsqueeze(tensor({1, 1, size}, f64), 1));
    for (const bool spoiled : {false, true}) {
      const Tensor k = joint(spoiled ? inconsistent(right, 1, 0.5) : right);
      const infinite::LatentKernel kernel{
          .dim = 1, .at = [k](const Tensor& z, std::int64_t n) {
            const Tensor some = slice(slice(k, 0, {.stop = n}), 1, {.stop = n});
            return contiguous(expand(unsqueeze(some, 0), {z.size(0), n, n}));
          }};
      Generator rng(1);
      const auto draw = [&] { draw_functions(kernel, 15, y_, 1e-4, zeros({1, 1}, f64), rng); };
      if (spoiled)
        expect_error(draw, "the variance at test input 1 would be -");
      else
        EXPECT_NO_THROW(draw());
    }
  }
}

// Training inputs, copies and neighbours of them, inputs of 0, tiny and huge ones.
TEST_F(Rounding, OfRightKernelsIsNoError) {
  struct Case {
    DType dtype;
    double jitter;
  };
  Generator rng(4);
  const Tensor near = x_ + normal(x_.shape(), rng, 0, 1e-7, f64);
  const std::vector<Tensor> mates = {zeros({0, 3}, f64), zeros({1, 3}, f64), huge * x_,
                                     huge * z_,          1e-9 * x_,          1e-9 * z_};
  for (const Tensor& mate : mates)
    for (const bool twice : {false, true}) {
      const Tensor x = twice ? concat({x_, near}, 0) : x_, y = concat({y_, y_}, 0);
      const Blocks right = blocks_of(x, concat({x_, near, z_, mate}, 0));
      for (const Case& c : {Case{f64, 1e-8}, Case{f64, 1e-12}, Case{f32, 1e-5}, Case{f32, 1e-6}})
        for (const Way& way : ways_) {
          if (c.dtype != f64 && !way.takes_dtypes) continue;
          SCOPED_TRACE(testing::Message() << way.name << ' ' << c.dtype << ' ' << c.jitter << ' '
                                          << twice << ' ' << mate.shape());
          const Blocks b = in(right, c.dtype);
          for (const Tensor& test : {b.test, clone(diagonal(b.test))})
            EXPECT_NO_THROW(EXPECT_GE(
                amin(way.variances(b, slice(y, 0, {.stop = x.size(0)}), {.jitter = c.jitter}, test))
                    .item(),
                0));
        }
    }
}

// One training input is huge: a Cholesky factor's errors are relative to each input's variance.
TEST_F(Rounding, OfAHugeTrainingInputIsNoError) {
  Tensor scale = ones({12, 1}, f64);
  scale.mutable_data<double>()[3] = huge;
  const Blocks b = blocks_of(x_ * scale, concat({z_, x_, x_ * scale}, 0));
  for (const Way& way : ways_)
    for (const double jitter : {1e-20, 1e-8}) {
      if (way.name == "CgSolver" && jitter < 1e-8) continue;  // its matrix is then not definite
      SCOPED_TRACE(testing::Message() << way.name << ' ' << jitter);
      EXPECT_NO_THROW(way.variances(b, y_, {.jitter = jitter}, clone(diagonal(b.test))));
    }
}

TEST(RoundingOfSquares, IsThatOfEachInput) {
  using kernel_blocks::rounding_of_squares;
  const Tensor s = tensor({1, -2, 0, 0, 0, 3}, {3, 2}, f64), train = tensor({4, 9}, f64),
               prior = tensor({1, 25, 0}, f64);
  // (√1 + 1·2 + 2·3)², (√25)², and for a variance of 0 the mean 6.5 of those of training inputs
  const Tensor squares = tensor({81, 25, std::pow(std::sqrt(6.5) + 9, 2)}, f64);
  expect_near(rounding_of_squares(s, prior, train, f64) * std::ldexp(1, 52), 2 * squares, 1e-9);
  expect_near(rounding_of_squares(s, prior, train, f32) * std::ldexp(1, 23), squares, 1e-6);
  expect_near(rounding_of_squares(s, prior, cast(train, f32), f32) * std::ldexp(1, 23), squares,
              1e-6);
  Tensor covariances = ones({3, 3}, f64);
  for (std::int64_t i = 0; i < 3; ++i)
    covariances.mutable_data<double>()[4 * i] = prior.data<double>()[i];
  expect_near(rounding_of_squares(s, covariances, train, f64) * std::ldexp(1, 52), 2 * squares,
              1e-9);
  const Tensor rows = stack({train, 100 * train, train}, 0);  // the second has no weights
  expect_near(rounding_of_squares(s, prior, rows, f64) * std::ldexp(1, 52), 2 * squares, 1e-9);
}

// --- pairs of inputs ---

/// The kernel [[1, c], [d, 4]] of two inputs, with a third of variance `size`².
Tensor with_third(double c, double d, double size) {
  return tensor({1, c, 0, d, 4, 0, 0, 0, size * size}, {3, 3}, f64);
}

TEST(Symmetry, OfAPairIsJudgedByItsOwnVariances) {
  const Tensor y = zeros({3}, f64);
  for (const DType dtype : {f64, f32})
    for (const double size : {1e-9, 1.0, huge}) {
      SCOPED_TRACE(testing::Message() << dtype << ' ' << size);
      const GpOptions noise{.noise = 1};
      const double allowed = dtype == f32 ? 6e-4 : 2e-8;  // about √ε·√(1·4)
      const auto process = [&](double c, double d) {
        GaussianProcess(cast(with_third(c, d, size), dtype), y, noise);
      };
      expect_error([&] { process(0.5, 0); }, "is not symmetric: [1, 0] is 0, [0, 1] is 0.5");
      expect_error([&] { process(0.5, 0.5 + 2 * allowed); }, "is not symmetric: [1, 0] is 0.5");
      EXPECT_NO_THROW(process(0.5, 0.5 + allowed));
      EXPECT_NO_THROW(process(0, allowed));
    }
  // A product F·Fᵀ of f32 features of any size is symmetric to rounding.
  Generator rng(1);
  const Tensor f = normal({200, 50}, rng, 0, 1) * exp(normal({200, 1}, rng, 0, 10));
  EXPECT_NO_THROW(kernel_blocks::symmetric_block("test", "K", matmul(f, transpose(f))));
  EXPECT_NO_THROW(
      kernel_blocks::symmetric_block("test", "K", matmul(1e-20 * f, transpose(1e-20 * f))));
}

TEST(Covariances, OfAPairAreJudgedByItsOwnVariances) {
  const GaussianProcess gp(eye(2, f64), zeros({2}, f64), {.noise = 0.1});
  for (const DType dtype : {f64, f32})
    for (const double size : {1e-9, 1.0, huge}) {
      SCOPED_TRACE(testing::Message() << dtype << ' ' << size);
      const auto predict = [&](double c) {
        gp.predict(zeros({3, 2}, f64), cast(with_third(c, c, size), dtype));
      };
      expect_error(
          [&] { predict(2.01); },
          "the covariance of test inputs 0 and 1 is 2.01, but their variances are 1 and 4");
      EXPECT_NO_THROW(predict(dtype == f32 ? 2.0005 : 2.00000002));
    }
}

// --- kernels whose elements are differences of larger numbers: their errors are those of what was
// subtracted, and no small variance says how large that was ---

/// Gaussian kernel of x [N, d] and z [M, d].
Tensor gaussian(const Tensor& x, const Tensor& z) {
  return exp(-0.5 * sum(square(unsqueeze(x, 1) - unsqueeze(z, 0)), 2));
}

/// K with the means of its rows and columns subtracted.
Tensor centred(const Tensor& k) {
  return k - mean(k, 0, keep_dims) - mean(k, 1, keep_dims) + mean(k);
}

/// Uses k as training kernel and as test kernel.
void judge(const Tensor& k) {
  GaussianProcess(k, zeros({k.size(0)}, f64), {.noise = 0.1});
  const GaussianProcess prior(eye(2, f64), zeros({2}, f64), {.noise = 0.1});
  prior.predict(zeros({k.size(0), 2}, f64), k);
}

TEST(Differences, OfACentredKernelWithAnInputAtTheMeanAreRight) {
  Generator rng(3);
  for (const DType dtype : {f64, f32})
    for (const std::int64_t n : {1, 20, 100}) {
      SCOPED_TRACE(testing::Message() << dtype << ' ' << n);
      const Tensor some = normal({n, 3}, rng, 0, 1, f64);
      const Tensor x = concat({some, mean(some, 0, keep_dims)}, 0);
      EXPECT_NO_THROW(judge(centred(cast(matmul(x, transpose(x)), dtype))));
      EXPECT_NO_THROW(judge(centred(cast(gaussian(x, x) + 5, dtype))));
    }
}

TEST(Differences, OfAConditionedKernelNearItsInputsAreRight) {
  Generator rng(3);
  const Tensor x = normal({30, 2}, rng, 0, 1, f64), known = slice(x, 0, {.stop = 19});
  const Tensor factor = lapack::cholesky(gaussian(known, known) + 1e-10 * eye(19, f64));
  for (const double gap : {1e-10, 1e-8, 1e-6, 1e-4}) {
    SCOPED_TRACE(gap);
    const Tensor z = concat({slice(x, 0, {.start = 20}), slice(known, 0, {.stop = 3}) + gap}, 0);
    const Tensor k = gaussian(z, z) -
                     matmul(gaussian(z, known), lapack::cholesky_solve(factor, gaussian(known, z)));
    EXPECT_NO_THROW(kernel_blocks::symmetric_block("test", "K", k));
  }
}

TEST(Differences, OfIncrementsAreRight) {
  Generator rng(3);
  for (const double gap : {1e-2, 1e-4, 1e-5, 1e-6, 1e-9})
    for (int repeat = 0; repeat < 20; ++repeat) {
      SCOPED_TRACE(gap);
      const Tensor x = normal({6, 2}, rng, 0, 1, f64), origin = slice(x, 0, {.stop = 1});
      const Tensor z = concat(
          {slice(x, 0, {.start = 1}), origin + gap, origin + 1.0001 * gap, origin + 1.1 * gap}, 0);
      const Tensor k = gaussian(z, z) - gaussian(z, origin) - gaussian(origin, z) + 1;
      const Tensor even = 0.5 * (k + transpose(k)), variances = diagonal(even);
      EXPECT_NO_THROW(judge(even));
      EXPECT_NO_THROW(infinite::check_covariances("test", unsqueeze(relu(variances), 1),
                                                  unsqueeze(relu(variances), 0), even));
    }
}

TEST(PivotedCholesky, TakesRowsInF32BesideADiagonalInF64) {
  Generator rng(3);
  const Tensor x = 3 + normal({20, 4}, rng, 0, 1, f64), whole = cast(x, f32);
  const Tensor k = centred(matmul(x, transpose(x))),
               rows = centred(matmul(whole, transpose(whole)));
  EXPECT_NO_THROW(PivotedCholesky(diagonal(k), [&](std::int64_t i) { return select(rows, 0, i); },
                                  {.rank = 3}));
}

TEST(PivotedCholesky, ComparesEachElementOfTheDiagonalWithItsRow) {
  const Tensor k = tensor({1e18, 0, 0, 1}, {2, 2}, f64);
  const auto factor = [&](double second) {
    PivotedCholesky(tensor({1e18, second}, f64), [&](std::int64_t i) { return select(k, 0, i); },
                    {.tolerance = 0});
  };
  EXPECT_NO_THROW(factor(1 + 1e-7));
  expect_error([&] { factor(2); }, "the diagonal has element 2 at 1, and row 1 has 1 there");
}

}  // namespace
}  // namespace ladon::rounding_test
