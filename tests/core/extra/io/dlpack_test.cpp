#include "ladon/core/extra/io/dlpack.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "ladon/autograd/ops.h"
#include "ladon/core/view.h"
#include "ladon/tests/support.h"

namespace ladon::dlpack_test {
namespace {

using test::expect_error;

// Another library: it owns the elements, counts how often they are given back, and is gone then.
template <class Given>
struct Producer {
  Given given{};
  std::array<float, 12> data{};
  std::vector<std::int64_t> shape, strides;
  int deleted = 0;

  Producer(std::vector<std::int64_t> sizes, std::vector<std::int64_t> steps)
      : shape(std::move(sizes)), strides(std::move(steps)) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
    given.array = {.data = data.data(),
                   .device = {1, 0},
                   .rank = static_cast<std::int32_t>(shape.size()),
                   .type = {2, 32, 1},
                   .shape = shape.data(),
                   .strides = strides.empty() ? nullptr : strides.data(),
                   .byte_offset = 0};
    given.context = this;
    given.deleter = [](Given* self) { ++static_cast<Producer*>(self->context)->deleted; };
  }
};
using Plain = Producer<dlpack::Managed>;
using Versioned = Producer<dlpack::ManagedVersioned>;

TEST(DlPack, TakesElementsInTheirPlaceAndGivesThemBackOnce) {
  Plain other({3, 4}, {});
  Tensor row;
  {
    const Tensor x = from_dlpack(&other.given);
    EXPECT_EQ(x.shape(), Shape({3, 4}));
    EXPECT_EQ(x.data<float>(), other.data.data());
    row = view::select(x, 0, 2);
    other.data[8] = 80;
  }
  EXPECT_EQ(other.deleted, 0);
  EXPECT_EQ(row.to_vector(), (std::vector<double>{80, 9, 10, 11}));
  row = Tensor();
  EXPECT_EQ(other.deleted, 1);
}

TEST(DlPack, TakesStridesAndOffsets) {
  Plain turned({4, 3}, {1, 4}), backwards({2, 2}, {-4, -1}), spread({2, 3}, {0, 2}), one({}, {});
  backwards.given.array.byte_offset = 7 * sizeof(float);
  one.given.array.byte_offset = 5 * sizeof(float);
  one.given.array.shape = nullptr;
  EXPECT_EQ(from_dlpack(&turned.given).to_vector(),
            (std::vector<double>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(from_dlpack(&backwards.given).to_vector(), (std::vector<double>{7, 6, 3, 2}));
  EXPECT_EQ(from_dlpack(&spread.given).to_vector(), (std::vector<double>{0, 2, 4, 0, 2, 4}));
  EXPECT_EQ(from_dlpack(&one.given).item(), 5);
  for (const Plain* other : {&turned, &backwards, &spread, &one}) EXPECT_EQ(other->deleted, 1);
}

TEST(DlPack, TakesEmptyArraysAndMissingDeleters) {
  Plain none({0, 4}, {});
  none.given.array.data = nullptr;
  none.given.array.byte_offset = 64;
  EXPECT_EQ(from_dlpack(&none.given).shape(), Shape({0, 4}));
  EXPECT_EQ(none.deleted, 1);
  Plain statics({2}, {});
  statics.given.deleter = nullptr;
  EXPECT_EQ(from_dlpack(&statics.given).to_vector(), (std::vector<double>{0, 1}));
}

TEST(DlPack, CopiesWhatMustNotBeWritten) {
  Versioned other({2, 2}, {1, 2});
  other.given.version = {1, 3};
  other.given.flags = dlpack::read_only;
  const Tensor x = from_dlpack(&other.given);
  EXPECT_EQ(other.deleted, 1) << "at once";
  other.data[2] = 9;
  EXPECT_EQ(x.to_vector(), (std::vector<double>{0, 2, 1, 3}));

  Versioned open({2}, {});
  open.given.version = {1, 0};
  open.given.flags = dlpack::is_copied;
  {
    const Tensor y = from_dlpack(&open.given);
    EXPECT_EQ(y.data<float>(), open.data.data());
    EXPECT_EQ(open.deleted, 0);
  }
  EXPECT_EQ(open.deleted, 1);
}

template <class Other>
void refuse(Other& other, const std::string& fragment) {
  expect_error([&] { from_dlpack(&other.given); }, fragment);
  EXPECT_EQ(other.deleted, 0) << "it was not taken over";
}

TEST(DlPack, RefusesWhatItCannotTake) {
  const auto refuse_array = [](const std::function<void(dlpack::Array&)>& edit,
                               const std::string& fragment) {
    Plain other({2, 3}, {3, 1});
    edit(other.given.array);
    refuse(other, fragment);
  };
  using dlpack::Array;
  refuse_array(
      [](Array& a) {
        a.device = {2, 0};
      },
      "the elements are on device type 2, not in CPU memory");
  for (const dlpack::ElementType type : {dlpack::ElementType{0, 32, 1},
                                         {1, 8, 1},
                                         {2, 8, 1},
                                         {3, 64, 1},
                                         {4, 32, 1},
                                         {5, 64, 1},
                                         {17, 4, 1}})
    refuse_array([&](Array& a) { a.type = type; },
                 detail::join("of code ", int{type.code}, " and ", int{type.bits},
                              " bits is not supported"));
  refuse_array([](Array& a) { a.type.lanes = 4; }, "elements have 4 lanes");
  refuse_array([](Array& a) { a.rank = 9; }, "the array has 9 axes; a tensor has 0 to 8");
  refuse_array([](Array& a) { a.rank = -1; }, "the array has -1 axes");
  refuse_array([](Array& a) { a.shape = nullptr; }, "the array has no shape");
  refuse_array([](Array& a) { a.shape[1] = -3; }, "-3");
  refuse_array([](Array& a) { a.data = nullptr; }, "a null pointer to the elements");
  refuse_array([](Array& a) { a.byte_offset = 2; }, "data is not aligned to the 4 bytes of f32");
  refuse_array([](Array& a) { a.strides[0] = INT64_MAX; }, "spans more than 2^60 elements");
  Versioned newer({2}, {});
  newer.given.version = {2, 0};
  refuse(newer, "version 2.0 is not supported");
  expect_error([] { from_dlpack(static_cast<dlpack::Managed*>(nullptr)); }, "a null pointer");
}

TEST(DlPack, GivesEveryDtypeInItsStrides) {
  const std::pair<DType, dlpack::ElementType> types[] = {{boolean, {6, 8, 1}}, {i64, {0, 64, 1}},
                                                         {f16, {2, 16, 1}},    {bf16, {4, 16, 1}},
                                                         {f32, {2, 32, 1}},    {f64, {2, 64, 1}}};
  for (const auto& [dtype, type] : types) {
    const Tensor x = tensor({0, 1, 1, 1, 0, 0}, {2, 3}, dtype), turned = transpose(x, 0, 1);
    dlpack::Managed* given = to_dlpack(view::slice(turned, 0, 1, 2, 1));
    const dlpack::Array& a = given->array;
    EXPECT_EQ(a.data, x.storage().bytes() + item_size(dtype));
    EXPECT_EQ(a.byte_offset, 0u);
    EXPECT_EQ(a.device.type, 1);
    EXPECT_EQ(a.type.code, type.code);
    EXPECT_EQ(a.type.bits, type.bits);
    EXPECT_EQ(a.type.lanes, 1);
    ASSERT_EQ(a.rank, 2);
    EXPECT_EQ(Shape({a.shape[0], a.shape[1]}), Shape({2, 2}));
    EXPECT_EQ(Shape({a.strides[0], a.strides[1]}), Shape({1, 3}));
    EXPECT_EQ(from_dlpack(given).to_vector(), (std::vector<double>{1, 0, 1, 0}));
  }
}

TEST(DlPack, WhatIsGivenLivesUntilItIsDeleted) {
  const std::size_t before = Storage::bytes_in_use();
  dlpack::ManagedVersioned* given = nullptr;
  {
    Tensor x = full({1000}, 3);
    given = to_dlpack_versioned(x);
    static_cast<float*>(given->array.data)[0] = 4;
    EXPECT_EQ(x.to_vector()[0], 4);
  }
  EXPECT_EQ(given->version.major, 1u);
  EXPECT_EQ(given->flags, 0u);
  EXPECT_EQ(static_cast<float*>(given->array.data)[999], 3);
  EXPECT_EQ(Storage::bytes_in_use(), before + 4000);
  given->deleter(given);
  EXPECT_EQ(Storage::bytes_in_use(), before);
}

TEST(DlPack, GivesNoHistoryAway) {
  Tensor w = ones({2}).set_requires_grad();
  expect_error([&] { to_dlpack(w); }, "pass x.detach()");
  expect_error([&] { to_dlpack(w * w); }, "records a history");
  expect_error([] { to_dlpack(Tensor()); }, "the tensor is undefined");
  dlpack::Managed* given = to_dlpack(w.detach());
  given->deleter(given);
}

}  // namespace
}  // namespace ladon::dlpack_test
