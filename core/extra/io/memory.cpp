#include "ladon/core/extra/io/memory.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "ladon/core/error.h"

namespace ladon {
namespace {

/// Lowest and highest offset of an element from `data`, in elements.
struct Reach {
  std::int64_t first = 0, last = 0;
};

Reach reach(const Shape& shape, const Shape& strides) {
  LADON_CHECK(shape.rank() == strides.rank(), "from_blob", "shape ", shape, " and strides ",
              strides, " must have the same number of axes");
  Reach r;
  if (detail::checked_count("from_blob", shape) == 0) return r;
  bool fits = true;
  for (int i = 0; i < shape.rank(); ++i) {
    std::int64_t span = 0, &end = strides[i] < 0 ? r.first : r.last;
    fits = fits && !__builtin_mul_overflow(shape[i] - 1, strides[i], &span) &&
           !__builtin_add_overflow(end, span, &end);
  }
  LADON_CHECK(fits && r.first >= -max_count && r.last < max_count + r.first, "from_blob", "shape ",
              shape, " with strides ", strides,
              " spans more than 2^60 elements, the largest possible number");
  return r;
}

/// Throws Error unless all bytes are 0 or 1, since reading any other byte as bool is undefined in
/// C++.
void check_booleans(const std::byte* data, const Shape& shape, const Shape& strides) {
  Shape index = Shape::filled(shape.rank(), 0);
  for (std::int64_t left = shape.count(); left > 0; --left) {
    std::int64_t at = 0;
    for (int i = 0; i < shape.rank(); ++i) at += index[i] * strides[i];
    LADON_CHECK(data[at] <= std::byte{1}, "from_blob", "the bool at ", index, " is the byte ",
                std::to_integer<int>(data[at]),
                ", not 0 or 1, as it must be; copy the elements with from_bytes");
    for (int i = shape.rank() - 1; i >= 0 && ++index[i] == shape[i]; --i) index[i] = 0;
  }
}

}  // namespace

Tensor from_blob(void* data, const Shape& shape, DType dtype, std::function<void(void*)> release) {
  detail::checked_count("from_blob", shape);
  return from_blob(data, shape, detail::contiguous_strides(shape), dtype, std::move(release));
}

Tensor from_blob(void* data, const Shape& shape, const Shape& strides, DType dtype,
                 std::function<void(void*)> release) {
  const auto [first, last] = reach(shape, strides);
  const auto item = static_cast<std::int64_t>(item_size(dtype));
  const std::int64_t count = shape.count();
  LADON_CHECK(count == 0 || data != nullptr, "from_blob",
              "needs a pointer to elements, got a null pointer to the elements of shape ", shape);
  LADON_CHECK(count == 0 || reinterpret_cast<std::uintptr_t>(data) % item_size(dtype) == 0,
              "from_blob", "data is not aligned to the ", item, " bytes of ", dtype,
              "; copy it with from_bytes");
  auto* bytes = static_cast<std::byte*>(data);
  if (dtype == boolean) check_booleans(bytes, shape, strides);
  const std::int64_t span = count == 0 ? 0 : last - first + 1;
  std::function<void()> when_gone;
  if (release) when_gone = [release = std::move(release), data] { release(data); };
  // An empty tensor needs no memory; its pointer, whatever it is, is only passed to `release`.
  Storage storage(count == 0 ? nullptr : bytes + first * item,
                  static_cast<std::size_t>(span * item), std::move(when_gone));
  return Tensor(std::move(storage), dtype, shape, strides, -first);
}

Tensor from_bytes(std::string_view bytes, const Shape& shape, DType dtype) {
  const auto count = static_cast<std::size_t>(detail::checked_count("from_bytes", shape));
  LADON_CHECK(bytes.size() / item_size(dtype) == count && bytes.size() % item_size(dtype) == 0,
              "from_bytes", "shape ", shape, " of ", dtype, " takes ", count, " elements of ",
              item_size(dtype), " bytes, but ", bytes.size(), " bytes were given");
  Tensor x = empty(shape, dtype);
  if (dtype == boolean)
    std::transform(bytes.begin(), bytes.end(), x.mutable_data<bool>(),
                   [](char byte) { return byte != 0; });
  else if (!bytes.empty())
    std::memcpy(x.storage().bytes(), bytes.data(), bytes.size());
  return x;
}

}  // namespace ladon
