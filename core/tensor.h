#pragma once
// The tensor: a handle to a strided window on shared storage.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "ladon/core/dtype.h"
#include "ladon/core/levels.h"
#include "ladon/core/shape.h"
#include "ladon/core/storage.h"

namespace ladon {

// A tensor's node in the autograd graph, and its tangent in forward mode (autograd/record.h). Core
// never uses their members.
namespace detail {
class Node;
class Tangent;
}  // namespace detail

/// An n-dimensional array. Copying a Tensor copies the handle: both see the same elements. Views
/// (slices, transposes, expansions) share storage too; element (i, j, …) is at
/// offset + i·strides[0] + j·strides[1] + …, where strides may be zero or negative.
///
/// A default-constructed Tensor is undefined: it has no elements and means "no tensor".
///
/// Threads. Different tensors may be used in different threads, and one tensor may be *read* by any
/// number of them at once: operations on it, recorded or not, `grad()` and `backward()` included
/// (a graph that two backward passes share needs retain_graph). If several threads call backward()
/// on graphs with common leaves, the leaves accumulate all gradients, but the last bits of the sums
/// depend on timing. Whatever changes a tensor (mutable_data, the operations named with a trailing
/// _, set_grad, set_requires_grad, set_history, hooks, an optimizer's step) must not run at the
/// same time as any other use of it.
class Tensor {
 public:
  Tensor() = default;
  /// A window on existing storage. Throws Error for a negative size, or if an element of the window
  /// lies outside the storage.
  Tensor(Storage storage, DType dtype, const Shape& shape, const Shape& strides,
         std::int64_t offset = 0);

  bool defined() const { return static_cast<bool>(storage_); }
  DType dtype() const { return dtype_; }
  // Getters of a temporary tensor return by value, so that for (auto n : transpose(x).shape()) is
  // safe.
  const Shape& shape() const& { return shape_; }
  Shape shape() && { return shape_; }
  const Shape& strides() const& { return strides_; }
  Shape strides() && { return strides_; }
  const Storage& storage() const& { return storage_; }
  Storage storage() && { return std::move(storage_); }
  std::int64_t offset() const { return offset_; }
  int rank() const { return shape_.rank(); }
  /// Number of elements.
  std::int64_t count() const { return shape_.count(); }
  /// Size of one axis; a negative axis counts from the end. Throws Error if it is out of range.
  std::int64_t size(int axis) const { return shape_[axis]; }
  /// Whether elements lie in row-major order without gaps (of one example, if the tensor is
  /// mapped).
  bool contiguous() const;

  /// A mapped tensor (mapped.h) is one tensor of this shape for each example of a batch.
  bool mapped() const { return !levels_.none(); }
  const mapped::Levels& levels() const& { return levels_; }
  mapped::Levels levels() && { return std::move(levels_); }
  /// Number of examples; −1 for a tensor that is not mapped.
  std::int64_t examples() const { return levels_.examples(); }
  /// Converts x [examples, shape..] to a mapped tensor of `shape`; with_examples() is the inverse.
  static Tensor over_examples(const Tensor& x, mapped::Levels levels);
  Tensor with_examples() const;

  /// Pointer to the count() elements in row-major order. Throws Error unless T matches the dtype
  /// and the tensor is contiguous and not mapped.
  template <class T>
  const T* data() const {
    check_row_major();
    return strided_data<T>();
  }
  /// data() for writing: a call counts as an in-place edit, which autograd detects.
  template <class T>
  T* mutable_data() {
    check_row_major();
    return mutable_strided_data<T>();
  }
  /// Pointer to the first element of a tensor in any layout; strides() leads to the other elements.
  template <class T>
  const T* strided_data() const {
    check_dtype(dtype_of<T>());
    return reinterpret_cast<const T*>(storage_.bytes()) + offset_;
  }
  /// Pointer to the first element as bytes, of any dtype. Throws Error if the tensor is mapped.
  std::byte* strided_bytes() const;
  template <class T>
  T* mutable_strided_data() {
    check_dtype(dtype_of<T>());
    storage_.bump_version();
    return reinterpret_cast<T*>(storage_.bytes()) + offset_;
  }

  /// The only element, converted to T. Throws Error unless count() is 1, or if T is an integer type
  /// that cannot hold the element: NaN, a fraction, or a value out of range.
  template <class T = double>
  T item() const {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using Limits = std::numeric_limits<T>;
      constexpr auto most = std::min<std::uint64_t>(Limits::max(), INT64_MAX);
      return static_cast<T>(integer_item(std::int64_t{Limits::min()}, std::int64_t{most}));
    }
    if (dtype_ == DType::i64) return static_cast<T>(integer_item());  // all 64 bits
    return static_cast<T>(number_item());
  }
  /// All elements in row-major order, converted to T. Throws Error if T is an integer type that
  /// cannot hold an element.
  template <class T = double>
  std::vector<T> to_vector() const;

  // --- autograd ---
  //
  // Declared here so that x.grad() is a member, but defined in autograd/leaf.cpp: by design, the
  // only dependence of core on a folder above it.

  /// Whether operations on this tensor are recorded.
  bool requires_grad() const;
  /// Makes this tensor a leaf whose gradient `backward` accumulates. False freezes the leaf, and
  /// true thaws it, for all of its handles. Throws Error for integers, booleans and results of
  /// recorded operations.
  Tensor& set_requires_grad(bool on = true);
  /// The accumulated gradient of a leaf; undefined before the first backward.
  Tensor grad() const;
  /// Replaces the gradient; an undefined tensor clears it. Throws Error if the shape or dtype
  /// differ or if this is not a leaf.
  void set_grad(Tensor grad);
  /// Constant with the same elements, without history and tangent.
  Tensor detach() const;
  /// Node in the autograd graph: null for a constant; a frozen leaf keeps its node.
  const std::shared_ptr<detail::Node>& history() const& { return history_; }
  std::shared_ptr<detail::Node> history() && { return std::move(history_); }
  void set_history(std::shared_ptr<detail::Node> history) { history_ = std::move(history); }
  /// The tangent of a dual number (autograd/extra/transforms/forward.h); null for other tensors.
  const std::shared_ptr<const detail::Tangent>& tangent() const { return tangent_; }
  void set_tangent(std::shared_ptr<const detail::Tangent> tangent) {
    tangent_ = std::move(tangent);
  }

 private:
  void check_dtype(DType wanted) const;
  void check_row_major() const {
    if (!contiguous()) [[unlikely]]
      throw_strided();
  }
  [[noreturn]] void throw_strided() const;
  void check_item() const;
  std::int64_t integer_item(std::int64_t least = INT64_MIN, std::int64_t most = INT64_MAX) const;
  double number_item() const;

  Storage storage_;
  std::shared_ptr<detail::Node> history_;
  std::shared_ptr<const detail::Tangent> tangent_;
  Shape shape_;
  Shape strides_;
  std::int64_t offset_ = 0;
  mapped::Levels levels_;
  std::int64_t example_stride_ = 0;
  DType dtype_ = DType::f32;
};

/// Whether both are the same window on the same storage (or both undefined): what is written
/// through one is read through the other. Their histories may differ.
bool same_elements(const Tensor& a, const Tensor& b);

/// Prints values in nested brackets, then shape and dtype; long axes are abbreviated by "…".
std::ostream& operator<<(std::ostream& out, const Tensor& x);
std::string to_string(const Tensor& x);

namespace detail {

/// What messages say of a tensor: "[2, 3]", or "an undefined tensor".
std::string shape_in_words(const Tensor& x);
/// With its dtype: "f32 [2, 3]".
std::string kind_in_words(const Tensor& x);

}  // namespace detail

// --- creation ---

/// Uninitialized elements, row-major.
Tensor empty(const Shape& shape, DType dtype = f32);
Tensor zeros(const Shape& shape, DType dtype = f32);
Tensor ones(const Shape& shape, DType dtype = f32);
/// A tensor filled with `value`. Throws Error if dtype cannot hold `value`, for instance a fraction
/// in i64 or a number out of range.
Tensor full(const Shape& shape, double value, DType dtype = f32);
Tensor empty_like(const Tensor& x);
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);
/// A tensor of rank 0. Throws Error whenever full() throws it.
Tensor scalar(double value, DType dtype = f32);
/// n evenly spaced values, both ends included. Throws Error whenever full() throws it.
Tensor linspace(double start, double stop, std::int64_t n, DType dtype = f32);
/// The identity matrix [n, n]: ones on the diagonal, and zeros elsewhere.
Tensor eye(std::int64_t n, DType dtype = f32);
/// Row-major values in the given shape (one axis if none is given). Throws Error if counts differ,
/// or if dtype cannot hold a value.
Tensor tensor(std::initializer_list<double> values, DType dtype = f32);
Tensor tensor(std::initializer_list<double> values, const Shape& shape, DType dtype = f32);
/// A tensor with the elements of a vector of bool, std::int64_t, float or double, in row-major
/// order; its dtype is that of T.
template <ComputedElement T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape);

namespace detail {
Tensor arange_integers(std::int64_t start, std::int64_t stop, std::int64_t step, DType dtype);
Tensor arange_numbers(double start, double stop, double step, DType dtype);
template <class... T>
concept Integers = (std::is_integral_v<T> && ...);
template <class... T>
concept Numbers = (std::is_arithmetic_v<T> && ...);
}  // namespace detail

/// The numbers start, start + step, … below stop (above, for a negative step). Integer arguments
/// give i64, a floating-point one f32, unless the dtype is given. Throws Error if step is 0, the
/// number of elements is not finite, or the dtype cannot hold one of them.
template <class Start, class Stop, class Step>
requires detail::Numbers<Start, Stop, Step> Tensor arange(Start start, Stop stop, Step step,
                                                          DType dtype) {
  if constexpr (detail::Integers<Start, Stop, Step>)
    return detail::arange_integers(start, stop, step, dtype);
  else
    return detail::arange_numbers(start, stop, step, dtype);
}
template <class Start, class Stop, class Step = int>
requires detail::Numbers<Start, Stop, Step> Tensor arange(Start start, Stop stop, Step step = 1) {
  return arange(start, stop, step, detail::Integers<Start, Stop, Step> ? i64 : f32);
}
/// The numbers 0, 1, … below stop.
template <class Stop>
requires detail::Numbers<Stop> Tensor arange(Stop stop) { return arange(0, stop); }

}  // namespace ladon
