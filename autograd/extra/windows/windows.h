#pragma once
// Checks windows as users specify them, one number per axis, and converts them for the kernels.

#include <string_view>

#include "ladon/core/extra/kernels/windows/patches.h"
#include "ladon/core/shape.h"

namespace ladon::detail {

/// Parameters of a window other than its size. An empty list means the default on each axis; an
/// empty `after` equals `before`.
struct WindowNumbers {
  Shape stride, before, after, dilation;
};

/// Windows over `positions`, as many per axis as fit. Throws Error naming `operation` where a list
/// does not have one number per axis, where a size, stride or dilation is not positive or a padding
/// is negative, where one exceeds 2³¹, and where not even one window fits.
kernels::Windows windows_on(std::string_view operation, const Shape& positions, const Shape& size,
                            const WindowNumbers& numbers);

/// `given`, or `otherwise` for each axis if it is empty. Throws Error as above.
Shape one_an_axis(std::string_view operation, const char* what, const Shape& given, int axes,
                  std::int64_t otherwise, std::int64_t least);

}  // namespace ladon::detail
