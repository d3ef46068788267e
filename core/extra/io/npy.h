#pragma once
// NumPy's array files (NEP 1, "A Simple File Format for NumPy Arrays").

#include <string>

#include "ladon/core/tensor.h"

namespace ladon {

/// Reads an .npy file of version 1, 2 or 3: little- or big-endian, C or Fortran order, rank 0 to 8,
/// including empty arrays. The result is row-major. Elements of NumPy's types b1 i8 f2 f4 f8 keep
/// their type (f2 becomes f16, which is for storage: compute with cast(x, f32)); i1 i2 i4 u1 u2 u4
/// u8 become i64. Throws Error for a u8 above 2^63 − 1.
///
/// Throws Error, naming the path and the values found and expected, for any other file: another
/// element type, a header that is not exactly the dictionary that the format prescribes, or a file
/// size that does not fit shape and type. All of this is checked before memory for the elements is
/// allocated.
Tensor load_npy(const std::string& path);

/// Writes an .npy file of version 1, in C order and little-endian; strided tensors are written in
/// row-major order. The file appears whole or not at all (write_atomically). Throws Error if `x` is
/// undefined, or bf16, which NumPy does not have.
void save_npy(const std::string& path, const Tensor& x);

}  // namespace ladon
