#pragma once
// NumPy's archives of arrays, .npz: a zip file with a member "NAME.npy" for each array.

#include <map>
#include <string>

#include "ladon/core/tensor.h"

namespace ladon {

/// Reads all arrays of an archive as numpy.savez or savez_compressed writes it, by their names
/// without ".npy"; each as load_npy reads it. Sizes may stand in 64 bits.
///
/// Throws Error, naming the path, the member and both values, for an archive that is damaged (every
/// checksum is compared), holds two members of one name or members that share bytes, is encrypted
/// or in parts, or holds anything but arrays. All of that is settled before memory for an array is
/// taken, but for the size that its own header claims, which must be that of the member. Throws
/// Error for deflated members where has_gzip() (gzip.h) is false, or of more than 2^30 bytes.
std::map<std::string, Tensor> load_npz(const std::string& path);

/// Writes arrays of any strides, stored and not compressed, in the order of their names; the same
/// tensors make the same bytes. The file appears whole or not at all (write_atomically). Throws
/// Error for a name that is empty, not UTF-8, holds a NUL or is longer than 60,000 bytes, and as
/// save_npy does for a tensor.
void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors);

}  // namespace ladon
