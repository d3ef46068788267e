#pragma once
// Exercises of lesson 11: the stationary variance, the preconditioned step, Metropolis's
// correction.

#include <limits>

#include "exercise.h"

/// 1. Stationary variance of the chain x ← x − step·(precision·x + e) + √(2·step)·ξ with ξ ~ N(0,
/// 1), where the gradient noise e of a batch has mean 0 and variance batch_variance. Infinity if
/// the chain has no stationary density.
double langevin_variance(double precision, double step, double batch_variance);
void check_langevin_variance(decltype(langevin_variance)* yours);

/// Posterior given many data items under the prior N(0, 1/prior_precision), and settings of its
/// sampler.
struct LangevinSettings {
  double items;                  ///< N, the number of items.
  double prior_precision;        ///< λ
  double step;                   ///< ε, the step size.
  ladon::Tensor preconditioner;  ///< [D], the diagonal of P
};

/// 2. One step of preconditioned Langevin dynamics from x [D]. Row i of `gradients` [n, D] is the
/// gradient of the loss −ln p(y_i | x) of an item of the batch; `xi` [D] is drawn from N(0, 1).
ladon::Tensor preconditioned_step(const ladon::Tensor& x, const ladon::Tensor& gradients,
                                  const LangevinSettings& settings, const ladon::Tensor& xi);
void check_preconditioned_step(decltype(preconditioned_step)* yours);

/// 3. Acceptance probability [M] with which each row of x [M, D] moves to its row of `proposal`
/// [M, D], x + step·∇ln p(x) + √(2·step)·ξ, so that p is the stationary density at any step.
ladon::Tensor mala_acceptance(const ladon::LogDensity& density, const ladon::Tensor& x,
                              const ladon::Tensor& proposal, double step);
void check_mala_acceptance(decltype(mala_acceptance)* yours);
