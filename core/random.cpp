#include "ladon/core/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "ladon/core/cxx20.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/inverse_erf.h"
#include "ladon/core/kernels/loops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/core/mapped.h"

namespace ladon {
namespace {

using Words = std::array<std::uint32_t, 4>;
__extension__ using Wide = unsigned __int128;

constexpr std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
constexpr std::uint64_t pair(std::uint32_t low, std::uint32_t high) {
  return low | std::uint64_t{high} << 32;
}

// Number of elements of type T per block.
template <class T>
constexpr int per_block = sizeof(T) == 4 ? 4 : 2;

// An integer in [0, n) from the words of a block (Lemire, "Fast random integer generation in an
// interval", 2019): the high half of x·n; x is rejected if the low half of x·n is below 2⁶⁴ mod n.
// If all words of a block are rejected, the block serves as the counter of the next block.
std::uint64_t below(std::uint64_t n, Words words, std::array<std::uint32_t, 2> key) {
  const std::uint64_t rejected = (0 - n) % n;
  for (;; words = philox4x32(words, key)) {
    for (int i = 0; i < 4; i += 2) {
      const auto product = static_cast<Wide>(pair(words[i], words[i + 1])) * n;
      if (static_cast<std::uint64_t>(product) >= rejected)
        return static_cast<std::uint64_t>(product >> 64);
    }
  }
}

std::array<std::uint32_t, 2> key_of(const Generator& rng) {
  return {low_word(rng.seed()), high_word(rng.seed())};
}

constexpr std::int64_t at_once = 256;  // number of blocks that are generated together

// Fills `out` with `PerBlock` elements from each of consecutive blocks. For up to at_once blocks at
// a time, draw(words, values, n) computes n values from the words of the blocks.
template <int PerBlock, class T, class Draw>
Tensor fill(Tensor out, Generator& rng, const Draw& draw) {
  constexpr std::int64_t grain = 4096;
  static_assert(at_once % kernels::block_group == 0);
  const std::int64_t count = out.count();
  const std::int64_t blocks = (count + PerBlock - 1) / PerBlock;
  const std::uint64_t start = rng.reserve(static_cast<std::uint64_t>(blocks));
  T* data = out.mutable_data<T>();
  parallel::for_range(blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    std::uint32_t words[4 * at_once];
    for (std::int64_t b = begin; b < end; b += at_once) {
      const std::int64_t here = std::min(at_once, end - b), first = b * PerBlock;
      constexpr std::int64_t group = kernels::block_group;
      kernels::loops().random.words(rng.seed(), rng.stream(), start + static_cast<std::uint64_t>(b),
                                    (here + group - 1) / group * group, words);
      if (first + here * PerBlock <= count) {
        draw(words, data + first, here * PerBlock);
      } else {
        T values[at_once * PerBlock];
        draw(words, values, here * PerBlock);
        std::copy_n(values, count - first, data + first);
      }
    }
  });
  return out;
}

Tensor empty_checked(std::string_view operation, const Shape& shape, DType dtype) {
  detail::checked_count(operation, shape);
  return empty(shape, dtype);
}

/// A tensor filled by `draw`; inside vmap, one tensor per example.
template <int PerBlock, class T, class Draw>
Tensor filled(std::string_view operation, const Shape& shape, DType dtype, Generator& rng,
              const Draw& draw) {
  return mapped::drawn(operation, shape, dtype, rng, [&](Generator& own) {
    return fill<PerBlock, T>(empty_checked(operation, shape, dtype), own, draw);
  });
}

}  // namespace

Words philox4x32(Words counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {high_word(p1) ^ counter[1] ^ key[0], low_word(p1),
               high_word(p0) ^ counter[3] ^ key[1], low_word(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

Generator::Generator(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

Generator Generator::split(std::uint64_t index) const {
  Generator parent(seed_ ^ 0x73706c6974, stream_);
  const Words w = parent.block(index);
  return Generator(pair(w[0], w[1]), pair(w[2], w[3]));
}

Words Generator::block(std::uint64_t position) const {
  return philox4x32(
      {low_word(position), high_word(position), low_word(stream_), high_word(stream_)},
      {low_word(seed_), high_word(seed_)});
}

// If replays are nested, the innermost tape gives the position. Every RecordDraws on this thread
// records the position that is returned.
std::uint64_t Generator::reserve(std::uint64_t blocks) {
  LADON_CHECK(!mapped::active(), "random",
              "a single number drawn inside vmap would be the same for every example; draw a "
              "tensor, or draw the number outside vmap and pass it in");
  const detail::Modes::Watchers& watchers = detail::modes.watchers;
  const std::uint64_t first = watchers.player ? watchers.player->next(*this, blocks)
                                              : detail::atomic_fetch_add(position_, blocks);
  for (detail::RecordDraws* r = watchers.recorder; r; r = r->before())
    r->tape_.draws.push_back({seed_, stream_, first, blocks});
  return first;
}

std::uint64_t Generator::position() const { return detail::atomic_load(position_); }

void Generator::set_position(std::uint64_t blocks) { detail::atomic_store(position_, blocks); }

bool detail::replaying() { return detail::modes.watchers.player != nullptr; }

std::uint64_t detail::ReplayDraws::next(const Generator& rng, std::uint64_t blocks) {
  if (used_ == tape_.draws.size()) fail();
  const detail::DrawTape::Draw& draw = tape_.draws[used_++];
  if (draw.seed != rng.seed() || draw.stream != rng.stream() || draw.blocks != blocks) fail();
  return draw.first;
}

void detail::ReplayDraws::finish() const {
  if (used_ != tape_.draws.size()) fail();
}

void detail::ReplayDraws::fail() const {
  detail::fail(operation_, "the second run draws other random numbers than the first (after ",
               used_, " of ", tape_.draws.size(),
               " draws): was the model switched between train() and eval() since?");
}

std::uint32_t Generator::bits() { return block(reserve(1))[0]; }

double Generator::uniform() {
  double u;
  kernels::loops().f64.draw.uniform(block(reserve(1)).data(), 0, 1, 1, &u, 1);
  return u;
}

std::int64_t Generator::below(std::int64_t n) {
  LADON_CHECK(n >= 1, "below", "needs n of at least 1, got ", n);
  return static_cast<std::int64_t>(
      ladon::below(static_cast<std::uint64_t>(n), block(reserve(1)), key_of(*this)));
}

double Generator::normal() {
  double z[2];
  kernels::loops().f64.draw.normal(block(reserve(1)).data(), 0, 1, z, 2);
  return z[0];
}

Tensor uniform(const Shape& shape, Generator& rng, double low, double high, DType dtype) {
  return visit_floating("uniform", dtype, [&]<class T>() {
    const T from = static_cast<T>(low), to = static_cast<T>(high), width = to - from;
    LADON_CHECK(from < to && std::isfinite(width), "uniform",
                "needs finite low < high that differ when rounded to ", dtype, ", got ", low,
                " and ", high);
    const T last = std::nextafter(to, from);  // from + u·width may round up to `to`
    return filled<per_block<T>, T>(
        "uniform", shape, dtype, rng, [=](const std::uint32_t* w, T* values, std::int64_t n) {
          kernels::loops().of<T>().draw.uniform(w, from, width, last, values, n);
        });
  });
}

Tensor normal(const Shape& shape, Generator& rng, double mean, double stddev, DType dtype) {
  LADON_CHECK(std::isfinite(mean) && stddev >= 0 && std::isfinite(stddev), "normal",
              "needs a finite mean and a finite stddev of at least 0, got ", mean, " and ", stddev);
  return visit_floating("normal", dtype, [&]<class T>() {
    const T m = static_cast<T>(mean), s = static_cast<T>(stddev);
    return filled<per_block<T>, T>("normal", shape, dtype, rng,
                                   [=](const std::uint32_t* w, T* values, std::int64_t n) {
                                     kernels::loops().of<T>().draw.normal(w, m, s, values, n);
                                   });
  });
}

Tensor truncated_normal(const Shape& shape, Generator& rng, double mean, double stddev,
                        double bound, DType dtype) {
  LADON_CHECK(std::isfinite(mean) && stddev >= 0 && std::isfinite(stddev) && bound > 0,
              "truncated_normal",
              "needs a finite mean, a finite stddev of at least 0 and a bound above 0, ", "got ",
              mean, ", ", stddev, " and ", bound);
  // P(|z| ≤ x) = erf(x/√2), so z = √2 erf⁻¹(u·erf(bound/√2)) for u uniform in (−1, 1).
  const double mass = std::erf(bound / std::numbers::sqrt2);
  return visit_floating("truncated_normal", dtype, [&]<class T>() {
    return filled<per_block<T>, T>(
        "truncated_normal", shape, dtype, rng,
        [=](const std::uint32_t* w, T* values, std::int64_t n) {
          double u[at_once * per_block<T>];
          kernels::loops().of<T>().draw.centred(w, u, n);
          for (std::int64_t i = 0; i < n; ++i) {
            const double z = std::numbers::sqrt2 * kernels::inverse_erf(u[i] * mass);
            values[i] = static_cast<T>(mean + stddev * std::clamp(z, -bound, bound));
          }
        });
  });
}

Tensor bernoulli(const Shape& shape, Generator& rng, double p) {
  LADON_CHECK(p >= 0 && p <= 1, "bernoulli", "needs a probability in [0, 1], got ", p);
  const auto threshold = static_cast<std::uint64_t>(std::llround(p * 0x1p32));
  return filled<4, bool>("bernoulli", shape, boolean, rng,
                         [=](const std::uint32_t* w, bool* values, std::int64_t n) {
                           kernels::loops().random.bernoulli(w, threshold, values, n);
                         });
}

Tensor randint(const Shape& shape, Generator& rng, std::int64_t low, std::int64_t high) {
  LADON_CHECK(low < high, "randint", "needs low < high, got ", low, " and ", high);
  const auto base = static_cast<std::uint64_t>(low);
  const std::uint64_t n = static_cast<std::uint64_t>(high) - base;  // may exceed 2⁶³
  return mapped::drawn("randint", shape, i64, rng, [&](Generator& own) {
    const auto key = key_of(own);
    return fill<1, std::int64_t>(
        empty_checked("randint", shape, i64), own,
        [=](const std::uint32_t* w, std::int64_t* values, std::int64_t blocks) {
          for (std::int64_t b = 0; b < blocks; ++b, w += 4)
            values[b] = static_cast<std::int64_t>(base + below(n, {w[0], w[1], w[2], w[3]}, key));
        });
  });
}

Tensor permutation(std::int64_t n, Generator& rng) {
  LADON_CHECK(n >= 0, "permutation", "needs n of at least 0, got ", n);
  return mapped::drawn("permutation", {n}, i64, rng, [n](Generator& own) {
    Tensor order = arange(n);
    std::int64_t* p = order.mutable_data<std::int64_t>();
    const std::uint64_t start = own.reserve(static_cast<std::uint64_t>(n));
    for (std::int64_t i = n - 1; i > 0; --i) {
      const auto index = static_cast<std::uint64_t>(i);
      std::swap(p[i], p[below(index + 1, own.block(start + index), key_of(own))]);
    }
    return order;
  });
}

}  // namespace ladon
