#include "ladon/autograd/extra/windows/windows.h"

#include "ladon/core/error.h"

namespace ladon::detail {

Shape one_an_axis(std::string_view operation, const char* what, const Shape& given, int axes,
                  std::int64_t otherwise, std::int64_t least) {
  if (given.rank() == 0) return Shape::filled(axes, otherwise);
  LADON_CHECK(given.rank() == axes, operation, what, " ", given, " has ", given.rank(),
              " numbers, but must have one per axis, and the windows have ", axes, " axes");
  for (const std::int64_t number : given)
    LADON_CHECK(number >= least && number <= std::int64_t{1} << 31, operation, what, " ", given,
                " must have numbers from ", least, " to 2^31");
  return given;
}

kernels::Windows windows_on(std::string_view operation, const Shape& positions, const Shape& size,
                            const WindowNumbers& numbers) {
  const int axes = size.rank();
  LADON_CHECK(axes > 0 && positions.rank() == axes, operation,
              "windows must have as many axes as the positions, but windows ", size, " have ", axes,
              " axes, but the positions are ", positions);
  kernels::Windows w;
  w.positions = positions;
  w.size = one_an_axis(operation, "window", size, axes, 1, 1);
  w.stride = one_an_axis(operation, "stride", numbers.stride, axes, 1, 1);
  w.dilation = one_an_axis(operation, "dilation", numbers.dilation, axes, 1, 1);
  w.before = one_an_axis(operation, "before", numbers.before, axes, 0, 0);
  const Shape after = numbers.after.rank() == 0
                          ? w.before
                          : one_an_axis(operation, "after", numbers.after, axes, 0, 0);
  for (int a = 0; a < axes; ++a) {
    const std::int64_t room = detail::checked_sum(operation, positions[a], w.before[a] + after[a]);
    const std::int64_t extent = (w.size[a] - 1) * w.dilation[a] + 1;
    LADON_CHECK(extent <= room, operation, "a window of ", w.size[a],
                w.dilation[a] == 1 ? "" : " (dilated)", " does not fit on ", positions[a],
                " positions with padding of ", w.before[a], " before and ", after[a], " after");
    w.counts.append((room - extent) / w.stride[a] + 1);
  }
  return w;
}

}  // namespace ladon::detail
