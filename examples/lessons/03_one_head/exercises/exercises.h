#pragma once
// Exercises of lesson 3: the covariance given the maps, excess kurtosis, the kernel of a wide head.
//
// The layer has H heads, and one output for every token of an input x [T, d]:
//   f = Σ_h A_h·(x·V_h)·w_h/√H,  A_h = softmax(G_h),  G_h = (x·Q_h)·(x·K_h)ᵀ/√width.
// Entries of Q_h, K_h, V_h [d, width] are independent draws of N(0, 1/d), those of w_h [width] of
// N(0, 1/width).

#include "exercise.h"

/// 1. Expectation E f(x)·f(y)ᵀ [T, T] over V and w alone, given the attention maps [H, T, T] of the
/// heads on each of the inputs x and y [T, d]. A head uses the same V_h and w_h for both inputs.
ladon::Tensor covariance_given_maps(const ladon::Tensor& maps_of_x, const ladon::Tensor& x,
                                    const ladon::Tensor& maps_of_y, const ladon::Tensor& y);
void check_covariance_given_maps(decltype(covariance_given_maps)* yours);

/// 2. Excess kurtosis E f⁴/(E f²)² − 3 over all elements of the outputs [layers, channels], whose
/// mean is 0, and its standard error by the jackknife over layers:
///   se² = (n − 1)/n · Σ_i (κ_i − mean κ)²,  κ_i the excess kurtosis without layer i, i = 1 … n.
ladon::Measured kurtosis_of_layers(const ladon::Tensor& outputs);
void check_kurtosis_of_layers(decltype(kurtosis_of_layers)* yours);

/// 3. Estimate of the expectation E f(x)·f(y)ᵀ [T, T] over all weights of one infinitely wide head,
/// from the given number of draws.
ladon::Tensor wide_head_kernel(const ladon::Tensor& x, const ladon::Tensor& y, int draws,
                               ladon::Generator& rng);
void check_wide_head_kernel(decltype(wide_head_kernel)* yours);
