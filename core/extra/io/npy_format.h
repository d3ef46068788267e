#pragma once
// The .npy format of one array inside a file that holds several. Internal to npy.cpp and npz.cpp.

#include <string>
#include <string_view>

#include "ladon/core/io/elements.h"

namespace ladon {

/// Reads the array that takes all remaining bytes of the file. Throws Error, naming `where`,
/// whenever load_npy() throws it.
Tensor read_npy(InputFile& file, const std::string& where);

/// Header of an .npy file of x, to be followed by the elements, row-major and little-endian. Throws
/// Error, naming `where`, whenever save_npy() throws it.
std::string npy_header(std::string_view operation, const std::string& where, const Tensor& x);

}  // namespace ladon
