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

/// Reads all tensors. BOOL I64 F16 BF16 F32 F64 keep their type (the halves are for storage:
/// cast(x, f32) computes, and Module::load casts by itself); I8 I16 I32 U8 U16 U32 U64 become i64
/// (a U64 above 2^63 − 1 is an Error). If `metadata` is given it is replaced by the file's.
///
/// A checkpoint in several files is read as one: `path` is then the JSON that says which file a
/// tensor stands in ({"weight_map": {"name": "model-00001-of-00002.safetensors", …}, …}; its name
/// ends in .json), or the folder with model.safetensors.index.json; a folder without it has the one
/// file model.safetensors. The files are beside the index, or links there are, which are followed.
/// Metadata of one name in two of them: that of the first by name counts.
///
/// Files that save_safetensors() wrote have checksums, which are compared: a file with a damaged
/// byte is an Error, and so is one that says "ladon.version" and has none. Those of other programs
/// have neither, and are read all the same.
///
/// Throws Error, naming the path, the tensor and both values, for a header that is longer than the
/// file or than 100 MB, that is not the JSON above (with white space around it or not) or has a
/// name twice, for another dtype, and unless the tensors cover the elements' bytes from first to
/// last without overlap or hole. All of that is settled before memory for the elements is taken, in
/// time linear in the header and with memory of at most 12 times its length, whatever it holds. Of
/// several files, throws Error also for an index that is longer than 100 MB or not the JSON above,
/// has a tensor twice or a file elsewhere, and unless each file holds just the tensors that it
/// says.
std::map<std::string, Tensor> load_safetensors(const std::string& path,
                                               std::map<std::string, std::string>* metadata = {});

/// Writes tensors of any strides, byte for byte as the format's reference implementation does: the
/// widest dtype first (i64, f64, f32, bf16, f16, bool), then by name, the header padded with spaces
/// so that the elements start at a multiple of 8. To the metadata come "ladon.version", that of the
/// library that writes, and "ladon.crc32", with a CRC-32 of all other metadata and of each tensor's
/// name, dtype, shape and elements; other programs pass over both. The file appears whole or not at
/// all (write_atomically). Throws Error for an undefined tensor, the name "__metadata__", metadata
/// of the name "ladon.crc32", or text that is not UTF-8.
void save_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace ladon
