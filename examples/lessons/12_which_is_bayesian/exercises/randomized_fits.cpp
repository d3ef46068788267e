// Exercise 3 of lesson 12 (★★★): an ensemble that is Bayesian.
//
// A plain ensemble fits the same targets with the same penalty: in a linear model all members end
// at the same weights. Let member s draw w_s from the prior N(0, I) and e_s from the noise N(0,
// σ²·I), and minimize
//   |y + e_s − Φw|²/(2σ²) + |w − w_s|²/2.
// Derive the minimum w, and its mean and covariance over draws of w_s and e_s: they are those of
// the posterior. Write the minimum, for all members at once. Hint: put w = w_s + δ, and use Φᵀ(ΦΦᵀ
// + σ²·I)⁻¹ = (ΦᵀΦ + σ²·I)⁻¹Φᵀ; solve(A, B) gives A⁻¹B, and `noise` is the variance σ².

#include "12_which_is_bayesian/exercises/exercises.h"

using namespace ladon;

Tensor randomized_fits(const Tensor& features, const Tensor& y, double noise, std::int64_t members,
                       Generator& rng) {
  lessons::to_do("fits to noisy targets, each pulled to its own draw from the prior");
}
