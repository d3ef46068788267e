#pragma once
// Exercises of lesson 16: what one logit does to the map, what the map does to the evidence, and
// why softmax jumps.

#include <cmath>

#include "exercise.h"

/// 1. Strength ρ of copying [M] of heads with logits g [M]. Of T = length tokens the right one has
/// the logit scale·g, and all others have 0; tokens sum to 0 over a sequence, so that only what the
/// right token has more than each other counts.
ladon::Tensor copy_strength(const ladon::Tensor& g, double scale, std::int64_t length);
void check_copy_strength(decltype(copy_strength)* yours);

/// What the data say: tokens before, X [n, V] and their targets Y [n, V], a row per position.
struct CopyPairs {
  ladon::Tensor x, y;
  double noise = 1;   ///< σ² of each target.
  double spread = 1;  ///< w: the outputs are ρ·X·M·w/√V, entries of M are N(0, 1).
};

/// 2. ln p(Y | ρ) − ln p(Y | 0) for strengths ρ [M] of the head: [M]. XᵀX = k·(1 − J/V), J all
/// ones: V − 1 directions have the eigenvalue k, the last one has 0.
ladon::Tensor strength_evidence(const ladon::Tensor& strength, const CopyPairs& data);
void check_strength_evidence(decltype(strength_evidence)* yours);

/// Terms of ln p(g | y) at g = 0: a constant + quadratic·g² + cubic·g³ + …
struct BirthTerms {
  double quadratic = 0, cubic = 0;
};

/// 3. These terms of a softmax head with the prior g ~ N(0, 1), where the log evidence is
/// gain·ρ² + … for small ρ, and ρ is that of exercise 1.
BirthTerms birth_terms(double gain, double scale, std::int64_t length);
void check_birth_terms(decltype(birth_terms)* yours);
