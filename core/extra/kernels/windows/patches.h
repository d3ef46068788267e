#pragma once
// Windows that slide over positions, and the patches that they see. No gradients are recorded: see
// autograd/extra/windows/convolution.h.

#include <algorithm>
#include <utility>
#include <vector>

#include "ladon/core/storage.h"
#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// Geometry of windows on positions (of pixels or steps), one number per axis. On each axis, window
/// i sees, at tap o < size, the position i·stride − before + o·dilation, which may be outside the
/// input; `before` is the padding before the first position.
struct Windows {
  Shape positions, counts;  ///< Number of positions and of windows.
  Shape size, stride, dilation, before;

  int axes() const { return size.rank(); }
  /// Whether each window sees exactly one position, namely that with the index of the window.
  bool identity() const;
};

/// The shape [n, of.., channels] of n images.
Shape image_shape(std::int64_t n, const Shape& of, std::int64_t channels);

/// [N, positions.., C] → [N, counts.., taps·C]: the patch that each window sees, its taps in
/// row-major order, each with its C channels; zeros outside the input.
Tensor unfold(const Tensor& x, const Windows& windows);
/// Adjoint of unfold: [N, counts.., taps·C] → [N, positions.., C], with sums where windows overlap.
Tensor fold(const Tensor& patches, const Windows& windows);

/// Patches row by row: a row consists of the taps of a window along the last axis, at a fixed tap
/// of each other axis.
class PatchRows {
 public:
  explicit PatchRows(const Windows& windows);

  /// Taps [low, high) of a row lie inside the input (none if low = high). Tap `low` reads the
  /// position with row-major index `at`, tap low + 1 reads at + dilation(), and so on.
  struct Row {
    std::int64_t at = 0, low = 0, high = 0;
  };
  /// Windows [first, last) of one line along the last axis. Row r of their patches reads a line of
  /// the input: starts[r] is the index of the first position of that line, or −1 if the line is
  /// outside the input.
  struct Line {
    std::int64_t image, first, last;
    std::vector<std::int64_t> starts;
  };
  std::int64_t rows() const { return static_cast<std::int64_t>(places_.size()); }
  std::int64_t row_taps() const { return size_; }
  std::int64_t dilation() const { return dilation_; }
  std::int64_t stride() const { return windows_.stride[last_]; }

  /// Calls see(line) for each Line of the windows [begin, end), which are numbered over all images.
  template <class See>
  void each_line(std::int64_t begin, std::int64_t end, const See& see) const {
    const std::int64_t across = windows_.counts[last_], lines = windows_.counts.count() / across;
    Line line;
    for (std::int64_t i = begin / across; i * across < end; ++i) {
      line.image = i / lines;
      line.first = std::max<std::int64_t>(0, begin - i * across);
      line.last = std::min(across, end - i * across);
      find_lines(i % lines, line.starts);
      see(line);
    }
  }
  /// Calls see(image, row) for each row of the patches of windows [begin, end).
  template <class See>
  void each(std::int64_t begin, std::int64_t end, const See& see) const {
    each_line(begin, end, [this, &see](const Line& line) {
      for (std::int64_t window = line.first; window < line.last; ++window)
        for (const std::int64_t start : line.starts) see(line.image, row(window, start));
    });
  }
  /// Row of a window, if the line of positions that the row reads begins at position `start`.
  Row row(std::int64_t window, std::int64_t start) const {
    const Row& own = on_line_[static_cast<std::size_t>(window)];
    return start < 0 || own.low == own.high ? Row{} : Row{start + own.at, own.low, own.high};
  }
  /// Range of windows in a line whose taps [tap, tap + taps) all lie inside the input.
  std::pair<std::int64_t, std::int64_t> whole(std::int64_t tap, std::int64_t taps) const;
  /// Position that the first window of a line sees at `tap`, counted from the beginning of the
  /// line; may be outside.
  std::int64_t first_position(std::int64_t tap) const {
    return tap * dilation_ - windows_.before[last_];
  }

 private:
  void find_lines(std::int64_t line, std::vector<std::int64_t>& starts) const;

  Windows windows_;
  int last_;                   // the last axis
  std::vector<Shape> places_;  // for each row of a patch: tap·dilation on each axis but the last
  std::vector<Row> on_line_;   // for each window of a line; `at` counts from the start of the line
  std::int64_t size_, dilation_;
};

/// Some of the channels of images with `positions` positions: channels [first, first + count) out
/// of `all`.
struct Channels {
  std::int64_t positions, all, first, count;
};

/// Patches that are read in place in the images: each is a list of pieces, whose elements are
/// contiguous in an image. Only pieces that extend over an edge of the image are copied.
template <class T>
class PatchPieces {
 public:
  PatchPieces(const PatchRows& rows, const Channels& channels);
  std::int64_t pieces() const { return pieces_; }  ///< Number of pieces of a patch.
  std::int64_t width() const { return width_; }    ///< Number of elements of a piece.
  /// Addresses [end − begin, pieces()] of the pieces of windows [begin, end), counted over all
  /// images; valid until the next call.
  const T* const* of(const T* images, std::int64_t begin, std::int64_t end);

 private:
  /// at[i·pieces()] ← address of the piece that window line.first + i sees: `taps` taps, from `tap`
  /// on, in the line of positions that begins at `start`.
  void find(const T* images, const PatchRows::Line& line, std::int64_t start, std::int64_t tap,
            std::int64_t taps, const T** at);
  const T* clipped(const T* from, const PatchRows::Row& row);

  const PatchRows& rows_;
  Channels channels_;
  bool whole_rows_;
  std::int64_t pieces_, width_;
  std::vector<T> zeros_;
  std::vector<const T*> at_;
  Storage copies_;  // copies of pieces that extend over an edge of the image
  T* next_copy_ = nullptr;
};

/// patches [end − begin, taps·count] ← the patches of windows [begin, end), counted over all
/// images.
template <class T>
void take_patches(const PatchRows& rows, const Channels& channels, const T* images,
                  std::int64_t begin, std::int64_t end, T* patches);
/// images ← images + patches, at the positions that windows [begin, end) see.
template <class T>
void add_patches(const PatchRows& rows, const Channels& channels, const T* patches,
                 std::int64_t begin, std::int64_t end, T* images);

}  // namespace ladon::kernels
