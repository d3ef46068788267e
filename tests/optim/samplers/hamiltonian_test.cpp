// Leapfrog steps, and the adaptation of step size and mass in warm-up.

#include "ladon/optim/samplers/hamiltonian.h"

#include "ladon/optim/samplers/adaptation.h"
#include "ladon/optim/samplers/run.h"
#include "ladon/tests/optim/samplers/densities.h"

namespace ladon::test::hamiltonian_test {
namespace {

using namespace samplers;

/// A bent density of two numbers.
LogDensity bent() {
  return LogDensity(2, [](const Tensor& t) {
    const Tensor x = slice(t, 1, {.stop = 1}), y = slice(t, 1, {.start = 1});
    return sum(-0.5 * square(x) - 2.0 * square(y - square(x)), 1);
  });
}

Phase at(const LogDensity& density, const Tensor& position, const Tensor& momentum) {
  return {position, momentum, density.score(position)};
}

Phase follow(const LogDensity& density, Phase phase, double step, int steps) {
  const Tuning tuning{full({1, 1}, step, f64), tensor({1.5, 0.5}, {1, 2}, f64)};
  for (int i = 0; i < steps; ++i) phase = leapfrog(density, phase, tuning);
  return phase;
}

TEST(Leapfrog, GoesBackTheWayItCame) {
  const LogDensity density = bent();
  const Phase from = at(density, gaussian({5, 2}, 1), gaussian({5, 2}, 2));
  const Phase to = follow(density, from, 0.1, 20);
  EXPECT_GT(amax(abs(to.position - from.position)).item(), 0.5);
  const Phase turned = follow(density, {to.position, -to.momentum, to.score}, 0.1, 20);
  expect_values(turned.position, from.position.to_vector(), 1e-11);
  expect_values(-turned.momentum, from.momentum.to_vector(), 1e-11);
  const Phase backwards = follow(density, to, -0.1, 20);
  expect_values(backwards.position, from.position.to_vector(), 1e-11);
}

// Over a fixed time the energy error is c·ε² + O(ε⁴): halving ε divides it by 4.
TEST(Leapfrog, ItsEnergyErrorIsOfSecondOrder) {
  const LogDensity density = bent();
  const Phase from = at(density, gaussian({8, 2}, 3), gaussian({8, 2}, 4));
  const Tensor inverse_mass = tensor({1.5, 0.5}, {1, 2}, f64);
  std::vector<double> errors;
  for (const int steps : {80, 160, 320})
    errors.push_back(amax(abs(energy(follow(density, from, 1.0 / steps, steps), inverse_mass) -
                              energy(from, inverse_mass)))
                         .item());
  EXPECT_NEAR(errors[0] / errors[1], 4, 0.2);
  EXPECT_NEAR(errors[1] / errors[2], 4, 0.05);
}

// The Jacobian of a trajectory has determinant 1: by central differences, of (x, p) in one
// dimension.
TEST(Leapfrog, KeepsVolume) {
  const LogDensity density = tilted_logistic();
  const Tuning tuning{full({1, 1}, 0.7, f64), full({1, 1}, 1.3, f64)};
  const double h = 1e-5;
  const Tensor x = tensor({0.4 + h, 0.4 - h, 0.4, 0.4}, {4, 1}, f64),
               p = tensor({-0.8, -0.8, -0.8 + h, -0.8 - h}, {4, 1}, f64);
  Phase phase = at(density, x, p);
  for (int i = 0; i < 3; ++i) phase = leapfrog(density, phase, tuning);
  const auto q = phase.position.to_vector(), m = phase.momentum.to_vector();
  const auto slope = [h](const std::vector<double>& v, int i) {
    return (v[i] - v[i + 1]) / (2 * h);
  };
  EXPECT_NEAR(slope(q, 0) * slope(m, 2) - slope(q, 2) * slope(m, 0), 1, 1e-8);
}

TEST(Leapfrog, MovesEachRowByItsOwnStepAndMass) {
  const LogDensity density = bent();
  const Phase from = at(density, gaussian({2, 2}, 5), gaussian({2, 2}, 6));
  const Tensor steps = tensor({0.1, -0.3}, {2, 1}, f64), masses = tensor({1, 2, 3, 4}, {2, 2}, f64);
  const Phase both = leapfrog(density, from, {steps, masses});
  for (std::int64_t r = 0; r < 2; ++r) {
    const auto only = [r](const Tensor& t) { return slice(t, 0, {.start = r, .stop = r + 1}); };
    const Phase alone = leapfrog(density, at(density, only(from.position), only(from.momentum)),
                                 {only(steps), only(masses)});
    expect_values(only(both.position), alone.position.to_vector(), 1e-15);
    expect_values(only(both.momentum), alone.momentum.to_vector(), 1e-15);
  }
}

// At an acceptance of e^−ε the step for acceptance 0.8 is −ln 0.8.
TEST(DualAveraging, FindsTheStepOfItsTarget) {
  for (const double start : {1e-3, 1.0, 50.0}) {
    DualAveraging averaging(start, 0.8);
    for (int t = 0; t < 2000; ++t) averaging.update(std::exp(-averaging.step()));
    EXPECT_NEAR(averaging.averaged(), -std::log(0.8), 0.01);
  }
}

TEST(Adaptation, FindsAStepForEachGroup) {
  // Normals of standard deviation 1 and 1000 in groups of two rows: a scale, and so a step, apart.
  const Tensor scale = tensor({1, 1, 1000, 1000}, {4, 1}, f64);
  const LogDensity density = LogDensity::of_scores(3, [&](const Tensor& x) {
    return DensityScore{-0.5 * sum(square(x / scale), 1), -x / square(scale)};
  });
  Adaptation adaptation("hmc", {.groups = 2}, 4, 3);
  const Tensor start = gaussian({4, 3}, 1) * scale;
  RandomStreams streams{{}, Generator(1)};
  for (std::uint64_t r = 0; r < 4; ++r) streams.rows.push_back(Generator(r));
  adaptation.find_steps(density, at(density, start, start), streams);
  EXPECT_GT(adaptation.step(0), 0.25);
  EXPECT_LT(adaptation.step(0), 8);
  EXPECT_GT(adaptation.step(1), 250);
  EXPECT_LT(adaptation.step(1), 8000);
  EXPECT_EQ(adaptation.tuning().step.to_vector(),
            (std::vector{adaptation.step(0), adaptation.step(0), adaptation.step(1),
                         adaptation.step(1)}));
}

TEST(GroupVariance, IsThatOfEachGroupsRows) {
  const Tensor x = gaussian({2, 3, 5, 4}, 1) + 1e4;  // windows of 2 draws: groups, chains, numbers
  GroupVariance variance(3);
  for (std::int64_t t = 0; t < 2; ++t) variance.add(reshape(select(x, 0, t), {15, 4}));
  const Tensor before = full({3, 4}, 2, f64);
  const Tensor rows = reshape(permute(x, {1, 0, 2, 3}), {3, 10, 4});
  const Tensor expected = (10.0 * var(rows, 1) + 5.0 * before) / 15.0;
  expect_values(variance.shrunk_to(before), expected.to_vector(), 1e-8);
  GroupVariance still(1);
  still.add(ones({4, 2}, f64));
  expect_values(still.shrunk_to(full({1, 2}, 7, f64)), {7, 7}, 0);
}

// A transition kernel from outside is asked for what is read of it.
TEST(SampleChains, RefuseWhatATransitionMustNotLeave) {
  const LogDensity density(2, [](const Tensor& x) { return sum(square(x), 1) / -2; });
  const Tensor start = zeros({3, 2}, f64);
  Generator rng(1);
  const auto run = [&](const TransitionKernel& kernel, std::int64_t groups = 1) {
    sample_chains(density, start, {.draws = 2, .adaptation = {.groups = groups, .warmup = 2}},
                  kernel, rng);
  };
  const auto stays = [](const LogDensity&, Phase& at, const Tuning&, RandomStreams& streams, bool) {
    return metropolis(at, at, {1, 1, 1}, streams);  // without momenta
  };
  run(stays);
  expect_error([&] { run({}); }, "the transition kernel is an empty function");
  expect_error([&] { run(stays, 0); }, "groups is 0");
  expect_error([&] { run(stays, 2); }, "groups is 2");
  expect_error([&] { run([](auto&&...) { return Moved{}; }); }, "0 acceptances");
  expect_error(
      [&] {
        run([&](const auto& p, Phase& at, const auto& t, RandomStreams& streams, bool counts) {
          const Moved moved = stays(p, at, t, streams, counts);
          at.position = zeros({2, 2}, f64);
          return moved;
        });
      },
      "must leave positions");
  expect_error(
      [&] {
        run([](const auto&, Phase& at, const auto&, RandomStreams& streams, bool) {
          return metropolis(at, at, {1}, streams);
        });
      },
      "1 probabilities for 3 rows");
}

// Each tensor in turn has a shape or a dtype of its own, as has the number of generators.
TEST(Leapfrog, EachFunctionAsksForItsShapes) {
  const LogDensity density = bent();
  const Phase good = at(density, gaussian({3, 2}, 1), gaussian({3, 2}, 2));
  const Tuning tuning{full({1, 1}, 0.1, f64), ones({1, 2}, f64)};
  const RandomStreams streams{std::vector<Generator>(3, Generator(1)), Generator(2)};
  const std::vector<Tensor> odd{ones({2, 2}, f64), ones({2}, f64), ones({3, 1, 2}, f64),
                                ones({3, 2}),      ones({3}),      Tensor()};
  const auto each = [&](const char* name, auto&& part) {
    for (const Tensor& x : odd) {
      if (!x.defined()) continue;
      Phase bad = good, kept = good;
      part(bad) = x;
      RandomStreams drawn = streams;
      const std::string wrong = std::string(name) + " must be f64";
      expect_error([&] { energy(bad, tuning.inverse_mass); }, "[energy] " + wrong);
      expect_error([&] { leapfrog(density, bad, tuning); }, "[leapfrog] " + wrong);
      expect_error([&] { metropolis(kept, bad, {1, 1, 1}, drawn); }, "[metropolis] ");
      expect_error([&] { metropolis(bad, good, {1, 1, 1}, drawn); }, "[metropolis] ");
      expect_error([&] { hmc_move(density, bad, tuning, 2, drawn); }, "[hmc_move] " + wrong);
      expect_values(kept.position, good.position.to_vector(), 0);
    }
  };
  each("momenta", [](Phase& p) -> Tensor& { return p.momentum; });
  each("values of ln p", [](Phase& p) -> Tensor& { return p.score.value; });
  each("gradients of ln p", [](Phase& p) -> Tensor& { return p.score.gradient; });
  for (const Tensor& x : odd) {
    Phase phase = good;
    RandomStreams drawn = streams;
    expect_error([&] { acceptance(zeros({3}, f64), x); },
                 "[acceptance] energies after must be f64");
    expect_error([&] { acceptance(x, zeros({3}, f64)); }, "[acceptance] energies");
    expect_error(
        [&] {
          leapfrog(density, good, {x, tuning.inverse_mass});
        },
        "the step must be f64");
    expect_error(
        [&] {
          leapfrog(density, good, {tuning.step, x});
        },
        "the inverse mass must be f64");
    expect_error([&] { energy(good, x); }, "the inverse mass must be f64");
    expect_error([&] { hmc_move(density, phase, {tuning.step, x}, 2, drawn); }, "the inverse mass");
    if (x.defined() && x.shape() == Shape({2, 2})) continue;  // right for two generators
    std::vector<Generator> two(2, Generator(1));
    expect_error([&] { momenta(two, x); }, "[momenta] the inverse mass must be f64");
  }
  for (const std::size_t count : {1, 4}) {
    Phase phase = good;
    RandomStreams drawn{std::vector<Generator>(count, Generator(1)), Generator(2)};
    expect_error([&] { metropolis(phase, good, {1, 1, 1}, drawn); }, "generators for 3 rows");
    expect_error([&] { hmc_move(density, phase, tuning, 2, drawn); }, "generators for 3 rows");
  }
  Phase moved = good;
  RandomStreams drawn = streams;
  hmc_move(density, moved, tuning, 2, drawn);
}

}  // namespace
}  // namespace ladon::test::hamiltonian_test
