#pragma once
// Elements as files store them, and their conversion to the dtypes of a tensor.

#include <string_view>

#include "ladon/core/io/file.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// Element types found in files. b1 becomes bool (any byte but 0 is true), every integer type i64;
/// f2, bf2, f4 and f8 become f16, bf16, f32 and f64. All conversions are exact; u8 above 2^63 − 1
/// throws Error.
enum class FileType { b1, i1, i2, i4, i8, u1, u2, u4, u8, f2, bf2, f4, f8 };

/// Bytes of one element in the file.
std::size_t item_size(FileType type);
/// The dtype that elements of this type have after reading.
DType dtype_of(FileType type);

/// Bytes that a tensor of this shape takes in a file, for shapes that were read from a file. Throws
/// Error naming the path if a size is negative, or if a tensor of these sizes in the widest dtype
/// would have 2⁶³ bytes or more. In this check a size of 0 counts as 1, so that the strides of an
/// empty tensor fit as well.
std::uint64_t checked_bytes(std::string_view operation, const std::string& path, FileType type,
                            const Shape& shape);

/// Reads a row-major tensor at the file's position. Integers of up to four bytes become elements of
/// dtype `integers`: i64, f32 or f64. The caller must have checked that at least checked_bytes()
/// bytes remain in the file.
Tensor read_elements(InputFile& file, FileType type, const Shape& shape, bool big_endian = false,
                     DType integers = i64);

/// Writes the elements of x, which may be strided, in row-major order, little-endian.
void write_elements(OutputFile& file, const Tensor& x);

}  // namespace ladon
