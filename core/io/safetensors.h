#pragma once
// The safetensors format (as its reference implementation, version 0.4, reads and writes it): named
// tensors in one file.
//   8 bytes   length n of the header, little-endian
//   n bytes   JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …}
//             and optionally "__metadata__", an object of strings
//   the rest  the elements, row-major, little-endian; offsets count from its start

#include <map>
#include <string>

#include "ladon/core/tensor.h"

namespace ladon {

/// Reads all tensors. F32 F64 I64 BOOL keep their type; F16 and BF16 become f32; I8 I16 I32 U8 U16
/// U32 U64 become i64 (a U64 above 2^63 − 1 is an Error). If `metadata` is given it is replaced by
/// the file's.
///
/// Throws Error, naming the path, the tensor and both values, for a header that is longer than the
/// file or than 100 MB, that is not the JSON above or has a name twice, for another dtype, and
/// unless the tensors cover the elements' bytes from first to last without overlap or hole. All of
/// that is settled before memory for the elements is taken, in time linear in the header and with
/// memory of at most 12 times its length, whatever it holds.
std::map<std::string, Tensor> load_safetensors(const std::string& path,
                                               std::map<std::string, std::string>* metadata = {});

/// Writes tensors of any strides, byte for byte as the format's reference implementation does: the
/// widest dtype first (i64, f64, f32, bool), then by name, the header padded with spaces so that
/// the elements start at a multiple of 8. The file appears whole or not at all (write_atomically).
/// Throws Error for an undefined tensor, the name "__metadata__", or text that is not UTF-8.
void save_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace ladon
