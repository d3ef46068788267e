#include "ladon/layers/extra/attention/attention_variants.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ladon/autograd/extra/attention/rotary.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/init.h"

namespace ladon {
namespace {

/// Position of each key minus that of each query:  [Tq, Tk], or [batch, Tq, Tk].
Tensor ahead_of(const AttentionHeads& h) {
  return unsqueeze(h.k_positions, -2) - unsqueeze(h.q_positions, -1);
}

}  // namespace

RotaryPositions::RotaryPositions(const RotaryOptions& o) : options(o) {
  LADON_CHECK(o.dim >= 0 && o.dim % 2 == 0, "RotaryPositions",
              "channels are rotated in pairs; dim must be even and not negative, got ", o.dim);
  LADON_CHECK(o.base > 0 && o.scale > 0 && std::isfinite(o.base) && std::isfinite(o.scale),
              "RotaryPositions", "base and scale must be positive and finite, got base = ", o.base,
              " and scale = ", o.scale);
}

AttentionHeads RotaryPositions::heads(const AttentionHeads& h) const {
  const std::int64_t width = h.q.size(-1), dim = options.dim > 0 ? options.dim : width;
  LADON_CHECK(dim <= width && dim % 2 == 0, "RotaryPositions", "rotates ", dim,
              " channels in pairs; the number must be even and at most the width of a head, but "
              "heads have ",
              width);
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < dim; i += 2)
    frequencies.push_back(std::pow(options.base, -double(i) / double(dim)) / options.scale);
  const Tensor frequency = from_vector(frequencies, {dim / 2});
  const auto turned = [&](const Tensor& x, const Tensor& positions) {
    Tensor angle = unsqueeze(cast(positions, f64), -1) * frequency;  // [.., T, dim/2]
    if (angle.rank() == 3) angle = unsqueeze(angle, 1);              // the same for all heads
    return rotary_embedding(x, cast(cos(angle), x.dtype()), cast(sin(angle), x.dtype()),
                            options.interleaved);
  };
  return {turned(h.q, h.q_positions), turned(h.k, h.k_positions), h.v};
}

std::string RotaryPositions::describe() const {
  return detail::join("RotaryPositions(base ", options.base, ")");
}

// --- ALiBi ---

AlibiBias::AlibiBias(std::int64_t heads) {
  LADON_CHECK(heads > 0, "AlibiBias", "heads must be positive, got ", heads);
  const auto lower = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  slopes = empty({heads});
  float* slope = slopes.mutable_data<float>();
  for (std::int64_t h = 0; h < heads; ++h) {
    const double place = h < lower ? double(h + 1) : double(h - lower) + 0.5;
    slope[h] = static_cast<float>(std::exp2(-8 * place / double(lower)));
  }
}

Tensor AlibiBias::bias(const AttentionHeads& h) const {
  LADON_CHECK(h.q.size(1) == slopes.size(0), "AlibiBias", "has slopes for ", slopes.size(0),
              " heads, but queries have ", h.q.size(1));
  const Tensor distance = cast(abs(ahead_of(h)), h.q.dtype());
  const Tensor per_head = reshape(cast(slopes, h.q.dtype()), {slopes.size(0), 1, 1});
  return -(per_head * unsqueeze(distance, -3));  // [.., heads, Tq, Tk]
}

std::string AlibiBias::describe() const {
  return detail::join("AlibiBias(", slopes.size(0), " heads)");
}

// --- T5 ---

RelativeBias::RelativeBias(const RelativeBiasOptions& o, Generator& rng) : options(o) {
  const std::int64_t sides = o.bidirectional ? 2 : 1;
  LADON_CHECK(o.heads > 0, "RelativeBias", "heads must be positive, got ", o.heads);
  LADON_CHECK(o.buckets > 0 && o.buckets % (2 * sides) == 0, "RelativeBias",
              "buckets must be a positive multiple of ", 2 * sides, ", got ", o.buckets);
  LADON_CHECK(o.max_distance > o.buckets / sides / 2, "RelativeBias", "max_distance is ",
              o.max_distance, "; it must be above ", o.buckets / sides / 2,
              ", half the buckets of a direction");
  weight = initialize(Init::normal, {o.buckets, o.heads}, {.gain = o.stddev}, rng);
}

std::int64_t RelativeBias::bucket(std::int64_t ahead) const {
  const std::int64_t count = options.bidirectional ? options.buckets / 2 : options.buckets;
  const std::int64_t first = options.bidirectional && ahead > 0 ? count : 0;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t back = ahead < -most ? most : -ahead;  // −(−2⁶³) is not representable
  const std::int64_t far = std::max(back, options.bidirectional ? ahead : 0);
  const std::int64_t single = count / 2;
  if (far < single) return first + far;
  const double growth = std::log(double(far) / double(single)) /
                        std::log(double(options.max_distance) / double(single));
  const auto later = static_cast<std::int64_t>(growth * double(count - single));
  return first + std::min(count - 1, single + later);
}

Tensor RelativeBias::bias(const AttentionHeads& h) const {
  LADON_CHECK(h.q.size(1) == weight.size(1), "RelativeBias", "has biases for ", weight.size(1),
              " heads, but queries have ", h.q.size(1));
  const Tensor ahead = ahead_of(h);
  Tensor buckets = empty(ahead.shape(), i64);
  const Tensor from = contiguous(ahead);
  const std::int64_t* distance = from.data<std::int64_t>();
  std::int64_t* to = buckets.mutable_data<std::int64_t>();
  for (std::int64_t i = 0; i < buckets.count(); ++i) to[i] = bucket(distance[i]);
  const Tensor rows = embedding(weight, buckets);  // [.., Tq, Tk, heads]
  return transpose(transpose(rows, -1, -2), -2, -3);
}

std::string RelativeBias::describe() const {
  return detail::join("RelativeBias(", weight.size(0), " buckets)");
}

}  // namespace ladon
