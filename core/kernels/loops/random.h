#pragma once
// Random words, and distributions that are computed from them element by element. core/random.h
// specifies the words and their layout.

#include <cstdint>

namespace ladon::kernels {

/// Number of blocks of random words that are generated together.
inline constexpr std::int64_t block_group = 16;

struct RandomLoops {
  /// The words of `blocks` consecutive blocks, a multiple of block_group, beginning with the block
  /// at `position`.
  void (*words)(std::uint64_t seed, std::uint64_t stream, std::uint64_t position,
                std::int64_t blocks, std::uint32_t* w);
  /// y[i] = w[i] < threshold.
  void (*bernoulli)(const std::uint32_t* w, std::uint64_t threshold, bool* y, std::int64_t n);
};

/// n elements from consecutive words: one word per element in f32, a pair of words in f64.
template <class T>
struct DrawLoops {
  /// y = min(from + u·width, last), u uniform in [0, 1).
  void (*uniform)(const std::uint32_t* w, T from, T width, T last, T* y, std::int64_t n);
  /// y = mean + stddev·z, z standard normal; n is even.
  void (*normal)(const std::uint32_t* w, T mean, T stddev, T* y, std::int64_t n);
  /// y uniform in (−1, 1): midpoints of 2³² equal intervals for f32, and of 2⁵³ for f64.
  void (*centred)(const std::uint32_t* w, double* y, std::int64_t n);
};

}  // namespace ladon::kernels
