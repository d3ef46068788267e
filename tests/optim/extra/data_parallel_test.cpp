#include "ladon/optim/extra/training/data_parallel.h"

#include "ladon/autograd/graph.h"
#include "ladon/layers/linear.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test {
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

}  // namespace
}  // namespace ladon::test
