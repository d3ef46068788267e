#include "ladon/optim/particles/diagnostics.h"

#include <cmath>

#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/optim/particles/rows.h"
#include "ladon/tests/optim/helpers.h"

namespace ladon::test::diagnostics_test {
namespace {

TEST(Diagnostics, DistancesAndCosinesOfPairs) {
  const Tensor x = tensor({3, 4, 0, 0, -4, 3}, {3, 2});
  const PairSpread d = pairwise_distance(x);
  EXPECT_NEAR(d.mean, (5 + std::sqrt(50) + 5) / 3, 1e-14);
  EXPECT_EQ(d.min, 5);
  EXPECT_NEAR(d.max, std::sqrt(50), 1e-14);
  const PairSpread c = pairwise_cosine(tensor({1, 0, 2, 0, -1, 1}, {3, 2}));
  EXPECT_NEAR(c.mean, (1 - 2 * std::sqrt(0.5)) / 3, 1e-15);
  EXPECT_NEAR(c.min, -std::sqrt(0.5), 1e-15);
  EXPECT_EQ(c.max, 1);
  EXPECT_EQ(pairwise_cosine(x).mean, 0);  // a zero row and a right angle
}

TEST(Diagnostics, DoNotDependOnTheScale) {
  const Tensor x = gaussian({5, 7}, 1);
  const PairSpread cosine = pairwise_cosine(x), distance = pairwise_distance(x);
  const auto norms = rows::norms(x);
  for (const int exponent : {-1000, -565, -450, 300, 450, 530, 1000}) {
    SCOPED_TRACE(exponent);
    const Tensor y = x * std::ldexp(1, exponent / 2) * std::ldexp(1, exponent - exponent / 2);
    const PairSpread c = pairwise_cosine(y), d = pairwise_distance(y);
    EXPECT_EQ(c.mean, cosine.mean);
    EXPECT_EQ(c.min, cosine.min);
    EXPECT_EQ(d.max, std::ldexp(distance.max, exponent));
    EXPECT_EQ(d.min, std::ldexp(distance.min, exponent));
    EXPECT_NEAR(rows::norms(y)[3] / std::ldexp(norms[3], exponent), 1, 1e-15);
  }
  Tensor mixed = clone(x);  // each row on a scale of its own
  mul_(select(mixed, 0, 1), 1e-170);
  mul_(select(mixed, 0, 2), 1e160);
  EXPECT_NEAR(pairwise_cosine(mixed).mean, cosine.mean, 1e-15);
}

// Cosines, of weights and of maps, and their gradients but for 1/scale.
TEST(Diagnostics, CosinesHaveNoScale) {
  for (const DType dtype : {f32, f64}) {
    const Tensor x = cast(gaussian({4, 6}), dtype), maps = cast(gaussian({1, 3, 2, 5}), dtype);
    const auto at = [&](double scale) {
      const Tensor leaf = (x * scale).set_requires_grad(), y = cosine_penalty(leaf);
      return std::pair{y.item(), cast(grad({y}, {leaf})[0], f64) * scale};
    };
    const auto [value, gradient] = at(1);
    const double room = dtype == f32 ? 1e-6 : 1e-14, redundancy = map_redundancy(maps);
    for (const double scale :
         {1e-12, 1e20, 1e-30, 1e30, 1e-85, 1e-170, 1e-200, 1e-290, 1e85, 1e170, 1e290}) {
      if (dtype == f32 && (scale < 1e-35 || scale > 1e35)) continue;
      const auto [y, g] = at(scale);
      EXPECT_NEAR(y, value, room) << scale;
      EXPECT_TRUE(all_close(g, gradient, 1e3 * room, room)) << scale;
      EXPECT_NEAR(map_redundancy(maps * scale), redundancy, room) << scale;
    }
  }
}

TEST(Diagnostics, OneRowHasNoPair) {
  EXPECT_TRUE(std::isnan(pairwise_distance(ones({1, 3})).mean));
  EXPECT_TRUE(std::isnan(pairwise_cosine(ones({1, 3})).max));
}

TEST(MapRedundancy, IsOneForEqualAndZeroForDisjointHeads) {
  const Tensor same = tensor({0.25, 0.75, 1, 0, 0.25, 0.75, 1, 0}, {1, 2, 2, 2});
  EXPECT_NEAR(map_redundancy(same), 1, 1e-15);
  const Tensor disjoint = tensor({1, 0, 1, 0, 0, 1, 0, 1}, {1, 2, 2, 2});
  EXPECT_EQ(map_redundancy(disjoint), 0);
  EXPECT_TRUE(std::isnan(map_redundancy(ones({1, 1, 2, 2}))));
}

// Three heads, one query of three keys: cosines .6, 0 and .8 with unit rows.
TEST(MapRedundancy, AveragesPairsQueriesAndExamples) {
  const Tensor maps = tensor({1, 0, 0, 0.6, 0.8, 0, 0, 1, 0}, {1, 3, 1, 3}, f64);
  EXPECT_NEAR(map_redundancy(maps), (0.6 + 0 + 0.8) / 3, 1e-15);
  EXPECT_NEAR(map_redundancy(concat({maps, ones({1, 3, 1, 3}, f64)}, 0)), (1.4 / 3 + 1) / 2, 1e-15);
}

TEST(MapRedundancy, PassesOverPaddingAndEmptyRows) {
  // Query 0: cosine .6; query 1: equal heads; query 2: attends to nothing.
  const Tensor maps = tensor({1, 0, .5, .5, 0, 0, .6, .8, .5, .5, 0, 0}, {1, 2, 3, 2}, f64);
  EXPECT_NEAR(map_redundancy(maps), 0.8, 1e-15);
  EXPECT_NEAR(map_redundancy(maps, tensor({1, 0, 1}, {1, 3}, boolean)), 0.6, 1e-15);
  EXPECT_TRUE(std::isnan(map_redundancy(maps, tensor({0, 0, 1}, {1, 3}, boolean))));
  // Keys appended with weight zero change nothing.
  EXPECT_EQ(map_redundancy(concat({maps, zeros({1, 2, 3, 4}, f64)}, 3)), map_redundancy(maps));
}

TEST(MapRedundancy, RefusesOtherShapes) {
  expect_error([] { map_redundancy(ones({2, 3, 3})); }, "got [2, 3, 3]");
  expect_error([] { map_redundancy(ones({1, 2, 3, 3}), ones({1, 2}, boolean)); }, "bool [1, 3]");
  expect_error([] { map_redundancy(ones({1, 2, 3, 3}), ones({1, 3})); }, "got f32 [1, 3]");
}

TEST(CosinePenalty, IsTheMeanSquaredCosine) {
  const Tensor x = tensor({1, 0, 2, 0, -1, 1}, {3, 2}, f64);
  EXPECT_NEAR(cosine_penalty(x).item(), (1 + 0.5 + 0.5) / 3, 1e-15);
  EXPECT_EQ(cosine_penalty(ones({1, 3})).item(), 0);
  expect_error([] { cosine_penalty(ones({3})); }, "got [3]");
}

TEST(CosinePenalty, HasATrueGradient) {
  Generator rng(1);
  const Tensor x = leaf(normal({4, 3}, rng, 0, 1, f64));
  EXPECT_TRUE(gradcheck([](const std::vector<Tensor>& in) { return cosine_penalty(in[0]); }, {x}));
  backward(cosine_penalty(particles_of_rows(x)));
  EXPECT_GT(norm(x.grad()).item(), 0.05);
  // Descent makes the rows orthogonal: four cannot be in three dimensions, three can.
  Tensor y = leaf(normal({3, 3}, rng, 0, 1, f64));
  Sgd sgd({y}, {.lr = 0.5});
  for (int t = 0; t < 500; ++t) {
    sgd.zero_grad();
    backward(cosine_penalty(y));
    sgd.step();
  }
  EXPECT_LT(cosine_penalty(y).item(), 1e-20);
}

TEST(CosinePenalty, AveragesBlocksAndBearsZeroRows) {
  Tensor x = leaf(tensor({1, 0, 1, 0}, {2, 2})), y = leaf(tensor({0, 0, 1, 3}, {2, 2}));
  const Particles blocks({ParticleBlock::stacked("x", {x}), ParticleBlock::stacked("y", {y})});
  const Tensor penalty = cosine_penalty(blocks);
  EXPECT_NEAR(penalty.item(), 0.5, 1e-7);
  backward(penalty);
  EXPECT_TRUE(all(isfinite(x.grad())).item<bool>());
  EXPECT_TRUE(all(isfinite(y.grad())).item<bool>());
}

}  // namespace
}  // namespace ladon::test::diagnostics_test
