#pragma once
// Random numbers from a counter: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011). A number depends on (seed, stream, position) only; so results are the same
// at any number of threads, and a generator is saved and restored as these three integers.
//
// The layout, which files rely on. A block is four words w0 … w3 = philox4x32(counter, key) with
//   counter = (position low, position high, stream low, stream high), key = (seed low, seed high),
// where `low` and `high` are 32-bit halves. One scalar draw uses one block; a tensor of n elements
// uses consecutive blocks for consecutive elements in row-major order:
//   elements per block      f32                          f64
//   uniform, bernoulli    4: one word each             2: (w0, w1), (w2, w3)     (bernoulli: 4)
//   normal                4: pairs from (w0, w1), …    2: a pair from ((w0, w1), (w2, w3))
//   truncated_normal      4: one word each             2: (w0, w1), (w2, w3)
//   randint, permutation  1 (i64; permutation draws for index i from block i)
// A word pair (a, b) is the 64-bit integer a + 2³²·b. Uniforms take the top 24 bits of a word or
// the top 53 of a pair. Normals are Box–Muller pairs (cosine first): √(−2 ln u) times cos πv and
// sin πv, with u in (0, 1] and v in (−1, 1) the midpoints of the intervals that the two words (or
// pairs) select; u and πv are rounded to the dtype. Uniforms and normals have the same bits on
// every processor.

#include <array>
#include <cstdint>
#include <vector>

#include "ladon/core/modes.h"
#include "ladon/core/tensor.h"

namespace ladon {

/// One block: four 32-bit words from a 128-bit counter and a 64-bit key.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// A random generator: a seed, a stream and a position in their sequence, which drawing advances.
/// Functions that draw take it as an argument. Copies draw the same numbers. Several threads may
/// draw from the same generator at once: no number is then drawn twice, but which thread gets which
/// number varies from run to run. For reproducible results give thread i its own generator
/// split(i).
class Generator {
 public:
  explicit Generator(std::uint64_t seed, std::uint64_t stream = 0);

  /// An independent generator, whose sequence depends only on `index` and on the seed and stream of
  /// this generator (not on the position). Its seed and stream are the word pairs of the block with
  /// counter (index low, index high, stream low, stream high) and key seed XOR 0x73706c6974
  /// ("split").
  Generator split(std::uint64_t index) const;

  /// 32 random bits: w0 of the next block.
  std::uint32_t bits();
  /// Uniform in [0, 1), with 53 bits.
  double uniform();
  /// An integer in [0, n), unbiased. Throws Error if n < 1.
  std::int64_t below(std::int64_t n);
  /// A draw from N(0, 1); always finite, of absolute value below 8.7.
  double normal();

  std::uint64_t seed() const { return seed_; }
  std::uint64_t stream() const { return stream_; }
  /// Number of blocks used so far.
  std::uint64_t position() const;
  void set_position(std::uint64_t blocks);

  /// Reserves `blocks` consecutive blocks and returns the position of the first. Every draw calls
  /// this function first, including the draws of the tensor functions below.
  std::uint64_t reserve(std::uint64_t blocks);
  std::array<std::uint32_t, 4> block(std::uint64_t position) const;

 private:
  std::uint64_t seed_, stream_, position_ = 0;
};

namespace detail {

// Replay of draws from any generators, so that a computation that runs a second time
// (autograd/checkpoint.h) gets the same numbers.

/// The blocks of random numbers that one thread reserved, in order.
struct DrawTape {
  struct Draw {
    std::uint64_t seed, stream, first, blocks;
  };
  std::vector<Draw> draws;
};

/// While an object of this class is alive, every reservation of its thread is recorded on the tape.
class RecordDraws : private Scoped<RecordDraws*> {
 public:
  explicit RecordDraws(DrawTape& tape) : Scoped(modes.watchers.recorder, this), tape_(tape) {}

 private:
  friend class ladon::Generator;
  DrawTape& tape_;
};

/// While an object of this class is alive on this thread, reserve() returns the positions on the
/// tape, in order, and advances no generator. A reservation that differs from the one on the tape
/// (another generator, another number of blocks, or more reservations) throws Error naming
/// `operation`.
class ReplayDraws : private Scoped<ReplayDraws*> {
 public:
  ReplayDraws(const char* operation, const DrawTape& tape)
      : Scoped(modes.watchers.player, this), operation_(operation), tape_(tape) {}
  /// Throws Error unless the whole tape was replayed.
  void finish() const;

 private:
  friend class ladon::Generator;
  std::uint64_t next(const Generator& rng, std::uint64_t blocks);
  [[noreturn]] void fail() const;

  const char* operation_;
  const DrawTape& tape_;
  std::size_t used_ = 0;
};

/// Whether this thread is replaying draws: code that counts runs of a model then skips this run,
/// which repeats an earlier one.
bool replaying();

}  // namespace detail

// Tensors of independent draws. The functions throw Error if the dtype is not floating-point, a
// size is negative or a parameter is outside its stated range.

/// Uniform in [low, high), low < high, both finite.
Tensor uniform(const Shape& shape, Generator& rng, double low = 0, double high = 1,
               DType dtype = f32);
/// N(mean, stddev²), stddev ≥ 0. Always finite: within 6.8 (f32) or 8.7 (f64) standard deviations
/// of the mean.
Tensor normal(const Shape& shape, Generator& rng, double mean = 0, double stddev = 1,
              DType dtype = f32);
/// Draws in a given dtype, with the default parameters: normal({2, 3}, rng, f64).
inline Tensor uniform(const Shape& shape, Generator& rng, DType dtype) {
  return uniform(shape, rng, 0, 1, dtype);
}
inline Tensor normal(const Shape& shape, Generator& rng, DType dtype) {
  return normal(shape, rng, 0, 1, dtype);
}
/// Draws z from N(mean, stddev²) conditioned on |z − mean| ≤ bound·stddev, bound > 0, by inverting
/// the distribution function.
Tensor truncated_normal(const Shape& shape, Generator& rng, double mean = 0, double stddev = 1,
                        double bound = 2, DType dtype = f32);
/// bool, true with probability p in [0, 1], rounded to a multiple of 2⁻³².
Tensor bernoulli(const Shape& shape, Generator& rng, double p);
/// i64, uniform in [low, high), low < high; unbiased.
Tensor randint(const Shape& shape, Generator& rng, std::int64_t low, std::int64_t high);
/// A random order of 0 … n−1, each of the n! equally likely (Fisher–Yates). i64 [n], n ≥ 0.
Tensor permutation(std::int64_t n, Generator& rng);

}  // namespace ladon
