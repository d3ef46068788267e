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

/// Reads all tensors. BOOL I64 F16 BF16 F32 F64 keep their type (F16 and BF16 are for storage:
/// compute with cast(x, f32); Module::load casts by itself); I8 I16 I32 U8 U16 U32 U64 become i64.
/// Throws Error for a U64 above 2^63 − 1. If `metadata` is given, it is replaced by the metadata of
/// the file.
///
/// A checkpoint in several files is read as one: `path` is then the JSON index, which lists each
/// tensor's file ({"weight_map": {"name": "model-00001-of-00002.safetensors", …}, …}; its name ends
/// in .json), or the folder with model.safetensors.index.json; in a folder without that index,
/// model.safetensors is read. The files must be in the folder of the index; links are followed. If
/// several files have metadata with the same key, the value of the first file in alphabetical order
/// is kept.
///
/// Files written by save_safetensors() have checksums, which are compared: throws Error for a
/// damaged byte, and for metadata that has "ladon.version" but no checksums. Files of other
/// programs have neither, and are read without this check.
///
/// Throws Error, naming the path, the tensor, and the values found and expected, for a header that
/// is longer than the file or than 100 MB, is not the JSON above (white space around it is allowed)
/// or has a name twice, for any other dtype, and if the tensors do not cover the elements' bytes
/// from first to last, or overlap. All of this is checked before memory for the elements is
/// allocated, in time linear in the header and with memory of at most 12 times its length, whatever
/// it contains. For several files, throws Error also for an index that is longer than 100 MB or not
/// the JSON above, has a tensor twice or a file in another folder, and if a file does not have
/// exactly the tensors that the index lists for it.
std::map<std::string, Tensor> load_safetensors(const std::string& path,
                                               std::map<std::string, std::string>* metadata = {});

/// Writes tensors of any strides, byte for byte as the format's reference implementation does: the
/// widest dtype first (i64, f64, f32, bf16, f16, bool), then by name, the header padded with spaces
/// so that the elements start at a multiple of 8. Adds to the metadata "ladon.version", the version
/// of this library, and "ladon.crc32": a checksum of all other metadata, and a CRC-32 of each
/// tensor's name, dtype, shape and elements. Other programs ignore these two entries. The file
/// appears whole or not at all (write_atomically). Throws Error for an undefined tensor, the name
/// "__metadata__", metadata of the name "ladon.crc32", or text that is not UTF-8.
void save_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace ladon
