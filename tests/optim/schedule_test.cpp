#include "ladon/optim/schedule.h"

#include <cmath>

#include "ladon/tests/optim/helpers.h"

namespace ladon::test::schedule_test {
namespace {

void expect_factors(const Schedule& schedule, const std::vector<double>& expected) {
  for (std::size_t step = 0; step < expected.size(); ++step)
    EXPECT_NEAR(schedule(static_cast<std::int64_t>(step)), expected[step], 1e-15) << step;
}

TEST(Schedule, Constant) { expect_factors(schedule::constant(0.3), {0.3, 0.3}); }

TEST(Schedule, LinearWarmup) {
  expect_factors(schedule::linear_warmup(4), {0.25, 0.5, 0.75, 1, 1, 1});
  expect_factors(schedule::linear_warmup(0), {1, 1});
}

TEST(Schedule, Cosine) {
  const double r = std::sqrt(0.5);  // cos(π/4)
  expect_factors(schedule::cosine({.steps = 4}), {1, (1 + r) / 2, 0.5, (1 - r) / 2, 0, 0});
  expect_factors(schedule::cosine({.steps = 6, .warmup = 2, .floor = 0.2}),
                 {0.5, 1, 1, 0.2 + 0.4 * (1 + r), 0.6, 0.2 + 0.4 * (1 - r), 0.2, 0.2});
}

TEST(Schedule, LinearDecay) {
  expect_factors(schedule::linear_decay({.steps = 6, .warmup = 2, .floor = 0.2}),
                 {0.5, 1, 1, 0.8, 0.6, 0.4, 0.2, 0.2});
}

// d^−½·min(t^−½, t·w^−3/2), t from 1, over its peak (d·w)^−½.
TEST(Schedule, InverseSqrt) {
  const double w = 3, d = 64;
  for (std::int64_t step = 0; step < 20; ++step) {
    const double t = static_cast<double>(step) + 1;
    const double rate = std::pow(d, -0.5) * std::min(std::pow(t, -0.5), t * std::pow(w, -1.5));
    EXPECT_NEAR(schedule::inverse_sqrt(3)(step) / std::sqrt(d * w), rate, 1e-15);
  }
}

// K = 10 and C = 3: cycles of 4 steps, the third cut short at step 10, and the fourth, if it comes
// to that.
TEST(Schedule, Cyclical) {
  const double r = std::sqrt(0.5);  // cos(π/4)
  expect_factors(schedule::cyclical({.steps = 10, .cycles = 3}),
                 {1, (1 + r) / 2, 0.5, (1 - r) / 2, 1, (1 + r) / 2, 0.5, (1 - r) / 2, 1,
                  (1 + r) / 2, 0.5, (1 - r) / 2, 1});
  expect_factors(schedule::cycle_fraction({.steps = 10, .cycles = 3}),
                 {0, 0.25, 0.5, 0.75, 0, 0.25, 0.5, 0.75, 0, 0.25, 0.5, 0.75, 0});
  expect_factors(schedule::cyclical({.steps = 2, .cycles = 1}), {1, 0.5, 1});
  expect_factors(schedule::cycle_fraction({.steps = 3, .cycles = 3}), {0, 0, 0, 0});
}

TEST(Schedule, StepsDown) {
  expect_factors(schedule::step_decay(2, 0.5), {1, 1, 0.5, 0.5, 0.25, 0.25});
  expect_factors(schedule::milestones({1, 3, 3}, 0.5), {1, 0.5, 0.5, 0.125, 0.125});
  expect_factors(schedule::milestones({}, 0.5), {1, 1});
  expect_factors(schedule::exponential(0.5), {1, 0.5, 0.25, 0.125});
}

// Of 9 steps the peak is at 0.25·8 = 2, and the way down takes 6: at its sixths, (1 + cos πp)/2.
TEST(Schedule, OneCycle) {
  const double r = std::sqrt(0.75);  // cos(π/6)
  const double from = 0.2, to = 0.1;
  const auto down = [&](double cosine) { return to + (1 - to) * (1 + cosine) / 2; };
  expect_factors(
      schedule::one_cycle({.steps = 9, .rise = 0.25, .start = from, .end = to}),
      {from, (1 + from) / 2, 1, down(r), down(0.5), down(0), down(-0.5), down(-r), to, to, to});
  expect_factors(schedule::one_cycle({.steps = 2, .rise = 0, .end = 0.5}), {1, 0.5, 0.5});
  expect_factors(schedule::one_cycle({.steps = 3, .rise = 1, .start = 0}), {0, 0.5, 1, 1});
  expect_factors(schedule::one_cycle({.steps = 1}), {1, 1});
}

TEST(Schedule, OneAfterTheOther) {
  expect_factors(schedule::sequence({{schedule::linear_warmup(2), 2},
                                     {schedule::constant(0.7), 0},
                                     {schedule::constant(0.9), 1},
                                     {schedule::exponential(0.5), 2}}),
                 {0.5, 1, 0.9, 1, 0.5, 0.25, 0.125});
  expect_factors(schedule::product({schedule::exponential(0.5), schedule::linear_warmup(2)}),
                 {0.5, 0.5, 0.25});
  expect_factors(schedule::product({}), {1, 1});
}

TEST(Schedule, RefusesBadSettings) {
  expect_error([] { schedule::step_decay(0); }, "`every` is 0");
  expect_error([] { schedule::step_decay(1, -1); }, "`factor` is -1");
  expect_error([] { schedule::milestones({3, 2}); }, "milestones must be in ascending order");
  expect_error([] { schedule::milestones({-3}); }, "milestones must be in ascending order");
  expect_error([] { schedule::exponential(std::nan("")); }, "`factor` is nan");
  expect_error([] { schedule::one_cycle({.steps = 0}); }, "`steps` is 0");
  expect_error([] { schedule::one_cycle({.steps = 5, .rise = 2}); }, "are 2, 0.04 and 4e-06");
  expect_error([] { schedule::sequence({}); }, "at least one stage");
  expect_error([] { schedule::sequence({{schedule::constant(), -1}}); }, "a stage has -1 steps");
  expect_error([] { schedule::sequence({{Schedule(), 1}}); }, "empty function");
  expect_error([] { schedule::product({Schedule()}); }, "empty function");
  expect_error([] { schedule::cyclical({.steps = 3, .cycles = 0}); }, "`cycles` is 0 of 3 steps");
  expect_error([] { schedule::cyclical({.steps = 3, .cycles = 4}); }, "`cycles` is 4 of 3 steps");
  expect_error([] { schedule::cycle_fraction({.steps = 0, .cycles = 0}); }, "`cycles` is 0");
  expect_error([] { schedule::linear_warmup(-1); }, "`warmup` is -1");
  expect_error([] { schedule::cosine({.steps = 5, .warmup = 5}); }, "`warmup` is 5 of 5 steps");
  expect_error([] { schedule::linear_decay({.steps = 5, .floor = 1.5}); }, "`floor` is 1.5");
  expect_error([] { schedule::inverse_sqrt(0); }, "`warmup` is 0");
  for (const Schedule& s :
       {schedule::constant(), schedule::linear_warmup(2), schedule::cosine({.steps = 5}),
        schedule::inverse_sqrt(2), schedule::cyclical({.steps = 5}), schedule::step_decay(2),
        schedule::milestones({2}), schedule::one_cycle({.steps = 5}),
        schedule::sequence({{schedule::constant(), 1}}), schedule::product({})})
    expect_error([&] { s(-1); }, "`step` is -1");
}

class PlateauTest : public ::testing::Test {
 protected:
  std::vector<double> rates(Plateau& plateau, const std::vector<double>& figures) {
    std::vector<double> seen;
    for (const double figure : figures) {
      const double before = sgd.lr();
      const bool changed = plateau.watch(figure, sgd);
      EXPECT_EQ(changed, sgd.lr() != before);
      seen.push_back(sgd.lr());
    }
    return seen;
  }
  Tensor x = leaf(tensor({1}, f64));
  Sgd sgd{{x}, {.lr = 1}};
};

TEST_F(PlateauTest, ReducesOnceAfterEachPatience) {
  Plateau plateau({.factor = 0.5, .patience = 1, .threshold = 0.1, .min_lr = 0.2});
  // 0.95 is no improvement on 1 at a threshold of a tenth; 0.8 is; then two reductions to the
  // floor of 0.2.
  EXPECT_EQ(rates(plateau, {1, 0.95, 0.8, 0.8, 0.79, 0.8, 0.8, 0.8, 0.8, 0.8}),
            (std::vector<double>{1, 1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2}));
  EXPECT_EQ(plateau.best(), 0.8);
  EXPECT_EQ(rates(plateau, {0.8, 0.8, 0.8}), (std::vector<double>{0.2, 0.2, 0.2}));
}

TEST_F(PlateauTest, WatchesFiguresThatShouldGrowAndNaN) {
  Plateau plateau({.mode = PlateauOptions::Mode::max, .factor = 0.5, .patience = 0});
  EXPECT_EQ(rates(plateau, {-3, -2, -2, std::nan(""), 5}),
            (std::vector<double>{1, 1, 0.5, 0.25, 0.25}));
}

TEST_F(PlateauTest, Resumes) {
  Plateau plateau({.factor = 0.5, .patience = 2});
  rates(plateau, {1, 1, 1});
  Plateau resumed({.factor = 0.5, .patience = 2});
  resumed.load_state_dict(plateau.state_dict());
  EXPECT_EQ(resumed.best(), 1);
  EXPECT_EQ(resumed.waited(), 2);
  EXPECT_EQ(rates(resumed, {1}), (std::vector<double>{0.5}));
  expect_error([&] { resumed.load_state_dict({{"best", scalar(1, f64)}}); }, "no entry \"waited\"");
  expect_error(
      [&] {
        resumed.load_state_dict({{"best", scalar(1, f32)}, {"waited", scalar(1, i64)}});
      },
      "\"best\" is f32 of shape [], expected f64");
  const auto load = [&](const Tensor& best, const Tensor& waited) {
    return [&, best, waited] { resumed.load_state_dict({{"best", best}, {"waited", waited}}); };
  };
  expect_error(load(ones({1, 1}, f64), scalar(1, i64)), "of shape [1, 1]");
  expect_error(load(scalar(1, f64), scalar(-5, i64)), "\"waited\" is -5");
  EXPECT_EQ(resumed.best(), 1);
}

TEST(Plateau, RefusesAStateWithNaN) {
  Plateau plateau;
  StateDict state = plateau.state_dict();
  plateau.load_state_dict(state);  // ∞ before the first figure
  state["best"] = scalar(std::nan(""), f64);
  test::expect_error([&] { plateau.load_state_dict(state); }, "\"best\" has NaN elements");
}

TEST(Plateau, RefusesBadSettings) {
  expect_error([] { Plateau p({.factor = 1}); }, "`factor` is 1");
  expect_error([] { Plateau p({.patience = -1}); }, "`patience` is -1");
  expect_error([] { Plateau p({.threshold = -1}); }, "-1 and 0");
}

}  // namespace
}  // namespace ladon::test::schedule_test
