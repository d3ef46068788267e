#pragma once
// Images of a mark in noise: the label depends on the mark, not on its position.

#include "ladon/core/extra/data/images.h"
#include "ladon/core/random.h"

namespace ladon::example {

/// Images f32 [n, side, side, 1], labelled by their marks, and the marks' positions, i64 [n]: one
/// of nine, row by row.
struct MarkedImages {
  ImageDataset images;
  Tensor places;
};

/// Each image has one of four marks of 4 × 4 pixels, at one of 3 × 3 positions `apart` pixels
/// apart, in normal noise with this standard deviation.
MarkedImages marked_images(std::int64_t n, std::int64_t apart, double noise, Generator& rng);

}  // namespace ladon::example
