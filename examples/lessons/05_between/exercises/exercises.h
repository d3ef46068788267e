#pragma once
// Exercises of lesson 5: the density of finitely many heads, the divergence of two such
// distributions, and the covariance of a layer whose logits are given.

#include <numbers>

#include "exercise.h"

/// 1. Density at y of the output of H heads, f = (f_1 + … + f_H)/√H. Given the logits of head h,
/// f_h is N(0, v_h), independent of the other heads; row s of variances [draws, H] has the v_h of
/// draw s of the logits.
double density_of_heads(double y, const ladon::Tensor& variances);
void check_density_of_heads(decltype(density_of_heads)* yours);

/// 2. Kullback–Leibler divergence ∫ p(y) ln(p(y)/q(y)) dy in nats, to six digits. p and q are
/// mixtures of Gaussians with mean 0 and variances between 0.01 and 5. p.density(y) is the density
/// of p at y.
double divergence_of_laws(const ladon::infinite::ScaleMixture& p,
                          const ladon::infinite::ScaleMixture& q);
void check_divergence_of_laws(decltype(divergence_of_laws)* yours);

/// 3. Covariances [N, N, T, T] of a layer's outputs at all positions, given its logits: entry
/// [n, m, a, b] is that of the output at position a of input n and the output at position b of
/// input m. The inputs are x [N, T, d], the bilinear forms of the heads B [H, d, d] (`forms`), and
/// the logits QK·Φ·B·Φᵀ with Φ = x/√d and QK = query_key_std. Attention weights are the softmax of
/// the logits, and the scale of values and output is OV = 1.
ladon::Tensor covariance_given_heads(const ladon::Tensor& x, const ladon::Tensor& forms,
                                     double query_key_std);
void check_covariance_given_heads(decltype(covariance_given_heads)* yours);
