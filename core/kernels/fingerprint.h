#pragma once
// 64-bit hashes, to test whether two values are the same bit for bit.

#include <cstdint>
#include <string_view>

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// Hash of the bytes, continuing from `before`. Different bytes collide with probability about
/// 2⁻⁶⁴; it is not secure against deliberate collisions.
std::uint64_t fingerprint(std::string_view bytes, std::uint64_t before = 0);
std::uint64_t fingerprint(std::uint64_t number, std::uint64_t before);
/// Hash of a tensor: of its dtype, its shape, and the bits of its elements in row-major order (of
/// all its examples, if it is mapped, core/mapped.h).
std::uint64_t fingerprint(const Tensor& x, std::uint64_t before = 0);

}  // namespace ladon::detail
