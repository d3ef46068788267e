#include "ladon/core/tensor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {
namespace {

/// Stride of an axis along which no step is ever made (of size 1, or in an empty tensor). Any value
/// would do, but arithmetic with it must not overflow, so a huge one becomes 0.
std::int64_t unused_stride(std::int64_t size, std::int64_t stride) {
  std::int64_t span = 0;
  const bool overflow = __builtin_mul_overflow(std::max<std::int64_t>(size, 1), stride, &span);
  return overflow || span > max_count || span < -max_count ? 0 : stride;
}

}  // namespace

Tensor::Tensor(Storage storage, DType dtype, const Shape& shape, const Shape& strides,
               std::int64_t offset)
    : storage_(std::move(storage)),
      shape_(shape),
      strides_(strides),
      offset_(offset),
      dtype_(dtype) {
  LADON_CHECK(shape.rank() == strides.rank(), "tensor", "shape ", shape, " and strides ", strides,
              " must have the same number of axes");
  bool fits = std::all_of(shape.begin(), shape.end(), [](std::int64_t n) { return n >= 0; });
  const bool empty = fits && detail::checked_count("tensor", shape) == 0;
  std::int64_t first = offset, last = offset;
  for (int i = 0; i < shape.rank(); ++i) {
    std::int64_t span = 0, &end = strides[i] < 0 ? first : last;
    if (empty || shape[i] == 1)
      strides_[i] = unused_stride(shape[i], strides[i]);
    else
      fits = fits && !__builtin_mul_overflow(shape[i] - 1, strides[i], &span) &&
             !__builtin_add_overflow(end, span, &end);
  }
  const auto capacity = static_cast<std::int64_t>(storage_.size() / item_size(dtype));
  if (empty && (offset < 0 || offset > capacity)) offset_ = 0;
  LADON_CHECK(empty || (fits && first >= 0 && last < capacity), "tensor", "shape ", shape,
              ", strides ", strides, " and offset ", offset, " do not lie inside a storage of ",
              capacity, " elements; every element must have an index from 0 to ", capacity - 1);
}

Tensor Tensor::over_examples(const Tensor& x, mapped::Levels levels) {
  Tensor y = x;
  y.history_ = nullptr;
  y.tangent_ = nullptr;
  y.levels_ = std::move(levels);
  y.example_stride_ = y.strides_[0];
  y.shape_.erase(0);
  y.strides_.erase(0);
  return y;
}

Tensor Tensor::with_examples() const {
  Tensor y = *this;
  y.history_ = nullptr;
  y.tangent_ = nullptr;
  y.shape_.insert(0, examples());
  y.strides_.insert(0, example_stride_);
  y.levels_ = {};
  return y;
}

std::byte* Tensor::strided_bytes() const {
  check_dtype(dtype_);
  return storage_.bytes() + offset_ * static_cast<std::int64_t>(item_size(dtype_));
}

bool Tensor::contiguous() const {
  std::int64_t step = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (shape_[i] == 0) return true;
    if (shape_[i] != 1 && strides_[i] != step) return false;
    step *= shape_[i];
  }
  return true;
}

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && a.offset() == b.offset() && a.shape() == b.shape() &&
         a.strides() == b.strides() && a.dtype() == b.dtype() && a.levels() == b.levels();
}

void Tensor::check_dtype(DType wanted) const {
  LADON_CHECK(defined(), "tensor", "the tensor is undefined; it has no elements to read");
  LADON_CHECK(!mapped(), "vmap", "the elements of a mapped tensor of shape ", shape_,
              " cannot be read directly: it has ", examples(),
              " examples; inside vmap use operations");
  LADON_CHECK(dtype_ == wanted, "tensor", "elements are ", dtype_, " but were accessed as ", wanted,
              "; convert with cast(x, ", wanted, ")");
}

void Tensor::throw_strided() const {
  detail::fail("data", "the elements of shape ", shape_, " with strides ", strides_,
               " are not in row-major order, which data() needs; read contiguous(x), or use "
               "strided_data() and the strides");
}

void Tensor::check_item() const {
  LADON_CHECK(defined(), "item", "the tensor is undefined; assign it a value first");
  LADON_CHECK(count() == 1, "item", "needs a tensor of one element, got shape ", shape_,
              "; reduce it, as sum and mean do, or use to_vector()");
}

double Tensor::number_item() const {
  check_item();
  const Tensor x = is_half(dtype_) ? kernels::cast(*this, f32) : *this;
  return visit_dtype(x.dtype(), [&]<class T>() { return static_cast<double>(*x.data<T>()); });
}

namespace {

/// x converted to T. Throws Error if T cannot hold it, rather than truncate it or wrap around.
template <class T, class S>
T converted(const char* operation, S x) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<S, bool>) {
    bool fits;
    if constexpr (std::is_integral_v<S>)
      fits = std::in_range<T>(x);
    else
      fits = holds(i64, static_cast<double>(x)) && std::in_range<T>(static_cast<std::int64_t>(x));
    LADON_CHECK(fits, operation, "the element ", x, " is not an integer of ", 8 * sizeof(T),
                " bits; read it as a double, or use cast(x, i64), which truncates it");
  }
  return static_cast<T>(x);
}

}  // namespace

std::int64_t Tensor::integer_item(std::int64_t least, std::int64_t most) const {
  check_item();
  const Tensor x = is_half(dtype_) ? kernels::cast(*this, f32) : *this;
  const auto value = visit_dtype(
      x.dtype(), [&]<class T>() { return converted<std::int64_t>("item", *x.data<T>()); });
  LADON_CHECK(value >= least && value <= most, "item", "the element ", value, " is outside [",
              least, ", ", most, "], the range of the requested type");
  return value;
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  LADON_CHECK(defined(), "to_vector", "the tensor is undefined; assign it a value first");
  const Tensor rows = kernels::contiguous(is_half(dtype_) ? kernels::cast(*this, f32) : *this);
  return visit_dtype(rows.dtype(), [&]<class S>() {
    const S* x = rows.data<S>();
    if constexpr (std::is_same_v<S, T>) return std::vector<T>(x, x + count());
    std::vector<T> all(count());
    std::transform(x, x + count(), all.begin(),
                   [](S element) { return converted<T>("to_vector", element); });
    return all;
  });
}
template std::vector<bool> Tensor::to_vector<bool>() const;
template std::vector<int> Tensor::to_vector<int>() const;
template std::vector<std::int64_t> Tensor::to_vector<std::int64_t>() const;
template std::vector<float> Tensor::to_vector<float>() const;
template std::vector<double> Tensor::to_vector<double>() const;

Tensor empty(const Shape& shape, DType dtype) {
  const auto count = static_cast<std::size_t>(detail::checked_count("empty", shape));
  return Tensor(Storage(count * item_size(dtype)), dtype, shape, detail::contiguous_strides(shape));
}

namespace {

void check_holds(std::string_view operation, DType dtype, double value) {
  LADON_CHECK(holds(dtype, value), operation, value, " is not representable as ", dtype,
              "; choose a floating dtype, or round it first");
}

const Tensor& like(std::string_view operation, const Tensor& x) {
  LADON_CHECK(x.defined(), operation, "the tensor is undefined; assign it a value first");
  return x;
}

}  // namespace

Tensor full(const Shape& shape, double value, DType dtype) {
  check_holds("full", dtype, value);
  Tensor x = empty(shape, dtype);
  kernels::fill(x, value);
  return x;
}

Tensor zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }
Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1, dtype); }
Tensor empty_like(const Tensor& x) { return empty(like("empty_like", x).shape(), x.dtype()); }
Tensor zeros_like(const Tensor& x) { return zeros(like("zeros_like", x).shape(), x.dtype()); }
Tensor ones_like(const Tensor& x) { return ones(like("ones_like", x).shape(), x.dtype()); }
Tensor scalar(double value, DType dtype) { return full({}, value, dtype); }

namespace {

/// A tensor of n elements value(i).
template <class Value>
Tensor sequence(std::string_view operation, std::int64_t n, DType dtype, const Value& value) {
  Tensor x = empty({n}, dtype);
  visit_dtype(dtype, [&]<class T>() {
    T* data = x.mutable_data<T>();
    for (std::int64_t i = 0; i < n; ++i) {
      const auto element = value(i);
      constexpr bool whole = std::is_same_v<std::remove_const_t<decltype(element)>, T>;
      if constexpr (!whole) check_holds(operation, dtype, static_cast<double>(element));
      data[i] = static_cast<T>(element);
    }
  });
  return x;
}

}  // namespace

Tensor detail::arange_integers(std::int64_t start, std::int64_t stop, std::int64_t step,
                               DType dtype) {
  LADON_CHECK(step != 0, "arange", "step is 0; it must be positive or negative");
  __extension__ using Wide = __int128;  // stop − start may need 65 bits
  const Wide distance = Wide{stop} - start;
  const Wide steps = (distance + step + (step > 0 ? -1 : 1)) / step;
  LADON_CHECK(steps <= max_count, "arange", "from ", start, " to ", stop, " by ", step,
              " makes more than 2^60 elements; take a larger step");
  const auto n = static_cast<std::int64_t>(std::max(Wide{0}, steps));
  return sequence("arange", n, dtype, [=](std::int64_t i) { return start + i * step; });
}

Tensor detail::arange_numbers(double start, double stop, double step, DType dtype) {
  LADON_CHECK(step != 0, "arange", "step is 0; it must be positive or negative");
  const double steps = std::ceil((stop - start) / step);
  LADON_CHECK(std::isfinite(steps) && steps < 0x1p60, "arange", "from ", start, " to ", stop,
              " by ", step, " makes ", steps,
              " elements; the number must be finite and below 2^60");
  const auto n = static_cast<std::int64_t>(std::max(0.0, steps));
  return sequence("arange", n, dtype,
                  [=](std::int64_t i) { return start + static_cast<double>(i) * step; });
}

Tensor linspace(double start, double stop, std::int64_t n, DType dtype) {
  return sequence("linspace", n, dtype, [=](std::int64_t i) {
    const double t = n == 1 ? 0 : static_cast<double>(i) / static_cast<double>(n - 1);
    return start * (1 - t) + stop * t;
  });
}

Tensor eye(std::int64_t n, DType dtype) {
  Tensor x = zeros({n, n}, dtype);
  visit_dtype(dtype, [&]<class T>() {
    T* data = x.mutable_data<T>();
    for (std::int64_t i = 0; i < n; ++i) data[i * (n + 1)] = T(1);
  });
  return x;
}

Tensor tensor(std::initializer_list<double> values, DType dtype) {
  return tensor(values, {static_cast<std::int64_t>(values.size())}, dtype);
}

namespace {

void check_count(const char* operation, const Shape& shape, std::size_t given) {
  LADON_CHECK(detail::checked_count(operation, shape) == static_cast<std::int64_t>(given),
              operation, "shape ", shape, " holds ", shape.count(), " elements, but ", given,
              " were given");
}

}  // namespace

Tensor tensor(std::initializer_list<double> values, const Shape& shape, DType dtype) {
  check_count("tensor", shape, values.size());
  for (const double value : values) check_holds("tensor", dtype, value);
  return kernels::cast(from_vector(std::vector<double>(values), shape), dtype);
}

template <ComputedElement T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape) {
  check_count("from_vector", shape, values.size());
  Tensor x = empty(shape, dtype_of<T>());
  std::copy(values.begin(), values.end(), x.mutable_data<T>());
  return x;
}
template Tensor from_vector(const std::vector<bool>&, const Shape&);
template Tensor from_vector(const std::vector<std::int64_t>&, const Shape&);
template Tensor from_vector(const std::vector<float>&, const Shape&);
template Tensor from_vector(const std::vector<double>&, const Shape&);

}  // namespace ladon
