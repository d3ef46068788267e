#pragma once
// Checks the windows of convolution and pooling, given by one number per axis, and converts them
// for the kernels.

#include <string_view>

#include "ladon/core/extra/kernels/windows/patches.h"
#include "ladon/core/shape.h"

namespace ladon::detail {

/// Parameters of windows other than their size, with one number per axis. An empty list means the
/// default on each axis; the default of `after` is `before`.
struct WindowNumbers {
  Shape stride, before, after, dilation;
};

/// Returns windows of the given `size` on axes with the given numbers of `positions`, as many
/// windows per axis as fit. Throws Error naming `operation` if a list does not have one number per
/// axis, if a size, stride or dilation is not positive, if a padding is negative, if a number
/// exceeds 2³¹, and if not even one window fits.
kernels::Windows windows_on(std::string_view operation, const Shape& positions, const Shape& size,
                            const WindowNumbers& numbers);

/// Returns `given` or, if it is empty, `otherwise` for each of the axes. Throws Error naming `what`
/// unless `given` is empty or has one number per axis, each from `least` to 2³¹.
Shape one_an_axis(std::string_view operation, const char* what, const Shape& given, int axes,
                  std::int64_t otherwise, std::int64_t least);

}  // namespace ladon::detail
