// Forward mode for compositions of operations; the table of operations covers single operations.

#include "ladon/autograd/extra/transforms/forward.h"

#include <cmath>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/storage.h"
#include "ladon/tests/support.h"

namespace ladon::test::forward_test {
namespace {

Tensor random(const Shape& shape, std::uint64_t seed) {
  Generator rng(seed);
  return normal(shape, rng, 0, 1, f64);
}

/// A residual block with attention in it: x [T, d], weight [d, d].
Tensor block(const std::vector<Tensor>& in) {
  const Tensor h = layer_norm(linear(in[0], in[1]), {}, {});
  const Tensor heads = unsqueeze(h, 0);
  return in[0] + gelu(squeeze(scaled_dot_product_attention(heads, heads, heads), 0));
}

TEST(ForwardMode, AgreesWithReverseMode) {
  const Tensor x = random({5, 4}, 1), w = random({4, 4}, 2), c = random({5, 4}, 5);
  const Tensor t = random({5, 4}, 3), u = random({4, 4}, 4);
  const VjpResult reverse = vjp(block, {x, w}, c);
  const JvpResult forward = jvp(block, {x, w}, {t, u});
  EXPECT_TRUE(all_close(forward.output, reverse.output, 0, 0));
  EXPECT_NEAR(sum(forward.tangent * c).item(),
              sum(reverse.gradients[0] * t).item() + sum(reverse.gradients[1] * u).item(), 1e-12);
}

TEST(ForwardMode, CarriesTangentsByHand) {
  const Tensor x = random({3}, 1), t = random({3}, 2);
  const UnpackedDual y = unpack_dual(exp(2 * make_dual(x, t)));
  EXPECT_TRUE(all_close(y.primal, exp(2 * x)));
  EXPECT_TRUE(all_close(y.tangent, 2 * t * exp(2 * x)));
  EXPECT_FALSE(unpack_dual(exp(x)).tangent.defined());
  EXPECT_FALSE(unpack_dual(exp(make_dual(x, t).detach())).tangent.defined());
}

TEST(ForwardMode, OfAnUnusedInputIsZero) {
  const JvpResult r =
      jvp([](const auto&) { return ones({2}, f64); }, {random({3}, 1)}, {random({3}, 2)});
  EXPECT_EQ(r.tangent.to_vector(), (std::vector<double>{0, 0}));
}

TEST(ForwardMode, OfOtherDtypesAndShapes) {
  const Tensor x = random({3}, 1), y = cast(random({2, 1}, 2), f32);
  const auto f = [](const auto& in) { return in[0] * in[1]; };  // f64 [3] · f32 [2, 1] → f64 [2, 3]
  const JvpResult r = jvp(f, {x, y}, {ones({3}, f64), zeros({2, 1})});
  EXPECT_EQ(r.tangent.dtype(), f64);
  EXPECT_TRUE(all_close(r.tangent, expand(cast(y, f64), {2, 3})));
}

TEST(ForwardMode, KeepsNothingOfTheInside) {
  const Tensor x = random({1000}, 1), t = random({1000}, 2);
  const auto deep = [](int depth) {
    return [depth](const std::vector<Tensor>& in) {
      Tensor y = in[0];
      for (int i = 0; i < depth; ++i) y = tanh(y);
      return y;
    };
  };
  const auto peak = [&](int depth) {
    Storage::reset_peak();
    const std::size_t before = Storage::bytes_in_use();
    jvp(deep(depth), {x}, {t});
    return Storage::peak_bytes() - before;
  };
  peak(4);
  EXPECT_EQ(peak(200), peak(4));
}

// Also of operations whose rules read the output, which here is a dual number that is recorded.
TEST(ForwardMode, LeavesNoKnots) {
  const std::size_t before = Storage::bytes_in_use();
  {
    const Tensor x = random({100}, 1).set_requires_grad();
    const auto f = [](const auto& in) { return softmax(exp(tanh(in[0])), 0); };
    const JvpResult r = jvp(f, {x}, {random({100}, 2)});
    backward(sum(r.tangent * random({100}, 3)));
  }
  EXPECT_EQ(Storage::bytes_in_use(), before);
}

TEST(ForwardMode, GivesThirdDerivatives) {
  // x⁴: reverse over (forward over reverse) is 24x.
  const Tensor x = random({4}, 1).set_requires_grad();
  const auto slope = [](const std::vector<Tensor>& in) {
    return grad(sum(square(square(in[0]))), in[0], {.create_graph = true});
  };
  const Tensor second = jvp(slope, {x}, {ones({4}, f64)}).tangent;
  EXPECT_TRUE(all_close(second, 12 * square(x.detach())));
  EXPECT_TRUE(all_close(grad(sum(second), x), 24 * x.detach()));
}

// The rules of exp and softmax read their outputs, whose tangents are then found again.
TEST(ForwardMode, GivesThirdDerivativesThroughOutputs) {
  const Tensor x = random({4}, 1).set_requires_grad();
  const auto slope = [](const std::vector<Tensor>& in) {
    return grad(sum(exp(2 * in[0])), in[0], {.create_graph = true});
  };
  const Tensor second = jvp(slope, {x}, {ones({4}, f64)}).tangent;
  EXPECT_TRUE(all_close(second, 4 * exp(2 * x.detach())));
  EXPECT_TRUE(all_close(grad(sum(second), x), 8 * exp(2 * x.detach())));
}

TEST(ForwardMode, GoesThroughCheckpointsAndCustomFunctions) {
  const Tensor x = random({4}, 1), t = random({4}, 2), w = random({4}, 3).set_requires_grad();
  const auto f = [&](const std::vector<Tensor>& in) { return sin(in[0]) * w; };
  const auto kept = [&](const std::vector<Tensor>& in) { return checkpoint(f, in); };
  EXPECT_TRUE(all_close(jvp(kept, {x}, {t}).tangent, t * cos(x) * w.detach()));
  const Tensor dual_w = make_dual(w, t);
  const auto by_weight = [&](const std::vector<Tensor>& in) { return sin(in[0]) * dual_w; };
  EXPECT_TRUE(all_close(unpack_dual(checkpoint(by_weight, {x})).tangent, sin(x) * t));
  const auto constant = [](const std::vector<Tensor>& in) {  // of the outer tangent
    const auto square_of = [](const auto& at) { return square(at[0]); };
    return jvp(square_of, {in[0].detach()}, {ones_like(in[0])}).tangent;
  };
  const auto held = [&](const std::vector<Tensor>& in) { return checkpoint(constant, in); };
  EXPECT_TRUE(all_equal(jvp(held, {x}, {t}).tangent, zeros_like(x)));

  const CustomFunction cube{"cube", [](const auto& in) { return in[0] * in[0] * in[0]; },
                            [](const Tensor& g, const auto& in, const Tensor&) {
                              return std::vector{g * 3 * square(in[0])};
                            }};
  const auto custom = [&](const std::vector<Tensor>& in) { return cube(in); };
  EXPECT_TRUE(all_close(jvp(custom, {x}, {t}).tangent, 3 * t * square(x)));
}

TEST(ForwardMode, RefusesAGradientThatItCannotTranspose) {
  const CustomFunction doubled{
      "doubled", [](const auto& in) { return 2 * in[0]; },
      [](const Tensor& g, const auto&, const Tensor&) { return std::vector{2 * g.detach()}; }};
  const auto f = [&](const std::vector<Tensor>& in) { return doubled(in); };
  expect_error([&] { jvp(f, {ones({2})}, {ones({2})}); },
               "the gradient of `doubled` uses kernels directly");
}

TEST(ForwardMode, Nests) {
  // x⁴ along ones, three times: 24x.
  const Tensor x = random({3}, 1), one = ones({3}, f64);
  const auto along = [&](const TensorFunction& f) -> TensorFunction {
    return [f, one](const std::vector<Tensor>& in) { return jvp(f, in, {one}).tangent; };
  };
  const TensorFunction fourth = [](const std::vector<Tensor>& in) { return square(square(in[0])); };
  EXPECT_TRUE(all_close(along(along(fourth))({x}), 12 * square(x)));
  EXPECT_TRUE(all_close(along(along(along(fourth)))({x}), 24 * x));
  const TensorFunction wave = [](const std::vector<Tensor>& in) { return softmax(sin(in[0])); };
  const double h = 1e-4;
  const TensorFunction slope = along(wave);
  const Tensor difference = (slope({x + h}) - slope({x - h})) / (2 * h);
  EXPECT_TRUE(all_close(along(slope)({x}), difference, 1e-6, 1e-7));
}

// d/dx of x·(d/dy of x + y) is 1, and 2 where the two derivatives are taken for one.
TEST(ForwardMode, KeepsTheTangentsOfNestedCallsApart) {
  const Tensor x = scalar(3, f64), one = scalar(1, f64);
  const auto f = [&](const std::vector<Tensor>& outer) {
    const auto sum_with = [&](const std::vector<Tensor>& in) { return outer[0] + in[0]; };
    return outer[0] * jvp(sum_with, {one}, {one}).tangent;
  };
  EXPECT_EQ(jvp(f, {x}, {one}).tangent.item(), 1);
  const auto g = [&](const std::vector<Tensor>& outer) {  // x·(d/dy of x·y²) at y = x: 2x³
    const auto product = [&](const std::vector<Tensor>& in) { return outer[0] * square(in[0]); };
    return outer[0] * jvp(product, {outer[0]}, {one}).tangent;
  };
  EXPECT_EQ(jvp(g, {x}, {one}).tangent.item(), 6 * 9);
}

TEST(ForwardMode, NestsAroundGradientsAndDualNumbersByHand) {
  const Tensor x = random({3}, 1), t = random({3}, 2), u = random({3}, 3);
  const auto cube = [](const Tensor& y) { return y * y * y; };
  const auto hessian_along_t = [&](const std::vector<Tensor>& in) {
    const auto gradient = [&](const std::vector<Tensor>& at) {
      return vjp([&](const auto& leaf) { return sum(cube(leaf[0]) * in[0]); }, at, scalar(1, f64))
          .gradients[0];  // 3·y²·x
    };
    return jvp(gradient, in, {t}).tangent;  // 6·y·x·t at y = x
  };
  EXPECT_TRUE(all_close(jvp(hessian_along_t, {x}, {u}).tangent, 12 * x * t * u));

  // Each call has its own level of make_dual, and leaves that of outside alone.
  const Tensor dual = make_dual(x, u);
  const auto by_hand = [&](const std::vector<Tensor>& in) {
    return unpack_dual(cube(make_dual(in[0], t))).tangent;  // 3·x²·t
  };
  EXPECT_TRUE(all_close(jvp(by_hand, {x}, {u}).tangent, 6 * x * t * u));
  const UnpackedDual outer = unpack_dual(by_hand({x}));
  EXPECT_FALSE(outer.tangent.defined());
  const auto squared = [](const std::vector<Tensor>& in) { return square(in[0]); };
  const UnpackedDual inside = unpack_dual(jvp(squared, {dual}, {t}).tangent);
  EXPECT_TRUE(all_close(inside.primal, 2 * x * t));
  EXPECT_TRUE(all_close(inside.tangent, 2 * u * t));
}

// A tensor that requires gradients keeps the graph of a call that has ended, whose tangents are of
// no more use.
TEST(ForwardMode, LeavesNoTangentsBehind) {
  const Tensor w = random({3}, 1).set_requires_grad(), t = random({3}, 2);
  const auto f = [](const std::vector<Tensor>& in) { return exp(square(in[0])); };
  const Tensor gradient = grad(sum(jvp(f, {w}, {t}).tangent), w);
  EXPECT_FALSE(unpack_dual(gradient).tangent.defined());
  const auto scaled = [&](const std::vector<Tensor>& in) { return gradient * in[0]; };
  EXPECT_TRUE(all_equal(jvp(scaled, {ones({3}, f64)}, {t}).tangent, gradient * t));
}

TEST(ForwardMode, RefusesASecondTangentOfOneLevel) {
  const Tensor x = random({2}, 1), dual = make_dual(x, x);
  expect_error([&] { make_dual(dual, x); }, "is a dual number already");
}

TEST(ForwardMode, RefusesWhatIsNoTangent) {
  const Tensor x = random({2}, 1);
  expect_error([&] { make_dual(x, ones({3}, f64)); }, "the tangent is f64 of shape [3]");
  expect_error([&] { make_dual(x, ones({2})); }, "the tangent is f32");
  expect_error([&] { make_dual(ones({2}, i64), ones({2}, i64)); }, "floating");
  expect_error([&] { make_dual(x, Tensor()); }, "undefined");
  Tensor dual = make_dual(x, x);
  expect_error([&] { fill_(dual, 1); }, "fill_");
}

TEST(ForwardMode, PassesNoGradAndStopsAtBackward) {
  const Tensor x = random({3}, 1), t = random({3}, 2);
  const NoGrad off;
  EXPECT_TRUE(all_close(unpack_dual(square(make_dual(x, t))).tangent, 2 * x * t));
  const EnableGrad on;
  const Tensor leaf = make_dual(x.detach().set_requires_grad(), t);
  backward(sum(square(leaf)));
  EXPECT_FALSE(unpack_dual(leaf.grad()).tangent.defined());
}

}  // namespace
}  // namespace ladon::test::forward_test
