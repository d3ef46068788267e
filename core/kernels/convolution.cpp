#include "ladon/core/kernels/convolution.h"

#include <algorithm>
#include <memory>

#include "ladon/core/blas.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/strided.h"
#include "ladon/core/mapped.h"

namespace ladon::kernels {
namespace {

constexpr std::int64_t block_elements = 1 << 16;  // of patches, that are made at a time
constexpr std::int64_t partial_sums = 8;          // of the weight's gradient, at most

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
  std::int64_t patch;               ///< Elements of a group's patch.
  std::int64_t windows, positions;  ///< Of an image.
  std::int64_t block;               ///< Windows whose patches are made at a time.

  Channels channels(std::int64_t group) const {
    return {positions, in, group * group_in, group_in};
  }
};

/// A group's patches of consecutive windows, as a matrix [windows, patch].
template <class T>
class PatchBlock {
 public:
  PatchBlock(const Windows& w, const PatchRows& rows, const Sizes& s)
      : rows_(rows), s_(s), identity_(w.identity()) {}

  /// Windows [begin, end) of all images; valid until the next call.
  blas::Matrix<const T> of(const T* x, std::int64_t group, std::int64_t begin, std::int64_t end) {
    if (identity_) return {x + begin * s_.in + group * s_.group_in, s_.in, 1};
    take_patches(rows_, s_.channels(group), x, begin, end, space());
    return {space_.get(), s_.patch, 1};
  }
  T* space() {
    if (!space_)
      space_ = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(s_.block * s_.patch));
    return space_.get();
  }

 private:
  const PatchRows& rows_;
  const Sizes& s_;
  bool identity_;
  std::unique_ptr<T[]> space_;
};

/// Calls body(first, last) for the blocks of windows [begin, end).
template <class Body>
void in_blocks(std::int64_t begin, std::int64_t end, std::int64_t block, const Body& body) {
  for (; begin < end; begin += block) body(begin, std::min(end, begin + block));
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
  visit_floating("convolution", y.dtype(), [&]<class T>() {
    const T *from = input.data<T>(), *by = filter.data<T>();
    const T* plus = row.defined() ? row.data<T>() : nullptr;
    T* to = y.mutable_data<T>();
    parallel::for_range(s.n * s.windows, s.block, [&](std::int64_t begin, std::int64_t end) {
      PatchBlock<T> patches(w, rows, s);
      if (plus)
        for (std::int64_t i = begin; i < end; ++i) std::copy_n(plus, s.out, to + i * s.out);
      for (std::int64_t i = 0; i < s.groups; ++i)
        blas::gemm_serial<T>(end - begin, s.group_out, s.patch, T(1),
                             patches.of(from, i, begin, end),
                             {by + i * s.group_out * s.patch, 1, s.patch}, plus ? T(1) : T(0),
                             {to + begin * s.out + i * s.group_out, s.out, 1});
    });
  });
  return y;
}

// Windows of one image overlap, so that a task owns images.
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
  const PatchRows rows(w);
  visit_floating("convolution", y.dtype(), [&]<class T>() {
    const T *up = from.data<T>(), *by = filter.data<T>();
    T* to = y.mutable_data<T>();
    const std::int64_t grain = std::max<std::int64_t>(1, s.block / s.windows);
    parallel::for_range(s.n, grain, [&](std::int64_t first, std::int64_t last) {
      PatchBlock<T> patches(w, rows, s);
      T* space = patches.space();
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

// The sum over windows is cut into a few parts, which are added in order.
Tensor convolution_by_weight(const Tensor& x, const Tensor& g, const Windows& w,
                             std::int64_t groups) {
  if (mapped::any(x, g)) {
    const auto alone = [&](const auto& of) {
      return std::vector{convolution_by_weight(of[0], of[1], w, groups)};
    };
    return mapped::each({x, g}, alone)[0];
  }
  const Sizes s(w, x.size(0), x.size(-1), g.size(-1), groups);
  Tensor y = zeros(image_shape(s.out, w.size, s.group_in), g.dtype());
  const std::int64_t windows = s.n * s.windows;
  if (y.count() == 0 || windows == 0) return y;
  const Tensor input = contiguous(x), from = contiguous(g);
  const PatchRows rows(w);
  const std::int64_t blocks = (windows + s.block - 1) / s.block;
  const std::int64_t part = (blocks + partial_sums - 1) / partial_sums * s.block;
  visit_floating("convolution", y.dtype(), [&]<class T>() {
    const T *in = input.data<T>(), *up = from.data<T>();
    const auto sum_of = [&](std::int64_t p) {
      Tensor sum = zeros(y.shape(), y.dtype());
      T* to = sum.mutable_data<T>();
      PatchBlock<T> patches(w, rows, s);
      in_blocks(p * part, std::min(windows, (p + 1) * part), s.block, [&](auto begin, auto end) {
        for (std::int64_t i = 0; i < s.groups; ++i)
          blas::gemm_serial<T>(s.group_out, s.patch, end - begin, T(1),
                               {up + begin * s.out + i * s.group_out, 1, s.out},
                               patches.of(in, i, begin, end), T(1),
                               {to + i * s.group_out * s.patch, s.patch, 1});
      });
      return sum;
    };
    parallel::in_order((windows + part - 1) / part, partial_sums, sum_of,
                       [&](const Tensor& sum) { axpby(1, y, 1, sum); });
  });
  return y;
}

}  // namespace ladon::kernels
