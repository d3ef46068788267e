// Limits of activations against finite networks. With one hidden layer the expectations of the
// kernels equal the limits at any width, so narrow networks suffice.

#include "ladon/layers/activation.h"

#include <functional>
#include <string>

#include "ladon/tests/layers/infinite/monte_carlo.h"
#include "ladon/tests/support.h"

namespace ladon::dual_activation_test {
namespace {

using Make = std::function<std::unique_ptr<Layer>()>;

std::unique_ptr<Layer> network(const Make& activation, Generator& rng) {
  constexpr auto ntk = Parameterization::ntk;
  auto net = std::make_unique<Sequential>();
  net->append(Linear(
      {.in = 3, .out = 24, .parameterization = ntk, .weight_std = 0.9, .bias_std = 0.3}, rng));
  net->append(activation());
  net->append(Linear(
      {.in = 24, .out = 6, .parameterization = ntk, .weight_std = 1.1, .bias_std = 0.2}, rng));
  return net;
}

void expect_limit_of(const std::string& name, const Make& activation) {
  SCOPED_TRACE(name);
  Generator rng(3);
  const Tensor x = normal({2, 3}, rng, 0, 1, f64), y = normal({2, 3}, rng, 0, 1, f64);
  const auto make = [&](Generator& g) { return network(activation, g); };
  test::expect_limit(make, concat({x, y}, 0), y, {.options = {.draws = 400}});
}

TEST(ActivationLimit, OfEveryNonlinearity) {
  for (int i = 0; i < static_cast<int>(Nonlinearity::count); ++i) {
    const auto f = static_cast<Nonlinearity>(i);
    expect_limit_of(std::string(to_string(f)), [f] { return std::make_unique<Activation>(f); });
  }
}

TEST(ActivationLimit, WithParameters) {
  expect_limit_of("leaky_relu",
                  [] { return std::make_unique<Activation>(Nonlinearity::leaky_relu, 0.4); });
  expect_limit_of("rbf", [] { return std::make_unique<Activation>(Nonlinearity::rbf, 0.3); });
}

TEST(ActivationLimit, OfPolynomials) {
  expect_limit_of("square", [] { return std::make_unique<Polynomial>(Polynomial::monomial(2)); });
  expect_limit_of("hermite", [] { return std::make_unique<Polynomial>(Polynomial::hermite(3)); });
  expect_limit_of("sum", [] { return std::make_unique<Polynomial>(std::vector{1.0, -0.5, 0.3}); });
}

TEST(ActivationLimit, OfAnyFunction) {
  expect_limit_of("softsign", [] {
    return std::make_unique<Elementwise>([](const Tensor& x) { return x / (1 + abs(x)); });
  });
}

// With positions, every pair of them is a pair of vectors; the variances are the diagonals of the
// blocks of an input with itself.
TEST(ActivationLimit, OfPositionsIsThatOfVectors) {
  Generator rng(5);
  constexpr std::int64_t n = 2, m = 3, t = 4;
  const Tensor a = normal({n, t, 3}, rng, 0, 1, f64), b = normal({m, t, 3}, rng, 0, 1, f64);
  const auto net = network([] { return std::make_unique<Activation>(Nonlinearity::gelu); }, rng);
  const infinite::Kernel blocks = infinite::limit(*net)(a, b);
  const infinite::Kernel vectors =
      infinite::limit(*net)(reshape(a, {n * t, 3}), reshape(b, {m * t, 3}));
  const auto as_blocks = [](const Tensor& k) { return transpose(reshape(k, {n, t, m, t}), 1, 2); };
  EXPECT_TRUE(all_close(blocks.nngp, as_blocks(vectors.nngp), 1e-13, 0));
  EXPECT_TRUE(all_close(blocks.ntk, as_blocks(vectors.ntk), 1e-13, 0));
  EXPECT_TRUE(all_close(diagonal(blocks.cov1), reshape(vectors.cov1, {n, t}), 1e-13, 0));
}

// A vector and itself stand at the angle 0, to the last bit: acos would make 1e-8 of it.
TEST(ActivationLimit, OnTheDiagonalIsExact) {
  Generator rng(6);
  const Tensor x = normal({70, 50}, rng, 0, 1, f64);  // more than a unit of products
  constexpr auto ntk = Parameterization::ntk;
  const Linear linear({.in = 50, .out = 4, .parameterization = ntk, .weight_std = 1.4}, rng);
  const infinite::Kernel k = infinite::limit(linear)(infinite::input_kernel(x));
  const infinite::Kernel y = infinite::limit(Activation(Nonlinearity::relu))(k);
  EXPECT_TRUE(all_close(diagonal(k.nngp), k.cov1, 0, 0));
  EXPECT_TRUE(all_close(diagonal(y.nngp), 0.5 * k.cov1, 1e-15, 0));
  EXPECT_TRUE(all_close(diagonal(y.ntk), 0.5 * diagonal(k.ntk), 1e-15, 0));
}

// Each of these gave a kernel of 0, or one of a correlation that does not exist.
TEST(ActivationLimit, RefusesKernelsThatNoInputsHave) {
  Generator rng(7);
  for (const Tensor& x : {normal({4, 3}, rng, 0, 1, f64), normal({4, 2, 3}, rng, 0, 1, f64)}) {
    const Linear linear({.in = 3, .out = 4, .parameterization = Parameterization::ntk}, rng);
    const infinite::Kernel k = infinite::limit(linear)(infinite::input_kernel(x));
    const infinite::Limit by = infinite::limit(Activation(Nonlinearity::relu));
    EXPECT_NO_THROW(by(k));
    infinite::Kernel wrong = k;
    wrong.nngp = -k.nngp;
    wrong.cov1 = -k.cov1;
    wrong.cov2 = -k.cov2;
    test::expect_error([&] { by(wrong); }, "[limit] a variance is -");
    wrong = k;
    wrong.nngp = 1.001 * k.nngp;
    test::expect_error([&] { by(wrong); }, "cannot have the covariance");
    if (!k.has_positions()) continue;
    wrong = k;
    wrong.cov2 = k.cov2 + 100 * (1 - eye(2, f64));
    test::expect_error([&] { by(wrong); }, "cannot have the covariance");
  }
}

// Members of other shapes were read past their ends, or broadcast.
TEST(ActivationLimit, RefusesKernelsOfWrongShapesOrValues) {
  Generator rng(7);
  const infinite::Limit by = infinite::limit(Activation(Nonlinearity::relu));
  const Tensor mask = ones({4, 2}, boolean), x = normal({4, 2, 3}, rng, 0, 1, f64);
  const Linear linear({.in = 3, .out = 4, .parameterization = Parameterization::ntk}, rng);
  const infinite::Kernel k = infinite::limit(linear)(infinite::input_kernel({x, mask}));
  EXPECT_NO_THROW(by(k));
  const auto refused = [&](Tensor infinite::Kernel::*member, const Tensor& value,
                           const std::string& message) {
    infinite::Kernel wrong = k;
    wrong.*member = value;
    test::expect_error([&] { by(wrong); }, message);
  };
  refused(&infinite::Kernel::nngp, slice(k.nngp, 1, {.stop = 3}),
          "[limit] the NNGP kernel is f64 [4, 3, 2, 2], but for these inputs it must be f64 [4, 4");
  refused(&infinite::Kernel::nngp, cast(k.nngp, f32), "the NNGP kernel is f32 [4, 4, 2, 2]");
  refused(&infinite::Kernel::nngp, {}, "the kernel has no nngp");
  refused(&infinite::Kernel::ntk, k.ntk * NAN, "the tangent kernel is nan between inputs 0 and 0");
  refused(&infinite::Kernel::ntk, ones({4, 4}, f64), "the tangent kernel is f64 [4, 4]");
  refused(&infinite::Kernel::cov1, k.cov1 / 0, "[limit] the kernel of single inputs is");
  refused(&infinite::Kernel::cov2, scalar(1, f64), "must have an axis of inputs");
  refused(&infinite::Kernel::mask1, slice(mask, 0, {.stop = 3}), "mask1 is bool [3, 2]");
  refused(&infinite::Kernel::mask2, ones({4, 2}, f64), "mask2 is f64 [4, 2]; it must be bool");
  refused(&infinite::Kernel::mask2, {}, "of one block only");
  refused(&infinite::Kernel::same, ones({4, 3}, boolean), "same is bool [4, 3]");
  infinite::Kernel with_means = k;
  with_means.mean1 = with_means.mean2 = full({1, 2}, NAN, f64);
  test::expect_error([&] { by(with_means); }, "mean1 has an element of size nan");
}

TEST(ActivationLimit, OfTheIdentityIsItsInput) {
  const Tensor x = tensor({1, 2, 3, 4}, {2, 2}, f64);
  const infinite::Kernel k = infinite::input_kernel(x);
  const infinite::Kernel same = infinite::limit(Activation(Nonlinearity::identity))(k);
  EXPECT_TRUE(all_close(same.nngp, k.nngp, 0, 0));
  EXPECT_TRUE(all_close(same.ntk, k.ntk, 0, 0));
}

}  // namespace
}  // namespace ladon::dual_activation_test
