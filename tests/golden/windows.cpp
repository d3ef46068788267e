// ONNX operators: convolution and pooling over windows.

#include <algorithm>

#include "case.h"
#include "ladon/autograd/extra/windows/convolution.h"
#include "ladon/autograd/extra/windows/pooling.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"

namespace ladon::golden {
namespace {

/// Attributes of windows, one number per axis.
struct Window {
  Shape size, stride, dilation, before, after;
  Shape extra;  ///< Positions behind the padding that ceil_mode lets the last window see.
};

Shape one_an_axis(const Case& c, const std::string& name, int axes, std::int64_t otherwise) {
  if (!c.has(name)) return Shape::filled(axes, otherwise);
  const std::vector<std::int64_t> numbers = c.integers(name);
  LADON_CHECK(static_cast<int>(numbers.size()) == axes, c.op(), name, " has ", numbers.size(),
              " numbers for ", axes, " axes");
  for (const std::int64_t number : numbers)
    LADON_CHECK(number >= 0 && number < 1 << 20, c.op(), name, " must lie in [0, 2^20), got ",
                number);
  return Shape(numbers);
}

std::int64_t extent(const Window& w, int a) { return (w.size[a] - 1) * w.dilation[a] + 1; }

/// `total` positions on both sides, an odd one behind (SAME_UPPER) or in front.
void share_padding(Window& w, int a, std::int64_t total, bool upper) {
  w.before[a] = upper ? total / 2 : total - total / 2;
  w.after[a] = total - w.before[a];
}

/// Sizes, strides, dilations and padding by number.
Window numbers_of(const Case& c, const Shape& size) {
  const int axes = size.rank();
  Window w{size,
           one_an_axis(c, "strides", axes, 1),
           one_an_axis(c, "dilations", axes, 1),
           Shape::filled(axes, 0),
           Shape::filled(axes, 0),
           Shape::filled(axes, 0)};
  for (int a = 0; a < axes; ++a)
    LADON_CHECK(w.size[a] > 0 && w.size[a] < 1 << 20 && w.stride[a] > 0 && w.dilation[a] > 0,
                c.op(), "window ", w.size, ", strides ", w.stride, ", dilations ", w.dilation);
  const std::string automatic = c.text("auto_pad", "NOTSET");
  if (automatic != "NOTSET" || !c.has("pads")) return w;
  const std::vector<std::int64_t> pads = c.integers("pads");
  LADON_CHECK(static_cast<int>(pads.size()) == 2 * axes, c.op(), "pads has ", pads.size(),
              " numbers for ", axes, " axes");
  for (const std::int64_t pad : pads)
    LADON_CHECK(pad >= 0 && pad < 1 << 20, c.op(), "pads must lie in [0, 2^20), got ", pad);
  for (int a = 0; a < axes; ++a) {
    w.before[a] = pads[static_cast<std::size_t>(a)];
    w.after[a] = pads[static_cast<std::size_t>(a + axes)];
  }
  return w;
}

/// The same on given positions, with what auto_pad and ceil_mode add.
Window window_on(const Case& c, const Shape& size, const Shape& positions) {
  Window w = numbers_of(c, size);
  const std::string automatic = c.text("auto_pad", "NOTSET");
  for (int a = 0; a < size.rank(); ++a) {
    const std::int64_t n = positions[a], step = w.stride[a];
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const std::int64_t count = (n + step - 1) / step;
      share_padding(w, a, std::max<std::int64_t>((count - 1) * step + extent(w, a) - n, 0),
                    automatic == "SAME_UPPER");
    }
    const std::int64_t room = n + w.before[a] + w.after[a] - extent(w, a);
    if (!c.flag("ceil_mode", false) || room < 0) continue;
    std::int64_t last = (room + step - 1) / step;  // a window that begins on padding is none
    if (last * step >= n + w.before[a]) --last;
    w.extra[a] = std::max<std::int64_t>(last * step - room, 0);
  }
  return w;
}

Shape sum_of(Shape a, const Shape& b) {
  for (int i = 0; i < a.rank(); ++i) a[i] += b[i];
  return a;
}

Shape inner_axes(const Tensor& x) { return x.shape().sub(1, x.rank() - 1); }

/// Throws Error unless the output is expected to be [n, channels, counts..].
void expect(const Case& c, std::int64_t n, std::int64_t channels, const Shape& counts) {
  Shape shape = counts;
  shape.insert(0, channels);
  shape.insert(0, n);
  c.expect_shape(shape);
}

Shape counts_on(const Window& w, const Shape& positions) {
  Shape counts = positions;
  for (int a = 0; a < counts.rank(); ++a)
    counts[a] =
        (positions[a] + w.before[a] + w.after[a] + w.extra[a] - extent(w, a)) / w.stride[a] + 1;
  return counts;
}

Tensor input_with_positions(const Case& c) {
  LADON_CHECK(c.in(0).rank() >= 3, c.op(), "needs axes of positions, got shape ", c.in(0).shape());
  return channels_last(as_floating(c.in(0)));
}

Tensors convolve(const Case& c) {
  const Tensor x = input_with_positions(c), weight = channels_last(c.in(1));
  LADON_CHECK(weight.rank() == x.rank(), c.op(), "weight ", c.in(1).shape(), " for input ",
              c.in(0).shape());
  const Window w = window_on(c, inner_axes(weight), inner_axes(x));
  expect(c, x.size(0), weight.size(0), counts_on(w, inner_axes(x)));
  const Tensor y = convolution(x, weight, c.optional(2),
                               {w.stride, w.before, w.after, w.dilation, c.integer("group", 1)});
  return {channels_first(y)};
}

// Padding follows from `output_shape` (or n·stride, of auto_pad) where that is given: what the sum
// (n − 1)·stride + output_padding + extent has too much; too little stands at the end.
Tensors convolve_transposed(const Case& c) {
  const Tensor x = input_with_positions(c), weight = channels_last(c.in(1));
  LADON_CHECK(weight.rank() == x.rank(), c.op(), "weight ", c.in(1).shape(), " for input ",
              c.in(0).shape());
  const Shape positions = inner_axes(x);
  const int axes = positions.rank();
  const std::int64_t groups = c.integer("group", 1);
  LADON_CHECK(groups > 0 && groups < 1 << 20, c.op(), "group is ", groups);
  Window w = numbers_of(c, inner_axes(weight));
  Shape more = one_an_axis(c, "output_padding", axes, 0);
  const std::string automatic = c.text("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  for (int a = 0; a < axes && (same || c.has("output_shape")); ++a) {
    const std::int64_t wanted = c.has("output_shape") ? one_an_axis(c, "output_shape", axes, 0)[a]
                                                      : positions[a] * w.stride[a];
    const std::int64_t total = w.stride[a] * (positions[a] - 1) + more[a] + extent(w, a) - wanted;
    share_padding(w, a, std::max<std::int64_t>(total, 0), automatic == "SAME_UPPER");
    more[a] += std::max<std::int64_t>(-total, 0);
  }
  Shape made = positions;
  for (int a = 0; a < axes; ++a)
    made[a] = (positions[a] - 1) * w.stride[a] + more[a] + extent(w, a) - w.before[a] - w.after[a];
  expect(c, x.size(0), weight.size(-1) * groups, made);
  const Tensor y = transposed_convolution(x, weight, c.optional(2),
                                          {w.stride, w.before, w.after, w.dilation, more, groups});
  return {channels_first(y)};
}

Shape kernel_shape(const Case& c) { return Shape(c.integers("kernel_shape")); }

Window pooling_window(const Case& c, const Tensor& x) {
  const Shape size = kernel_shape(c), positions = inner_axes(x);
  LADON_CHECK(size.rank() == positions.rank(), c.op(), "kernel_shape ", size, " for input ",
              c.in(0).shape());
  const Window w = window_on(c, size, positions);
  expect(c, x.size(0), x.size(-1), counts_on(w, positions));
  return w;
}

/// Positions as ONNX counts them: over the whole tensor, column by column for storage_order 1.
Tensor counted_over_all(const Case& c, const Tensor& indices) {
  Shape positions = c.in(0).shape().sub(2, c.in(0).rank());
  const std::int64_t count = positions.count(), channels = c.in(0).size(1), n = c.in(0).size(0);
  Tensor within = indices;
  if (c.flag("storage_order", false)) {
    std::vector<int> backwards;
    for (int a = positions.rank() - 1; a >= 0; --a) backwards.push_back(a);
    std::reverse(positions.begin(), positions.end());
    const Tensor columns = flatten(permute(reshape(arange(count), positions), backwards));
    within = reshape(index_select(columns, 0, flatten(indices)), indices.shape());
  }
  Shape each = Shape::filled(indices.rank(), 1);
  each[0] = n;
  each[1] = channels;
  return within + reshape(arange(n * channels), each) * static_cast<double>(count);
}

Tensors max_pool(const Case& c) {
  const Tensor x = input_with_positions(c);
  const Window w = pooling_window(c, x);
  const ValuesAndIndices y =
      max_pool_with_indices(x, w.size, {w.stride, w.before, sum_of(w.after, w.extra), w.dilation});
  return {cast(channels_first(y.values), c.in(0).dtype()),
          c.wants(1) ? counted_over_all(c, channels_first(y.indices)) : Tensor()};
}

/// Throws Skip where the expected output is printed with 4 decimals and agrees to those: an example
/// of ONNX's was computed from more digits of its input than it keeps.
void skip_printed(const Tensor& y, const Array& expected) {
  const Tensor& e = expected.x;
  if (!e.defined() || !(y.shape() == e.shape()) || disagreement(y, expected).empty()) return;
  const auto differs = [](const Tensor& a, const Tensor& b) { return amax(abs(a - b)).item(); };
  if (differs(round(e * 1e4), e * 1e4) < 1e-3 && differs(y, e) <= 1e-4)
    throw Skip{"the expected output has 4 decimals, from an input of more; it agrees to those"};
}

/// Averages in which padding counts, but not what ceil_mode adds behind it: of windows that see
/// some of that, the elements are counted as those of ones are.
Tensor averages(const Tensor& x, const Window& w, bool count_padding) {
  AveragePoolOptions options{w.stride, w.before, sum_of(w.after, w.extra), w.dilation,
                             count_padding};
  if (!count_padding || w.extra == Shape::filled(w.size.rank(), 0))
    return average_pool(x, w.size, options);
  options.count_padding = false;
  options.divisor = 1;
  const Tensor sums = average_pool(x, w.size, options);
  Shape around = sum_of(inner_axes(x), sum_of(w.before, w.after));
  around.insert(0, 1);
  around.append(1);
  options.before = Shape::filled(w.size.rank(), 0);
  options.after = w.extra;
  return sums / average_pool(ones(around, x.dtype()), w.size, options);
}

Tensors average_pool(const Case& c) {
  const Tensor x = input_with_positions(c);
  const Window w = pooling_window(c, x);
  const Tensor y = channels_first(averages(x, w, c.flag("count_include_pad", false)));
  skip_printed(y, c.expected()[0]);
  return {y};
}

}  // namespace

void add_windows(Table& t) {
  t["Conv"] = convolve;
  t["ConvTranspose"] = convolve_transposed;
  t["MaxPool"] = max_pool;
  t["AveragePool"] = average_pool;
}

}  // namespace ladon::golden
