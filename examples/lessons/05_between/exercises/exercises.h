#pragma once
// Exercises of lesson 5: the density of finitely many heads, the distance of two such laws, and the
// covariance of a layer whose logits are given.

#include <numbers>

#include "exercise.h"

/// 1. Density at y of the output of H heads, f = (f_1 + … + f_H)/√H. Given its logits, f_h is
/// N(0, v_h), independent of the others; variances [draws, H] are the v_h in independent draws.
double density_of_heads(double y, const ladon::Tensor& variances);
void check_density_of_heads(decltype(density_of_heads)* yours);

/// 2. Divergence ∫ p(y) ln(p(y)/q(y)) dy in nats, to six digits. Variances of both laws lie between
/// 0.01 and 5. The density is law.density(y).
double divergence_of_laws(const ladon::infinite::ScaleMixture& p,
                          const ladon::infinite::ScaleMixture& q);
void check_divergence_of_laws(decltype(divergence_of_laws)* yours);

/// 3. Covariances of a layer's outputs at all positions, given its logits: [N, N, T, T], of output
/// a of input n and b of m at [n, m, a, b]. The inputs are x [N, T, d], the forms of the heads are
/// B [H, d, d], and the logits QK·Φ·B·Φᵀ with Φ = x/√d; weights are softmax's, and OV = 1.
ladon::Tensor covariance_given_heads(const ladon::Tensor& x, const ladon::Tensor& forms,
                                     double query_key_std);
void check_covariance_given_heads(decltype(covariance_given_heads)* yours);
