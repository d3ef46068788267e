#pragma once
// Tensors and memory that others own.

#include <functional>
#include <string_view>

#include "ladon/core/tensor.h"

namespace ladon {

/// A tensor on elements that are already there, row-major at `data`: nothing is copied, and what is
/// written through one is read through the other. `release(data)`, which may be empty and must not
/// throw, is called once, when the last tensor that sees the elements is gone; without it they must
/// outlive them all.
///
/// `data` must be aligned to item_size(dtype), which is all that Ladon's loops ask for; the bytes
/// of bools must be 0 or 1, and remain so. Throws Error otherwise, and for a null pointer to more
/// than no elements. Nothing is released on an Error: the memory is still the caller's.
Tensor from_blob(void* data, const Shape& shape, DType dtype = f32,
                 std::function<void(void*)> release = {});
/// from_blob() with element (i, j, …) at data[i·strides[0] + j·strides[1] + …]. Strides count
/// elements and may be zero or negative.
Tensor from_blob(void* data, const Shape& shape, const Shape& strides, DType dtype,
                 std::function<void(void*)> release = {});

/// A copy of elements that stand row-major in `bytes`, of any alignment, in this machine's order;
/// of a bool any byte but 0 is true. Throws Error unless there are item_size(dtype) bytes for each
/// element.
Tensor from_bytes(std::string_view bytes, const Shape& shape, DType dtype = f32);

}  // namespace ladon
