#pragma once
// Interfaces of optim: what is derived from or passed in to train, to sample and to solve in
// another way. Each entry says what the interface is for, when not to use it, and why it has its
// form; the contract stands in the header it includes.
//
// 1. Optimizer   (optimizer.h)
//    Derive from it and give update(): the change of one parameter by its gradient. States,
//    schedules, groups and refusals are those of the base class. Do not use it for a method that
//    needs several gradients per step, as a line search does, or that sees all parameters at once:
//    write a function that runs the steps itself.
//
// 2. Sampler   (samplers/sampler.h)
//    An Optimizer whose step adds noise: stochastic-gradient Langevin dynamics and its relatives,
//    on the gradients of batches. Do not use it where the posterior itself is wanted: its step
//    size leaves a bias that no number of steps removes. Take a chain with an accept step (3).
//
// 3. LogDensity   (samplers/log_density.h)
//    ln p and its gradient at many points at once, for hmc(), nuts() and any transition kernel of
//    sample_chains(). Do not give it a density that is estimated from batches: the accept step
//    would then compare two different densities.
//    Why many points per call: a density that is written in operations serves all chains in one
//    pass.
//
// 4. ParticleMethod   (particles/method.h)
//    Derive from it and give forces(): the driving and the repulsive force on the particles of one
//    block. It rewrites gradients and leaves the step to any Optimizer. Do not write one for a
//    penalty on the heads: add the penalty to the loss.
//    Why gradients are rewritten, and not parameters moved: momentum, clipping, schedules and
//    weight decay then work as they do without particles.
//
// 5. SteinKernel   (particles/kernel.h)
//    A kernel between particles by sums over them: what each receives of the others' gradients, its
//    repulsion, and where there is one a density. radial() makes a kernel from a function of the
//    distance alone; use that unless the kernel is not radial.
//    Why sums, and not a matrix K(θ, θ′): methods need nothing else, and the matrices [D, D] of all
//    pairs would not fit in memory.
//
// 6. Solver   (posterior/solver.h)
//    Linear systems with one symmetric positive definite matrix: a dense factor, conjugate
//    gradients, a factor on disk. GaussianProcess, evidence and leave-one-out predictions ask
//    nothing else. Do not derive from it to change the noise or the kernel: those are arguments.

#include "ladon/optim/optimizer.h"
#include "ladon/optim/particles/kernel.h"
#include "ladon/optim/particles/method.h"
#include "ladon/optim/posterior/solver.h"
#include "ladon/optim/samplers/log_density.h"
#include "ladon/optim/samplers/sampler.h"
