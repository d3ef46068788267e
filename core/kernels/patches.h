#pragma once
// Windows that slide over positions, and the patches that they see. No gradients: see
// autograd/ops/convolution.h.

#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::kernels {

/// How windows stand on positions, one number an axis: window i sees, at tap o, the position
/// i·stride − before + o·dilation, which may be outside.
struct Windows {
  Shape positions, counts;  ///< Of the positions, and of the windows.
  Shape size, stride, dilation, before;

  int axes() const { return size.rank(); }
  /// Each window sees one position, its own.
  bool identity() const;
};

/// [n, of.., channels].
Shape image_shape(std::int64_t n, const Shape& of, std::int64_t channels);

/// [N, positions.., C] → [N, counts.., taps·C]: what each window sees, its taps in row-major order,
/// their channels side by side, zeros outside.
Tensor unfold(const Tensor& x, const Windows& windows);
/// The adjoint: [N, counts.., taps·C] → [N, positions.., C], sums where windows overlap.
Tensor fold(const Tensor& patches, const Windows& windows);

/// Patches row by row: a row is the taps of a window side by side on its last axis, at one place of the
/// axes before.
class PatchRows {
 public:
  explicit PatchRows(const Windows& windows);

  /// Taps [low, high) of a row are inside; the first of them sees position `at` (of all, row-major), the
  /// next one `at + dilation()`. None inside: low = high.
  struct Row {
    std::int64_t at, low, high;
  };
  std::int64_t rows() const { return static_cast<std::int64_t>(places_.size()); }
  std::int64_t row_taps() const { return size_; }
  std::int64_t dilation() const { return dilation_; }
  std::int64_t windows() const { return windows_.counts.count(); }

  /// Calls see(image, row) for the rows of windows [begin, end), counted over all images.
  template <class See>
  void each(std::int64_t begin, std::int64_t end, const See& see) const {
    if (begin == end) return;
    std::int64_t image = begin / windows();
    Shape window = unravel(begin % windows());
    for (std::int64_t i = begin; i < end; ++i) {
      const Place place = place_of(window);
      for (std::size_t r = 0; r < places_.size(); ++r)
        see(image, place.inside ? Row{place.at + offsets_[r], 0, size_} : clipped(place, r));
      image += advance(window);
    }
  }

 private:
  /// Where a window starts, and whether all of it is inside.
  struct Place {
    Shape start;
    std::int64_t at;
    bool inside;
  };
  Shape unravel(std::int64_t index) const;
  Place place_of(const Shape& window) const;
  Row clipped(const Place& place, std::size_t row) const;
  /// The next window; 1 after the last one of an image, else 0.
  int advance(Shape& window) const;

  Windows windows_;
  std::vector<Shape> places_;          // of rows: tap·dilation on each axis but the last
  std::vector<std::int64_t> offsets_;  // and how many positions they are from the first
  std::int64_t size_, dilation_;
};

/// Some of the channels of images of `positions`: `count` of `all`, from `first` on.
struct Channels {
  std::int64_t positions, all, first, count;
};

/// patches [end − begin, taps·count] ← what windows [begin, end), counted over all images, see.
template <class T>
void take_patches(const PatchRows& rows, const Channels& channels, const T* images,
                  std::int64_t begin, std::int64_t end, T* patches);
/// images ← images + patches, where those windows see them.
template <class T>
void add_patches(const PatchRows& rows, const Channels& channels, const T* patches,
                 std::int64_t begin, std::int64_t end, T* images);

}  // namespace ladon::kernels
