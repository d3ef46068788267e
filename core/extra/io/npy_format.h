#pragma once
// The .npy format, for files that hold several arrays. Internal to npy.cpp and npz.cpp.

#include <string>
#include <string_view>

#include "ladon/core/io/elements.h"

namespace ladon {

/// Reads the array that takes all remaining bytes of the file. Errors as for load_npy, naming
/// `where`.
Tensor read_npy(InputFile& file, const std::string& where);

/// Header of an .npy file of x, whose elements follow row-major and little-endian. Errors as for
/// save_npy, naming `where`.
std::string npy_header(std::string_view operation, const std::string& where, const Tensor& x);

}  // namespace ladon
