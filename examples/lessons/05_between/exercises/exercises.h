#pragma once
// Exercises of lesson 5: the density of finitely many heads, the divergence of two such
// distributions, and the covariance of a layer whose logits are given.

#include <numbers>

#include "exercise.h"

/// 1. Density at y of the output of H heads, f = (f_1 + … + f_H)/√H. Given its logits, f_h is N(0,
/// v_h), independent of the others; row s of variances [draws, H] holds the v_h of draw s.
double density_of_heads(double y, const ladon::Tensor& variances);
void check_density_of_heads(decltype(density_of_heads)* yours);

/// 2. Divergence ∫ p(y) ln(p(y)/q(y)) dy in nats, to six digits. The variances in both mixtures lie
/// between 0.01 and 5. p.density(y) is the density of p at y.
double divergence_of_laws(const ladon::infinite::ScaleMixture& p,
                          const ladon::infinite::ScaleMixture& q);
void check_divergence_of_laws(decltype(divergence_of_laws)* yours);

/// 3. Covariances of a layer's outputs at all positions, given its logits: [N, N, T, T], output a
/// of input n and b of m at [n, m, a, b]. The inputs are x [N, T, d], the bilinear forms of the
/// heads B [H, d, d], and the logits QK·Φ·B·Φᵀ with Φ = x/√d; weights are their softmax, and OV =
/// 1.
ladon::Tensor covariance_given_heads(const ladon::Tensor& x, const ladon::Tensor& forms,
                                     double query_key_std);
void check_covariance_given_heads(decltype(covariance_given_heads)* yours);
