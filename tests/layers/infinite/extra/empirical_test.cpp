#include "ladon/tests/layers/infinite/empirical.h"

#include <cmath>

#include "ladon/core/machine/parallel.h"
#include "ladon/layers/infinite/finite/monte_carlo.h"
#include "ladon/layers/layers.h"
#include "ladon/layers/parameter_uses.h"
#include "ladon/tests/support.h"

namespace ladon::empirical_test {
namespace {

using infinite::empirical_kernel;
using infinite::NtkMethod;
using test::gaussian;

constexpr auto ntk = Parameterization::ntk;

Linear dense(std::int64_t in, std::int64_t out, Generator& rng,
             Parameterization how = Parameterization::ntk) {
  return Linear({.in = in,
                 .out = out,
                 .parameterization = how,
                 .weight_std = how == ntk ? 1.3 : 1,
                 .bias_std = how == ntk ? 0.4 : 0},
                rng);
}

TEST(EmpiricalKernel, LayerwiseIsTheContractionOfJacobians) {
  Generator rng(5);
  Sequential vectors(dense(3, 7, rng), Activation(Nonlinearity::gelu),
                     dense(7, 4, rng, Parameterization::standard));
  test::expect_layerwise(vectors, gaussian({3, 3}, 1), gaussian({2, 3}, 2));
  // Five positions of two channels: the gradient of the first weight is the cheaper thing to form.
  Sequential tokens(dense(2, 3, rng), Activation(Nonlinearity::tanh), dense(3, 3, rng));
  test::expect_layerwise(tokens, gaussian({3, 5, 2}, 1), gaussian({2, 5, 2}, 2));
  Sequential images(dense(1, 16, rng), Activation(Nonlinearity::relu), dense(16, 2, rng));
  test::expect_layerwise(images, gaussian({2, 2, 3, 1}, 1), gaussian({1, 2, 3, 1}, 2));
}

TEST(EmpiricalKernel, OfRecurrentLayersIsTheContractionOfJacobians) {
  Generator rng(15);
  const RecurrentOptions both{.in = 2, .hidden = 3, .layers = 2, .bidirectional = true};
  const Tensor a = gaussian({3, 4, 2}, 1), b = gaussian({2, 4, 2}, 2);
  const Tensor tokens = cast(tril(ones({3, 4}), 1), boolean);
  for (const RecurrentCell cell : {RecurrentCell::lstm, RecurrentCell::gru, RecurrentCell::tanh}) {
    Recurrent layer(cell, both, rng);
    test::expect_layerwise(layer, {a, tokens}, b);
  }
  Recurrent without(RecurrentCell::gru, {.in = 2, .hidden = 3, .bias = false}, rng);
  test::expect_layerwise(without, a, b);
  StructuredAttention hops({.dim = 2, .hidden = 5, .hops = 3}, rng);
  test::expect_layerwise(hops, {a, tokens}, b);
}

TEST(EmpiricalKernel, OfABlockWithItselfIsTheBlockTwice) {
  Generator rng(5);
  Sequential net(dense(3, 7, rng), Activation(Nonlinearity::gelu), dense(7, 4, rng));
  const Tensor x = gaussian({3, 3}, 1);
  const auto once = empirical_kernel(net, x), twice = empirical_kernel(net, x, clone(x));
  EXPECT_TRUE(all_equal(once.ntk, twice.ntk));
  EXPECT_TRUE(all_equal(once.nngp, twice.nngp));
  EXPECT_TRUE(all_equal(empirical_kernel(net, x, x).ntk, once.ntk));
}

TEST(EmpiricalKernel, OfNoInputsIsEmpty) {
  Generator rng(6);
  Sequential net(Linear({.in = 3, .out = 4}, rng), Linear({.in = 4, .out = 2}, rng));
  const Tensor none = zeros({0, 3}), some = ones({2, 3});
  EXPECT_EQ(infinite::empirical_kernel(net, none, some).ntk.shape(), (Shape{0, 2}));
  EXPECT_EQ(infinite::empirical_kernel(net, some, none, {.full = true}).ntk.shape(),
            (Shape{2, 0, 2, 2}));
  EXPECT_EQ(infinite::empirical_gram(net, none, 5).ntk.shape(), (Shape{0, 0}));
}

TEST(EmpiricalGram, IsTheKernelInTiles) {
  Generator rng(6);
  Sequential net(Conv1d({.in = 3, .out = 4, .window = {2}, .padding = Padding::same}, rng),
                 Activation(Nonlinearity::gelu), Linear({.in = 4, .out = 2}, rng));
  net.to(f64);
  const infinite::Inputs a = normal({5, 3, 3}, rng, 0, 1, f64),
                         b = normal({4, 3, 3}, rng, 0, 1, f64);
  for (const bool full : {false, true}) {
    const infinite::EmpiricalOptions options{.full = full};
    const auto whole = infinite::empirical_kernel(net, a, b, options),
               own = infinite::empirical_kernel(net, a, options);
    for (const std::int64_t tile : {1, 2, 10}) {
      const auto k = infinite::empirical_gram(net, a, b, tile, options);
      EXPECT_TRUE(all_close(k.nngp, whole.nngp, 1e-13, 1e-13));
      EXPECT_TRUE(all_close(k.ntk, whole.ntk, 1e-13, 1e-13));
      EXPECT_TRUE(all_close(k.outputs, whole.outputs, 1e-13, 1e-13));
      const auto symmetric = infinite::empirical_gram(net, a, tile, options);
      EXPECT_TRUE(all_close(symmetric.nngp, own.nngp, 1e-13, 1e-13));
      EXPECT_TRUE(all_close(symmetric.ntk, own.ntk, 1e-13, 1e-13));
      EXPECT_TRUE(all_close(symmetric.outputs, own.outputs, 1e-13, 1e-13));
    }
  }
  test::expect_error([&] { infinite::empirical_gram(net, a, 0); }, "at least 1");
}

TEST(EmpiricalKernel, AllChannelsAverageToTheMean) {
  Generator rng(5);
  Sequential net(dense(3, 7, rng), Activation(Nonlinearity::gelu), dense(7, 4, rng));
  net.to(f64);
  const Tensor x = gaussian({3, 3}, 1), y = gaussian({2, 3}, 2);
  const Tensor full = empirical_kernel(net, x, y, {.full = true}).ntk;
  ASSERT_EQ(full.shape(), (Shape{3, 2, 4, 4}));
  EXPECT_TRUE(all_close(mean(diagonal(full), -1), empirical_kernel(net, x, y).ntk, 1e-12, 0));
  // Channel o of x and o' of x' change places with the blocks.
  const Tensor swapped = empirical_kernel(net, y, x, {.full = true}).ntk;
  EXPECT_TRUE(all_close(permute(swapped, {1, 0, 3, 2}), full, 1e-12, 1e-12));
}

TEST(EmpiricalKernel, OutputsWithoutPositionsAreAnError) {
  Generator rng(1);
  Linear network = dense(3, 2, rng);
  test::expect_error([&] { empirical_kernel(network, zeros({2, 0, 3})); }, "no positions");
  test::expect_error(
      [&] {
        empirical_kernel(network, zeros({2, 0, 3}), zeros({1, 0, 3}));
      },
      "no positions");
}

TEST(EmpiricalKernel, NngpIsTheProductOfOutputs) {
  Generator rng(5);
  Sequential net(dense(3, 7, rng), dense(7, 4, rng));
  net.to(f64);
  const Tensor x = gaussian({3, 2, 3}, 1);
  const auto k = empirical_kernel(net, x, {.get = infinite::Get::nngp});
  EXPECT_FALSE(k.ntk.defined());
  const Tensor f = net(x).detach();
  EXPECT_TRUE(all_equal(k.outputs, f));
  EXPECT_TRUE(all_close(k.nngp, einsum("nso,mro->nmsr", {f, f}) / 4.0, 1e-12, 1e-14));
}

TEST(EmpiricalKernel, SinglePrecisionNetworksKeepSevenDigits) {
  Generator rng(5);
  Sequential net(dense(64, 512, rng), Activation(Nonlinearity::gelu), dense(512, 3, rng));
  const Tensor x = gaussian({3, 64}, 1);
  const Tensor single = empirical_kernel(net, x).ntk;
  EXPECT_EQ(single.dtype(), f64);
  net.to(f64);
  EXPECT_TRUE(all_close(single, empirical_kernel(net, x).ntk, 2e-6, 1e-5));
}

/// y = x + table, which it does or does not report.
struct Shift : Layer {
  Tensor table;
  bool reports;

  Shift(std::int64_t width, bool report) : table(parameter(ones({width}, f64))), reports(report) {}
  Tensor forward(const Tensor& x) const override {
    const Tensor y = x + table;
    if (reports) ParameterUses::report(y, [](const Tensor& delta) { return delta; });
    return y;
  }
  void visit(Visitor& v) override { v("table", table); }
  std::string describe() const override { return "Shift"; }
};

/// The same weight twice.
struct Twice : Layer {
  Linear map;
  explicit Twice(Linear m) : map(std::move(m)) {}
  Tensor forward(const Tensor& x) const override { return map(map(x)); }
  void visit(Visitor& v) override { v("map", map); }
  std::string describe() const override { return "Twice"; }
};

TEST(EmpiricalKernel, TensorsThatNoLayerReportsAreFound) {
  Generator rng(5);
  const Tensor x = gaussian({3, 4}, 1);
  Sequential reports(dense(4, 5, rng), Shift(5, true), dense(5, 2, rng));
  test::expect_layerwise(reports, x, gaussian({2, 4}, 2));
  Sequential silent(dense(4, 5, rng), Shift(5, false), dense(5, 2, rng));
  test::expect_error([&] { empirical_kernel(silent, x); }, "no layer reports");
  test::expect_error([&] { empirical_kernel(silent, x, gaussian({2, 4}, 2)); }, "no layer reports");
  EXPECT_NO_THROW(empirical_kernel(silent, x, {.method = NtkMethod::jacobian}));
  Shift nothing(4, false);
  test::expect_error([&] { empirical_kernel(nothing, x); }, "reports");
  Twice shared(dense(4, 4, rng));
  test::expect_error([&] { empirical_kernel(shared, x); }, "two layers share");
}

TEST(MonteCarlo, IsTheSameAtAnyNumberOfThreads) {
  const auto make = [](Generator& rng) -> std::unique_ptr<Layer> {
    return std::make_unique<Sequential>(dense(3, 8, rng), Activation(Nonlinearity::relu),
                                        dense(8, 2, rng));
  };
  const Tensor x = gaussian({3, 3}, 1);
  const auto with_threads = [&](int n) {
    const int before = num_threads();
    set_num_threads(n);
    Generator rng(9);
    const auto k = infinite::monte_carlo_kernel(make, x, x, {.draws = 70}, rng);
    set_num_threads(before);
    return k;
  };
  const auto one = with_threads(1), three = with_threads(3);
  EXPECT_TRUE(all_equal(one.ntk, three.ntk));
  EXPECT_TRUE(all_equal(one.ntk_se, three.ntk_se));
  EXPECT_TRUE(all_equal(one.nngp, three.nngp));
  // The moments are those of the list of kernels.
  Generator rng(9);
  std::vector<Tensor> all;
  for (const auto& k : infinite::sample_kernels(make, x, x, {.draws = 70}, rng))
    all.push_back(k.ntk);
  EXPECT_TRUE(all_close(mean(stack(all), 0), one.ntk, 1e-12, 1e-14));
  EXPECT_TRUE(all_close(stddev(stack(all), 0) / std::sqrt(70), one.ntk_se, 1e-10, 1e-14));
}

}  // namespace
}  // namespace ladon::empirical_test
