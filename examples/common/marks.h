#pragma once
// Images of a mark in noise: what the mark is decides, where it stands does not.

#include "ladon/core/data/images.h"
#include "ladon/core/random.h"

namespace ladon::example {

/// Images f32 [n, side, side, 1], whose labels are their marks, and the places of these, i64 [n]:
/// of nine places, row by row.
struct MarkedImages {
  ImageDataset images;
  Tensor places;
};

/// Each has one of four marks of 4 × 4 pixels at one of 3 × 3 places, which are `apart` pixels
/// apart, in normal noise of this deviation.
MarkedImages marked_images(std::int64_t n, std::int64_t apart, double noise, Generator& rng);

}  // namespace ladon::example
