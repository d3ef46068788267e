#include "ladon/core/extra/io/memory.h"

#include <gtest/gtest.h>

#include <array>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/view.h"
#include "ladon/tests/support.h"

namespace ladon::memory_test {
namespace {

using test::expect_error;

TEST(Memory, IsSharedUntilTheLastTensorIsGone) {
  std::array<float, 6> data{0, 1, 2, 3, 4, 5};
  std::vector<void*> released;
  const auto release = [&](void* p) { released.push_back(p); };
  const std::size_t before = Storage::bytes_in_use();
  Tensor part;
  {
    const Tensor x = from_blob(data.data(), {2, 3}, f32, release);
    EXPECT_TRUE(x.contiguous());
    EXPECT_EQ(x.data<float>(), data.data());
    EXPECT_EQ(Storage::bytes_in_use(), before) << "the bytes are not Ladon's";
    data[4] = 40;
    EXPECT_EQ(sum(x).item(), 51);
    part = view::select(x, 0, 1);
    Tensor y = x;
    y.mutable_data<float>()[0] = 7;
  }
  EXPECT_EQ(data[0], 7);
  EXPECT_TRUE(released.empty()) << "a view is still there";
  EXPECT_EQ(part.to_vector(), (std::vector<double>{3, 40, 5}));
  part = Tensor();
  EXPECT_EQ(released, std::vector<void*>{data.data()});
}

TEST(Memory, HasAnyStrides) {
  std::array<double, 6> data{0, 1, 2, 3, 4, 5};
  int released = 0;
  const auto release = [&](void* p) { released += p == &data[5]; };
  EXPECT_EQ(from_blob(data.data(), {3, 2}, {1, 3}, f64).to_vector(),
            (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(from_blob(&data[5], {2, 3}, {-3, -1}, f64, release).to_vector(),
            (std::vector<double>{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(released, 1);
  EXPECT_EQ(from_blob(&data[2], {2, 2}, {0, -2}, f64).to_vector(),
            (std::vector<double>{2, 0, 2, 0}));
  EXPECT_EQ(from_blob(data.data(), {0, 3}, f64, [&](void*) { ++released; }).count(), 0);
  EXPECT_EQ(from_blob(nullptr, {0}, f64, [&](void*) { ++released; }).count(), 0);
  EXPECT_EQ(released, 3);
}

TEST(Memory, TrainsInPlace) {
  std::array<float, 2> data{1, 2};
  Tensor w = from_blob(data.data(), {2});
  w.set_requires_grad();
  backward(sum(w * w));
  EXPECT_EQ(w.grad().to_vector(), (std::vector<double>{2, 4}));
}

TEST(Memory, IsRefusedBeforeAnythingIsTakenOver) {
  alignas(8) std::array<unsigned char, 64> data{};
  const auto refuse = [&](void* at, const Shape& shape, const Shape& strides, DType dtype,
                          const std::string& fragment) {
    const auto release = [](void*) { ADD_FAILURE() << "released what it did not take"; };
    expect_error([&] { from_blob(at, shape, strides, dtype, release); }, fragment);
  };
  refuse(nullptr, {2}, {1}, f32, "a null pointer to the elements of shape [2]");
  refuse(&data[2], {2}, {1}, f32, "data is not aligned to the 4 bytes of f32; copy it with");
  refuse(&data[4], {1}, {1}, i64, "data is not aligned to the 8 bytes of i64");
  refuse(&data[1], {1}, {1}, bf16, "data is not aligned to the 2 bytes of bf16");
  refuse(&data, {-1}, {1}, f32, "-1");
  refuse(&data, {2, 2}, {1}, f32, "shape [2, 2] and strides [1] must have the same number of axes");
  refuse(&data, {2}, {INT64_MAX}, f32, "spans more than 2^60 elements");
  refuse(&data, {2, 2}, {INT64_MIN, INT64_MIN}, f32, "spans more than 2^60 elements");
  refuse(&data, {3}, {INT64_MAX / 2 + 1}, f32, "spans more than 2^60 elements");
  refuse(&data, {2, 2}, {-(std::int64_t{1} << 59), std::int64_t{1} << 59}, f32, "more than 2^60");
  data[5] = 2;
  refuse(&data, {2, 3}, {3, 1}, boolean, "the bool at [1, 2] is the byte 2, not 0 or 1");
  EXPECT_EQ(from_blob(data.data(), {5}, boolean).count(), 5);
  expect_error([&] { from_blob(data.data(), {std::int64_t{1} << 61}); }, "");
}

// With nothing to read the pointer may be any: it is given back, and never computed
// with.
TEST(Memory, WithoutElementsMayStandAnywhere) {
  alignas(8) std::array<unsigned char, 64> data{};
  for (const DType dtype : {boolean, i64, f16, bf16, f32, f64}) {
    void* released = nullptr;
    {
      const Tensor x = from_blob(&data[1], {0, 2}, dtype, [&](void* at) { released = at; });
      const auto address = reinterpret_cast<std::uintptr_t>(x.strided_bytes());
      EXPECT_EQ(address % item_size(dtype), 0u) << dtype;
      EXPECT_EQ(kernels::clone(x).shape(), Shape({0, 2}));
    }
    EXPECT_EQ(released, &data[1]);
  }
}

TEST(Memory, IsCopiedFromBytes) {
  const std::string bytes("x\0\0\x80\x3f\0\0\0\xc0", 9);
  const std::string_view unaligned = std::string_view(bytes).substr(1);
  EXPECT_EQ(from_bytes(unaligned, {2}).to_vector(), (std::vector<double>{1, -2}));
  EXPECT_EQ(from_bytes(unaligned, {2, 2}, bf16).to_vector(), (std::vector<double>{0, 1, 0, -2}));
  EXPECT_EQ(from_bytes(std::string_view("\0\1\2\xff", 4), {4}, boolean).to_vector<int>(),
            (std::vector{0, 1, 1, 1}));
  EXPECT_EQ(from_bytes("", {0, 3}, i64).shape(), Shape({0, 3}));
  expect_error([&] { from_bytes(unaligned, {3}); },
               "shape [3] of f32 takes 3 elements of 4 bytes, but 8 bytes were given");
  expect_error([&] { from_bytes(bytes, {2}); }, "but 9 bytes were given");
  expect_error([&] { from_bytes("", {std::int64_t{1} << 62}); }, "");
  expect_error([&] { from_bytes("", {-1}); }, "-1");
}

}  // namespace
}  // namespace ladon::memory_test
