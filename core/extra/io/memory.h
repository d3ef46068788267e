#pragma once
// Tensors on memory that somebody else owns.

#include <functional>
#include <string_view>

#include "ladon/core/tensor.h"

namespace ladon {

/// A tensor on elements that are already there, row-major at `data`: nothing is copied, and what is
/// written through one is read through the other. `release(data)`, which may be empty and must not
/// throw, is called once, when the last tensor that sees the elements is gone; without it the
/// memory must outlive all these tensors.
///
/// `data` must be aligned to item_size(dtype), which suffices for Ladon's loops; the bytes of bools
/// must be 0 or 1, and remain so. Throws Error otherwise, and for a null pointer unless the shape
/// has no elements. On an Error nothing is released: the memory still belongs to the caller.
Tensor from_blob(void* data, const Shape& shape, DType dtype = f32,
                 std::function<void(void*)> release = {});
/// from_blob() with element (i, j, …) at data[i·strides[0] + j·strides[1] + …]. Strides count
/// elements and may be zero or negative.
Tensor from_blob(void* data, const Shape& shape, const Shape& strides, DType dtype,
                 std::function<void(void*)> release = {});

/// A copy of elements that lie row-major in `bytes`, with any alignment, in the byte order of this
/// machine; for bool, every byte but 0 is true. Throws Error unless there are item_size(dtype)
/// bytes for each element.
Tensor from_bytes(std::string_view bytes, const Shape& shape, DType dtype = f32);

}  // namespace ladon
