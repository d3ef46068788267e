#pragma once
// The tensor: a value-semantic handle to a strided window on shared storage.

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "ladon/core/dtype.h"
#include "ladon/core/shape.h"
#include "ladon/core/storage.h"

namespace ladon {

class Node;  // A tensor's place in the autograd graph (autograd/graph.h). Core never looks inside.

/// An n-dimensional array. Copying a Tensor copies the handle: both see the same elements. Views
/// (slices, transposes, expansions) share storage too; element (i, j, …) stands at
/// offset + i·strides[0] + j·strides[1] + …, where strides may be zero or negative.
///
/// A default-constructed Tensor is undefined: it holds nothing and means "none".
class Tensor {
 public:
  Tensor() = default;
  /// A window on existing storage; every index of it must fall inside (checked by `require`).
  Tensor(Storage storage, DType dtype, const Shape& shape, const Shape& strides,
         std::int64_t offset = 0);

  bool defined() const { return static_cast<bool>(storage_); }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const Shape& strides() const { return strides_; }
  std::int64_t offset() const { return offset_; }
  const Storage& storage() const { return storage_; }
  int rank() const { return shape_.rank(); }
  /// Number of elements.
  std::int64_t count() const { return shape_.count(); }
  /// Size of one axis, which may be negative. Throws Error when out of range.
  std::int64_t size(int axis) const { return shape_.at(axis); }
  /// Whether elements lie in row-major order without gaps.
  bool contiguous() const;

  /// The first element. T must match the dtype (Error otherwise).
  template <class T>
  const T* data() const {
    check_dtype(dtype_of<T>());
    return reinterpret_cast<const T*>(storage_.bytes()) + offset_;
  }
  /// As data(), for writing: counts as an in-place edit, which autograd detects.
  template <class T>
  T* mutable_data() {
    check_dtype(dtype_of<T>());
    storage_.bump_version();
    return reinterpret_cast<T*>(storage_.bytes()) + offset_;
  }

  /// The only element, converted to T. Throws Error unless count() is 1.
  template <class T = double>
  T item() const {
    return static_cast<T>(item_as_double());
  }
  /// All elements in row-major order, converted to T.
  template <class T = double>
  std::vector<T> to_vector() const;

  // --- autograd (defined in autograd/graph.cpp) ---

  /// Whether operations on this tensor are recorded.
  bool requires_grad() const { return history_ != nullptr; }
  /// Makes this tensor a leaf whose gradient `backward` accumulates; false detaches it.
  /// Throws Error for integers and booleans, and for results of recorded operations.
  Tensor& set_requires_grad(bool on = true);
  /// The accumulated gradient of a leaf; undefined before the first backward.
  Tensor grad() const;
  /// Replaces the gradient; an undefined tensor clears it. Throws Error if the shape or dtype
  /// differ or if this is not a leaf.
  void set_grad(Tensor grad);
  /// The same elements without history.
  Tensor detach() const;
  const std::shared_ptr<Node>& history() const { return history_; }
  void set_history(std::shared_ptr<Node> history) { history_ = std::move(history); }

 private:
  void check_dtype(DType wanted) const;
  double item_as_double() const;

  Storage storage_;
  std::shared_ptr<Node> history_;
  Shape shape_;
  Shape strides_;
  std::int64_t offset_ = 0;
  DType dtype_ = DType::f32;
};

/// Prints values in nested brackets, then shape and dtype; long axes are abbreviated by "…".
std::ostream& operator<<(std::ostream& out, const Tensor& x);
std::string to_string(const Tensor& x);

// --- creation ---

/// Uninitialized elements, row-major.
Tensor empty(const Shape& shape, DType dtype = f32);
Tensor zeros(const Shape& shape, DType dtype = f32);
Tensor ones(const Shape& shape, DType dtype = f32);
Tensor full(const Shape& shape, double value, DType dtype = f32);
Tensor empty_like(const Tensor& x);
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);
/// A tensor of rank 0.
Tensor scalar(double value, DType dtype = f32);
/// start, start + step, … while below (above, for a negative step) stop. Throws Error if step is 0.
Tensor arange(double start, double stop, double step = 1, DType dtype = i64);
/// n evenly spaced values, both ends included.
Tensor linspace(double start, double stop, std::int64_t n, DType dtype = f32);
/// [n, n] with ones on the diagonal.
Tensor eye(std::int64_t n, DType dtype = f32);
/// Row-major values in the given shape (one axis if none is given). Throws Error if counts differ.
Tensor tensor(std::initializer_list<double> values, DType dtype = f32);
Tensor tensor(std::initializer_list<double> values, const Shape& shape, DType dtype = f32);
/// From a vector of bool-like bytes, integers, float or double; the dtype follows T.
template <class T>
Tensor from_vector(const std::vector<T>& values, const Shape& shape);

}  // namespace ladon
