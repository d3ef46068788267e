#pragma once
// NumPy's archives of arrays, .npz: a zip file with a member "NAME.npy" for each array.

#include <map>
#include <string>

#include "ladon/core/tensor.h"

namespace ladon {

/// Reads all arrays of an archive written by numpy.savez or savez_compressed. The keys of the
/// result are the names without ".npy"; each array is read as by load_npy(). 64-bit sizes are
/// supported.
///
/// Throws Error, naming the path, the member, and the values found and expected, for an archive
/// that is damaged (every checksum is compared), holds two members of the same name or members that
/// share bytes, is encrypted or in parts, or holds anything but arrays. All of this is checked
/// before memory for the array is allocated; the size in the array's own header must be that of the
/// member. Throws Error for deflated members if has_gzip() (gzip.h) is false or if they have more
/// than 2^30 bytes.
std::map<std::string, Tensor> load_npz(const std::string& path);

/// Writes arrays of any strides, without compression, in the order of their names; the same tensors
/// give the same bytes. The file appears whole or not at all (write_atomically). Throws Error for a
/// name that is empty, not UTF-8, holds a NUL or is longer than 60,000 bytes, and for a tensor that
/// save_npy() rejects.
void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors);

}  // namespace ladon
