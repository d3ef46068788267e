#include "ladon/core/kernels/patches.h"

#include <algorithm>

#include "ladon/core/kernels/binary.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/strided.h"
#include "ladon/core/mapped.h"

namespace ladon::kernels {

bool Windows::identity() const {
  for (int a = 0; a < axes(); ++a)
    if (size[a] != 1 || stride[a] != 1 || before[a] != 0 || positions[a] != counts[a]) return false;
  return true;
}

PatchRows::PatchRows(const Windows& windows)
    : windows_(windows),
      places_(1),
      offsets_(1),
      size_(windows.size[windows.axes() - 1]),
      dilation_(windows.dilation[windows.axes() - 1]) {
  const Shape strides = contiguous_strides(windows.positions);
  for (int a = 0; a + 1 < windows.axes(); ++a) {
    std::vector<Shape> finer;
    std::vector<std::int64_t> offsets;
    for (std::size_t r = 0; r < places_.size(); ++r)
      for (std::int64_t tap = 0; tap < windows.size[a]; ++tap) {
        finer.push_back(places_[r]);
        finer.back().append(tap * windows.dilation[a]);
        offsets.push_back(offsets_[r] + tap * windows.dilation[a] * strides[a]);
      }
    places_ = std::move(finer);
    offsets_ = std::move(offsets);
  }
}

Shape PatchRows::unravel(std::int64_t index) const {
  Shape window = windows_.counts;
  for (int a = windows_.axes() - 1; a >= 0; --a) {
    window[a] = index % windows_.counts[a];
    index /= windows_.counts[a];
  }
  return window;
}

int PatchRows::advance(Shape& window) const {
  for (int a = windows_.axes() - 1; a >= 0; --a) {
    if (++window[a] < windows_.counts[a]) return 0;
    window[a] = 0;
  }
  return 1;
}

PatchRows::Place PatchRows::place_of(const Shape& window) const {
  Place place{window, 0, true};
  for (int a = 0; a < windows_.axes(); ++a) {
    const std::int64_t start = window[a] * windows_.stride[a] - windows_.before[a];
    const std::int64_t end = start + (windows_.size[a] - 1) * windows_.dilation[a];
    place.start[a] = start;
    place.inside = place.inside && start >= 0 && end < windows_.positions[a];
    place.at = place.at * windows_.positions[a] + start;
  }
  return place;
}

// Of the last axis, taps o with 0 ≤ start + o·dilation < n.
PatchRows::Row PatchRows::clipped(const Place& place, std::size_t row) const {
  const int last = windows_.axes() - 1;
  std::int64_t line = 0;
  for (int a = 0; a < last; ++a) {
    const std::int64_t at = place.start[a] + places_[row][a];
    if (at < 0 || at >= windows_.positions[a]) return {0, 0, 0};
    line = line * windows_.positions[a] + at;
  }
  const std::int64_t n = windows_.positions[last], start = place.start[last];
  const std::int64_t skipped = start < 0 ? (-start + dilation_ - 1) / dilation_ : 0;
  const std::int64_t before_end = start < n ? (n - start + dilation_ - 1) / dilation_ : 0;
  const std::int64_t low = std::min(skipped, size_), high = std::min(before_end, size_);
  if (low >= high) return {0, 0, 0};
  return {line * n + start + low * dilation_, low, high};
}

template <class T>
void take_patches(const PatchRows& rows, const Channels& c, const T* images, std::int64_t begin,
                  std::int64_t end, T* patches) {
  const std::int64_t width = rows.row_taps() * c.count;
  const bool dense = rows.dilation() == 1 && c.count == c.all;
  T* to = patches;
  rows.each(begin, end, [&](std::int64_t image, const PatchRows::Row& row) {
    const T* from = images + (image * c.positions + row.at) * c.all + c.first;
    const std::int64_t seen = row.high - row.low;
    if (seen < rows.row_taps()) std::fill_n(to, width, T(0));
    T* inside = to + row.low * c.count;
    to += width;
    if (dense) {
      std::copy_n(from, seen * c.count, inside);
      return;
    }
    for (std::int64_t o = 0; o < seen; ++o)
      std::copy_n(from + o * rows.dilation() * c.all, c.count, inside + o * c.count);
  });
}

template <class T>
void add_patches(const PatchRows& rows, const Channels& c, const T* patches, std::int64_t begin,
                 std::int64_t end, T* images) {
  const auto add = loops().of<T>().binary[static_cast<int>(Binary::add)];
  const std::int64_t width = rows.row_taps() * c.count;
  const bool dense = rows.dilation() == 1 && c.count == c.all;
  const T* from = patches;
  rows.each(begin, end, [&](std::int64_t image, const PatchRows::Row& row) {
    T* to = images + (image * c.positions + row.at) * c.all + c.first;
    const std::int64_t seen = row.high - row.low;
    const T* inside = from + row.low * c.count;
    from += width;
    if (dense) {
      add(to, inside, to, seen * c.count);
      return;
    }
    for (std::int64_t o = 0; o < seen; ++o, to += rows.dilation() * c.all)
      add(to, inside + o * c.count, to, c.count);
  });
}

template void take_patches(const PatchRows&, const Channels&, const float*, std::int64_t,
                           std::int64_t, float*);
template void take_patches(const PatchRows&, const Channels&, const double*, std::int64_t,
                           std::int64_t, double*);
template void add_patches(const PatchRows&, const Channels&, const float*, std::int64_t,
                          std::int64_t, float*);
template void add_patches(const PatchRows&, const Channels&, const double*, std::int64_t,
                          std::int64_t, double*);

Shape image_shape(std::int64_t n, const Shape& of, std::int64_t channels) {
  Shape shape = of;
  shape.insert(0, n);
  shape.append(channels);
  return shape;
}

Tensor unfold(const Tensor& x, const Windows& w) {
  if (x.mapped()) {
    const auto alone = [&](const auto& of) { return std::vector{unfold(of[0], w)}; };
    return mapped::each({x}, alone)[0];
  }
  const std::int64_t n = x.size(0), channels = x.size(-1);
  const std::int64_t taps = checked_count("unfold", w.size);
  Tensor y = empty(image_shape(n, w.counts, checked_product("unfold", taps, channels)), x.dtype());
  if (y.count() == 0) return y;
  const Tensor source = contiguous(x);
  const PatchRows rows(w);
  const std::int64_t windows = w.counts.count(), patch = taps * channels;
  const Channels all{w.positions.count(), channels, 0, channels};
  visit_floating("unfold", x.dtype(), [&]<class T>() {
    const T* from = source.data<T>();
    T* to = y.mutable_data<T>();
    const std::int64_t grain = std::max<std::int64_t>(1, task_length / patch);
    parallel::for_range(n * windows, grain, [&](std::int64_t begin, std::int64_t end) {
      take_patches(rows, all, from, begin, end, to + begin * patch);
    });
  });
  return y;
}

// Windows of one image overlap, so that a task owns images.
Tensor fold(const Tensor& patches, const Windows& w) {
  if (patches.mapped()) {
    const auto alone = [&](const auto& of) { return std::vector{fold(of[0], w)}; };
    return mapped::each({patches}, alone)[0];
  }
  const std::int64_t n = patches.size(0), taps = checked_count("fold", w.size);
  const std::int64_t patch = patches.size(-1), channels = patch / taps;
  Tensor y = zeros(image_shape(n, w.positions, channels), patches.dtype());
  if (patches.count() == 0 || y.count() == 0) return y;
  const Tensor source = contiguous(patches);
  const PatchRows rows(w);
  const std::int64_t windows = w.counts.count();
  const Channels all{w.positions.count(), channels, 0, channels};
  visit_floating("fold", y.dtype(), [&]<class T>() {
    const T* from = source.data<T>();
    T* to = y.mutable_data<T>();
    const std::int64_t grain = std::max<std::int64_t>(1, task_length / (windows * patch));
    parallel::for_range(n, grain, [&](std::int64_t begin, std::int64_t end) {
      add_patches(rows, all, from + begin * windows * patch, begin * windows, end * windows, to);
    });
  });
  return y;
}

}  // namespace ladon::kernels
