#pragma once
// Shapes: short lists of sizes, held inline so that no operation allocates for them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string_view>

namespace ladon {

namespace detail {
[[noreturn]] void refuse_axis(std::string_view operation, int axis, int rank);
}

/// The sizes (or the strides, in elements) of a tensor, outermost axis first. At most 8 axes.
class Shape {
 public:
  static constexpr int max_rank = 8;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes);
  explicit Shape(std::span<const std::int64_t> sizes);

  /// `rank` axes, each of `size`.
  static Shape filled(int rank, std::int64_t size);

  int rank() const { return rank_; }
  /// Size of an axis that may be negative (−1 is the last). Throws Error when out of range.
  std::int64_t operator[](int axis) const { return sizes_[place(axis)]; }
  std::int64_t& operator[](int axis) { return sizes_[place(axis)]; }

  const std::int64_t* begin() const { return sizes_.data(); }
  const std::int64_t* end() const { return sizes_.data() + rank_; }
  std::int64_t* begin() { return sizes_.data(); }
  std::int64_t* end() { return sizes_.data() + rank_; }

  /// Product of the sizes; 1 for rank 0.
  std::int64_t count() const;

  void append(std::int64_t size);
  void insert(int position, std::int64_t size);
  void erase(int position);
  /// The sizes of axes [from, to).
  Shape sub(int from, int to) const;

  bool operator==(const Shape& other) const;

 private:
  std::size_t place(int axis) const {
    const int i = axis < 0 ? axis + rank_ : axis;
    if (i < 0 || i >= rank_) [[unlikely]]
      detail::refuse_axis("shape", axis, rank_);
    return static_cast<std::size_t>(i);
  }

  std::array<std::int64_t, max_rank> sizes_{};
  std::int8_t rank_ = 0;
};

/// Writes the sizes in brackets, such as "[2, 3]".
std::ostream& operator<<(std::ostream& out, const Shape& shape);

namespace detail {

/// Row-major strides, in elements.
Shape contiguous_strides(const Shape& shape);

}  // namespace detail

// Sizes that come from outside (a file, a user) go through the three checked_ functions before
// anything is computed with them. Sizes that pass cannot overflow, in elements or in bytes.

/// Largest number of elements of a tensor: 2⁶⁰ − 1, so that the number of bytes fits in 63 bits.
inline constexpr std::int64_t max_count = (std::int64_t{1} << 60) - 1;

namespace detail {

/// Element count of a shape. Throws Error on a negative size, or if the product of the sizes that
/// are not 0 is above max_count (so that the strides of an empty tensor cannot overflow either).
std::int64_t checked_count(std::string_view operation, const Shape& shape);
/// a + b; throws Error if the sum is above max_count or below −max_count.
std::int64_t checked_sum(std::string_view operation, std::int64_t a, std::int64_t b);
/// a·b; throws Error if the product is above max_count or below −max_count.
std::int64_t checked_product(std::string_view operation, std::int64_t a, std::int64_t b);

/// Maps an axis in [−rank, rank) to [0, rank); throws Error for an axis outside that range.
int normalize_axis(std::string_view operation, int axis, int rank);

}  // namespace detail

/// The shape that two operands broadcast to, by NumPy's rule: axes are aligned at the right, and an
/// axis of size 1 stretches. Throws Error naming both shapes if they do not broadcast.
Shape broadcast_shapes(std::string_view operation, const Shape& a, const Shape& b);

}  // namespace ladon
