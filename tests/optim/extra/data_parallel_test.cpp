#include "ladon/optim/extra/training/data_parallel.h"

#include "ladon/autograd/graph.h"
#include "ladon/layers/linear.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::data_parallel_test {
namespace {

// Of many: tests/ranks.
TEST(DataParallel, OneAloneKeepsItsGradientsAndState) {
  Generator rng(1);
  Linear model({.in = 3, .out = 2}, rng);
  backward(sum(model(normal({5, 3}, rng))));
  const auto before = model.weight.grad().to_vector<float>();
  const auto weights = model.weight.to_vector<float>();
  sum_gradients(model.parameters());
  broadcast_state(model);
  EXPECT_EQ(model.weight.grad().to_vector<float>(), before);
  EXPECT_EQ(model.weight.to_vector<float>(), weights);
  share_gradients(particles_of_rows(model.weight));
  EXPECT_EQ(model.weight.grad().to_vector<float>(), before);
  expect_error([&] { broadcast_state(model, 1); }, "rank 1, does not exist");
}

// An older sum would add up gradients of tensors that the model no longer has.
TEST(DataParallel, SumsOfReplacedParametersAreRefused) {
  Generator rng(2);
  Sequential model(Linear({.in = 3, .out = 4}, rng), Linear({.in = 4, .out = 2}, rng));
  const Tensor x = normal({5, 3}, rng);
  const std::vector<std::pair<const char*, std::function<void()>>> changes{
      {"replace", [&] { replace(model, "layers.0", Linear({.in = 3, .out = 4}, rng)); }},
      {"share_with",
       [&] {
         Linear({.in = 4, .out = 2}, rng)
             .named_parameters()
             .with_prefix("layers.1.")
             .share_with(model);
       }},
      {"Module::to(f64)", [&] { model.to(f64); }}};
  for (const auto& [by, change] : changes) {
    SCOPED_TRACE(by);
    const ParameterSet held = model.named_parameters();
    OverlappedSum overlapped(held);
    sum_gradients(held);
    overlapped.finish();
    change();
    backward(sum(model(cast(x, model.parameters()[0].dtype()))));
    expect_error([&] { overlapped.finish(); }, "[OverlappedSum] a parameter of shape");
    expect_error([&] { overlapped.finish(); }, std::string("was replaced by ") + by);
    expect_error([&] { sum_gradients(held); }, "[sum_gradients] a parameter of shape");
    sum_gradients(model);
    OverlappedSum(model).finish();
  }
}

}  // namespace
}  // namespace ladon::test::data_parallel_test
