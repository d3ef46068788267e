// All solvers of a Gaussian process give the same posterior.

#include "ladon/optim/posterior/solver.h"

#include <functional>
#include <map>
#include <string>

#include "ladon/optim/extra/posterior/cg_solver.h"
#include "ladon/optim/extra/posterior/distributed_factor.h"
#include "ladon/optim/extra/posterior/stored_factor.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/tests/layers/infinite/gram/gram_networks.h"
#include "ladon/tests/optim/posterior/prediction.h"

namespace ladon::solver_test {
namespace {

using infinite::Get;
using test::expect_near;

/// A solver from outside: the inverse by elimination, and nothing that Solver does by itself.
class Inverse : public Solver {
 public:
  Inverse(const Tensor& kernel, double noise)
      : inverse_(test::invert(kernel + noise * eye(kernel.size(0), f64))) {}
  std::int64_t size() const override { return inverse_.first.size(0); }
  LinearSolution solve(const Tensor& b) const override { return {matmul(inverse_.first, b)}; }
  double log_determinant() const override { return inverse_.second; }

 private:
  std::pair<Tensor, double> inverse_;
};

class SolverTest : public testing::Test {
 protected:
  static constexpr double noise = 0.1;
  Sequential net_ = test::relu_net(20);
  infinite::Limit limit_ = infinite::limit(net_);
  Tensor x_ = test::draw({290, 20}), z_ = test::draw({9, 20}, 3), y_ = test::gaussian({290, 2});
  Tensor kernel_ = infinite::gram(limit_, x_, {.get = Get::nngp}).nngp,
         cross_ = infinite::gram(limit_, z_, x_, {.get = Get::nngp}).nngp,
         test_ = infinite::gram(limit_, z_, {.get = Get::nngp}).nngp;
  test::TemporaryFolder folder_;
  infinite::StoredGram gram_ =
      infinite::store_gram(limit_, x_, folder_ / "gram", {.get = Get::nngp, .tile = 128});
  const GpOptions options_{.noise = noise, .jitter = 0};

  std::map<std::string, GaussianProcess> others() const {
    std::map<std::string, GaussianProcess> all;
    all.emplace("disk", GaussianProcess(store_factor(gram_, folder_ / "factor", options_), y_));
    all.emplace("ranks", GaussianProcess(distribute_factor(gram_, options_), y_));
    all.emplace("products",
                GaussianProcess(CgSolver(kernel_map(gram_), options_,
                                         {.rank = 30, .tolerance = 1e-13, .test_tolerance = 1e-9}),
                                y_));
    all.emplace("outside", GaussianProcess(Inverse(kernel_, noise), y_));
    return all;
  }
};

TEST_F(SolverTest, EveryOneGivesTheSamePosterior) {
  const GaussianProcess dense(kernel_, y_, options_);
  const GpPrediction whole = dense.predict(cross_, test_);
  const LeaveOneOut left_out = dense.leave_one_out();
  for (const auto& [name, gp] : others()) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, name);
    expect_near(gp.weights().x, dense.weights().x, 1e-9);
    const GpPrediction all = gp.predict(cross_, test_),
                       variances = gp.predict(cross_, clone(diagonal(test_)));
    expect_near(all.mean, whole.mean, 1e-10);
    expect_near(all.covariance, whole.covariance, 1e-10);
    expect_near(variances.mean, whole.mean, 1e-10);
    expect_near(variances.covariance, whole.variance(), 1e-10);
    EXPECT_EQ(variances.covariance_error.defined(), name == "products");
    expect_near(gp.predict(cross_).mean, whole.mean, 1e-10);
    const LeaveOneOut others = gp.leave_one_out();
    expect_near(others.mean, left_out.mean, 1e-10);
    expect_near(others.variance, left_out.variance, 1e-10);
    EXPECT_NEAR(others.log_density, left_out.log_density, 1e-8);
    EXPECT_NEAR(gp.amplitude(), dense.amplitude(), 1e-10 * dense.amplitude());
    if (name == "products") continue;  // do not tell a determinant
    EXPECT_NEAR(gp.log_marginal_likelihood(), dense.log_marginal_likelihood(), 1e-8);
  }
}

TEST_F(SolverTest, HalfASolveIsHalfOfIt) {
  const DenseFactor dense(kernel_, options_);
  const Tensor half = dense.half_solve(y_);
  expect_near(quadratic_forms(y_, dense.solve(y_)).value, sum(square(half), 0), 1e-9);
  expect_near(store_factor(gram_, folder_ / "half", options_).half_solve(y_), half, 1e-10);
  EXPECT_FALSE(Inverse(kernel_, noise).half_solve(y_).defined());
}

TEST(DenseFactor, RefusesWhatHasNoFactor) {
  test::expect_error([] { DenseFactor(ones({2, 3}, f64)); }, "[2, 3]");
  test::expect_error([] { DenseFactor(-eye(2, f64)); }, "not positive definite");
  test::expect_error([] { DenseFactor(eye(2, f64), {.noise = -1}); }, "(a variance) is -1");
}

/// A solver that errs by a known amount in one of its two solves, with the residual that leaves.
class Inexact : public Solver {
 public:
  Inexact(const Tensor& kernel, double noise, bool weights, bool tests)
      : a_(kernel + noise * eye(kernel.size(0), f64)), weights_(weights), tests_(tests) {}
  std::int64_t size() const override { return a_.size(0); }
  LinearSolution solve(const Tensor& b) const override { return solved(b, weights_); }
  LinearSolution solve_for_squares(const Tensor& b) const override { return solved(b, tests_); }
  double log_determinant() const override { return 0; }

 private:
  LinearSolution solved(const Tensor& b, bool errs) const {
    const Tensor x = matmul(test::invert(a_).first, b);
    if (!errs) return {x};
    const Tensor near = 0.99 * x, r = b - matmul(a_, near);
    return {near, r, sum(r * matmul(test::invert(a_).first, r), 0)};
  }
  Tensor a_;
  bool weights_, tests_;
};

TEST(Solver, MayBeInexactInOneOfItsSolves) {
  const test::Problem p{12, 4, 2};
  const GpPrediction exact =
      GaussianProcess(p.train, p.targets, {.noise = 0.1, .jitter = 0}).predict(p.cross, p.test);
  for (const bool weights : {false, true})
    for (const bool tests : {false, true}) {
      const GpPrediction y = GaussianProcess(Inexact(p.train, 0.1, weights, tests), p.targets)
                                 .predict(p.cross, p.test);
      EXPECT_EQ(y.mean_error.defined(), weights && tests);
      EXPECT_EQ(y.covariance_error.defined(), tests);
      expect_near(y.mean, exact.mean, weights && tests ? amax(y.mean_error).item() : 1e-10);
      expect_near(y.covariance, exact.covariance,
                  tests ? amax(y.covariance_error).item() + 1e-12 : 1e-10);
    }
}

TEST(Solver, MustBeThere) {
  test::expect_error([] { GaussianProcess(std::shared_ptr<const Solver>(), ones({2}, f64)); },
                     "solver is null");
  test::expect_error([] { GpPrediction{ones({1, 1}, f64)}.variance(); }, "there is no covariance");
}

/// A solver whose results are changed by `spoil`, of the function with this name.
class Spoiled : public Solver {
 public:
  std::string of;
  std::function<Tensor(const Tensor&)> spoil;
  bool has_factor = false;
  Tensor kept(const char* name, const Tensor& x) const { return of == name ? spoil(x) : x; }
  std::int64_t size() const override { return 3; }
  LinearSolution solve(const Tensor& b) const override {
    LinearSolution y{kept("solve", b), zeros(b.shape(), f64), zeros({b.size(1)}, f64)};
    y.residual = kept("residual", y.residual);
    y.unknown = kept("unknown", y.unknown);
    return has_factor ? LinearSolution{y.x} : y;
  }
  LinearSolution solve_for_squares(const Tensor& b) const override { return {kept("squares", b)}; }
  Tensor half_solve(const Tensor& b) const override {
    return has_factor ? kept("half", b) : Tensor();
  }
  double log_determinant() const override { return of == "determinant" ? NAN : 0; }
};

TEST(Solver, ItsResultsAreChecked) {
  const Tensor y = ones({3, 2}, f64), cross = 0.1 * ones({4, 3}, f64), test = eye(4, f64);
  const auto passes = [&](const Spoiled& solver) {
    const GaussianProcess gp(solver, y);
    gp.predict(cross, test);
    gp.leave_one_out();
    gp.log_marginal_likelihood();
  };
  const std::vector<std::pair<std::function<Tensor(const Tensor&)>, const char*>> spoils = {
      {[](const Tensor&) { return Tensor(); }, "undefined tensor"},
      {[](const Tensor& x) { return cast(x, f32); }, " is f32 "},
      {[](const Tensor& x) { return unsqueeze(x, 0); }, " is f64 [1, "},
      {[](const Tensor& x) { return slice(x, -1, {.stop = 1}); }, "; it must be f64 ["},
      {[](const Tensor& x) { return x + NAN; }, "is nan; all must be finite"},
      {[](const Tensor& x) { return x + HUGE_VAL; }, "is inf; all must be finite"}};
  for (const bool has_factor : {false, true})
    for (const char* of : {"solve", "residual", "unknown", "squares", "half", "determinant"}) {
      const std::string name = of;
      if (name == "half" ? !has_factor : has_factor && name != "solve") continue;
      for (const auto& [spoil, message] : spoils) {
        SCOPED_TRACE(name + ": " + message);
        Spoiled solver;
        solver.has_factor = has_factor;
        EXPECT_NO_THROW(passes(solver));
        solver.of = name;
        solver.spoil = spoil;
        const bool of_pair = name == "residual" || name == "unknown";
        const bool is_undefined = std::string(message) == "undefined tensor";
        if (name == "half" && is_undefined) continue;  // it stands for: has no factor
        test::expect_error([&] { passes(solver); },
                           name == "determinant"     ? "log_determinant() is nan"
                           : of_pair && is_undefined ? "only one of residual and unknown"
                                                     : message);
      }
    }
}

TEST(CgSolver, NamesTheProductOfAnotherShape) {
  KernelMap map = kernel_map(eye(3, f64));
  map.multiply = [](const Tensor&) { return ones({3, 2}, f64); };
  const CgSolver solver(map, {.noise = 0.1});
  test::expect_error(
      [&] {
        solver.solve(ones({3, 1}, f64));
      },
      "the kernel's `multiply` maps [3, 1] to [3, 2]");
}

}  // namespace
}  // namespace ladon::solver_test
