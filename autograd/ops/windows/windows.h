#pragma once
// Windows as users give them, one number per axis, made into what kernels take.

#include <string_view>

#include "ladon/core/kernels/windows/patches.h"
#include "ladon/core/shape.h"

namespace ladon::detail {

/// Numbers of a window beside its size. An empty list is the default on each axis; `after` is then
/// as `before`.
struct WindowNumbers {
  Shape stride, before, after, dilation;
};

/// One window per axis of `positions`, with as many counts as fit. Throws Error naming `operation`
/// where a list has not one number per axis, where a size, stride or dilation is not positive or a
/// padding negative, where one is above 2³¹, and where not even one window fits.
kernels::Windows windows_on(std::string_view operation, const Shape& positions, const Shape& size,
                            const WindowNumbers& numbers);

/// `given`, or `otherwise` on each axis. Throws as above.
Shape one_an_axis(std::string_view operation, const char* what, const Shape& given, int axes,
                  std::int64_t otherwise, std::int64_t least);

}  // namespace ladon::detail
