#include "ladon/optim/extra/training/average.h"

#include <algorithm>

#include "ladon/autograd/graph.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/layers/linear.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::average_test {
namespace {

class AverageTest : public ::testing::Test {
 protected:
  Generator rng{1};
  Linear model{{.in = 1, .out = 1}, rng};
  void set(double weight, double bias = 0) {
    const NoGrad no_grad;
    fill_(model.weight, weight);
    fill_(model.bias, bias);
  }
  void take(WeightAverage& average, const std::vector<double>& weights) {
    for (const double weight : weights) {
      set(weight, -weight);
      average.update();
    }
  }
  double mean(const WeightAverage& average) {
    return average.state_dict().at("parameter.weight").item();
  }
};

TEST_F(AverageTest, IsTheMeanOfAllWithoutForgetting) {
  WeightAverage average(model, {.decay = 1});
  take(average, {1, 2, 6, 7});
  EXPECT_NEAR(mean(average), 4, 1e-15);
  EXPECT_EQ(average.updates(), 4);
  EXPECT_NEAR(average.state_dict().at("parameter.bias").item(), -4, 1e-15);
}

// Of decay 0.75 the weights are 1, 1/2, 1/3, 1/4, 1/4, …: 1 → 1.5 → 3 → 4 → 4 + (8 − 4)/4.
TEST_F(AverageTest, ForgetsOnceItsMemoryIsFull) {
  WeightAverage average(model, {.decay = 0.75});
  take(average, {1, 2, 6, 7, 8});
  EXPECT_NEAR(mean(average), 5, 1e-14);
  WeightAverage last(model, {.decay = 0});
  take(last, {1, 2, 6});
  EXPECT_EQ(mean(last), 6);
}

// In f32 the sum of 0.1·10⁵ would be off by 1e-4 of itself or so; in f64 the mean of one value is
// that value.
TEST_F(AverageTest, IsKeptInDoublePrecision) {
  WeightAverage average(model, {.decay = 1});
  set(0.1);
  for (int i = 0; i < 20000; ++i) average.update();
  EXPECT_NEAR(mean(average), double(0.1f), 1e-15);
}

TEST_F(AverageTest, StandsInForTheParametersWhileItsScopeLives) {
  WeightAverage average(model, {.decay = 1});
  take(average, {1, 4});
  {
    const WeightAverage::Scope scope = average.apply();
    EXPECT_EQ(model(ones({1, 1})).item(), 0);  // 2.5 − 2.5
    EXPECT_EQ(model.weight.item(), 2.5);
  }
  EXPECT_EQ(model.weight.item(), 4);
  EXPECT_EQ(model.bias.item(), -4);
  EXPECT_TRUE(model.weight.requires_grad());
}

TEST_F(AverageTest, CopiesToAModelOfTheSameNames) {
  WeightAverage average(model, {.decay = 1});
  take(average, {1, 4});
  Linear copy = clone(model);
  average.copy_to(copy);
  EXPECT_EQ(copy.weight.item(), 2.5);
  EXPECT_EQ(model.weight.item(), 4);
  ParameterSet turned = clone(model).named_parameters();  // names, and not places, say which
  std::reverse(turned.begin(), turned.end());
  average.copy_to(turned);
  EXPECT_EQ(turned[1].first, "weight");
  EXPECT_EQ(turned[1].second.item(), 2.5);
  EXPECT_EQ(turned[0].second.item(), -2.5);
  expect_error([&] { average.copy_to(model.named_parameters().with_prefix("a.")); },
               "the average has `weight` of shape [1, 1], but the model has no parameter of that");
  Linear wide({.in = 2, .out = 1}, rng), no_bias({.in = 1, .out = 1, .bias = false}, rng);
  const Tensor before = clone(wide.bias.detach());
  expect_error([&] { average.copy_to(wide); }, "`weight` of shape [1, 2] where the average has");
  EXPECT_TRUE(same_bits(wide.bias, before));
  expect_error([&] { average.copy_to(no_bias); }, "has 1 parameters, but the average has 2");
}

TEST(WeightAverage, CopiesToAllTensorsOrNone) {
  const ParameterSet model{{"a", parameter(ones({2}))}, {"b", parameter(ones({2}))}};
  WeightAverage average(model);
  average.update();
  const Tensor first = zeros({2});
  const ParameterSet other{{"a", first}, {"b", expand(zeros({1}), {2})}};
  expect_error([&] { average.copy_to(other); }, "[average] `b` of shape [2] is expanded");
  expect_error([&] { other.assign_row(ones({4})); }, "[assign_row] `b` of shape [2] is expanded");
  EXPECT_TRUE(all_equal(first, zeros({2})));
}

TEST_F(AverageTest, ResumesBitForBit) {
  TemporaryFolder folder;
  const std::string path = (folder / "average.safetensors").string();
  WeightAverage average(model, {.decay = 0.8});
  save_safetensors(path, average.state_dict());
  WeightAverage fresh(model, {.decay = 0.8});
  fresh.load_state_dict(load_safetensors(path));
  EXPECT_EQ(fresh.updates(), 0);
  take(average, {0.1, 0.7, 0.3});
  save_safetensors(path, average.state_dict());
  WeightAverage resumed(model, {.decay = 0.8});
  resumed.load_state_dict(load_safetensors(path));
  for (const double weight : {0.9, 0.4, 0.2, 0.6}) {
    set(weight);
    average.update();
    resumed.update();
  }
  for (const auto& [name, value] : average.state_dict())
    EXPECT_TRUE(same_bits(value, resumed.state_dict().at(name))) << name;
}

TEST_F(AverageTest, RefusesWhatDoesNotFitAndKeepsItsOwn) {
  expect_error([&] { WeightAverage average(model, {.decay = 1.5}); }, "decay is 1.5");
  WeightAverage average(model, {.decay = 1});
  expect_error([&] { average.copy_to(model); }, "no average before the first update()");
  expect_error([&] { static_cast<void>(average.apply()); }, "no average before the first");
  take(average, {1, 4});
  StateDict state = average.state_dict();
  state["parameter.bias"] = zeros({2}, f64);
  expect_error([&] { average.load_state_dict(state); }, "\"parameter.bias\" is f64 of shape [2]");
  EXPECT_EQ(mean(average), 2.5);
  model.to(f64);
  expect_error([&] { average.update(); }, "was replaced by Module::to(f64)");
  expect_error([&] { static_cast<void>(average.apply()); }, "was replaced by Module::to(f64)");
  EXPECT_EQ(average.updates(), 2);
}

}  // namespace
}  // namespace ladon::test::average_test
