#pragma once
// Random numbers from a counter: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011). A number depends on (seed, stream, position) only; so results are the same
// at any number of threads, and a generator can be saved as three integers.

#include <array>
#include <cstdint>

#include "ladon/core/tensor.h"

namespace ladon {

/// One block: four 32-bit words from a 128-bit counter and a 64-bit key.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// A position in the random sequence of a seed. Passed explicitly; drawing advances it. Copies draw
/// the same numbers.
class Generator {
 public:
  explicit Generator(std::uint64_t seed, std::uint64_t stream = 0);

  /// An independent generator, whose sequence depends only on this one's seed, stream and `index`
  /// (not on its position).
  Generator split(std::uint64_t index) const;

  /// 32 random bits; uniform in [0, 1) with 53 bits; an integer in [0, n), unbiased; N(0, 1).
  std::uint32_t bits();
  double uniform();
  std::int64_t below(std::int64_t n);
  double normal();

  std::uint64_t seed() const { return seed_; }
  std::uint64_t stream() const { return stream_; }
  /// Blocks used so far.
  std::uint64_t position() const { return position_; }
  void set_position(std::uint64_t blocks);

  /// Reserves `blocks` consecutive blocks and returns the first one's position: how the tensor
  /// functions below draw in parallel.
  std::uint64_t reserve(std::uint64_t blocks);
  std::array<std::uint32_t, 4> block(std::uint64_t position) const;

 private:
  std::uint64_t seed_, stream_, position_ = 0;
  std::array<std::uint32_t, 4> words_{};
  int left_ = 0;
};

/// Tensors of independent draws; floating dtypes only unless said otherwise (Error).
Tensor uniform(const Shape& shape, Generator& rng, double low = 0, double high = 1,
               DType dtype = f32);
Tensor normal(const Shape& shape, Generator& rng, double mean = 0, double stddev = 1,
              DType dtype = f32);
/// N(mean, stddev²) conditioned on |z − mean| ≤ bound·stddev.
Tensor truncated_normal(const Shape& shape, Generator& rng, double mean = 0, double stddev = 1,
                        double bound = 2, DType dtype = f32);
/// true with probability p.
Tensor bernoulli(const Shape& shape, Generator& rng, double p);
/// i64 in [low, high).
Tensor randint(const Shape& shape, Generator& rng, std::int64_t low, std::int64_t high);
/// A random order of 0 … n−1, i64 [n].
Tensor permutation(std::int64_t n, Generator& rng);

}  // namespace ladon
