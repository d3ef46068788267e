// Normalization over batches and positions: running statistics, modes, recomputation by
// checkpoint(), names of parameters.

#include <cmath>
#include <numeric>
#include <thread>

#include "ladon/autograd/extra/transforms/vmap.h"
#include "ladon/autograd/functional.h"
#include "ladon/layers/layers.h"
#include "ladon/tests/support.h"

namespace ladon::norm_layers_test {
namespace {

Tensor column(std::initializer_list<double> values) {
  return tensor(values, {static_cast<std::int64_t>(values.size()), 1});
}

// Of 1 and 3: mean 2, variance 1, with divisor n − 1: 2. So the running mean becomes 0.9·0 + 0.1·2,
// and the running variance 0.9·1 + 0.1·2.
TEST(BatchNorm, NormalizesTheBatchAndKeepsItsStatistics) {
  BatchNorm layer({.dim = 1, .eps = 0});
  EXPECT_TRUE(all_close(layer(column({1, 3})), column({-1, 1})));
  EXPECT_NEAR(layer.running_mean.item(), 0.2, 1e-6);
  EXPECT_NEAR(layer.running_var.item(), 1.1, 1e-6);
  EXPECT_EQ(layer.num_batches_tracked.item<std::int64_t>(), 1);
  layer.eval();
  const double r = 1 / std::sqrt(1.1);
  EXPECT_TRUE(all_close(layer(column({1, 3, 0.2})), column({0.8 * r, 2.8 * r, 0})));
  EXPECT_EQ(layer.num_batches_tracked.item<std::int64_t>(), 1);
}

// ±0.1: a sum in f32 that took the 30,000 rows one after the other would lose the fifth digit.
TEST(BatchNorm, KeepsItsDigitsOverManyRows) {
  std::vector<float> rows;
  for (int i = 0; i < 30000; ++i) rows.push_back(i % 2 ? 0.1f : -0.1f);
  BatchNorm layer({.dim = 1, .momentum = 1});
  const Tensor x = from_vector(rows, {30000, 1}).set_requires_grad();
  backward(sum(layer(x) * x.detach()));
  const double rstd = 1 / std::sqrt(0.01 + 1e-5);
  EXPECT_NEAR(layer.running_var.item() / (0.01 * 30000 / 29999), 1, 2e-6);
  EXPECT_NEAR(layer.weight.grad().item() / (30000 * 0.01 * rstd), 1, 2e-6);
}

TEST(BatchNorm, RefusesExamplesWhoseMomentsDifferBeforeItCounts) {
  BatchNorm layer({.dim = 1});
  const Tensor x = tensor({1, 3, 5, 9}, {2, 2, 1});
  const auto f = [&](const std::vector<Tensor>& in) { return layer(in[0]); };
  test::expect_error([&] { vmap(f, {x}); }, "did you mean eval()");
  EXPECT_EQ(layer.running_mean.item(), 0);
  EXPECT_EQ(layer.num_batches_tracked.item<int>(), 0);
  layer.eval();
  EXPECT_TRUE(all_close(vmap(f, {x}), layer(x)));
}

TEST(BatchNorm, WithoutMomentumKeepsTheMeanOverBatches) {
  const BatchNorm layer({.dim = 1, .momentum = std::nullopt});
  for (const double mean : {1.0, 2.0, 6.0}) layer(column({mean - 1, mean + 1}));
  EXPECT_NEAR(layer.running_mean.item(), 3, 1e-6);
  EXPECT_NEAR(layer.running_var.item(), 2, 1e-6);
}

TEST(BatchNorm, UntrackedAlwaysTakesTheBatch) {
  BatchNorm layer({.dim = 1, .eps = 0, .affine = false, .track_running_stats = false});
  layer.eval();
  EXPECT_TRUE(all_close(layer(column({1, 3})), column({-1, 1})));
  EXPECT_TRUE(layer.state_dict().empty());
}

TEST(BatchNorm, StateHasTheNamesOfPyTorch) {
  BatchNorm layer({.dim = 3});
  std::vector<std::string> names;
  for (const auto& [name, x] : layer.state_dict()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"bias", "num_batches_tracked", "running_mean",
                                             "running_var", "weight"}));
  EXPECT_EQ(layer.parameter_count(), 6);
  EXPECT_EQ(layer.state_dict().at("num_batches_tracked").dtype(), i64);
  Generator rng(1);
  layer(normal({5, 3}, rng));
  BatchNorm other({.dim = 3});
  other.load_state_dict(layer.state_dict());
  EXPECT_TRUE(all_equal(other.running_var, layer.running_var));
  EXPECT_EQ(other.num_batches_tracked.item<std::int64_t>(), 1);
  layer.to(f64);
  EXPECT_EQ(layer.running_mean.dtype(), f64);
  EXPECT_EQ(layer.num_batches_tracked.dtype(), i64);
}

TEST(BatchNorm, OfACloneIsItsOwn) {
  Generator rng(1);
  const BatchNorm layer({.dim = 3});
  const BatchNorm copy = clone(layer);
  copy(normal({5, 3}, rng));
  EXPECT_TRUE(all_equal(layer.running_mean, zeros({3})));
  EXPECT_FALSE(all_equal(copy.running_mean, zeros({3})));
}

// checkpoint runs the layer once more in the backward pass: the batch is one batch still.
TEST(BatchNorm, CountsASecondRunOnce) {
  Generator rng(2);
  const Tensor x = normal({5, 3}, rng);
  BatchNorm plain({.dim = 3}), again({.dim = 3});
  backward(sum(square(plain(x)) * x));
  backward(sum(square(checkpoint([&](const auto& in) { return again(in[0]); }, {x})) * x));
  EXPECT_TRUE(all_equal(again.running_mean, plain.running_mean));
  EXPECT_TRUE(all_equal(again.running_var, plain.running_var));
  EXPECT_EQ(again.num_batches_tracked.item<std::int64_t>(), 1);
  EXPECT_TRUE(all_close(again.weight.grad(), plain.weight.grad()));
  again(x);  // that run is over
  EXPECT_EQ(again.num_batches_tracked.item<std::int64_t>(), 2);
}

TEST(BatchNorm, CountsEveryBatchOfSeveralThreads) {
  Generator rng(3);
  const Tensor x = normal({5, 3}, rng);
  const BatchNorm layer({.dim = 3, .momentum = std::nullopt});
  const auto run = [&] {
    for (int i = 0; i < 50; ++i) layer(x);
  };
  std::thread one(run), two(run);
  one.join();
  two.join();
  EXPECT_EQ(layer.num_batches_tracked.item<std::int64_t>(), 100);
  EXPECT_TRUE(all_close(layer.running_mean, mean(x, 0), 1e-5, 1e-6));
}

TEST(BatchNorm, CountsVisiblePositions) {
  Generator rng(4);
  Tensor x = normal({2, 3, 2}, rng);
  const Tensor mask = cast(tensor({1, 1, 0, 1, 1, 1}, {2, 3}), boolean);
  const Tensor tokens = concat({slice(select(x, 0, 0), 0, {.stop = 2}), select(x, 0, 1)}, 0);
  const BatchNorm layer({.dim = 2}), plain({.dim = 2});
  const Tensor y = layer(x, mask), expected = plain(tokens);
  EXPECT_TRUE(all_close(select(y, 0, 1), slice(expected, 0, {.start = 2}), 1e-6, 1e-6));
  EXPECT_TRUE(all_equal(layer.running_var, plain.running_var));
  test::expect_error([&] { layer(x, ones({2, 2}, boolean)); }, "mask must be bool [2, 3]");
}

// Values and statistics of batches whose squares leave the range of f32, masked or not; afterwards
// the running ones are finite, so that ordinary batches bring them back.
TEST(BatchNorm, TakesBatchesOfAnyScale) {
  for (const double scale : {1e-30, 1e-25, 1e20, 1e30})
    for (const bool masked : {false, true}) {
      BatchNorm layer({.dim = 2, .eps = 0});
      const Tensor ordinary = tensor({1, 3, -1, 5, 1, 3, -1, 5, 9, 9}, {1, 5, 2});
      const Tensor mask = tensor({1, 1, 1, 1, 0}, {1, 5}, boolean);
      const Tensor x = ordinary * scale;
      const auto of = [&](const Tensor& t) {
        return slice(masked ? layer(t, mask) : layer(slice(t, 1, {.stop = 4})), 1, {.stop = 4});
      };
      const Tensor want = tensor({1, -1, -1, 1, 1, -1, -1, 1}, {1, 4, 2});
      EXPECT_TRUE(all_close(of(x), want, 1e-5)) << scale << ", masked " << masked;
      EXPECT_TRUE(all_equal(isfinite(layer.running_var), ones({2}, boolean)));
      for (int i = 0; i < 1000; ++i) of(ordinary);
      EXPECT_NEAR(layer.running_var.to_vector()[0], 4.0 / 3, 1e-4) << scale;
      layer.eval();
      EXPECT_TRUE(all_close(of(ordinary), want * std::sqrt(0.75), 1e-4)) << scale;
    }
}

TEST(BatchNorm, ChecksWhatItIsGiven) {
  test::expect_error([] { BatchNorm({.dim = 0}); }, "dim must be positive");
  test::expect_error([] { BatchNorm({.dim = 2, .momentum = 2}); }, "momentum must lie in [0, 1]");
  BatchNorm layer({.dim = 2});
  test::expect_error([&] { layer(ones({3, 4})); }, "expects [N, .., 2], got shape [3, 4]");
  test::expect_error([&] { layer(ones({1, 2})); }, "at least two vectors");
  EXPECT_EQ(layer.num_batches_tracked.item<std::int64_t>(), 0);
  layer.eval();
  EXPECT_EQ(layer(ones({1, 2})).shape(), (Shape{1, 2}));
  EXPECT_EQ(layer.describe(), "BatchNorm(2)");
}

// The gradient passes through the batch's own statistics: shifting or scaling a batch changes
// nothing.
TEST(BatchNorm, HasNoGradientAlongShiftAndScale) {
  Generator rng(5);
  BatchNorm layer({.dim = 3, .eps = 0});
  layer.to(f64);
  const Tensor x = normal({6, 3}, rng, 0, 1, f64).set_requires_grad();
  const Tensor g = grad(sum(layer(x) * normal({6, 3}, rng, 0, 1, f64)), x);
  EXPECT_TRUE(all_close(sum(g, 0), zeros({3}, f64), 1e-12, 1e-12));
  EXPECT_TRUE(all_close(sum(g * x, 0), zeros({3}, f64), 1e-12, 1e-12));
}

// One operation gives what mean, variance and normalization give one by one in double precision,
// and the gradients through all of them: also far from zero, where rounding the mean shows, and
// where cubes of the deviation leave the range.
TEST(BatchNorm, IsOneOperationInTraining) {
  Generator rng(7);
  const auto leaf = [](const Tensor& x, DType dtype) {
    return clone(cast(x, dtype)).set_requires_grad();
  };
  for (const Shape& shape : {Shape{64, 5}, Shape{7, 3, 2, 33}, Shape{2000, 64}})
    for (const DType dtype : {f32, f64})
      for (const double scale : {1.0, 1e-17, 1e17})
        for (const double shift : {0.0, 100.0}) {
          const std::int64_t dim = shape[shape.rank() - 1];
          const std::vector<Tensor> values = {normal(shape, rng, shift, 1, dtype) * scale,
                                              normal({dim}, rng, 1, 0.1, dtype),
                                              normal({dim}, rng, 0, 1, dtype)};
          const Tensor g = normal(shape, rng, 0, 1, dtype);
          std::vector<Tensor> in, wide;
          for (const Tensor& v : values) in.push_back(leaf(v, dtype)), wide.push_back(leaf(v, f64));
          std::vector<int> axes(static_cast<std::size_t>(shape.rank() - 1));
          std::iota(axes.begin(), axes.end(), 0);
          const double eps = 1e-5 * scale * scale;
          const NormalizedBatch one = normalize_batch(in[0], in[1], in[2], eps);
          const Tensor centre = mean(wide[0], axes), spread = var(wide[0], axes, Dims::drop, 0);
          const Tensor y = batch_norm(wide[0], centre, spread, wide[1], wide[2], eps);
          const double close = dtype == f32 ? 1e-5 : 1e-12;
          EXPECT_TRUE(all_equal(one.mean, mean(in[0].detach(), axes)));
          EXPECT_TRUE(all_close(cast(one.var, f64), spread, close, 0)) << shape << scale << shift;
          EXPECT_TRUE(all_close(cast(one.y, f64), y, close, close)) << shape << scale << shift;
          const auto got = grad({one.y}, in, {.cotangents = {g}});
          const auto want = grad({y}, wide, {.cotangents = {cast(g, f64)}});
          for (std::size_t i = 0; i < 3; ++i) {
            const double size = amax(abs(want[i])).item();
            EXPECT_TRUE(all_close(cast(got[i], f64) / size, want[i] / size, 0, close))
                << i << shape << dtype << scale << shift;
          }
        }
}

TEST(InstanceNorm, RefusesGroupsOfOneNumber) {  // all of which were 0
  const InstanceNorm norm({.dim = 3});
  test::expect_error([&] { norm(ones({4, 3})); }, "groups of a single number");
  test::expect_error([&] { norm(ones({4, 1, 3})); }, "use LayerNorm for vectors");
  test::expect_error([&] { GroupNorm({.groups = 3, .dim = 3})(ones({4, 3})); }, "[4, 3]");
  EXPECT_NO_THROW(norm(ones({4, 2, 3})));
  EXPECT_NO_THROW(norm(ones({4, 0, 3})));
  EXPECT_NO_THROW(GroupNorm({.groups = 1, .dim = 3})(ones({4, 3})));
}

TEST(GroupNorm, LiesBetweenLayerNormAndInstanceNorm) {
  Generator rng(6);
  const Tensor x = normal({2, 1, 6}, rng), image = normal({2, 3, 2, 4}, rng);
  EXPECT_TRUE(all_close(GroupNorm({.groups = 1, .dim = 6})(x), LayerNorm({.dim = 6})(x)));
  EXPECT_TRUE(
      all_close(GroupNorm({.groups = 4, .dim = 4})(image), InstanceNorm({.dim = 4})(image)));
  EXPECT_EQ(GroupNorm({.groups = 2, .dim = 6}).parameter_count(), 12);
  EXPECT_EQ(InstanceNorm({.dim = 6}).parameter_count(), 0);
  EXPECT_EQ(InstanceNorm({.dim = 6, .affine = true}).parameter_count(), 12);
  test::expect_error([] { GroupNorm({.groups = 4, .dim = 6}); }, "4 groups do not divide 6");
  test::expect_error([&] { GroupNorm({.groups = 2, .dim = 6})(image); }, "expects [N, .., 6]");
  test::expect_error([&] { InstanceNorm({.dim = 6})(image); }, "expects [N, .., 6]");
  test::expect_error(
      [&] {
        GroupNorm({.groups = 2, .dim = 6})(x, ones({2, 1}, boolean));
      },
      "got a mask");
}

TEST(BatchNorm, WithMomentum0NoBatchCounts) {
  BatchNorm layer({.dim = 1, .momentum = 0});
  layer(column({-3e38, 3e38}));  // their variance overflows
  EXPECT_EQ(layer.running_mean.item(), 0);
  EXPECT_EQ(layer.running_var.item(), 1);
  EXPECT_EQ(layer.num_batches_tracked.item<int>(), 1);
}

}  // namespace
}  // namespace ladon::norm_layers_test
