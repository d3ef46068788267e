#pragma once
// Runs of samplers by transition kernels: their options, warm-up, and draws that are kept.
//
// A sampler of one's own is a TransitionKernel (tests/consumer/mala.cpp): it moves all chains by
// one draw, and sample_chains() finds its step and mass, checks the density, and keeps the draws.

#include <cstdint>
#include <functional>

#include "ladon/optim/samplers/adaptation.h"
#include "ladon/optim/samplers/chains.h"

namespace ladon::samplers {

/// Options of all samplers.
struct ChainOptions {
  const char* operation = "sample_chains";  ///< Named by Errors.
  std::int64_t draws = 1000;                ///< Kept of each chain.
  std::int64_t thin = 1;                    ///< One of so many draws is kept.
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
    run.adaptation.step = o.step;  // tempering finds one per level
  return run;
}

/// Density with the values of `density`, which must outlive it. At the first score of rows that
/// differ it scores as many rows that all equal row 0, and throws Error where row 0 does not score
/// alike there: the value of a row must not depend on the others.
LogDensity of_single_rows(const char* operation, const LogDensity& density);
LogDensity of_single_rows(const char* operation, const LogDensity&& temporary) = delete;

/// Moves all rows by one draw, leaving their density invariant; `counts`: after warm-up.
using TransitionKernel =
    std::function<Moved(const LogDensity& density, Phase& at, const Tuning& tuning,
                        RandomStreams& streams, bool counts)>;

struct Run {
  Chains chains;              ///< Of the rows of group 0.
  std::vector<double> steps;  ///< Of each group.
};

/// Row g·C + c begins at start[c] (start [C, D] of any floating dtype) and is number c of group g.
/// Chain c draws its numbers from generators of its own, split from one block of `rng`. Throws
/// Error for bad options and where a start is not finite.
Run run_chains(const LogDensity& density, const Tensor& start, const ChainOptions& options,
               const TransitionKernel& kernel, Generator& rng);

/// Chains of run_chains() for one group, with a density that of_single_rows() checks.
Chains sample_chains(const LogDensity& density, const Tensor& start, const ChainOptions& options,
                     const TransitionKernel& kernel, Generator& rng);

}  // namespace ladon::samplers
