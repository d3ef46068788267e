#pragma once
// Running samplers given by transition kernels: options, warm-up, and selection of draws.
//
// A user-defined sampler is a TransitionKernel (tests/consumer/mala.cpp): it moves all chains by
// one draw, while sample_chains() adapts step size and mass, checks the density, and keeps the
// draws.

#include <cstdint>
#include <functional>

#include "ladon/optim/samplers/adaptation.h"
#include "ladon/optim/samplers/chains.h"

namespace ladon::samplers {

/// Options common to all samplers.
struct ChainOptions {
  const char* operation = "sample_chains";  ///< Named in Errors.
  std::int64_t draws = 1000;                ///< Number of draws kept per chain.
  std::int64_t thin = 1;                    ///< One draw in this many is kept.
  AdaptationOptions adaptation = {};
  std::function<void(std::int64_t done, std::int64_t of)> progress = {};
};

template <class Options>
ChainOptions chain_options(const char* operation, const Options& o) {
  ChainOptions run{
      operation,
      o.draws,
      o.thin,
      {.warmup = o.warmup, .target_accept = o.target_accept, .adapt_mass = o.adapt_mass},
      o.progress};
  if constexpr (requires { o.step; })
    run.adaptation.step = o.step;  // tempering adapts a step size per level
  return run;
}

/// A density equal to `density`, which must outlive it, with a check: at the first score of rows
/// that differ it also scores as many copies of row 0, and throws Error if row 0 scores differently
/// there, since the value of a row must not depend on the others.
LogDensity of_single_rows(const char* operation, const LogDensity& density);
LogDensity of_single_rows(const char* operation, const LogDensity&& temporary) = delete;

/// Moves all rows by one draw, leaving their density invariant; `counts` is true after warm-up.
using TransitionKernel =
    std::function<Moved(const LogDensity& density, Phase& at, const Tuning& tuning,
                        RandomStreams& streams, bool counts)>;

struct Run {
  Chains chains;              ///< Chains of the rows of group 0.
  std::vector<double> steps;  ///< Step size of each group.
};

/// Row g·C + c starts at start[c] (start [C, D] of any floating dtype) and is chain c of group g.
/// Chain c draws from its own generators, split from one block of `rng`. Throws Error for invalid
/// options and if a start is not finite.
Run run_chains(const LogDensity& density, const Tensor& start, const ChainOptions& options,
               const TransitionKernel& kernel, Generator& rng);

/// run_chains() with one group, and with of_single_rows() as a check of the density.
Chains sample_chains(const LogDensity& density, const Tensor& start, const ChainOptions& options,
                     const TransitionKernel& kernel, Generator& rng);

}  // namespace ladon::samplers
