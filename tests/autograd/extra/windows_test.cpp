// Convolution and pooling, in addition to their rows in the table of operations: equalities between
// operations, sizes larger than the kernels' blocks, ties.

#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/random.h"
#include "ladon/tests/support.h"

namespace ladon::test::windows_test {
namespace {

bool near(const Tensor& a, const Tensor& b) { return all_close(a, b, 1e-11, 1e-11); }

TEST(Convolution, OfOneTapIsLinear) {
  Generator rng(1);
  const Tensor x = normal({2, 5, 4, 3}, rng, 0, 1, f64), w = normal({6, 3}, rng, 0, 1, f64),
               b = normal({6}, rng, 0, 1, f64);
  EXPECT_TRUE(near(convolution(x, reshape(w, {6, 1, 1, 3}), b), linear(x, w, b)));
}

TEST(Convolution, IsAProductWithPatches) {
  Generator rng(2);
  const Tensor x = normal({2, 7, 6, 3}, rng, 0, 1, f64), w = normal({5, 3, 2, 3}, rng, 0, 1, f64);
  const Shape stride{2, 1}, before{1, 2}, dilation{1, 3};
  const Tensor patches = unfold(x, {3, 2}, {stride, before, {}, dilation});
  EXPECT_TRUE(near(convolution(x, w, {}, {stride, before, {}, dilation}),
                   linear(patches, reshape(w, {5, -1}))));
}

TEST(Convolution, OfGroupsIsThatOfEachSideBySide) {
  Generator rng(3);
  const Tensor x = normal({2, 6, 6, 6}, rng, 0, 1, f64), w = normal({9, 3, 3, 2}, rng, 0, 1, f64);
  std::vector<Tensor> parts;
  for (int g = 0; g < 3; ++g)
    parts.push_back(convolution(split(x, 2, 3)[static_cast<std::size_t>(g)],
                                split(w, 3, 0)[static_cast<std::size_t>(g)]));
  EXPECT_TRUE(near(convolution(x, w, {}, {.groups = 3}), concat(parts, 3)));
}

// Of a stride that leaves the last position unseen, so that the transposed one needs
// output_padding.
TEST(TransposedConvolution, IsTheGradientOfConvolutionByItsInput) {
  Generator rng(4);
  for (const std::int64_t groups : {1, 2}) {
    const Tensor x = normal({2, 8, 7, 4}, rng, 0, 1, f64).set_requires_grad();
    const Tensor w = normal({6, 3, 2, 4 / groups}, rng, 0, 1, f64);
    const Tensor y = convolution(
        x, w, {}, {.stride = {2, 3}, .before = {1, 0}, .dilation = {1, 2}, .groups = groups});
    const Tensor g = normal(y.shape(), rng, 0, 1, f64);
    // (4 − 1)·2 − 2 + 2 + 1 = 7 of 8 rows, (2 − 1)·3 + 2 + 1 = 6 of 7 columns
    const Tensor back = transposed_convolution(g, w, {},
                                               {.stride = {2, 3},
                                                .before = {1, 0},
                                                .dilation = {1, 2},
                                                .output_padding = {1, 1},
                                                .groups = groups});
    EXPECT_TRUE(near(grad(y, x, {.cotangents = {g}}), back));
  }
}

/// Of a loss of the layer's size: value and gradients, by the operation and by patches that are
/// kept.
TEST(Convolution, OfManyBlocksAgreesWithPatches) {
  Generator rng(5);
  const Tensor x = normal({9, 40, 30, 8}, rng, 0, 1, f64).set_requires_grad();
  const Tensor w = normal({7, 3, 3, 8}, rng, 0, 1, f64).set_requires_grad();
  const Tensor b = normal({7}, rng, 0, 1, f64).set_requires_grad();
  const Tensor c = normal({9, 40, 30, 7}, rng, 0, 1, f64);
  const std::vector<Tensor> direct =
      grad({convolution(x, w, b, {.before = {1, 1}})}, {x, w, b}, {.cotangents = {c}});
  const Tensor patches = unfold(x, {3, 3}, {.before = {1, 1}});
  const std::vector<Tensor> by_patches =
      grad({linear(patches, reshape(w, {7, -1}), b)}, {x, w, b}, {.cotangents = {c}});
  for (std::size_t i = 0; i < direct.size(); ++i)
    EXPECT_TRUE(all_close(direct[i], by_patches[i], 1e-9, 1e-9)) << i;
}

TEST(Convolution, HasTheSameBitsAtAnyNumberOfThreads) {
  Generator rng(6);
  const Tensor x = normal({9, 40, 30, 8}, rng).set_requires_grad();
  const Tensor w = normal({8, 3, 3, 4}, rng).set_requires_grad();
  const auto all = [&] {
    const Tensor y = convolution(x, w, {}, {.stride = {1, 2}, .groups = 2});
    const Tensor z = average_pool(max_pool(y, {3, 3}, {.stride = {1, 1}}), {2, 2});
    std::vector<Tensor> results = grad({sum(z * z)}, {x, w});
    results.push_back(z);
    return results;
  };
  const int threads = num_threads();
  set_num_threads(1);
  const std::vector<Tensor> alone = all();
  set_num_threads(4);
  const std::vector<Tensor> together = all();
  set_num_threads(threads);
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_TRUE(all_equal(alone[i], together[i]));
}

TEST(Convolution, TakesTheLargerDtype) {
  EXPECT_EQ(convolution(ones({1, 3, 1}), ones({1, 2, 1}, f64)).dtype(), f64);
  EXPECT_EQ(convolution(ones({1, 3, 1}, i64), ones({1, 2, 1})).dtype(), f32);
}

// Numbers beyond what fits, in every place: an Error, not a loop without end.
TEST(Convolution, RefusesNumbersThatAreTooLarge) {
  const Tensor x = ones({1, 3, 1}), w = ones({1, 2, 1});
  constexpr std::int64_t huge = INT64_MAX;
  expect_error([&] { convolution(x, w, {}, {.stride = {huge}}); }, "to 2^31");
  expect_error([&] { convolution(x, w, {}, {.before = {huge}}); }, "to 2^31");
  expect_error([&] { convolution(x, w, {}, {.dilation = {huge}}); }, "to 2^31");
  expect_error([&] { unfold(x, {huge}); }, "to 2^31");
  expect_error([&] { adaptive_max_pool(x, {huge}); }, "adaptive_max_pool");
}

TEST(MaxPooling, OfEqualElementsTakesTheFirst) {
  const Tensor x = tensor({1, 2, 2, 0}, {1, 4, 1}).set_requires_grad();
  const ValuesAndIndices y = max_pool_with_indices(x, {4});
  EXPECT_EQ(y.indices.item<std::int64_t>(), 1);
  EXPECT_TRUE(all_equal(grad(y.values, x), tensor({0, 1, 0, 0}, {1, 4, 1})));
}

TEST(MaxPooling, PropagatesNaNAndTakesInfinities) {
  const Tensor x = tensor({1, NAN, 5, NAN, -INFINITY, -INFINITY}, {1, 6, 1});
  const ValuesAndIndices y = max_pool_with_indices(x, {4}, {.stride = {2}});
  EXPECT_TRUE(std::isnan(y.values.to_vector()[0]) && std::isnan(y.values.to_vector()[1]));
  EXPECT_TRUE(all_equal(y.indices, tensor({1, 3}, {1, 2, 1}, i64)));
  const ValuesAndIndices low = max_pool_with_indices(slice(x, 1, {.start = 4}), {2});
  EXPECT_EQ(low.values.item(), -INFINITY);
  EXPECT_EQ(low.indices.item<std::int64_t>(), 0);
}

TEST(AveragePooling, WithoutPaddingOfNothingIsNaN) {
  const auto apart = [](bool count_padding) {
    return average_pool(
        ones({1, 1, 1}), {2},
        {.stride = {1}, .before = {1}, .dilation = {2}, .count_padding = count_padding});
  };
  EXPECT_TRUE(std::isnan(apart(false).item()));
  EXPECT_EQ(apart(true).item(), 0);
}

TEST(AdaptivePooling, OfOneWindowIsTheWhole) {
  Generator rng(7);
  const Tensor x = normal({2, 5, 4, 3}, rng, 0, 1, f64);
  EXPECT_TRUE(near(adaptive_average_pool(x, {1, 1}), mean(x, {1, 2}, keep_dims)));
  EXPECT_TRUE(all_equal(adaptive_max_pool(x, {1, 1}), amax(x, {1, 2}, keep_dims)));
  EXPECT_TRUE(all_equal(adaptive_average_pool(x, {5, 4}), x));
}

}  // namespace
}  // namespace ladon::test::windows_test
