#include "ladon/core/extra/kernels/windows/convolution.h"

#include <algorithm>

#include "ladon/core/cxx20.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/products/gathered_product.h"
#include "ladon/core/kernels/strided.h"
#include "ladon/core/linalg/blas.h"
#include "ladon/core/mapped.h"
#include "ladon/core/view.h"

namespace ladon::kernels {
namespace {

constexpr std::int64_t block_elements = 1 << 16;  // elements of patches copied at a time
constexpr std::int64_t windows_at_once = 128;     // windows whose patches are read at a time
constexpr std::int64_t partial_sums = 8;  // largest number of partial sums of the weight's gradient

/// The sizes of one convolution.
struct Sizes {
  Sizes(const Windows& w, std::int64_t images, std::int64_t channels, std::int64_t outputs,
        std::int64_t group_count)
      : n(images),
        groups(group_count),
        in(channels),
        out(outputs),
        group_in(channels / groups),
        group_out(outputs / groups),
        patch(w.size.count() * group_in),
        windows(w.counts.count()),
        positions(w.positions.count()),
        block(std::max<std::int64_t>(16, block_elements / std::max<std::int64_t>(1, patch))) {}
  std::int64_t n, groups, in, out, group_in, group_out;
  std::int64_t patch;               ///< Number of elements of a group's patch.
  std::int64_t windows, positions;  ///< Number of windows and of positions per image.
  std::int64_t block;               ///< Number of windows whose patches are copied at a time.

  Channels channels(std::int64_t group) const {
    return {positions, in, group * group_in, group_in};
  }
  Channels all_channels() const { return {positions, in, 0, in}; }
};

/// Calls body(first, last) for the blocks of windows [begin, end).
template <class Body>
void in_blocks(std::int64_t begin, std::int64_t end, std::int64_t block, const Body& body) {
  for (; begin < end; begin += block) body(begin, std::min(end, begin + block));
}

/// Whether vector lanes are channels of several groups. They are if groups have as many outputs as
/// inputs, and a vector holds a whole number of groups.
bool by_channels(DType dtype, const Sizes& s) {
  return s.groups > 1 && s.in == s.out && visit_floating("convolution", dtype, [&]<class T>() {
           return loops().of<T>().gemm.columns / 2 % s.group_in == 0;
         });
}

/// y ← the convolution plus the bias `row`, if by_channels() is true: vector lanes are channels of
/// several groups.
void multiply_channels(const Tensor& x, const Tensor& weight, const Tensor& row,
                       const PatchRows& rows, const Sizes& s, Tensor& y) {
  const Tensor by_taps =  // [taps·in/groups, out]
      contiguous(view::transpose(view::try_reshape(weight, {s.out, s.patch}), 0, 1));
  visit_floating("convolution", y.dtype(), [&]<class T>() {
    const T *from = x.data<T>(), *by = by_taps.data<T>();
    const T* plus = row.defined() ? row.data<T>() : nullptr;
    T* to = y.mutable_data<T>();
    parallel::for_range(s.n * s.windows, windows_at_once, [&](auto begin, auto end) {
      PatchPieces<T> patches(rows, s.all_channels());
      const T* const* at = patches.of(from, begin, end);
      loops().of<T>().gathered.multiply_channels(
          end - begin, s.out, s.group_in,
          {at, patches.pieces(), patches.pieces(), 0, patches.width()}, by, plus,
          to + begin * s.out, s.out);
    });
  });
}

}  // namespace

Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, const Windows& w,
                   std::int64_t groups) {
  if (mapped::any(x, weight, bias)) {
    const auto alone = [&](const auto& of) {
      return std::vector{convolution(of[0], of[1], of[2], w, groups)};
    };
    return mapped::each({x, weight, bias}, alone)[0];
  }
  const Sizes s(w, x.size(0), x.size(-1), weight.size(0), groups);
  Tensor y = empty(image_shape(s.n, w.counts, s.out), x.dtype());
  if (y.count() == 0) return y;
  const Tensor input = contiguous(x), filter = contiguous(weight);
  const Tensor row = bias.defined() ? contiguous(bias) : bias;
  const PatchRows rows(w);
  if (by_channels(y.dtype(), s)) {
    multiply_channels(input, filter, row, rows, s, y);
    return y;
  }
  visit_floating("convolution", y.dtype(), [&]<class T>() {
    const T *from = input.data<T>(), *by = filter.data<T>();
    const T* plus = row.defined() ? row.data<T>() : nullptr;
    T* to = y.mutable_data<T>();
    for (std::int64_t i = 0; i < s.groups; ++i) {
      const PatchPieces<T> cut(rows, s.channels(i));
      const GatheredProduct<T> product(cut.pieces(), cut.width(), s.group_out,
                                       {by + i * s.group_out * s.patch, 1, s.patch});
      parallel::for_range(s.n * s.windows, windows_at_once, [&](auto begin, auto end) {
        PatchPieces<T> patches(rows, s.channels(i));
        product(end - begin, patches.of(from, begin, end), plus ? plus + i * s.group_out : plus,
                {to + begin * s.out + i * s.group_out, s.out, 1});
      });
    }
  });
  return y;
}

/// Windows of the transposed convolution, with the taps in reverse order: a window sees the outputs
/// to which a position contributed. Their stride is 1; if `w` has larger strides, the gradients
/// must have zeros between their elements (spread()).
Windows reversed(const Windows& w) {
  Windows r = w;
  for (int a = 0; a < w.axes(); ++a) {
    r.positions[a] = (w.counts[a] - 1) * w.stride[a] + 1;
    r.stride[a] = 1;
  }
  r.counts = w.positions;
  for (int a = 0; a < w.axes(); ++a) r.before[a] = w.dilation[a] * (w.size[a] - 1) - w.before[a];
  return r;
}

/// g with zeros between its elements, as reversed(w) needs it; g itself if all strides are 1.
Tensor spread(const Tensor& g, const Windows& w) {
  if (w.stride.count() == 1) return g;
  Tensor y = zeros(image_shape(g.size(0), reversed(w).positions, g.size(-1)), g.dtype());
  Tensor places = y;
  for (int a = 0; a < w.axes(); ++a)
    places = view::slice(places, a + 1, 0, g.size(a + 1), w.stride[a]);
  copy(places, g);
  return y;
}

/// Whether this number of outputs, which are vector lanes, fills at least half of a vector.
bool fills_rows(DType dtype, std::int64_t outputs) {
  return visit_floating("convolution", dtype, [&]<class T>() {
    return 4 * outputs >= loops().of<T>().gemm.columns;  // gemm.columns is two vectors
  });
}

/// Weight of the transposed convolution: [out, size.., in/groups] → [in, size.., out/groups], with
/// the taps in reverse order.
Tensor reversed(const Tensor& weight, const Windows& w, const Sizes& s) {
  Tensor y = empty(image_shape(s.in, w.size, s.group_out), weight.dtype());
  const std::int64_t taps = w.size.count();
  visit_floating("convolution", y.dtype(), [&]<class T>() {
    const T* from = weight.data<T>();
    T* to = y.mutable_data<T>();
    for (std::int64_t i = 0; i < s.in; ++i)
      for (std::int64_t tap = taps - 1; tap >= 0; --tap)
        for (std::int64_t o = i / s.group_in * s.group_out, j = 0; j < s.group_out; ++j)
          *to++ = from[((o + j) * taps + tap) * s.group_in + i % s.group_in];
  });
  return y;
}

// The gradient is itself computed as a convolution where that is faster: by_channels(), or if all
// strides are 1 and there are enough channels. Otherwise the gradients of patches are added to the
// images; windows of one image overlap, so no two tasks work on the same image.
Tensor convolution_by_input(const Tensor& g, const Tensor& weight, const Windows& w,
                            std::int64_t groups) {
  if (mapped::any(g, weight)) {
    const auto alone = [&](const auto& of) {
      return std::vector{convolution_by_input(of[0], of[1], w, groups)};
    };
    return mapped::each({g, weight}, alone)[0];
  }
  const Sizes s(w, g.size(0), weight.size(-1) * groups, weight.size(0), groups);
  Tensor y = zeros(image_shape(s.n, w.positions, s.in), g.dtype());
  if (y.count() == 0 || g.count() == 0) return y;
  const Tensor from = contiguous(g), filter = contiguous(weight);
  if (by_channels(y.dtype(), s) || (w.stride.count() == 1 && fills_rows(y.dtype(), s.group_in)))
    return convolution(spread(from, w), reversed(filter, w, s), {}, reversed(w), groups);
  const PatchRows rows(w);
  visit_floating("convolution", y.dtype(), [&]<class T>() {
    const T *up = from.data<T>(), *by = filter.data<T>();
    T* to = y.mutable_data<T>();
    const std::int64_t grain = std::max<std::int64_t>(1, s.block / s.windows);
    parallel::for_range(s.n, grain, [&](std::int64_t first, std::int64_t last) {
      const auto held = detail::array_for_overwrite<T>(std::size_t(s.block * s.patch));
      T* space = held.get();
      in_blocks(first * s.windows, last * s.windows, s.block, [&](auto begin, auto end) {
        for (std::int64_t i = 0; i < s.groups; ++i) {
          blas::gemm_serial<T>(end - begin, s.patch, s.group_out, T(1),
                               {up + begin * s.out + i * s.group_out, s.out, 1},
                               {by + i * s.group_out * s.patch, s.patch, 1}, T(0),
                               {space, s.patch, 1});
          add_patches(rows, s.channels(i), space, begin, end, to);
        }
      });
    });
  });
  return y;
}

/// Adds the contribution of windows [begin, end) to the gradient `to` of the weight,
/// [groups, patch, out/groups].
template <class T>
void add_groups(const PatchRows& rows, const Sizes& s, const T* x, const T* g, std::int64_t begin,
                std::int64_t end, T* to) {
  const auto space =
      detail::array_for_overwrite<T>(std::size_t(gathered_space<T>(windows_at_once, s.group_out)));
  for (std::int64_t i = 0; i < s.groups; ++i) {
    PatchPieces<T> patches(rows, s.channels(i));
    in_blocks(begin, end, windows_at_once, [&](auto first, auto last) {
      add_gathered_product<T>(last - first, patches.pieces(), patches.width(), s.group_out,
                              patches.of(x, first, last),
                              {g + first * s.out + i * s.group_out, s.out, 1},
                              {to + i * s.patch * s.group_out, s.group_out, 1}, space.get());
    });
  }
}

/// As add_groups(), but for by_channels(): vector lanes are channels of several groups, and the
/// gradient `to` is [taps·in/groups, out].
template <class T>
void add_channels(const PatchRows& rows, const Sizes& s, const T* x, const T* g, std::int64_t begin,
                  std::int64_t end, T* to) {
  PatchPieces<T> patches(rows, s.all_channels());
  in_blocks(begin, end, windows_at_once, [&](auto first, auto last) {
    const T* const* at = patches.of(x, first, last);
    loops().of<T>().gathered.multiply_channels_transposed(
        last - first, s.out, s.group_in,
        {at, patches.pieces(), patches.pieces(), 0, patches.width()}, g + first * s.out, s.out, to);
  });
}

// The gradient is a sum over windows. It is cut into a few partial sums, which are added in order.
Tensor convolution_by_weight(const Tensor& x, const Tensor& g, const Windows& w,
                             std::int64_t groups) {
  if (mapped::any(x, g)) {
    const auto alone = [&](const auto& of) {
      return std::vector{convolution_by_weight(of[0], of[1], w, groups)};
    };
    return mapped::each({x, g}, alone)[0];
  }
  const Sizes s(w, x.size(0), x.size(-1), g.size(-1), groups);
  const Tensor y = zeros(image_shape(s.out, w.size, s.group_in), g.dtype());
  const std::int64_t windows = s.n * s.windows;
  if (y.count() == 0 || windows == 0) return y;
  const Tensor input = contiguous(x), from = contiguous(g);
  const PatchRows rows(w);
  Tensor total = zeros(
      by_channels(y.dtype(), s) ? Shape{1, s.patch, s.out} : Shape{s.groups, s.patch, s.group_out},
      y.dtype());
  const std::int64_t blocks = (windows + windows_at_once - 1) / windows_at_once;
  const std::int64_t part = (blocks + partial_sums - 1) / partial_sums * windows_at_once;
  visit_floating("convolution", y.dtype(), [&]<class T>() {
    const T *in = input.data<T>(), *up = from.data<T>();
    const auto sum_of = [&](std::int64_t p) {
      Tensor sum = zeros(total.shape(), y.dtype());
      (by_channels(y.dtype(), s) ? add_channels<T>
                                 : add_groups<T>)(rows, s, in, up, p * part,
                                                  std::min(windows, (p + 1) * part),
                                                  sum.mutable_data<T>());
      return sum;
    };
    parallel::in_order((windows + part - 1) / part, partial_sums, sum_of,
                       [&](const Tensor& sum) { axpby(1, total, 1, sum); });
  });
  return view::try_reshape(contiguous(view::transpose(total, 1, 2)), y.shape());
}

}  // namespace ladon::kernels
