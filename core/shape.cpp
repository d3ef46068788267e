#include "ladon/core/shape.h"

#include <algorithm>
#include <ostream>

#include "ladon/core/error.h"

namespace ladon {

Shape::Shape(std::initializer_list<std::int64_t> sizes)
    : Shape(std::span(sizes.begin(), sizes.size())) {}

Shape::Shape(std::span<const std::int64_t> sizes) {
  LADON_CHECK(sizes.size() <= max_rank, "shape", "a tensor has at most ", max_rank, " axes, got ",
              sizes.size());
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  rank_ = static_cast<std::int8_t>(sizes.size());
}

Shape Shape::filled(int rank, std::int64_t size) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.append(size);
  return shape;
}

std::int64_t Shape::count() const {
  std::uint64_t n = 1;  // wraps around for a shape that no tensor can have
  for (std::int64_t size : *this) n *= static_cast<std::uint64_t>(size);
  return static_cast<std::int64_t>(n);
}

void Shape::append(std::int64_t size) { insert(rank_, size); }

void Shape::insert(int position, std::int64_t size) {
  LADON_CHECK(rank_ < max_rank, "shape", "a tensor has at most ", max_rank, " axes, got ",
              rank_ + 1);
  LADON_CHECK(position >= 0 && position <= rank_, "shape",
              "needs a position from 0 to the rank to insert an axis, got ", position,
              " for shape ", *this);
  std::copy_backward(begin() + position, end(), end() + 1);
  sizes_[position] = size;
  ++rank_;
}

void Shape::erase(int position) {
  LADON_CHECK(position >= 0 && position < rank_, "shape",
              "needs an axis from 0 to the rank − 1 to erase, got ", position, " for shape ",
              *this);
  std::copy(begin() + position + 1, end(), begin() + position);
  --rank_;
}

Shape Shape::sub(int from, int to) const {
  LADON_CHECK(0 <= from && from <= to && to <= rank_, "shape", "axes [", from, ", ", to,
              ") are out of range for shape ", *this, "; they must lie in [0, ", rank_, "]");
  return Shape(std::span(begin() + from, static_cast<std::size_t>(to - from)));
}

bool Shape::operator==(const Shape& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '[';
  for (int i = 0; i < shape.rank(); ++i) out << (i ? ", " : "") << shape[i];
  return out << ']';
}

Shape detail::contiguous_strides(const Shape& shape) {
  Shape strides = shape;
  std::int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

std::int64_t detail::checked_count(std::string_view operation, const Shape& shape) {
  std::int64_t n = 1;
  for (const std::int64_t size : shape) {
    LADON_CHECK(size >= 0, operation, "sizes must not be negative, got shape ", shape);
    const bool overflow = __builtin_mul_overflow(n, std::max<std::int64_t>(size, 1), &n);
    LADON_CHECK(!overflow && n <= max_count, operation, "the sizes of shape ", shape,
                " multiply to more than 2^60 elements");
  }
  return shape.count();
}

std::int64_t detail::checked_sum(std::string_view operation, std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  const bool overflow = __builtin_add_overflow(a, b, &sum);
  LADON_CHECK(!overflow && sum <= max_count && sum >= -max_count, operation, "a size of ", a, " + ",
              b, " is more than 2^60");
  return sum;
}

std::int64_t detail::checked_product(std::string_view operation, std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  const bool overflow = __builtin_mul_overflow(a, b, &product);
  LADON_CHECK(!overflow && product <= max_count && product >= -max_count, operation, "a size of ",
              a, " · ", b, " is more than 2^60");
  return product;
}

void detail::refuse_axis(std::string_view operation, int axis, int rank) {
  if (rank == 0)
    fail(operation, "axis ", axis, " is out of range for a tensor of 0 axes, a single number");
  fail(operation, "axis ", axis, " is out of range for a tensor of ", rank,
       rank == 1 ? " axis" : " axes", "; it must be from ", -rank, " to ", rank - 1);
}

int detail::normalize_axis(std::string_view operation, int axis, int rank) {
  if (axis < -rank || axis >= rank) refuse_axis(operation, axis, rank);
  return axis < 0 ? axis + rank : axis;
}

Shape broadcast_shapes(std::string_view operation, const Shape& a, const Shape& b) {
  Shape out = a.rank() >= b.rank() ? a : b;
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    const std::int64_t m = a[a.rank() - i], n = b[b.rank() - i];
    LADON_CHECK(m == n || m == 1 || n == 1, operation, "shapes do not broadcast: ", a, " and ", b,
                "; sizes ", m, " and ", n, " differ at axis ", -i, " and neither is 1");
    out[out.rank() - i] = m == 1 ? n : m;
  }
  return out;
}

}  // namespace ladon
