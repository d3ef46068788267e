#include "ladon/core/extra/kernels/windows/patches.h"

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

namespace {

/// Taps o of a window with 0 ≤ start + o·dilation < n.
PatchRows::Row inside(std::int64_t start, std::int64_t taps, std::int64_t dilation,
                      std::int64_t n) {
  const std::int64_t skipped = start < 0 ? (-start + dilation - 1) / dilation : 0;
  const std::int64_t before_end = start < n ? (n - start + dilation - 1) / dilation : 0;
  const std::int64_t low = std::min(skipped, taps), high = std::min(before_end, taps);
  if (low >= high) return {};
  return {start + low * dilation, low, high};
}

}  // namespace

PatchRows::PatchRows(const Windows& windows)
    : windows_(windows),
      last_(windows.axes() - 1),
      places_(1),
      size_(windows.size[last_]),
      dilation_(windows.dilation[last_]) {
  for (int a = 0; a < last_; ++a) {
    std::vector<Shape> finer;
    for (const Shape& place : places_)
      for (std::int64_t tap = 0; tap < windows.size[a]; ++tap) {
        finer.push_back(place);
        finer.back().append(tap * windows.dilation[a]);
      }
    places_ = std::move(finer);
  }
  for (std::int64_t i = 0; i < windows.counts[last_]; ++i)
    on_line_.push_back(inside(i * windows.stride[last_] - windows.before[last_], size_, dilation_,
                              windows.positions[last_]));
}

std::pair<std::int64_t, std::int64_t> PatchRows::whole(std::int64_t tap, std::int64_t taps) const {
  const Row seeing = inside(first_position(tap), windows_.counts[last_], windows_.stride[last_],
                            windows_.positions[last_] - (taps - 1) * dilation_);
  return {seeing.low, seeing.high};
}

void PatchRows::find_lines(std::int64_t line, std::vector<std::int64_t>& starts) const {
  Shape first;  // position on each axis but the last
  for (int a = last_ - 1; a >= 0; --a) {
    first.insert(0, line % windows_.counts[a] * windows_.stride[a] - windows_.before[a]);
    line /= windows_.counts[a];
  }
  starts.clear();
  for (const Shape& place : places_) {
    std::int64_t start = 0;
    for (int a = 0; a < last_ && start >= 0; ++a) {
      const std::int64_t at = first[a] + place[a];
      start = at < 0 || at >= windows_.positions[a] ? -1 : start * windows_.positions[a] + at;
    }
    starts.push_back(start < 0 ? start : start * windows_.positions[last_]);
  }
}

// A row of taps is one piece if its elements, with all channels, are contiguous; else every tap is
// a piece.
template <class T>
PatchPieces<T>::PatchPieces(const PatchRows& rows, const Channels& channels)
    : rows_(rows),
      channels_(channels),
      whole_rows_(rows.dilation() == 1 && channels.count == channels.all),
      pieces_(rows.rows() * (whole_rows_ ? 1 : rows.row_taps())),
      width_(channels.count * (whole_rows_ ? rows.row_taps() : 1)),
      zeros_(static_cast<std::size_t>(width_)) {}

template <class T>
const T* const* PatchPieces<T>::of(const T* images, std::int64_t begin, std::int64_t end) {
  at_.resize(static_cast<std::size_t>((end - begin) * pieces_));
  next_copy_ = nullptr;
  const T** at = at_.data();
  const std::int64_t taps = whole_rows_ ? rows_.row_taps() : 1;
  rows_.each_line(begin, end, [&](const PatchRows::Line& line) {
    const T** piece = at;
    for (const std::int64_t start : line.starts)
      for (std::int64_t tap = 0; tap < rows_.row_taps(); tap += taps)
        find(images, line, start, tap, taps, piece++);
    at += (line.last - line.first) * pieces_;
  });
  return at_.data();
}

template <class T>
void PatchPieces<T>::find(const T* images, const PatchRows::Line& line, std::int64_t start,
                          std::int64_t tap, std::int64_t taps, const T** at) {
  const Channels& c = channels_;
  const auto [low, high] = start < 0 ? std::pair{line.last, line.last} : rows_.whole(tap, taps);
  const T* const image = images + line.image * c.positions * c.all + c.first;
  std::int64_t i = line.first;
  const auto until = [&](std::int64_t last, const auto& piece) {
    for (; i < std::min(last, line.last); ++i, at += pieces_) *at = piece();
  };
  const auto edge = [&] {
    const PatchRows::Row row = rows_.row(i, start);
    return taps == 1 || row.low == row.high ? zeros_.data() : clipped(image + row.at * c.all, row);
  };
  until(low, edge);
  const std::int64_t first = start + rows_.first_position(tap);
  until(high, [&] { return image + (first + i * rows_.stride()) * c.all; });
  until(line.last, edge);
}

template <class T>
const T* PatchPieces<T>::clipped(const T* from, const PatchRows::Row& row) {
  const std::int64_t count = channels_.count;
  if (!next_copy_) {
    const std::size_t bytes = at_.size() * static_cast<std::size_t>(width_) * sizeof(T);
    if (copies_.size() < bytes) copies_ = Storage(bytes);
    next_copy_ = reinterpret_cast<T*>(copies_.bytes());
  }
  T* const copy = next_copy_;
  next_copy_ = std::fill_n(next_copy_, row.low * count, T(0));
  next_copy_ = std::copy_n(from, (row.high - row.low) * count, next_copy_);
  next_copy_ = std::fill_n(next_copy_, (rows_.row_taps() - row.high) * count, T(0));
  return copy;
}

template class PatchPieces<float>;
template class PatchPieces<double>;

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
  const std::int64_t taps = detail::checked_count("unfold", w.size);
  Tensor y =
      empty(image_shape(n, w.counts, detail::checked_product("unfold", taps, channels)), x.dtype());
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

// Windows of one image overlap, so no two tasks work on the same image.
Tensor fold(const Tensor& patches, const Windows& w) {
  if (patches.mapped()) {
    const auto alone = [&](const auto& of) { return std::vector{fold(of[0], w)}; };
    return mapped::each({patches}, alone)[0];
  }
  const std::int64_t n = patches.size(0), taps = detail::checked_count("fold", w.size);
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
