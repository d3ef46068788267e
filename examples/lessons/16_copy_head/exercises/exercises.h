#pragma once
// Exercises of lesson 16: the attention map as a function of one logit, the evidence as a function
// of the map, and why heads with softmax begin to copy in a jump.

#include <cmath>

#include "exercise.h"

/// 1. Strength ρ of copying [M] of M heads with parameters g [M]. Of T = `length` tokens the right
/// token has the logit scale·g, and all others have the logit 0. The tokens of a sequence sum to 0,
/// so only the difference between the weights of the right token and of another token counts.
ladon::Tensor copy_strength(const ladon::Tensor& g, double scale, std::int64_t length);
void check_copy_strength(decltype(copy_strength)* yours);

/// Data with one row per position: the token before it, X [n, V], and the targets Y [n, V].
struct CopyPairs {
  ladon::Tensor x, y;
  double noise = 1;  ///< Variance σ² of the noise of each target.
  double spread = 1;  ///< w: outputs are ρ·X·A·w/√V, where the entries of A [V, V] are N(0, 1).
};

/// 2. Log evidence ln p(Y | ρ) − ln p(Y | 0) [M] of strengths ρ [M] of the head, relative to ρ = 0.
/// The data have XᵀX = k·(I − J/V), with all entries of J equal to 1: XᵀX has the eigenvalue k in
/// V − 1 directions and 0 in the last direction.
ladon::Tensor strength_evidence(const ladon::Tensor& strength, const CopyPairs& data);
void check_strength_evidence(decltype(strength_evidence)* yours);

/// Taylor coefficients of ln p(g | y) at g = 0: a constant + quadratic·g² + cubic·g³ + …
struct BirthTerms {
  double quadratic = 0, cubic = 0;
};

/// 3. These coefficients for a softmax head with the prior g ~ N(0, 1), where the log evidence is
/// gain·ρ² + … for small ρ, with the strength ρ of exercise 1.
BirthTerms birth_terms(double gain, double scale, std::int64_t length);
void check_birth_terms(decltype(birth_terms)* yours);
