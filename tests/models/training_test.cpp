// A training run compared with a second implementation in plain doubles: gradients in closed form,
// the formulas of Adam and of the weight average, and the saved values. They must agree after each
// operation, also after one that throws.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/layers/linear.h"
#include "ladon/optim/adam.h"
#include "ladon/optim/extra/optimizers/lbfgs.h"
#include "ladon/optim/extra/training/average.h"
#include "ladon/optim/extra/training/data_parallel.h"
#include "ladon/optim/extra/training/training_run.h"
#include "ladon/optim/schedule.h"
#include "ladon/tests/support.h"

namespace ladon::training_test {
namespace {

constexpr std::size_t size = 3;  // two weights and a bias
using Numbers = std::array<double, size>;
constexpr double lr = 0.05, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, decay = 0.8;

const std::vector<Numbers> rows{{1, 2, 1}, {-1, 0.5, 1}, {0.3, -2, 1}};
const std::vector<double> targets{1, -2, 0.5};

/// What should hold.
struct State {
  Numbers x{}, first{}, second{}, mean{};
  int steps = 0;
  std::int64_t updates = 0, count = 0;
  double best = std::numeric_limits<double>::infinity();
  std::int64_t waited = 0;

  double loss() const {
    double sum = 0;
    for (std::size_t n = 0; n < rows.size(); ++n) sum += error(n) * error(n);
    return sum;
  }
  double error(std::size_t n) const {
    double e = -targets[n];
    for (std::size_t i = 0; i < size; ++i) e += rows[n][i] * x[i];
    return e;
  }
  void step() {
    ++steps;
    const State before = *this;
    for (std::size_t i = 0; i < size; ++i) {
      double g = 0;
      for (std::size_t n = 0; n < rows.size(); ++n) g += 2 * rows[n][i] * before.error(n);
      first[i] = beta1 * first[i] + (1 - beta1) * g;
      second[i] = beta2 * second[i] + (1 - beta2) * g * g;
      x[i] -= lr * first[i] / (1 - std::pow(beta1, steps)) /
              (std::sqrt(second[i] / (1 - std::pow(beta2, steps))) + eps);
    }
  }
  void average() {
    ++updates;
    const double w = std::max(1 - decay, 1 / static_cast<double>(updates));
    for (std::size_t i = 0; i < size; ++i) mean[i] += w * (x[i] - mean[i]);
  }
};

class Machine {
 public:
  Machine(std::uint64_t seed, const std::filesystem::path& folder)
      : folder_(folder),
        rng_(seed),
        layer_({.in = 2, .out = 1}, rng_),
        data_(tensor({1, 2, -1, 0.5, 0.3, -2}, {3, 2}, f64)),
        targets_(tensor({1, -2, 0.5}, {3, 1}, f64)) {
    layer_.to(f64);
    adam_.emplace(layer_, AdamOptions{.lr = lr});
    average_.emplace(layer_, WeightAverageOptions{.decay = decay});
    sum_.emplace(layer_.named_parameters());
    state_.x = numbers();
    run_.add("model", layer_);
    run_.add("adam", *adam_);
    run_.add("average", *average_);
    run_.add("count", count_);
    run_.add("plateau", plateau_);
  }

  void run(int operations) {
    for (int i = 0; i < operations && !testing::Test::HasFailure(); ++i) {
      SCOPED_TRACE(detail::join("operation ", i));
      operate(random(10));
      check();
    }
  }

 private:
  std::size_t random(std::size_t n) {
    return static_cast<std::size_t>(rng_.uniform() * static_cast<double>(n));
  }
  Numbers numbers() const {
    const auto x = ParameterSet(layer_).to_row().to_vector();
    return {x[0], x[1], x[2]};
  }
  Tensor loss() const { return sum(square(layer_(data_) - targets_)); }

  void operate(std::size_t what) {
    if (what < 4) {
      layer_.zero_grad();
      backward(loss());
      sum_->finish();
      adam_->step();
      state_.step();
      if (what < 3) {
        average_->update();
        state_.average();
      }
      ++count_;
      ++state_.count;
      const double figure = state_.loss();
      plateau_.watch(figure, *adam_);
      if (figure < state_.best - 1e-4 * std::abs(state_.best) || std::isinf(state_.best)) {
        state_.best = figure;
        state_.waited = 0;
      } else {
        ++state_.waited;
      }
    } else if (what == 4) {  // a hook throws in the sweep
      layer_.zero_grad();
      const Tensor y = layer_(data_);
      register_hook(y, [](const Tensor&) -> Tensor { throw std::runtime_error("hook"); });
      EXPECT_THROW(backward(sum(square(y - targets_))), std::runtime_error);
      layer_.zero_grad();
    } else if (what == 5) {
      layer_.zero_grad();
      test::expect_error([&] { adam_->step(); }, "has a gradient");
    } else if (what == 6) {
      run_.save(folder_ / std::to_string(saved_.size()));
      saved_.push_back(state_);
    } else if (what == 7 && !saved_.empty()) {
      const std::size_t which = random(saved_.size());
      run_.load(folder_ / std::to_string(which));
      state_ = saved_[which];
    } else if (what == 8 && !saved_.empty()) {
      break_file(folder_ / std::to_string(random(saved_.size())), folder_ / "broken");
      EXPECT_THROW(run_.load(folder_ / "broken"), Error);
      test::expect_error([&] { run_.load(folder_ / "none"); }, "none");
    } else if (what == 9) {
      if (state_.updates == 0)
        test::expect_error([&] { static_cast<void>(average_->apply()); },
                           "before the first update()");
      else
        look_at_average();
    }
  }

  void look_at_average() {
    layer_.zero_grad();
    backward(loss());
    Lbfgs lbfgs(layer_.named_parameters());
    WeightAverage other(layer_);
    try {
      const WeightAverage::Scope scope = average_->apply();
      const Numbers x = numbers();
      for (std::size_t i = 0; i < size; ++i) EXPECT_NEAR(x[i], state_.mean[i], 1e-12);
      const char* refused = "and a write now would be lost when that scope ends";
      test::expect_error([&] { adam_->step(); }, refused);
      test::expect_error([&] { lbfgs.step([&] { return loss(); }); }, refused);
      test::expect_error([&] { other.update(); }, refused);
      test::expect_error([&] { average_->update(); }, "end the scope of apply() first");
      test::expect_error([&] { static_cast<void>(average_->apply()); },
                         "end the scope of apply() first");
      layer_.named_parameters().to_row();  // to read, and to save, is allowed
      EXPECT_EQ(numbers(), x);
      if (random(2) == 0) throw std::runtime_error("evaluation");
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "evaluation");
    }
    layer_.zero_grad();
  }

  /// A copy that lacks its end, or has another byte in the middle.
  void break_file(const std::filesystem::path& from, const std::filesystem::path& to) {
    std::ifstream in(from, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (random(2) == 0)
      bytes.resize(bytes.size() - 1 - random(40));
    else
      bytes[bytes.size() - 1 - random(40)] ^= 4;
    std::ofstream(to, std::ios::binary) << bytes;
  }

  void check() const {
    const Numbers x = numbers();
    for (std::size_t i = 0; i < size; ++i) EXPECT_NEAR(x[i], state_.x[i], 1e-11);
    EXPECT_EQ(adam_->steps(), state_.steps);
    EXPECT_EQ(average_->updates(), state_.updates);
    EXPECT_EQ(count_, state_.count);
    if (state_.steps > 0) {
      EXPECT_NEAR(plateau_.best(), state_.best, 1e-11);
    }
    EXPECT_EQ(plateau_.waited(), state_.waited);
    if (state_.updates == 0) return;
    std::vector<double> mean;
    for (const auto& [name, x_] : layer_.named_parameters())
      for (const double m : average_->state_dict().at("parameter." + name).to_vector())
        mean.push_back(m);
    for (std::size_t i = 0; i < size; ++i) EXPECT_NEAR(mean[i], state_.mean[i], 1e-11);
  }

  std::filesystem::path folder_;
  Generator rng_;
  Linear layer_;
  Tensor data_, targets_;
  std::optional<Adam> adam_;
  std::optional<WeightAverage> average_;
  std::optional<OverlappedSum> sum_;
  Plateau plateau_{{.factor = 0.5, .patience = 1000000}};
  std::int64_t count_ = 0;
  TrainingRun run_;
  State state_;
  std::vector<State> saved_;
};

TEST(TrainingModel, IsWhatPlainNumbersSay) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(detail::join("seed ", seed));
    const test::TemporaryFolder folder;
    Machine machine(seed, folder.path());
    machine.run(120);
    if (testing::Test::HasFailure()) return;
  }
}

// The scope of an average in other hands: ended late, on another thread, renewed, after its
// average.
TEST(TrainingModel, TheScopeOfAnAverage) {
  Generator rng(1);
  Linear layer({.in = 2, .out = 1}, rng);
  const auto own = layer.weight.to_vector();
  auto average = std::make_unique<WeightAverage>(layer);
  average->update();
  layer.named_parameters().perturb(1, rng);
  const auto now = layer.weight.to_vector();
  using Scope = WeightAverage::Scope;
  static_assert(!std::is_move_constructible_v<Scope> && !std::is_copy_constructible_v<Scope>);
  std::unique_ptr<Scope> scope(new Scope(average->apply()));
  EXPECT_EQ(layer.weight.to_vector(), own);
  test::expect_error([&] { scope.reset(new Scope(average->apply())); }, "end the scope");
  EXPECT_EQ(layer.weight.to_vector(), own);
  average.reset();
  scope.reset();
  EXPECT_EQ(layer.weight.to_vector(), now);
  // Two averages of one model do not stand in it at once, in whatever order they would end.
  WeightAverage one(layer), two(layer);
  one.update();
  two.update();
  {
    const Scope first = one.apply();
    test::expect_error([&] { static_cast<void>(two.apply()); }, "temporarily holds the value");
  }
  EXPECT_EQ(layer.weight.to_vector(), now);
}

}  // namespace
}  // namespace ladon::training_test
