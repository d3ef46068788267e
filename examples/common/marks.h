#pragma once
// Images of a small pattern (mark) in noise: the label depends on the mark, not on its position.

#include "ladon/core/extra/data/images.h"
#include "ladon/core/random.h"

namespace ladon::example {

/// Images f32 [n, side, side, 1], labelled by their marks, and the position of the mark in each
/// image, i64 [n]: 0 to 8, row by row.
struct MarkedImages {
  ImageDataset images;
  Tensor places;
};

/// Draws n images: each has one of four marks of 4 × 4 pixels, at one of 3 × 3 positions that are
/// `apart` pixels apart, in normal noise with the standard deviation `noise`.
MarkedImages marked_images(std::int64_t n, std::int64_t apart, double noise, Generator& rng);

}  // namespace ladon::example
