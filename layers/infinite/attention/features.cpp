#include "ladon/layers/infinite/attention/features.h"

#include <numbers>
#include <vector>

#include "ladon/core/linalg/blas.h"
#include "ladon/core/machine/parallel.h"

namespace ladon::infinite {
namespace {

/// Products x_i·x_j of the R coordinates of each token, for j ≤ i, as [T, F] with F = R·(R + 1)/2;
/// those with j < i are multiplied by √2.
std::vector<double> squares(const double* common, std::int64_t t, std::int64_t r) {
  std::vector<double> y;
  y.reserve(t * covariance_size(r));
  for (const double* x = common; x < common + t * r; x += r)
    for (std::int64_t i = 0; i < r; ++i)
      for (std::int64_t j = 0; j <= i; ++j)
        y.push_back((i == j ? 1 : std::numbers::sqrt2) * x[i] * x[j]);
  return y;
}

/// Weighted means y[a, (s, f)] = Σ_c P_asc·x_cf over the keys c, for queries a, draws s and columns
/// f of x [T, F]. P [T, S, T] are the attention weights of an input on the left of its pairs.
void average_left(const double* p, const double* x, std::int64_t t, std::int64_t count,
                  std::int64_t f, double* y) {  // [(a, s), c]·[c, f] → [a, s, f]
  blas::gemm_serial<double>(t * count, f, t, 1, {p, t, 1}, {x, f, 1}, 0, {y, f, 1});
}
/// The same means for an input on the right of its pairs, as y[(s, f), a]. `turned` [S, T, T] holds
/// its transposed weights, with elements P_asc at [s, c, a].
void average_right(const double* turned, const double* x, std::int64_t t, std::int64_t count,
                   std::int64_t f, double* y) {
  for (std::int64_t s = 0; s < count; ++s)  // [f, c]·[c, a] → [s, f, a]
    blas::gemm_serial<double>(f, t, t, 1, {x, 1, f}, {turned + s * t * t, t, 1}, 0,
                              {y + s * f * t, t, 1});
}

/// Turns second moments c [F, n] into covariances, for each of n queries: subtracts φ̄·φ̄ᵀ, where
/// φ̄ is `mean` [R, n], the first moments.
void center(const double* mean, std::int64_t r, std::int64_t n, double* c) {
  for (std::int64_t i = 0; i < r; ++i)
    for (std::int64_t j = 0; j <= i; ++j, c += n) {
      const double weight = i == j ? 1 : std::numbers::sqrt2;
      for (std::int64_t b = 0; b < n; ++b) c[b] -= weight * mean[i * n + b] * mean[j * n + b];
    }
}

}  // namespace

DrawFeatures::DrawFeatures(const LogitDraws& draws, const DrawnWeights& weights, Sides side,
                           std::int64_t positions, std::int64_t count, bool covariances) {
  const bool right = side == Sides::right;

  const std::int64_t t = positions, n = draws.inputs(), r = draws.rank(), f = covariance_size(r);
  means_ = empty({n, t * count * r}, f64);
  if (covariances) covariances_ = empty({n, t * count * f}, f64);
  double* means = means_.mutable_data<double>();
  double* moments = covariances ? covariances_.mutable_data<double>() : nullptr;
  parallel::for_range(n, 1, [&](std::int64_t input, std::int64_t end) {
    for (; input < end; ++input) {
      if (!draws.explained(input)) continue;
      const auto average = right ? average_right : average_left;
      const double* p = right ? weights.turned(input) : weights.left(input);
      double* mean = means + input * t * count * r;
      average(p, draws.common(input), t, count, r, mean);
      if (!covariances) continue;
      double* c = moments + input * t * count * f;
      average(p, squares(draws.common(input), t, r).data(), t, count, f, c);
      // Moments of an input on the left are centred query by query, those of an input on the right
      // for all T queries of a draw at once, as average_left() and average_right() order them.
      const std::int64_t together = right ? t : 1;
      for (std::int64_t i = 0; i < t * count; i += together)
        center(mean + i * r, r, together, c + i * f);
    }
  });
}

}  // namespace ladon::infinite
