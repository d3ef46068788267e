// Products with packed weights equal those of RowwiseProducts with the rounded weights, bit for
// bit.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/packed_weights.h"
#include "ladon/core/random.h"
#include "ladon/core/rowwise.h"
#include "ladon/tests/core/kernels/layouts.h"
#include "ladon/tests/support.h"

namespace ladon::kernels_packed_weights_test {
namespace {

using layout::same_bits;
using test::expect_error;

constexpr WeightForm forms[] = {WeightForm::float32, WeightForm::bfloat16, WeightForm::int8};

/// The weight [n, k] that products see: columns of the identity by it.
Tensor seen(const Tensor& weight, WeightForm form) {
  const NoGrad no_grad;
  const PackedWeights packed({weight}, form);
  return contiguous(transpose(linear(eye(weight.size(1)), weight)));
}

TEST(KernelsPackedWeights, AreRoundedAsTheirFormSays) {
  Generator rng(1);
  for (const auto& [n, k] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 64}, {70, 65}, {130, 200}}) {
    const Tensor w = normal({n, k}, rng);
    EXPECT_TRUE(same_bits(seen(w, WeightForm::float32), w));
    EXPECT_TRUE(same_bits(seen(w, WeightForm::bfloat16), cast(cast(w, bf16), f32)));
    const Tensor rounded = seen(w, WeightForm::int8);
    const float *x = w.data<float>(), *y = rounded.data<float>();
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t from = 0; from < k; from += 64) {
        const std::int64_t end = std::min(k, from + 64);
        float most = 0;
        for (std::int64_t p = from; p < end; ++p) most = std::max(most, std::abs(x[i * k + p]));
        const float scale = most / 127;
        for (std::int64_t p = from; p < end; ++p) {
          const float multiple = y[i * k + p] / scale;
          ASSERT_NEAR(multiple, std::round(multiple), 1e-4);
          ASSERT_LE(std::abs(y[i * k + p] - x[i * k + p]), scale * 0.50001f);
        }
      }
  }
  const Tensor small = full({5, 70}, 1e-39);  // too small for a scale
  EXPECT_TRUE(same_bits(seen(small, WeightForm::int8), zeros({5, 70})));
}

TEST(KernelsPackedWeights, AreThoseOfRoundedWeightsRowByRow) {
  Generator rng(2);
  const NoGrad no_grad;
  for (const WeightForm form : forms)
    for (const auto& [k, n] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 3}, {64, 64}, {130, 65}, {301, 200}}) {
      const Tensor w = normal({n, k}, rng), bias = normal({n}, rng), rounded = seen(w, form);
      const Tensor turned = contiguous(transpose(w));
      for (const std::int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 13, 40}) {
        const Tensor x = normal({2, m, k}, rng), strided = transpose(normal({k, m}, rng), 0, 1);
        const PackedWeights packed({w}, form);
        const Tensor plain = linear(x, w), affine = linear(x, w, bias), other = linear(strided, w);
        EXPECT_GT(packed.bytes(), 0u);
        const RowwiseProducts rowwise;
        EXPECT_TRUE(same_bits(plain, linear(x, rounded)));
        EXPECT_TRUE(same_bits(affine, linear(x, rounded, bias)));
        EXPECT_TRUE(same_bits(other, linear(strided, rounded)));
      }
      // [k, n] as it stands, as attention's output is; its groups of one scale are the same.
      const Tensor x = normal({5, k}, rng);
      const PackedWeights packed({turned}, form);
      const Tensor y = matmul(x, turned);
      const RowwiseProducts rowwise;
      EXPECT_TRUE(same_bits(y, matmul(x, transpose(rounded))));
    }
}

// A uniform error of ± half a scale, of 1/127 of the largest of 64 normals, is .6% of them.
TEST(KernelsPackedWeights, ErrorOfAProductIsThatOfTheWeights) {
  Generator rng(3);
  const NoGrad no_grad;
  const Tensor w = normal({512, 512}, rng), x = normal({16, 512}, rng), exact = linear(x, w);
  const double size = std::sqrt(sum(square(exact)).item());
  const auto error = [&](WeightForm form) {
    const PackedWeights packed({w}, form);
    return std::sqrt(sum(square(linear(x, w) - exact)).item()) / size;
  };
  EXPECT_LT(error(WeightForm::float32), 1e-6);
  EXPECT_NEAR(error(WeightForm::bfloat16), 0.0017, 0.0004);
  EXPECT_NEAR(error(WeightForm::int8), 0.006, 0.001);
}

TEST(KernelsPackedWeights, FollowTheWeightAndLeaveOthersAlone) {
  Generator rng(4);
  Tensor w = normal({70, 90}, rng), other = normal({70, 90}, rng);
  const Tensor x = normal({3, 90}, rng), before = linear(x, w), of_other = linear(x, other);
  const PackedWeights packed({w, cast(w, f64)}, WeightForm::int8);
  EXPECT_TRUE(same_bits(linear(x, w), before)) << "a recorded product reads the weights";
  const NoGrad no_grad;
  EXPECT_TRUE(same_bits(linear(x, other), of_other));
  const Tensor part = slice(w, 0, {.stop = 9});
  EXPECT_TRUE(all_close(linear(x, part), linear(x, clone(part)), 1e-6, 1e-6))
      << "nor a part of one";
  EXPECT_EQ(packed.bytes(), 0u);
  const Tensor first = linear(x, w);
  EXPECT_FALSE(same_bits(first, before));
  const std::size_t bytes = packed.bytes();
  EXPECT_LT(bytes, std::size_t{128 * 90 * 5 / 4});  // as whole panels
  w.mutable_data<float>()[7] += 1;
  const Tensor second = linear(x, w);
  EXPECT_FALSE(same_bits(first, second));
  EXPECT_TRUE(same_bits(second, linear(x, w)));
  EXPECT_EQ(packed.bytes(), bytes);
  {
    const PackedWeights inner({other});
    EXPECT_TRUE(all_close(linear(x, w), linear(x, clone(w)), 1e-6, 1e-6));  // not the outer copies
  }
  EXPECT_TRUE(same_bits(linear(x, w), second));
  w.mutable_data<float>()[7] = std::numeric_limits<float>::infinity();
  expect_error([&] { linear(x, w); }, "which int8 cannot hold");
}

TEST(KernelsPackedWeights, RefuseAWeightThatBfloat16RoundsToInfinity) {
  const NoGrad off;
  const Tensor x = ones({2, 5});
  const auto product = [&](float weight) {
    Tensor w = ones({3, 5});
    w.mutable_data<float>()[7] = weight;
    const PackedWeights packed({w}, WeightForm::bfloat16);
    return linear(x, w).to_vector()[1];
  };
  constexpr float largest = 0x1.fep127f, beyond = 0x1.ffp127f;
  EXPECT_TRUE(std::isfinite(product(std::nextafter(beyond, 0.0f))));
  EXPECT_EQ(product(-largest), -largest);
  for (const float w : {beyond, -beyond, std::numeric_limits<float>::max()})
    expect_error([&] { product(w); }, "which bfloat16 rounds to infinity");
  EXPECT_TRUE(std::isinf(product(std::numeric_limits<float>::infinity()))) << "as it is";
}

TEST(KernelsPackedWeights, SameBitsAtAnyNumberOfThreads) {
  Generator rng(5);
  const NoGrad no_grad;
  const Tensor w = normal({700, 300}, rng), x = normal({16, 300}, rng);
  const int before = num_threads();
  for (const WeightForm form : forms) {
    const PackedWeights packed({w}, form);
    set_num_threads(1);
    const Tensor one = linear(x, w);
    set_num_threads(4);
    const PackedWeights again({w}, form);
    EXPECT_TRUE(same_bits(linear(x, w), one));
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace ladon::kernels_packed_weights_test
