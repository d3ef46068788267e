// The one-file program tiny.cpp, compared with the library: equal gradients, optimizer steps,
// forces and kernels.

// Headers of tiny.cpp, outside of its namespace.
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <random>
#include <valarray>
#include <vector>

#include "ladon/ladon.h"
#include "ladon/tests/support.h"

#define main tiny_main  // which need not return, and is not called
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"
namespace tiny {
#include "ladon/examples/tiny/tiny.cpp"
}  // namespace tiny
#pragma GCC diagnostic pop
#undef main

namespace ladon::tiny_test {
namespace {

Tensor tensor_of(const tiny::Matrix& x) {
  return from_vector(std::vector<double>(std::begin(x.numbers), std::end(x.numbers)),
                     {x.rows, x.columns});
}

double difference(const Tensor& a, const Tensor& b) { return amax(abs(a - b)).item(); }

/// Two heads in both forms, and gradients of the same loss.
class TinyHeads : public testing::Test {
 protected:
  TinyHeads() {
    attention.to(f64);
    {
      NoGrad off;
      for (const auto& [name, part, of] : parts())
        copy_(of, stack({tensor_of((heads[0].*part)->value), tensor_of((heads[1].*part)->value)}));
    }
    tiny::backward(tiny::mse_loss(tiny::attention(tiny::record(x), heads, tiny::softmax), target));
    backward(mse_loss(attention(unsqueeze(tensor_of(x), 0)), unsqueeze(tensor_of(target), 0)));
  }

  struct Part {
    const char* name;
    tiny::Variable tiny::Head::*part;
    Tensor of;
  };
  std::vector<Part> parts() {
    return {{"query", &tiny::Head::query, attention.query},
            {"key", &tiny::Head::key, attention.key},
            {"value", &tiny::Head::value, attention.value},
            {"output", &tiny::Head::output, attention.output}};
  }
  void expect_equal(tiny::Matrix tiny::Node::*member, const std::function<Tensor(Tensor)>& of) {
    for (const auto& [name, part, tensor] : parts())
      for (int h = 0; h < 2; ++h)
        EXPECT_LE(difference(tensor_of((*(heads[h].*part)).*member), select(of(tensor), 0, h)),
                  1e-10)
            << name << " of head " << h;
  }

  tiny::Generator rng{1};
  std::vector<tiny::Head> heads = tiny::random_heads(2, 8, 4, rng);
  tiny::Matrix x = tiny::normal(5, 8, 1, rng), target = tiny::normal(5, 8, 1, rng);
  Generator unused{1};
  MultiHeadAttention attention{{.dim = 8, .heads = 2, .bias = false}, unused};
};

TEST_F(TinyHeads, HaveTheLibrarysGradients) {
  expect_equal(&tiny::Node::gradient, [](const Tensor& w) { return w.grad(); });
}

TEST_F(TinyHeads, TakeTheLibrarysStepsOfAdam) {
  Adam adam(attention.parameters(), {.lr = 0.02});
  tiny::Adam own{{}, 0.02};
  for (const auto& [name, part, of] : parts())
    for (const tiny::Head& head : heads) own.parameters.push_back(head.*part);
  for (int step = 0; step < 3; ++step) {
    adam.step();
    own.step();
    expect_equal(&tiny::Node::value, [](const Tensor& w) { return w; });
  }
}

TEST_F(TinyHeads, FeelTheLibrarysForces) {
  Svgd repulsion(particles(attention), {.alpha = 0.3});
  repulsion.apply();
  for (const auto part : {&tiny::Head::query, &tiny::Head::key, &tiny::Head::value})
    tiny::svgd(*(heads[0].*part), *(heads[1].*part), 0.3);
  expect_equal(&tiny::Node::gradient, [](const Tensor& w) { return w.grad(); });
}

/// The layer of tiny.cpp's second half: identity in place of softmax.
MultiHeadAttention identity_attention(std::int64_t dim, std::int64_t heads) {
  Generator rng(1);
  MultiHeadAttention layer({.dim = dim,
                            .heads = heads,
                            .head_dim = 4,
                            .bias = false,
                            .form = {.weighting = Weighting::identity},
                            .prior = {.parameterization = Parameterization::ntk}},
                           rng);
  layer.to(f64);
  return layer;
}

TEST(TinyLimit, IsTheLibrarysKernel) {
  tiny::Generator rng(1);
  const tiny::Matrix x = tiny::normal(3, 4, 1, rng);
  const MultiHeadAttention layer = identity_attention(4, 2);
  const Tensor kernel =
      infinite::limit(layer)(unsqueeze(tensor_of(x), 0), infinite::Get::nngp).nngp;
  EXPECT_LE(difference(tensor_of(tiny::nngp(x)), at(kernel, {0, 0})), 1e-10);
}

TEST(TinyLimit, HasTheLibrarysKurtosis) {
  tiny::Generator rng(2);
  const tiny::Matrix x = tiny::normal(3, 4, 1, rng);
  const Tensor k = tensor_of(tiny::product(x, tiny::transposed(x)));
  for (const int heads : {1, 3, 16})
    EXPECT_NEAR(
        tiny::excess_kurtosis(x, heads, 5),
        infinite::identity_kurtosis(k, k, {.heads = heads, .key_width = 5, .value_width = 5}),
        1e-10);
}

TEST(TinyLimit, IsWhatRandomLayersComeTo) {
  tiny::Generator rng(3);
  const tiny::Matrix x = tiny::normal(2, 4, 1, rng), kernel = tiny::nngp(x);
  const auto [mean, error] =
      tiny::average(4000, [&](int) { return tiny::draw_layer(x, 4, 4, rng); });
  const double expected[] = {kernel(0, 0), kernel(0, 1), tiny::excess_kurtosis(x, 4, 4)};
  for (int i = 0; i < 3; ++i) EXPECT_LE(std::abs(mean[i] - expected[i]), 4.9 * error[i]) << i;
}

}  // namespace
}  // namespace ladon::tiny_test
