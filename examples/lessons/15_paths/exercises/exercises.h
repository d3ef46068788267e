#pragma once
// Exercises of lesson 15: the order parameter U of a network, the logarithm of its posterior given
// data, and the gradient of this logarithm.

#include <cmath>
#include <vector>

#include "exercise.h"

/// Weights of a network of width N with two layers of heads; each is N(0, 1) before training.
struct PathWeights {
  ladon::Tensor first, second;  ///< V_h of each layer's heads, [H, N, N].
  ladon::Tensor readout;        ///< a [N]
};

/// 1. Order parameter U [H₁·H₂, H₁·H₂] of these weights: the inner products of the paths' vectors
/// (path_overlaps.cpp), divided by N, for layers of H₁ and of H₂ heads. Path (h₁, h₂) has
/// the index h₁·H₂ + h₂.
ladon::Tensor path_overlaps(const PathWeights& weights);
void check_path_overlaps(decltype(path_overlaps)* yours);

/// Training data for one layer of heads of width N. Its readout is given, with |a|² = N, so that
/// the readout's order parameter u is 1.
struct PathData {
  ladon::Tensor kernels;  ///< C [P, P, M, M]: kernels of pairs of P paths (here: heads), M chains.
  ladon::Tensor y;        ///< Targets [M, 1].
  double noise = 0;       ///< Variance σ² of the targets' noise.
  double width = 0;       ///< N
};

/// 2. Twice the negative log posterior, S(U) = −2·ln p(y | U) − 2·ln p(U | u = 1) of that layer at
/// large N, up to a constant; the prior contributes N·tr U − N·ln det U. U is [P, P].
double overlap_cost(const PathData& data, const ladon::Tensor& u);
void check_overlap_cost(decltype(overlap_cost)* yours);

/// 3. Gradient ∂S/∂U [P, P], as if U_pq and U_qp were different variables.
ladon::Tensor overlap_slope(const PathData& data, const ladon::Tensor& u);
void check_overlap_slope(decltype(overlap_slope)* yours);
