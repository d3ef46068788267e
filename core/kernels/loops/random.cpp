// Random numbers, from sixteen blocks of random words at a time. This file is compiled without
// contraction to fused multiply-adds (CMakeLists.txt), so that numbers have the same bits at every
// instruction level.

#include "ladon/core/kernels/loops/random.h"

#include "ladon/core/kernels/loops/math.h"
#include "ladon/core/kernels/loops/table.h"

namespace ladon::kernels::LADON_LEVEL {
namespace {

using std::int64_t;
using std::uint32_t;
using std::uint64_t;

LADON_INLINE uint32_t low_word(uint64_t x) { return static_cast<uint32_t>(x); }
LADON_INLINE uint32_t high_word(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

/// Computes philox4x32 (core/random.cpp) for block_group blocks, one vector lane per block.
LADON_INLINE void group_of_words(uint64_t seed, uint64_t stream, uint64_t position, uint32_t* w) {
  uint32_t c0[block_group], c1[block_group], c2[block_group], c3[block_group];
  for (int i = 0; i < block_group; ++i) {
    const uint64_t at = position + static_cast<uint64_t>(i);
    c0[i] = low_word(at), c1[i] = high_word(at);
    c2[i] = low_word(stream), c3[i] = high_word(stream);
  }
  uint32_t k0 = low_word(seed), k1 = high_word(seed);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < block_group; ++i) {
      const uint64_t p0 = uint64_t{0xD2511F53} * c0[i], p1 = uint64_t{0xCD9E8D57} * c2[i];
      c0[i] = high_word(p1) ^ c1[i] ^ k0, c1[i] = low_word(p1);
      c2[i] = high_word(p0) ^ c3[i] ^ k1, c3[i] = low_word(p0);
    }
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  for (int i = 0; i < block_group; ++i)
    w[4 * i] = c0[i], w[4 * i + 1] = c1[i], w[4 * i + 2] = c2[i], w[4 * i + 3] = c3[i];
}

void words(uint64_t seed, uint64_t stream, uint64_t position, int64_t blocks, uint32_t* w) {
  for (int64_t b = 0; b < blocks; b += block_group)
    group_of_words(seed, stream, position + static_cast<uint64_t>(b), w + 4 * b);
}

void bernoulli(const uint32_t* w, uint64_t threshold, bool* y, int64_t n) {
  if (threshold >> 32 != 0) {
    for (int64_t i = 0; i < n; ++i) y[i] = true;
    return;
  }
  const uint32_t bound = low_word(threshold);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = w[i] < bound;
}

// --- numbers from words ---

// Conversions of a word to a number: unit() is in [0, 1). positive(), in (0, 1], and centred(), in
// (−1, 1), are midpoints of intervals of equal length.
LADON_INLINE uint32_t raw(const uint32_t* w, int64_t i, float) { return w[i]; }
LADON_INLINE float unit(uint32_t x) {
  return static_cast<float>(static_cast<std::int32_t>(x >> 8)) * 0x1p-24f;
}
LADON_INLINE float positive(uint32_t x) { return static_cast<float>(x) * 0x1p-32f + 0x1p-33f; }
LADON_INLINE double centred(uint32_t x) {
  return (static_cast<double>(static_cast<std::int32_t>(x)) + 0.5) * 0x1p-31;
}

// In f64, unit() uses the top 53 bits of a word pair: 52 of them are the fraction of a number in
// [1, 2), and the last one is added.
LADON_INLINE uint64_t raw(const uint32_t* w, int64_t i, double) {
  return w[2 * i] | uint64_t{w[2 * i + 1]} << 32;
}
LADON_INLINE double unit(uint64_t x) {
  return (from_bits<double>(bits(1.0) | x >> 12) - 1) + ((x >> 11 & 1) != 0 ? 0x1p-53 : 0.0);
}
LADON_INLINE double positive(uint64_t x) { return unit(x) + 0x1p-54; }
LADON_INLINE double centred(uint64_t x) { return (2 * unit(x ^ uint64_t{1} << 63) - 1) + 0x1p-53; }

template <class T>
void uniform(const uint32_t* w, T from, T width, T last, T* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = at_most(from + unit(raw(w, i, T())) * width, last);
}

template <class T>
void centred_cells(const uint32_t* w, double* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = centred(raw(w, i, T()));
}

LADON_INLINE float log_of_positive(float u) { return static_cast<float>(log_in_double(u)); }
LADON_INLINE double log_of_positive(double u) {
  const Parts<double> p = split_mantissa(u);
  return log_of_parts(p.k, p.m - 1, 0.0);
}

// Box–Muller: (√(−2 ln u) cos πv, √(−2 ln u) sin πv) for u in (0, 1], v in (−1, 1).
template <class T>
void normal(const uint32_t* w, T mean, T stddev, T* y, int64_t n) {
  constexpr double pi = 0x1.921fb54442d18p+1;
#pragma omp simd
  for (int64_t i = 0; i < n; i += 2) {
    const T radius = sqrt(T(-2) * log_of_positive(positive(raw(w, i, T()))));
    const T angle = static_cast<T>(pi * centred(raw(w, i + 1, T())));
    y[i] = mean + stddev * (radius * sine_in_double(angle, 1));
    y[i + 1] = mean + stddev * (radius * sine_in_double(angle, 0));
  }
}

}  // namespace

void add_random(Loops& table) {
  table.random = {words, bernoulli};
  table.f32.draw = {uniform<float>, normal<float>, centred_cells<float>};
  table.f64.draw = {uniform<double>, normal<double>, centred_cells<double>};
}

}  // namespace ladon::kernels::LADON_LEVEL
