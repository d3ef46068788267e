#pragma once
// Exchange of tensors with other libraries of the same process, without a copy, by DLPack: C
// structures that array libraries agree on (github.com/dmlc/dlpack; both the unversioned structure,
// used up to 0.8, and version 1). They are declared here under names of Ladon, so that dlpack.h may
// be included too. The layouts are the same, so pointers to them may be cast:
//
//   Tensor x = from_dlpack(reinterpret_cast<dlpack::Managed*>(theirs));   // a DLManagedTensor*
//   auto* ours = reinterpret_cast<DLManagedTensor*>(to_dlpack(x));

#include <cstdint>

#include "ladon/core/tensor.h"

namespace ladon {
namespace dlpack {

struct Device {
  std::int32_t type;  ///< 1: CPU memory, the only type that Ladon supports.
  std::int32_t id;
};
struct ElementType {
  std::uint8_t code;    ///< 0 int, 1 unsigned int, 2 float, 4 bfloat, 5 complex, 6 bool.
  std::uint8_t bits;    ///< Bits of one lane.
  std::uint16_t lanes;  ///< 1, unless elements are vectors.
};
struct Array {  ///< Has the layout of DLTensor.
  void* data;
  Device device;
  std::int32_t rank;
  ElementType type;
  std::int64_t* shape;
  std::int64_t* strides;  ///< In elements; null means row-major.
  std::uint64_t byte_offset;
};
struct Managed {  ///< Has the layout of DLManagedTensor.
  Array array;
  void* context;
  void (*deleter)(Managed* self);
};
struct Version {
  std::uint32_t major, minor;
};
struct ManagedVersioned {  ///< Has the layout of DLManagedTensorVersioned.
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned* self);
  std::uint64_t flags;
  Array array;
};
/// Bits of `flags`.
inline constexpr std::uint64_t read_only = 1, is_copied = 2;

}  // namespace dlpack

/// Returns a tensor on the elements of an array of another library, with any strides, and takes
/// over the array: its deleter is called once, when the last tensor that shares the elements is
/// gone. Read-only elements are copied, because any tensor of Ladon may be written to; the deleter
/// is then called at once.
///
/// Supported dtypes are bool, 64-bit int, float of 16, 32 and 64 bits, and 16-bit bfloat. Throws
/// Error for any other dtype, for more than one lane, for a device other than the CPU, for a major
/// version other than 1, for more than 8 axes, and whenever from_blob throws it. If an Error is
/// thrown, the array is not taken over: the caller still has to call the deleter.
Tensor from_dlpack(dlpack::Managed* given);
Tensor from_dlpack(dlpack::ManagedVersioned* given);

/// Exports x to another library: its elements with their strides, without a copy. The other library
/// must call `deleter` on the result once, on any thread; until then the elements stay alive. Its
/// writes to the elements are seen in x, but autograd does not detect them. Throws Error if x is
/// undefined or requires a gradient; export x.detach().
dlpack::Managed* to_dlpack(const Tensor& x);
dlpack::ManagedVersioned* to_dlpack_versioned(const Tensor& x);

}  // namespace ladon
