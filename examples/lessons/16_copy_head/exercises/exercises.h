#pragma once
// Exercises of lesson 16: the map as a function of one logit, the evidence as a function of the
// map, and why softmax jumps.

#include <cmath>

#include "exercise.h"

/// 1. Strength ρ of copying [M] of heads with logits g [M]. Of T = length tokens the right one has
/// the logit scale·g, and all others have 0. Tokens sum to 0 over a sequence, so only the right
/// token's excess weight over another one counts.
ladon::Tensor copy_strength(const ladon::Tensor& g, double scale, std::int64_t length);
void check_copy_strength(decltype(copy_strength)* yours);

/// Data: the tokens before, X [n, V], and the targets Y [n, V], a row per position.
struct CopyPairs {
  ladon::Tensor x, y;
  double noise = 1;   ///< σ² of each target.
  double spread = 1;  ///< w: outputs are ρ·X·M·w/√V, entries of M are N(0, 1).
};

/// 2. ln p(Y | ρ) − ln p(Y | 0) [M], for strengths ρ [M] of the head. XᵀX = k·(1 − J/V) with J all
/// ones: it has eigenvalue k in V − 1 directions and 0 in the last one.
ladon::Tensor strength_evidence(const ladon::Tensor& strength, const CopyPairs& data);
void check_strength_evidence(decltype(strength_evidence)* yours);

/// Terms of ln p(g | y) at g = 0: a constant + quadratic·g² + cubic·g³ + …
struct BirthTerms {
  double quadratic = 0, cubic = 0;
};

/// 3. These terms for a softmax head with the prior g ~ N(0, 1), where the log evidence is gain·ρ²
/// + … for small ρ, and ρ is that of exercise 1.
BirthTerms birth_terms(double gain, double scale, std::int64_t length);
void check_birth_terms(decltype(birth_terms)* yours);
