#pragma once
// IDX, the format of MNIST: a tensor of one element type, big-endian (LeCun, Cortes and Burges,
// "The MNIST database of handwritten digits").

#include <string>
#include <string_view>

#include "ladon/core/tensor.h"

namespace ladon {

/// The tensor that the bytes of an IDX file hold, 1 to 8 axes, row-major. Floats become f32,
/// doubles f64. Integers (1, 2 or 4 bytes; 1 byte may be unsigned) become elements of dtype
/// `integers`: i64 or f64, which are exact, or f32, which is exact up to 2^24 and so for integers
/// of 1 and 2 bytes.
///
/// Throws Error, naming `name` and the values found and expected, for bytes in another format:
/// wrong first bytes, an unknown element type, a number of axes other than 1 to 8, or a size that
/// does not fit the header. All of this is checked before memory for the elements is allocated.
/// Throws Error also unless `integers` is i64, f32 or f64.
Tensor parse_idx(std::string_view bytes, const std::string& name, DType integers = i64);

/// Reads an IDX file, which may be compressed (read_maybe_gzip), and parses it by parse_idx().
Tensor read_idx(const std::string& path, DType integers = i64);

}  // namespace ladon
