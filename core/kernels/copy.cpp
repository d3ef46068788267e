// Copies and edits: cast, contiguous, clone, copy, fill, edit, axpby.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ladon/core/cxx20.h"
#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/strided.h"
#include "ladon/core/mapped.h"
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

template <class T>
concept Half = StoredElement<T> && !ComputedElement<T>;

/// widen() converts n half-precision numbers to f32, exactly; narrow() converts n f32 numbers to
/// the nearest half-precision numbers.
void widen(const Float16* x, float* y, std::int64_t n) { loops().half.widen_f16(&x->bits, y, n); }
void widen(const BFloat16* x, float* y, std::int64_t n) { loops().half.widen_bf16(&x->bits, y, n); }
void narrow(const float* x, Float16* y, std::int64_t n) { loops().half.narrow_f16(x, &y->bits, n); }
void narrow(const float* x, BFloat16* y, std::int64_t n) {
  loops().half.narrow_bf16(x, &y->bits, n);
}

/// x rounded *to odd* in f32: x itself if f32 holds it exactly, else the one of its two neighbours
/// in f32 whose last bit is 1. Rounding the result to 11 bits or fewer then gives the same number
/// as rounding x itself, also for ties (Boldo and Melquiond, "Emulation of FMA and correctly
/// rounded sums", 2008, thm. 1).
float to_odd(double x) {
  const auto near = static_cast<float>(x);
  auto bits = detail::bit_cast<std::uint32_t>(near);
  if (std::abs(static_cast<double>(near)) > std::abs(x)) --bits;  // rounds toward zero instead
  return static_cast<double>(near) == x ? near : detail::bit_cast<float>(bits | 1);
}
float to_odd(std::int64_t x) {
  // Up to `held`, x is exact in f64. Larger x are shifted right by 10 bits, with the last bit set
  // if any of the 10 lost bits was.
  constexpr auto held = std::int64_t{1} << 53;
  if (x >= -held && x <= held) return to_odd(static_cast<double>(x));
  return to_odd(static_cast<double>(x >> 10 | ((x & 1023) != 0))) * 1024;
}
float to_odd(bool x) { return x; }

/// Calls loop(i, m) for consecutive ranges [i, i + m) of n elements, with m at most piece_length,
/// the length of a buffer.
template <class Loop>
void by_buffers(std::int64_t n, const Loop& loop) {
  for (std::int64_t i = 0; i < n; i += piece_length) loop(i, std::min(piece_length, n - i));
}

template <class From, class To>
void convert_all(const From* x, To* y, std::int64_t n) {
  alignas(64) float wide[piece_length];
  if constexpr (std::is_same_v<From, To>)
    std::copy_n(x, n, y);
  else if constexpr (Half<From> && std::is_same_v<To, float>)
    widen(x, y, n);
  else if constexpr (std::is_same_v<From, float> && Half<To>)
    narrow(x, y, n);
  else if constexpr (Half<From>)
    by_buffers(n, [&](std::int64_t i, std::int64_t m) {
      widen(x + i, wide, m);
      convert_all<float, To>(wide, y + i, m);
    });
  else if constexpr (Half<To>)
    by_buffers(n, [&](std::int64_t i, std::int64_t m) {
      std::transform(x + i, x + i + m, wide, [](From value) { return to_odd(value); });
      narrow(wide, y + i, m);
    });
  else
    std::transform(x, x + n, y, convert<To, From>);
}

/// Throws Error for an expanded tensor, whose elements share memory: no element of a destination
/// may be written to twice.
void check_not_expanded(std::string_view operation, const Tensor& x) {
  for (int i = 0; i < x.rank(); ++i)
    LADON_CHECK(x.shape()[i] <= 1 || x.strides()[i] != 0, operation,
                "cannot write to an expanded tensor of shape ", x.shape(), ": axis ", i,
                " repeats one element; clone the tensor first");
}

void check_broadcasts_to(std::string_view operation, const Tensor& x, const Shape& shape) {
  LADON_CHECK(broadcast_shapes(operation, x.shape(), shape) == shape, operation, "shape ",
              x.shape(), " does not broadcast to the destination's ", shape);
}

/// Throws Error if y has levels of vmap that x lacks: values that differ between examples cannot be
/// written to a tensor that the examples share.
void check_room(std::string_view operation, const Tensor& x, const Tensor& y) {
  LADON_CHECK(mapped::levels({&x, &y}) == x.levels(), operation, "the values differ between the ",
              y.examples(), " examples of vmap, but the tensor ", x.shape(),
              " that they are written to is shared by all examples; compute a new tensor instead");
}

/// y itself; or a copy of y, if x and y are different windows on the same storage, because writing
/// to x could then change elements of y before they are read.
Tensor apart_from(const Tensor& x, const Tensor& y) {
  return x.storage() == y.storage() && !same_elements(x, y) ? clone(y) : y;
}

using Conversion = void (*)(const std::byte* x, std::byte* y, std::int64_t n);

Conversion conversion(DType to, DType from) {
  return visit_stored(to, [&]<class To>() {
    return visit_stored(from, []<class From>() -> Conversion {
      return [](const std::byte* x, std::byte* y, std::int64_t n) {
        convert_all(reinterpret_cast<const From*>(x), reinterpret_cast<To*>(y), n);
      };
    });
  });
}

/// y ← x, broadcast to y's shape and cast to y's dtype; y must not be expanded.
void copy_into(Tensor& y, const Tensor& x) {
  if (y.count() == 0) return;  // the address of an empty tensor may be null
  const Conversion loop = conversion(y.dtype(), x.dtype());
  const Operand to = Operand::output(y), from = Operand::input(x, y.shape());
  if (x.shape() == y.shape() && x.contiguous() && y.contiguous())
    for_flat(y.count(), [&](std::int64_t begin, std::int64_t end) {
      loop(from.data + begin * from.item, to.data + begin * to.item, end - begin);
    });
  else
    for_pieces(Pieces(y.shape(), {to, from}),
               [&](const Pieces::Pointers& at, std::int64_t n) { loop(at[1], at[0], n); });
}

/// Runs `loop_of<T>()(x, y, n)` on the elements of x, of type T, and of y, broadcast to x's shape.
/// Throws Error if the dtypes of x and y differ.
template <class LoopOf>
void in_place(std::string_view operation, Tensor x, const Tensor& y, const LoopOf& loop_of) {
  LADON_CHECK(x.dtype() == y.dtype(), operation, "needs operands of the same dtype, got ",
              x.dtype(), " and ", y.dtype());
  check_broadcasts_to(operation, y, x.shape());
  if (mapped::any(x, y)) {
    check_room(operation, x, y);
    const Tensor all = mapped::show(mapped::repeat(y, x.levels()), x.rank());
    return in_place(operation, mapped::show(x), all, loop_of);
  }
  check_not_expanded(operation, x);
  const Tensor from = apart_from(x, y);
  visit_dtype(x.dtype(), [&]<class T>() {
    const auto loop = loop_of.template operator()<T>();
    if (x.contiguous() && from.contiguous() && from.shape() == x.shape()) {
      T* to = x.mutable_data<T>();
      const T* in = from.data<T>();
      for_flat(x.count(), [=](std::int64_t begin, std::int64_t end) {
        loop(to + begin, in + begin, end - begin);
      });
    } else {
      for_pieces(Pieces(x.shape(), {Operand::in_place(x), Operand::input(from, x.shape())}),
                 [=](const Pieces::Pointers& at, std::int64_t n) {
                   loop(reinterpret_cast<T*>(at[0]), reinterpret_cast<const T*>(at[1]), n);
                 });
    }
  });
}

}  // namespace

Tensor cast(const Tensor& x, DType dtype) {
  if (x.defined() && x.dtype() == dtype) return x;
  if (x.mapped()) return mapped::broadcast([=](const Tensor& u) { return cast(u, dtype); }, x);
  Tensor y = empty(x.shape(), dtype);
  copy_into(y, x);
  return y;
}

Tensor contiguous(const Tensor& x) {
  LADON_CHECK(x.defined(), "contiguous", "the tensor is undefined; assign it a value first");
  return x.contiguous() ? x : clone(x);
}

Tensor clone(const Tensor& x) {
  LADON_CHECK(x.defined(), "clone", "the tensor is undefined; assign it a value first");
  if (x.mapped()) return mapped::broadcast(clone, x);
  Tensor y = empty_like(x);
  copy_into(y, x);
  return y;
}

void copy(Tensor destination, const Tensor& source) {
  LADON_CHECK(destination.defined(), "copy",
              "the destination is an undefined tensor; allocate it first, as empty() does");
  LADON_CHECK(source.defined(), "copy",
              "the source is an undefined tensor; there is nothing to copy");
  check_broadcasts_to("copy", source, destination.shape());
  if (mapped::any(destination, source)) {
    check_room("copy", destination, source);
    return copy(mapped::show(destination),
                mapped::show(mapped::repeat(source, destination.levels()), destination.rank()));
  }
  check_not_expanded("copy", destination);
  const Tensor from = apart_from(destination, source);
  copy_into(destination, from);
}

void fill(Tensor x, double value) {
  if (x.mapped()) return fill(mapped::show(x), value);
  check_not_expanded("fill", x);
  visit_stored(x.dtype(), [&]<class T>() {
    T element{};
    convert_all(&value, &element, 1);
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

void edit(Binary op, Tensor x, const Tensor& y) {
  in_place(to_string(op), x, y, [=]<class T>() {
    const auto loop = loops().of<T>().binary[int(op)];
    LADON_CHECK(loop != nullptr, to_string(op), "is not defined for ", dtype_of<T>(),
                "; convert the operands with cast(x, f32)");
    return [=](T* to, const T* from, std::int64_t n) { loop(to, from, to, n); };
  });
}

void axpby(double a, Tensor x, double b, const Tensor& y) {
  LADON_CHECK(x.dtype() != boolean, "axpby",
              "is not defined for bool; convert the operands with cast(x, f32)");
  in_place("axpby", x, y, [=]<class T>() {
    const auto loop = loops().of<T>().axpby;
    const T s = convert<T>(a), t = convert<T>(b);
    return [=](T* to, const T* from, std::int64_t n) { loop(s, to, t, from, n); };
  });
}

}  // namespace ladon::kernels
