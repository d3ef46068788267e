// Tensors, shapes and views: what is shared, what is checked, how it prints.

#include "ladon/core/tensor.h"

#include <cmath>
#include <limits>

#include "ladon/core/io/print.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/like.h"
#include "ladon/core/view.h"
#include "ladon/tests/support.h"

namespace ladon::tensor_test {
namespace {

using test::expect_error;

Tensor counting(const Shape& shape) {
  const Tensor flat = arange(shape.count());
  return view::try_reshape(flat, shape);
}

std::vector<std::int64_t> values(const Tensor& x) { return x.to_vector<std::int64_t>(); }
using Values = std::vector<std::int64_t>;

TEST(Shape, KnowsItsSizes) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.count(), 24);
  EXPECT_EQ(shape[-1], 4);
  EXPECT_EQ(Shape{}.count(), 1);
  EXPECT_EQ((Shape{2, 0}).count(), 0);
  EXPECT_EQ(detail::contiguous_strides(shape), (Shape{12, 4, 1}));
  EXPECT_EQ(detail::join(shape), "[2, 3, 4]");
  EXPECT_EQ(shape[-3], 2);
  expect_error([&] { shape[3]; }, "axis 3 is out of range for a tensor of 3 axes");
  expect_error([&] { shape[-4]; }, "axis -4 is out of range for a tensor of 3 axes");
  Shape changed = shape;
  changed[-1] = 5;
  EXPECT_EQ(changed, (Shape{2, 3, 5}));
  expect_error([&] { changed[3] = 1; }, "axis 3 is out of range for a tensor of 3 axes");
  expect_error([] { Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; }, "at most 8 axes, got 9");
}

TEST(Shape, KeepsToItsAxes) {
  Shape s{2, 3};
  test::expect_error([&] { s.insert(-1, 1); }, "got -1 for shape [2, 3]");
  test::expect_error([&] { s.insert(3, 1); }, "got 3 for shape [2, 3]");
  test::expect_error([&] { s.erase(2); }, "got 2 for shape [2, 3]");
  test::expect_error([&] { s.sub(1, 3); }, "[1, 3) are out of range for shape [2, 3]");
  test::expect_error([&] { s.sub(2, 1); }, "[2, 1) are out of range for shape [2, 3]");
  s.insert(2, 4);
  s.erase(0);
  EXPECT_EQ(s.sub(0, 2), (Shape{3, 4}));
  EXPECT_EQ(s.sub(2, 2), Shape{});
}

TEST(Shape, BroadcastsAsNumPyDoes) {
  EXPECT_EQ(broadcast_shapes("add", {2, 1, 4}, {3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast_shapes("add", {}, {5}), (Shape{5}));
  EXPECT_EQ(broadcast_shapes("add", {1}, {0}), (Shape{0}));
  expect_error(
      [] {
        broadcast_shapes("add", {2, 3}, {4, 3});
      },
      "[add] shapes do not broadcast: [2, 3] and [4, 3]; sizes 2 and 4 differ at axis -2");
}

TEST(Shape, CountsFromOutsideAreChecked) {
  expect_error(
      [] {
        detail::checked_count("load", {2, -1});
      },
      "[load] sizes must not be negative, got shape [2, -1]");
  const std::int64_t huge = std::int64_t{1} << 40;
  expect_error([=] { detail::checked_count("load", {huge, huge}); }, "more than 2^60 elements");
  expect_error([] { empty({std::numeric_limits<std::int64_t>::max()}); },
               "more than 2^60 elements");
  expect_error([] { empty({std::int64_t{1} << 58}); }, "out of memory");
}

TEST(Tensor, CopiesShareAndClonesDoNot) {
  Tensor a = zeros({3}, i64);
  const Tensor handle = a, copy = kernels::clone(a);
  a.mutable_data<std::int64_t>()[1] = 7;
  EXPECT_EQ(values(handle), (Values{0, 7, 0}));
  EXPECT_EQ(values(copy), (Values{0, 0, 0}));
}

TEST(Tensor, IsMadeInManyWays) {
  EXPECT_EQ(values(arange(2, 9, 3)), (Values{2, 5, 8}));
  EXPECT_EQ(values(arange(3, 0, -1)), (Values{3, 2, 1}));
  EXPECT_EQ(arange(3, 0).count(), 0);
  EXPECT_EQ(linspace(0, 1, 5, f64).to_vector(), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(values(eye(2, i64)), (Values{1, 0, 0, 1}));
  EXPECT_EQ(values(full({2, 2}, 3, i64)), (Values{3, 3, 3, 3}));
  EXPECT_EQ(tensor({1, 2, 3, 4}, {2, 2}).dtype(), f32);
  EXPECT_EQ(scalar(2.5).item(), 2.5);
  EXPECT_FALSE(Tensor().defined());
  expect_error([] { arange(0, 1, 0); }, "step is 0");
  expect_error(
      [] {
        tensor({1, 2, 3}, {2, 2});
      },
      "shape [2, 2] holds 4 elements, but 3 were given");
}

TEST(Tensor, NumbersKeepTheirFractionsOrAreRefused) {
  EXPECT_EQ(arange(0, 1, 0.25).dtype(), f32);
  EXPECT_EQ(arange(0, 1, 0.25).to_vector(), (std::vector<double>{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(arange(3.0).dtype(), f32);
  EXPECT_EQ(arange(3).dtype(), i64);
  EXPECT_EQ(values(arange(3)), (Values{0, 1, 2}));
  EXPECT_EQ(arange(0, 2, 1, f64).dtype(), f64);
  const std::int64_t big = (std::int64_t{1} << 62) + 1;  // no double
  EXPECT_EQ(values(arange(big, big + 2)), (Values{big, big + 1}));
  EXPECT_EQ(arange(big, big + 1).item<std::int64_t>(), big);
  EXPECT_EQ(arange(std::numeric_limits<std::int64_t>::min(), 0, big).count(), 2);
  EXPECT_EQ(values(arange(0, 2.5, 1, i64)), (Values{0, 1, 2}));
  expect_error([] { arange(0, 2.5, 0.5, i64); }, "[arange] 0.5 is not representable as i64");
  expect_error([] { arange(0, 1e30, 5e29, i64); }, "[arange] 5e+29 is not representable as i64");
  expect_error([] { linspace(0, 1, 3, i64); }, "[linspace] 0.5 is not representable as i64");
  expect_error([] { full({2}, 0.5, i64); }, "[full] 0.5 is not representable as i64");
  expect_error([] { full({2}, 1e300, i64); }, "[full] 1e+300 is not representable as i64");
  expect_error([] { full({2}, std::nan(""), i64); }, "[full] nan is not representable as i64");
  expect_error([] { full({2}, 2, boolean); }, "[full] 2 is not representable as bool");
  expect_error([] { scalar(1.5, i64); }, "1.5 is not representable as i64");
  expect_error([] { tensor({1, 2.5}, i64); }, "[tensor] 2.5 is not representable as i64");
}

TEST(Tensor, OfATemporaryGivesWhatLastsLonger) {
  const Tensor x = zeros({2, 3});
  const auto moved = [&] { return view::transpose(x, 0, 1); };
  std::vector<std::int64_t> sizes;
  for (const std::int64_t n : moved().shape())
    sizes.push_back(n);  // under ASan: no use after scope
  for (const std::int64_t n : moved().strides()) sizes.push_back(n);
  EXPECT_EQ(sizes, (Values{3, 2, 1, 3}));
  static_assert(!std::is_reference_v<decltype(moved().shape())>);
  static_assert(!std::is_reference_v<decltype(moved().strides())>);
  static_assert(!std::is_reference_v<decltype(moved().storage())>);
  static_assert(!std::is_reference_v<decltype(moved().history())>);
}

TEST(Tensor, DataIsInRowMajorOrder) {
  Tensor x = tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  Tensor columns = view::transpose(x, 0, 1);
  expect_error([&] { columns.data<float>(); }, "not in row-major order");
  expect_error([&] { columns.mutable_data<float>(); }, "strides [1, 3]");
  EXPECT_EQ(columns.strided_data<float>()[columns.strides()[0]], 2);
  columns.mutable_strided_data<float>()[columns.strides()[1]] = 9;
  EXPECT_EQ(x.to_vector(), (std::vector<double>{1, 2, 3, 9, 5, 6}));
}

TEST(Tensor, OfHugeSizesAreRefusedEvenIfEmpty) {
  const std::int64_t big = std::int64_t{1} << 62;
  expect_error([=] { zeros({0, big, big}); }, "more than 2^60 elements");
  expect_error([=] { zeros({big, big, 0}); }, "more than 2^60 elements");
  expect_error([] { zeros({3, -1}); }, "sizes must not be negative");
  EXPECT_EQ(zeros({0, std::int64_t{1} << 59}).count(), 0);
  EXPECT_EQ(detail::checked_sum("s", max_count, 0), max_count);
  expect_error([] { detail::checked_sum("s", max_count, 1); }, "[s] a size of");
  expect_error([=] { detail::checked_sum("s", big, big); }, "more than 2^60");
  expect_error([] { detail::checked_product("s", std::int64_t{1} << 30, std::int64_t{1} << 30); },
               "2^60");
}

TEST(Tensor, LikeNothingIsRefused) {
  expect_error([] { zeros_like(Tensor()); }, "[zeros_like] the tensor is undefined");
  expect_error([] { empty_like(Tensor()); }, "[empty_like] the tensor is undefined");
}

TEST(Tensor, NotANumberHasNoSign) {
  const double nan = std::nan("");
  EXPECT_EQ(to_string(tensor({nan, -nan}, f64)), "[nan, nan] [2] f64");
  EXPECT_EQ(detail::join(-nan, " and ", -static_cast<float>(nan)), "nan and nan");
}

TEST(Tensor, AccessIsChecked) {
  const Tensor x = zeros({2}, f32);
  expect_error([&] { x.data<double>(); }, "elements are f32 but were accessed as f64");
  expect_error([&] { x.item(); }, "needs a tensor of one element, got shape [2]");
  expect_error([] { Tensor().to_vector(); }, "undefined");
  expect_error([&] { Tensor(x.storage(), f32, {3}, {1}); }, "do not lie inside a storage of 2");
  expect_error([&] { Tensor(x.storage(), f32, {2}, {-1}); }, "do not lie inside");
  expect_error([&] { Tensor(x.storage(), f32, {-5}, {1}); }, "do not lie inside");
  expect_error([&] { Tensor(x.storage(), f32, {3}, {std::int64_t{1} << 62}); },
               "do not lie inside");
}

TEST(Tensor, StridesAlongWhichNoStepIsMadeMayBeAnything) {
  const Tensor x = ones({4});
  constexpr std::int64_t huge = std::int64_t{1} << 62, most = INT64_MAX;
  const Tensor one(x.storage(), f32, {1, 2}, {-huge, 2}, 1),
      none(x.storage(), f32, {0, 2}, {1, most}, most);
  EXPECT_EQ(kernels::clone(one).to_vector(), (std::vector<double>{1, 1}));
  EXPECT_EQ(kernels::clone(none).count(), 0);
  EXPECT_EQ(none.offset(), 0);
  expect_error([&] { Tensor(x.storage(), f32, {0, -5}, {1, 1}); }, "do not lie inside");
  expect_error([&] { Tensor(x.storage(), f32, {2}, {1, 1}); }, "the same number of axes");
  expect_error(
      [&] {
        Tensor(x.storage(), f32, {1 << 30, 1 << 30, 2}, {0, 0, 0});
      },
      "more than 2^60");
}

TEST(Tensor, StorageIsReturned) {
  const std::size_t before = Storage::bytes_in_use();
  {
    const Tensor x = zeros({1000}, f64), y = view::slice(x, 0, 0, 10, 1);
    EXPECT_EQ(Storage::bytes_in_use(), before + 8000);
  }
  EXPECT_EQ(Storage::bytes_in_use(), before);
}

TEST(Tensor, IsTheSameElementsInOneWindowOnly) {
  const Tensor x = counting({3, 3});
  EXPECT_TRUE(same_elements(x, Tensor(x)));
  EXPECT_TRUE(same_elements(x, view::transpose(view::transpose(x, 0, 1), 0, 1)));
  EXPECT_TRUE(same_elements(Tensor(), Tensor()));
  EXPECT_FALSE(same_elements(x, Tensor()));
  EXPECT_FALSE(same_elements(x, counting({3, 3})));                                     // storage
  EXPECT_FALSE(same_elements(x, view::transpose(x, 0, 1)));                             // strides
  EXPECT_FALSE(same_elements(view::select(x, 0, 0), view::select(x, 0, 1)));            // offset
  EXPECT_FALSE(same_elements(view::slice(x, 0, 0, 2, 1), view::slice(x, 0, 0, 3, 1)));  // shape
  EXPECT_FALSE(same_elements(x, Tensor(x.storage(), f64, x.shape(), x.strides())));     // dtype
}

TEST(View, SharesStorage) {
  Tensor x = counting({2, 3});
  const Tensor column = view::select(x, 1, 2), turned = view::transpose(x, 0, 1);
  x.mutable_data<std::int64_t>()[2] = 100;
  EXPECT_EQ(values(column), (Values{100, 5}));
  EXPECT_EQ(values(turned), (Values{0, 3, 1, 4, 100, 5}));
  EXPECT_FALSE(turned.contiguous());
}

TEST(View, SlicesForwardsAndBackwards) {
  const Tensor x = counting({6});
  EXPECT_EQ(values(view::slice(x, 0, 1, 3, 2)), (Values{1, 3, 5}));
  EXPECT_EQ(values(view::slice(x, 0, 5, 3, -2)), (Values{5, 3, 1}));
  EXPECT_EQ(view::slice(x, 0, 6, 0, 1).count(), 0);
}

TEST(View, ExpandsWithStrideZero) {
  const Tensor x = view::expand(counting({2, 1}), {3, 2, 2});
  EXPECT_EQ(values(x), (Values{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(x.strides(), (Shape{0, 1, 0}));
}

TEST(View, TakesDiagonals) {
  const Tensor x = counting({2, 3, 3});
  EXPECT_EQ(values(view::diagonal(x, 0, 1, 2)), (Values{0, 4, 8, 9, 13, 17}));
  EXPECT_EQ(values(view::diagonal(x, 1, 1, 2)), (Values{1, 5, 10, 14}));
  EXPECT_EQ(values(view::diagonal(x, -2, 1, 2)), (Values{6, 15}));
  EXPECT_EQ(view::diagonal(x, 5, 1, 2).shape(), (Shape{2, 0}));
}

// Every reshape of every view below either keeps the elements' order or says that it needs a copy;
// and it needs none where the view is contiguous.
TEST(View, ReshapesWhereStridesAllow) {
  const std::vector<Shape> targets = {{24},       {2, 12},      {4, 6}, {2, 3, 4},
                                      {1, 24, 1}, {2, 2, 2, 3}, {3, 8}};
  const Tensor x = counting({2, 3, 4});
  const std::vector<Tensor> sources = {x,
                                       view::transpose(x, 0, 1),
                                       view::permute(x, {2, 0, 1}),
                                       view::slice(counting({2, 3, 8}), 2, 0, 4, 2),
                                       view::slice(x, 1, 2, 3, -1),
                                       view::expand(counting({2, 1, 4}), {2, 3, 4}),
                                       view::unsqueeze(view::transpose(x, 1, 2), 1)};
  int views = 0;
  for (const Tensor& source : sources)
    for (const Shape& target : targets) {
      const Tensor y = view::try_reshape(source, target);
      if (!y.defined()) {
        EXPECT_FALSE(source.contiguous());
        continue;
      }
      ++views;
      EXPECT_EQ(values(y), values(source)) << source.strides() << " as " << target;
    }
  EXPECT_EQ(views, 19) << "NumPy needs no copy for the same 19";
}

TEST(Print, ShowsValuesShapeAndDtype) {
  EXPECT_EQ(to_string(tensor({1, 2.5, -3, 1e-9}, {2, 2})), "[[1, 2.5],\n [-3, 1e-09]] [2, 2] f32");
  EXPECT_EQ(to_string(scalar(3, i64)), "3 [] i64");
  EXPECT_EQ(to_string(ones({2}, boolean)), "[true, true] [2] bool");
  EXPECT_EQ(to_string(arange(0, 12)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] [12] i64");
  EXPECT_EQ(to_string(zeros({0, 3})), "[] [0, 3] f32");
  EXPECT_EQ(to_string(Tensor()), "undefined");
  EXPECT_EQ(to_string(counting({2, 1, 2})), "[[[0, 1]],\n\n [[2, 3]]] [2, 1, 2] i64");
}

TEST(Print, ShowsUpToAThousandElementsWholeAndMoreAsOptionsSay) {
  const auto cut = [](const Tensor& x) { return to_string(x).find("…") != std::string::npos; };
  for (const Shape& shape : {Shape{10, 10}, Shape{1000}, Shape{25, 40}, Shape{10, 10, 10}})
    EXPECT_FALSE(cut(counting(shape))) << shape;
  for (const Shape& shape : {Shape{1001}, Shape{26, 40}, Shape{3, 400}})
    EXPECT_TRUE(cut(counting(shape))) << shape;
  EXPECT_EQ(to_string(arange(0, 2000)), "[0, 1, 2, …, 1997, 1998, 1999] [2000] i64");
  const PrintOptions usual = print_options();
  set_print_options({.whole = 5, .ends = 1, .digits = 3});
  const std::string narrow = to_string(arange(0, 100)), number = to_string(tensor({3.14159}, f64));
  set_print_options({.whole = 5000});
  const std::string wide = to_string(arange(0, 2000));
  set_print_options(usual);
  EXPECT_EQ(narrow, "[0, …, 99] [100] i64");
  EXPECT_EQ(number, "[3.14] [1] f64");
  EXPECT_EQ(wide.find("…"), std::string::npos);
  for (const PrintOptions& wrong :
       {PrintOptions{.whole = -1}, PrintOptions{.ends = 0}, PrintOptions{.ends = 5},
        PrintOptions{.digits = 0}, PrintOptions{.digits = 18}})
    EXPECT_THROW(set_print_options(wrong), Error);
  EXPECT_EQ(print_options().whole, 1000);
}

TEST(Like, HasTheDtypeOfTheTensorAndAShapeOfItsOwn) {
  for (const DType t : {f32, f64, i64}) {
    const Tensor x = ones({2, 3}, t);
    for (const auto& [y, value] :
         {std::pair(full_like(x, 7, {4}), 7), std::pair(ones_like(x, {4}), 1),
          std::pair(zeros_like(x, {4}), 0)}) {
      EXPECT_EQ(y.dtype(), t);
      EXPECT_EQ(values(y), Values(4, value));
    }
    EXPECT_EQ(full_like(x, 7).shape(), x.shape());
    EXPECT_EQ(full_like(x, 7).dtype(), t);
  }
}

TEST(Tensor, ElementsThatAreNoWholeNumbersAreNotReadAsSuch) {
  for (const DType dtype : {f32, f64, f16, bf16}) {
    EXPECT_EQ(tensor({-2, 0, 3}, dtype).to_vector<std::int64_t>(),
              (std::vector<std::int64_t>{-2, 0, 3}));
    for (const double wrong : {1.5, -0.25, std::nan(""), double(INFINITY)}) {
      expect_error(
          [&] {
            tensor({1, wrong}, dtype).to_vector<std::int64_t>();
          },
          "is not an integer of 64 bits; read it as a double, or use cast(x, i64)");
      expect_error(
          [&] {
            tensor({1, wrong}, dtype).to_vector<int>();
          },
          "not an integer of 32 bits");
    }
  }
  for (const double wrong : {0x1p63, -0x1.8p63, 1e300})
    expect_error([&] { tensor({wrong}, f64).to_vector<std::int64_t>(); },
                 "[to_vector] the element ");
  EXPECT_EQ(tensor({-0x1p63}, f64).to_vector<std::int64_t>()[0], INT64_MIN);
  expect_error([] { tensor({0x1p31}, i64).to_vector<int>(); }, "the element 2147483648 is not");
  EXPECT_EQ(tensor({-0x1p31}, i64).to_vector<int>()[0], INT32_MIN);
  EXPECT_EQ(tensor({0.5, 0}, f64).to_vector<bool>(), (std::vector<bool>{true, false}));

  for (const double wrong : {1.5, std::nan(""), 0x1p63})
    expect_error([&] { scalar(wrong, f64).item<std::int64_t>(); }, "[item] the element ");
  expect_error([] { scalar(0x1p31, i64).item<int>(); },
               "[item] the element 2147483648 is outside [-2147483648, 2147483647]");
  expect_error([] { scalar(-1, i64).item<std::size_t>(); }, "the element -1 is outside [0, ");
  EXPECT_EQ(scalar(3, f16).item<std::size_t>(), 3u);
  EXPECT_EQ(scalar(1, boolean).item<int>(), 1);
}

}  // namespace
}  // namespace ladon::tensor_test
