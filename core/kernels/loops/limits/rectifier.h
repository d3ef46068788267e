#pragma once
// Weighted sums of the arc-cosine kernels over many correlations, for attention with relu or abs in
// place of softmax, in the limit of infinitely many heads
// (layers/infinite/attention/rectified.cpp).

#include <cstdint>

namespace ladon::kernels {

/// Weighted sums over correlations ρ_i, accumulated over calls.
struct RectifierSums {
  double value[2];  ///< Σ_i weight[k][i]·κ(ρ_i), k = 0, 1
  double slope[2];  ///< Σ_i weight[2 + k][i]·κ'(ρ_i)
};

/// For φ(x) = αx + β|x| of unit normals with correlation ρ_i = r·rho[i] (|r|, |rho[i]| ≤ 1):
/// κ = E[φ(u)φ(v)], κ' = E[φ'(u)φ'(v)]. Adds the terms of n correlations to all four sums or, if
/// `all` is false, only to value[0].
using RectifierLoop = void (*)(double alpha2, double beta2, double r, const double* rho,
                               const double* const weight[4], bool all, std::int64_t n,
                               RectifierSums& sums);

/// Number of terms of a power series; powers below 1e-25 are left out.
constexpr std::int64_t power_terms = 128;

/// sums[m][k] += weight[m]·x^k for m < count (1 or 4) and 0 ≤ x ≤ 1; sums [count, power_terms].
using AddPowersLoop = void (*)(double x, const double* weight, int count, double* sums);

/// y[m] = Σ_k factors[m][k]·sums[m][k]·x^k for m < count (1 or 4).
using PowerSeriesLoop = void (*)(double x, const double* factors, const double* sums, int count,
                                 double* y);

struct RectifierLoops {
  RectifierLoop sums;
  AddPowersLoop add_powers;
  PowerSeriesLoop power_series;
};

}  // namespace ladon::kernels
