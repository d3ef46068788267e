#pragma once
// Helpers of the tests of safetensors: files as bytes, written by hand or saved.

#include <map>
#include <string>

#include "ladon/core/io/file.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/core/version.h"
#include "ladon/core/view.h"
#include "ladon/tests/core/io/damaged.h"
#include "ladon/tests/core/kernels/layouts.h"

namespace ladon::test {

using Tensors = std::map<std::string, Tensor>;
using Metadata = std::map<std::string, std::string>;

inline std::string safetensors(const std::string& header, const std::string& elements = "") {
  return little_endian(header.size(), 8) + header + elements;
}

inline Tensors load(const std::string& bytes, Metadata* metadata = nullptr) {
  const TemporaryFolder folder;
  return load_safetensors(write(folder, bytes), metadata);
}

inline std::string saved(const Tensors& tensors, const Metadata& metadata = {}) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  save_safetensors(path, tensors, metadata);
  return read_file(path);
}

/// Metadata of a file that was saved with this metadata: saving adds the library's version.
inline Metadata as_saved(Metadata metadata) {
  metadata["ladon.version"] = version();
  return metadata;
}

inline std::string entry(const std::string& name, const std::string& dtype,
                         const std::string& shape, const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

inline Tensors samples() {
  const Tensor x = view::try_reshape(arange(0, 6, 1, f32), {2, 3});
  return {{"weight", x},
          {"transposed", view::transpose(x, 0, 1)},
          {"reversed", view::slice(arange(0, 5, 1, i64), 0, 4, 3, -2)},
          {"double", tensor({0.1, -0.0}, f64)},
          {"flags", tensor({1, 0, 1}, boolean)},
          {"scalar", scalar(7, f64)},
          {"half", tensor({1, 0x1p-24, -65504}, f16)},
          {"bfloat", view::transpose(tensor({1, 2, 3, 3e38}, {2, 2}, bf16), 0, 1)},
          {"none", empty({3, 0}, f32)},
          {"größe.\"0\"\n", ones({1}, i64)}};
}

}  // namespace ladon::test
