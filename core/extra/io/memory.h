#pragma once
// Tensors on memory that Ladon does not own, and copies of such memory.

#include <functional>
#include <string_view>

#include "ladon/core/tensor.h"

namespace ladon {

/// A tensor on existing elements, row-major at `data`, without a copy: the tensor and the owner of
/// the memory see each other's writes. `release(data)`, which may be empty and must not throw, is
/// called once, when the last tensor that shares the elements is gone; if it is empty, the memory
/// must outlive all these tensors.
///
/// `data` must be aligned to item_size(dtype); the bytes of bools must be 0 or 1, and remain so.
/// Throws Error for a pointer that is not aligned, for other bytes in bools, and for a null pointer
/// unless the shape has no elements. If an Error is thrown, `release` is not called: the memory
/// still belongs to the caller.
Tensor from_blob(void* data, const Shape& shape, DType dtype = f32,
                 std::function<void(void*)> release = {});
/// from_blob() with element (i, j, …) at data[i·strides[0] + j·strides[1] + …]. Strides are in
/// elements and may be zero or negative.
Tensor from_blob(void* data, const Shape& shape, const Shape& strides, DType dtype,
                 std::function<void(void*)> release = {});

/// A copy of the elements in `bytes`, which are row-major, in the byte order of this machine, and
/// need no alignment; for bool, every byte but 0 is true. Throws Error unless there are
/// item_size(dtype) bytes for each element of the shape.
Tensor from_bytes(std::string_view bytes, const Shape& shape, DType dtype = f32);

}  // namespace ladon
