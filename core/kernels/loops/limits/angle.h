#pragma once
// The arctangent of two non-negative numbers, without branches (see math.h).

#include "ladon/core/kernels/loops/math.h"

namespace ladon::kernels::LADON_LEVEL {

/// (atan(x)/x − 1)/z at z = x², x ≤ tan(π/8).
LADON_INLINE double atan_tail(double z) {
  return polynomial(z, -0x1.555555555553dp-2, 0x1.99999999957cdp-3, -0x1.24924922aa4ebp-3,
                    0x1.c71c70e50e457p-4, -0x1.745cf8c36ffecp-4, 0x1.3b111794abc84p-4,
                    -0x1.10eba8c1c279fp-4, 0x1.df0e7fc0e497cp-5, -0x1.9ccf7d040afd8p-5,
                    0x1.37ce1b1e6fc04p-5, -0x1.255b34ad96126p-6);
}

/// `angle`: atan2(y, x) for y, x ≥ 0 (π/2 if both are 0). `rest`: π/2 − angle. Each is accurate to
/// the last digits.
struct Angle {
  double angle, rest;
  bool steep;  // angle ≥ π/4
};

/// The Angle of the point (x, y). Angles above π/4 are reflected, so that the slope is at most 1;
/// then angles r above π/8 are rotated by −π/4: tan(r − π/4) = (y − x)/(y + x).
LADON_INLINE Angle angle(double y, double x) {
  constexpr double tan_eighth = 0x1.a827999fcef32p-2;
  constexpr double half_pi = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;
  const bool steep = y >= x;
  const double low = steep ? x : y, high = steep ? y : x;
  const bool turned = low > tan_eighth * high;
  const double above = turned ? low - high : low;
  const double below = turned ? low + high : high;
  const double t = above / (below == 0.0 ? 1.0 : below), z = t * t;
  const double atan = t + t * (z * atan_tail(z));
  const double r = turned ? 0.5 * half_pi + (atan + 0.5 * half_pi_low) : atan;
  const double rest = half_pi - (r - half_pi_low);
  return {steep ? rest : r, steep ? r : rest, steep};
}

}  // namespace ladon::kernels::LADON_LEVEL
