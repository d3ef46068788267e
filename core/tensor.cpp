#include "ladon/core/tensor.h"

#include <cmath>
#include <limits>

#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"

namespace ladon {

Tensor::Tensor(Storage storage, DType dtype, const Shape& shape, const Shape& strides,
               std::int64_t offset)
    : storage_(std::move(storage)),
      shape_(shape),
      strides_(strides),
      offset_(offset),
      dtype_(dtype) {
  detail::require(shape.rank() == strides.rank(),
                  "a tensor's shape and strides have the same rank");
  std::int64_t first = offset, last = offset;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 0) return;
    (strides[i] < 0 ? first : last) += (shape[i] - 1) * strides[i];
  }
  const auto capacity = static_cast<std::int64_t>(storage_.size() / item_size(dtype));
  detail::require(first >= 0 && last < capacity, "a tensor's elements lie inside its storage");
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

void Tensor::check_dtype(DType wanted) const {
  LADON_CHECK(defined(), "tensor", "the tensor is undefined; it has no elements to read");
  LADON_CHECK(dtype_ == wanted, "tensor", "elements are ", dtype_, " but were accessed as ", wanted,
              "; convert with cast(x, ", wanted, ")");
}

double Tensor::item_as_double() const {
  LADON_CHECK(defined(), "item", "the tensor is undefined");
  LADON_CHECK(count() == 1, "item", "needs a tensor of one element, got shape ", shape_);
  return visit_dtype(dtype_, [&]<class T>() { return static_cast<double>(*data<T>()); });
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  LADON_CHECK(defined(), "to_vector", "the tensor is undefined");
  const Tensor rows = kernels::contiguous(*this);
  return visit_dtype(dtype_, [&]<class S>() {
    const S* x = rows.data<S>();
    return std::vector<T>(x, x + count());
  });
}
template std::vector<bool> Tensor::to_vector<bool>() const;
template std::vector<int> Tensor::to_vector<int>() const;
template std::vector<std::int64_t> Tensor::to_vector<std::int64_t>() const;
template std::vector<float> Tensor::to_vector<float>() const;
template std::vector<double> Tensor::to_vector<double>() const;

Tensor empty(const Shape& shape, DType dtype) {
  const auto count = static_cast<std::size_t>(checked_count("empty", shape));
  const std::size_t limit = std::numeric_limits<std::int64_t>::max() / item_size(dtype);
  LADON_CHECK(count <= limit, "empty", "shape ", shape, " of ", dtype,
              " needs more than 2^63 bytes");
  return Tensor(Storage(count * item_size(dtype)), dtype, shape, contiguous_strides(shape));
}

Tensor full(const Shape& shape, double value, DType dtype) {
  Tensor x = empty(shape, dtype);
  kernels::fill(x, value);
  return x;
}

Tensor zeros(const Shape& shape, DType dtype) { return full(shape, 0, dtype); }
Tensor ones(const Shape& shape, DType dtype) { return full(shape, 1, dtype); }
Tensor empty_like(const Tensor& x) { return empty(x.shape(), x.dtype()); }
Tensor zeros_like(const Tensor& x) { return zeros(x.shape(), x.dtype()); }
Tensor ones_like(const Tensor& x) { return ones(x.shape(), x.dtype()); }
Tensor scalar(double value, DType dtype) { return full({}, value, dtype); }

Tensor arange(double start, double stop, double step, DType dtype) {
  LADON_CHECK(step != 0, "arange", "step is 0");
  const double steps = std::ceil((stop - start) / step);
  LADON_CHECK(std::isfinite(steps) && steps < 0x1p62, "arange", "from ", start, " to ", stop,
              " by ", step, " is not a finite number of elements");
  const auto n = static_cast<std::int64_t>(std::max(0.0, steps));
  Tensor x = empty({n}, dtype);
  visit_dtype(dtype, [&]<class T>() {
    T* data = x.mutable_data<T>();
    for (std::int64_t i = 0; i < n; ++i)
      data[i] = static_cast<T>(start + static_cast<double>(i) * step);
  });
  return x;
}

Tensor linspace(double start, double stop, std::int64_t n, DType dtype) {
  Tensor x = empty({n}, dtype);
  visit_dtype(dtype, [&]<class T>() {
    T* data = x.mutable_data<T>();
    for (std::int64_t i = 0; i < n; ++i) {
      const double t = n == 1 ? 0 : static_cast<double>(i) / static_cast<double>(n - 1);
      data[i] = static_cast<T>(start * (1 - t) + stop * t);
    }
  });
  return x;
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

Tensor tensor(std::initializer_list<double> values, const Shape& shape, DType dtype) {
  return kernels::cast(from_vector(std::vector<double>(values), shape), dtype);
}

template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape) {
  LADON_CHECK(checked_count("tensor", shape) == static_cast<std::int64_t>(values.size()), "tensor",
              "shape ", shape, " holds ", shape.count(), " elements, but ", values.size(),
              " were given");
  Tensor x = empty(shape, dtype_of<T>());
  std::copy(values.begin(), values.end(), x.mutable_data<T>());
  return x;
}
template Tensor from_vector(const std::vector<bool>&, const Shape&);
template Tensor from_vector(const std::vector<std::int64_t>&, const Shape&);
template Tensor from_vector(const std::vector<float>&, const Shape&);
template Tensor from_vector(const std::vector<double>&, const Shape&);

}  // namespace ladon
