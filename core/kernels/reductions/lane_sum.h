#pragma once
// Sums in double precision, in an order that vectorizes and that depends on nothing but the length.

#include <cstdint>

namespace ladon::kernels {

/// Σ_k term(k) over [0, n): eight interleaved partial sums, added up at the end.
template <class Term>
double lane_sum(std::int64_t n, const Term& term) {
  constexpr int lanes = 8;
  double sum[lanes] = {};
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (int lane = 0; lane < lanes; ++lane) sum[lane] += term(k + lane);
  for (int lane = 0; k < n; ++k, ++lane) sum[lane] += term(k);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

}  // namespace ladon::kernels
