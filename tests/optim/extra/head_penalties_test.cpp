#include "ladon/optim/extra/penalties/head_penalties.h"

#include <cmath>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::head_penalties_test {
namespace {

using Penalty = Tensor (*)(const Tensor&, const Tensor&);
const Penalty penalties[] = {frobenius_penalty, disagreement_penalty, overlap_penalty};

// What stands at a masked position does not exist, for values and for gradients.
TEST(HeadPenalties, DoNotSeeWhatIsMasked) {
  const Tensor mask = tensor({1, 0, 1, 0, 0, 1}, {2, 3}, boolean);
  const Tensor gone = unsqueeze(unsqueeze(logical_not(mask), -1), 1);
  for (const DType dtype : {f32, f64})
    for (const Penalty penalty : penalties) {
      const Tensor x = cast(softmax(gaussian({2, 4, 3, 5})), dtype);
      const auto with = [&](double fill) {
        const Tensor leaf = masked_fill(x, gone, fill).set_requires_grad();
        const Tensor y = penalty(leaf, mask);
        return std::pair{y.detach(), grad({y}, {leaf})[0]};
      };
      const auto [value, gradient] = with(0);
      EXPECT_GT(norm(gradient).item(), 0);
      for (const double fill : std::vector<double>{NAN, HUGE_VAL, -HUGE_VAL, 1e30, -1e9}) {
        const auto [y, g] = with(fill);
        EXPECT_TRUE(all_close(y, value, 0, 0)) << fill;
        EXPECT_TRUE(all_close(g, gradient, 0, 0)) << fill;
      }
    }
}

// A cosine has no scale, nor have its gradients, but for 1/scale.
TEST(DisagreementPenalty, IsTheSameAtAnyScale) {
  for (const DType dtype : {f32, f64}) {
    const Tensor x = cast(gaussian({2, 3, 2, 5}), dtype);
    const auto at = [&](double scale) {
      const Tensor leaf = (x * scale).set_requires_grad(), y = disagreement_penalty(leaf);
      return std::pair{y.item(), cast(grad({y}, {leaf})[0], f64) * scale};
    };
    const auto [value, gradient] = at(1);
    const double room = dtype == f32 ? 1e-6 : 1e-14;
    for (const double scale : {1e-30, 1e-13, 1e20, 1e30, 1e-170, 1e-290, 1e170, 1e290}) {
      if (dtype == f32 && (scale < 1e-35 || scale > 1e35)) continue;
      const auto [y, g] = at(scale);
      EXPECT_NEAR(y, value, room) << scale;
      EXPECT_TRUE(all_close(g, gradient, 1e3 * room, room)) << scale;
    }
  }
}

// Three hops over three words, one query. AAᵀ has squared norms 1, 1, .5 on the diagonal and
// products 1, .5 and .5 beside it: ‖AAᵀ − I‖² = (.5)² + 2(1 + .25 + .25).
TEST(FrobeniusPenalty, IsThatOfLin) {
  const Tensor maps = tensor({1, 0, 0, 1, 0, 0, 0.5, 0.5, 0}, {1, 3, 1, 3}, f64);
  EXPECT_NEAR(frobenius_penalty(maps).item(), 0.25 + 3, 1e-15);
  const Tensor apart = reshape(eye(3, f64), {1, 3, 1, 3});
  EXPECT_EQ(frobenius_penalty(apart).item(), 0);
  EXPECT_NEAR(frobenius_penalty(concat({maps, apart}, 0)).item(), 3.25 / 2, 1e-15);
  EXPECT_NEAR(frobenius_penalty(concat({maps, apart}, 2)).item(), 3.25 / 2, 1e-15);
}

// Cosines .6, 0 and .8 at the first position; 1 thrice at the second.
TEST(DisagreementPenalty, IsTheMeanCosineOfPairs) {
  const Tensor x = tensor({1, 0, 0, 1, 1, 1,  //
                           3, 4, 0, 2, 2, 2,  //
                           0, 9, 0, 5, 5, 5},
                          {1, 3, 2, 3}, f64);
  const double expected = (1.4 / 3 + 1) / 2;
  EXPECT_NEAR(disagreement_penalty(x).item(), expected, 1e-15);
  EXPECT_NEAR(disagreement_penalty(x, tensor({1, 0}, {1, 2}, boolean)).item(), 1.4 / 3, 1e-15);
  EXPECT_NEAR(disagreement_penalty(cast(x, f32)).item(), expected, 1e-6);
  // Li et al. average over all pairs: −1/H² Σ_h Σ_g cos.
  double all = 0;
  const Tensor rows = permute(x, {0, 2, 1, 3});
  const Tensor unit = rows / norm(rows, -1, keep_dims);
  all = mean(matmul(unit, transpose(unit))).item();
  EXPECT_NEAR(-all, -(2 * expected + 1) / 3, 1e-15);
  // Two opposite heads, and a third that is zero.
  const Tensor opposite = tensor({1, 2, -2, -4, 0, 0}, {1, 3, 1, 2}, f64);
  EXPECT_NEAR(disagreement_penalty(opposite).item(), -1.0 / 3, 1e-15);
}

// Of attention maps it is the redundancy that diagnostics.h prints, but live.
TEST(DisagreementPenalty, OfMapsIsTheirRedundancy) {
  const Tensor maps = softmax(gaussian({2, 4, 3, 5}));
  EXPECT_NEAR(disagreement_penalty(maps).item(), map_redundancy(maps), 1e-14);
  const Tensor mask = tensor({1, 1, 0, 0, 1, 0}, {2, 3}, boolean);
  EXPECT_NEAR(disagreement_penalty(maps, mask).item(), map_redundancy(maps, mask), 1e-14);
}

TEST(OverlapPenalty, IsTheAttentionToCommonKeys) {
  const Tensor maps = tensor({1, 0, 0, 1, 0, 0, 0.5, 0.5, 0}, {1, 3, 1, 3}, f64);
  EXPECT_NEAR(overlap_penalty(maps).item(), (1 + 0.5 + 0.5) / 3, 1e-15);
  EXPECT_EQ(overlap_penalty(reshape(eye(3, f64), {1, 3, 1, 3})).item(), 0);
}

// An error of published code: penalties of detached values, without a gradient.
TEST(HeadPenalties, HaveTrueGradients) {
  const Tensor mask = tensor({1, 0, 1, 1, 1, 0}, {2, 3}, boolean);
  for (const Penalty penalty : penalties)
    for (const Tensor& m : {Tensor(), mask}) {
      const Tensor x = leaf(gaussian({2, 3, 3, 4}));
      const auto f = [&](const std::vector<Tensor>& in) { return penalty(in[0], m); };
      EXPECT_TRUE(gradcheck(f, {x}));
      EXPECT_TRUE(gradgradcheck(f, {x}));
      backward(penalty(x, m));
      EXPECT_GT(norm(x.grad()).item(), 0.01);
      const double left_out = amax(abs(at(x.grad(), {0, all_of, 1}))).item();
      EXPECT_EQ(left_out == 0, m.defined()) << left_out;
    }
}

// Through a layer: descent on the penalty makes heads differ that began nearly equal.
TEST(HeadPenalties, MakeTheHeadsOfALayerDiffer) {
  for (const Penalty penalty : penalties) {
    Generator rng(1);
    MultiHeadAttention layer({.dim = 4, .heads = 3, .head_dim = 4}, rng);
    layer.to(f64);
    for (const Tensor& x : {layer.query, layer.key, layer.value})
      for (int h = 1; h < 3; ++h)
        copy_(select(x.detach(), 0, h),
              select(x.detach(), 0, 0) + normal({4, 4}, rng, 0, 0.05, f64));
    const Tensor x = gaussian({2, 4, 4});
    const auto value = [&] {
      const auto details = layer.forward_with_weights(x, x, x);
      return penalty(penalty == disagreement_penalty ? details.contexts : details.weights, {});
    };
    Sgd sgd(layer.parameters(), {.lr = 0.3});
    const double before = value().item();
    for (int t = 0; t < 300; ++t) {
      sgd.zero_grad();
      backward(value());
      sgd.step();
    }
    EXPECT_LT(value().item(), 0.8 * before) << before;
  }
}

TEST(HeadPenalties, BearWhatIsDegenerate) {
  const Tensor none = zeros({1, 2}, boolean);
  for (const Penalty penalty : penalties) {
    const Tensor x = leaf(concat({zeros({1, 1, 2, 3}), ones({1, 1, 2, 3})}, 1));
    backward(penalty(x, {}));
    EXPECT_TRUE(all(isfinite(x.grad())).item<bool>());
    EXPECT_LT(amax(abs(x.grad())).item(), 100);
    EXPECT_EQ(penalty(x, none).item(), 0);
    EXPECT_EQ(penalty(zeros({0, 2, 2, 3}), {}).item(), 0);
  }
  EXPECT_EQ(disagreement_penalty(ones({2, 1, 3, 4})).item(), 0);  // one head
  EXPECT_EQ(overlap_penalty(ones({2, 1, 3, 4})).item(), 0);
}

TEST(HeadPenalties, RefuseOtherShapes) {
  for (const Penalty penalty : penalties) {
    expect_error([&] { penalty(ones({2, 3, 3}), {}); }, "got f32 [2, 3, 3]");
    expect_error([&] { penalty({}, {}); }, "needs floating [B, H, T, d]");
    expect_error([&] { penalty(ones({1, 0, 3, 3}), {}); }, "H > 0");
    expect_error(
        [&] {
          penalty(ones({1, 2, 3, 3}), ones({1, 2}, boolean));
        },
        "must be bool [1, 3]");
    expect_error([&] { penalty(ones({1, 2, 3, 3}), ones({1, 3})); }, "got f32 [1, 3]");
  }
}

}  // namespace
}  // namespace ladon::test::head_penalties_test
