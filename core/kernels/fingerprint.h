#pragma once
// Fingerprints: 64 bits that tell whether something is still, or elsewhere, the same.

#include <cstdint>
#include <string_view>

#include "ladon/core/tensor.h"

namespace ladon::detail {

/// Of some bytes, after what `before` is of. Two that differ have the same one by chance alone, in
/// one of 2⁶⁴; nothing is meant to hold against a forger.
std::uint64_t fingerprint(std::string_view bytes, std::uint64_t before = 0);
std::uint64_t fingerprint(std::uint64_t number, std::uint64_t before);
/// Of a tensor: its dtype, its shape, and the bits of its elements in row-major order (of all its
/// examples, where it is mapped).
std::uint64_t fingerprint(const Tensor& x, std::uint64_t before = 0);

}  // namespace ladon::detail
