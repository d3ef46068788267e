// Copies: cast, contiguous, clone, copy, fill, axpby.

#include <algorithm>
#include <limits>

#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/strided.h"
#include "ladon/core/view.h"

namespace ladon::kernels {
namespace {

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (x != x) return 0;
    if (x >= From(0x1p63)) return std::numeric_limits<To>::max();
    if (x < From(-0x1p63)) return std::numeric_limits<To>::min();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void convert_all(const From* x, To* y, std::int64_t n) {
  std::transform(x, x + n, y, convert<To, From>);
}

/// A writable operand must not hold an element twice.
void check_not_expanded(std::string_view operation, const Tensor& x) {
  for (int i = 0; i < x.rank(); ++i)
    LADON_CHECK(x.shape()[i] <= 1 || x.strides()[i] != 0, operation,
                "cannot write to an expanded tensor ", x.shape(), ": axis ", i,
                " repeats one element; clone it first");
}

void check_broadcasts_to(std::string_view operation, const Tensor& x, const Shape& shape) {
  LADON_CHECK(broadcast_shapes(operation, x.shape(), shape) == shape, operation, "shape ",
              x.shape(), " does not broadcast to the destination's ", shape);
}

/// y, or a copy of it if writing x would change elements of y that are still to be read.
Tensor apart_from(const Tensor& x, const Tensor& y) {
  return x.storage() == y.storage() && !same_elements(x, y) ? clone(y) : y;
}

void convert_pieces(const Pieces& pieces, DType to, DType from) {
  visit_dtype(to, [&]<class To>() {
    visit_dtype(from, [&]<class From>() {
      for_pieces(pieces, [](const Pieces::Pointers& at, std::int64_t n) {
        convert_all(reinterpret_cast<const From*>(at[1]), reinterpret_cast<To*>(at[0]), n);
      });
    });
  });
}

}  // namespace

Tensor cast(const Tensor& x, DType dtype) {
  if (x.defined() && x.dtype() == dtype) return x;
  Tensor y = empty(x.shape(), dtype);
  visit_dtype(dtype, [&]<class To>() {
    visit_dtype(x.dtype(), [&]<class From>() { map<To, From>(y, convert_all<From, To>, x); });
  });
  return y;
}

Tensor contiguous(const Tensor& x) {
  LADON_CHECK(x.defined(), "contiguous", "the tensor is undefined");
  return x.contiguous() ? x : clone(x);
}

Tensor clone(const Tensor& x) {
  LADON_CHECK(x.defined(), "clone", "the tensor is undefined");
  Tensor y = empty_like(x);
  visit_dtype(x.dtype(), [&]<class T>() { map<T, T>(y, convert_all<T, T>, x); });
  return y;
}

void copy(Tensor destination, const Tensor& source) {
  LADON_CHECK(destination.defined() && source.defined(), "copy", "a tensor is undefined");
  check_not_expanded("copy", destination);
  check_broadcasts_to("copy", source, destination.shape());
  const Tensor from = apart_from(destination, source);
  const Operand to = Operand::output(destination);
  convert_pieces(Pieces(destination.shape(), {to, Operand::input(from, destination.shape())}),
                 destination.dtype(), source.dtype());
}

void fill(Tensor x, double value) {
  check_not_expanded("fill", x);
  visit_dtype(x.dtype(), [&]<class T>() {
    const T element = convert<T>(value);
    if (x.contiguous()) {
      T* data = x.mutable_data<T>();
      for_flat(x.count(), [=](std::int64_t begin, std::int64_t end) {
        std::fill(data + begin, data + end, element);
      });
    } else {
      for_pieces(Pieces(x.shape(), {Operand::output(x)}),
                 [=](const Pieces::Pointers& at, std::int64_t n) {
                   std::fill_n(reinterpret_cast<T*>(at[0]), n, element);
                 });
    }
  });
}

void axpby(double a, Tensor x, double b, const Tensor& y) {
  LADON_CHECK(x.dtype() == y.dtype(), "axpby", "dtypes differ: ", x.dtype(), " and ", y.dtype());
  LADON_CHECK(x.dtype() != boolean, "axpby", "is not defined for bool");
  check_not_expanded("axpby", x);
  check_broadcasts_to("axpby", y, x.shape());
  const Tensor from = apart_from(x, y);
  visit_dtype(x.dtype(), [&]<class T>() {
    const auto loop = loops().of<T>().axpby;
    const T s = convert<T>(a), t = convert<T>(b);
    if (x.contiguous() && from.contiguous() && from.shape() == x.shape()) {
      T* to = x.mutable_data<T>();
      const T* in = from.data<T>();
      for_flat(x.count(), [=](std::int64_t begin, std::int64_t end) {
        loop(s, to + begin, t, in + begin, end - begin);
      });
    } else {
      for_pieces(Pieces(x.shape(), {Operand::in_place(x), Operand::input(from, x.shape())}),
                 [=](const Pieces::Pointers& at, std::int64_t n) {
                   loop(s, reinterpret_cast<T*>(at[0]), t, reinterpret_cast<const T*>(at[1]), n);
                 });
    }
  });
}

}  // namespace ladon::kernels
