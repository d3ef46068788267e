#pragma once
// Extension points of optim: the base classes to derive from and the structs of functions to pass
// in, for a new optimizer, sampler, target density, particle method, kernel or linear solver. Each
// entry says what the interface is for, when not to use it, and why it has its form; the full
// contract is in the header named in parentheses.
//
// 1. Optimizer   (optimizer.h)
//    Derive from it and define update(): the change of one parameter by its gradient. Saved states,
//    schedules, parameter groups and the checks of gradients are inherited from the base class. Do
//    not use it for a method that needs several gradients per step, as a line search does, or all
//    parameters at once: write a function that runs the steps itself.
//
// 2. Sampler   (samplers/sampler.h)
//    An Optimizer whose step adds noise: stochastic-gradient Langevin dynamics and related methods,
//    on gradients of mini-batches. Do not use it where unbiased draws from the posterior are
//    needed: its finite step size leaves a bias that no number of steps removes. Use a Markov chain
//    with a Metropolis accept step (entry 3).
//
// 3. LogDensity   (samplers/log_density.h)
//    The log density ln p and its gradient at many points at once, for hmc(), nuts() and any
//    transition kernel of sample_chains(). Do not use it for a density that is estimated from
//    mini-batches: the accept step would then compare two different densities.
//    Why many points per call: a density that is written in tensor operations is evaluated for all
//    chains in one pass.
//
// 4. LogLikelihood   (samplers/elliptical_slice.h)
//    The log likelihood of latent values with a Gaussian prior, such as the outputs of a Gaussian
//    process at the training inputs, for data that are counts or classes, or have non-Gaussian
//    noise. Do not use it for Gaussian noise: GaussianProcess is exact.
//    Why this is not a LogDensity: elliptical_slice() knows the prior, and needs no gradient.
//
// 5. ParticleMethod   (particles/method.h)
//    Derive from it and define forces(): the driving and the repulsive force on the particles of
//    one block. The base class rewrites the gradients and leaves the step to any Optimizer. Do not
//    derive from it for a penalty on attention heads: add the penalty to the loss.
//    Why gradients are rewritten, and not parameters moved: momentum, clipping, schedules and
//    weight decay then work as they do without particles.
//
// 6. SteinKernel   (particles/kernel.h)
//    A kernel between particles, defined by its sums over all particles: the kernel-weighted sum of
//    gradients at each particle, the repulsion on each particle and, for a scalar kernel, a density
//    estimate. If the kernel depends on the distance alone, use radial(), which needs only that
//    function.
//    Why sums, and not the matrix K(θ, θ′): particle methods need nothing else, and the [D, D]
//    matrices of all pairs of particles would not fit in memory.
//
// 7. Solver   (posterior/solver.h)
//    Solves linear systems with one symmetric positive definite matrix: by a dense factor, by
//    conjugate gradients, by a factor on disk. GaussianProcess, evidence and leave-one-out
//    predictions use the kernel matrix only through a Solver. Do not derive from it to change the
//    noise or the kernel: pass another noise or kernel.

#include "ladon/optim/optimizer.h"
#include "ladon/optim/particles/kernel.h"
#include "ladon/optim/particles/method.h"
#include "ladon/optim/posterior/solver.h"
#include "ladon/optim/samplers/elliptical_slice.h"
#include "ladon/optim/samplers/log_density.h"
#include "ladon/optim/samplers/sampler.h"
