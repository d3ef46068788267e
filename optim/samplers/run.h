#pragma once
// Runs samplers that are given by a transition kernel: options, warm-up, and selection of draws.
//
// To define a sampler, write a TransitionKernel (example: tests/consumer/mala.cpp), which moves all
// chains by one draw; sample_chains() adapts step size and mass, checks the density, and keeps the
// draws.

#include <cstdint>
#include <functional>

#include "ladon/optim/samplers/adaptation.h"
#include "ladon/optim/samplers/chains.h"

namespace ladon::samplers {

/// Options common to all samplers.
struct ChainOptions {
  const char* operation = "sample_chains";  ///< Name of the operation in error messages.
  std::int64_t draws = 1000;                ///< Number of draws kept per chain.
  std::int64_t thin = 1;                    ///< Thinning: one draw in `thin` is kept.
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

/// `density` with a check that the value of a row does not depend on the other rows: once, at the
/// first call in which rows 0 and 1 differ and the value of row 0 is finite, row 0 is also
/// evaluated in a batch of copies of itself, and if its value or gradient changes, an Error is
/// thrown. `density` must outlive the result.
LogDensity of_single_rows(const char* operation, const LogDensity& density);
LogDensity of_single_rows(const char* operation, const LogDensity&& temporary) = delete;

/// Moves all rows by one draw, and leaves their density invariant. `counts` is true after warm-up:
/// only then does the draw count in statistics that the kernel collects, such as rates of swaps.
using TransitionKernel =
    std::function<Moved(const LogDensity& density, Phase& at, const Tuning& tuning,
                        RandomStreams& streams, bool counts)>;

struct Run {
  Chains chains;              ///< The chains of group 0.
  std::vector<double> steps;  ///< Step size of each group.
};

/// Runs G groups of C chains (adaptation.h). Chain c of each group g starts at start[c] (start [C,
/// D] of any floating dtype); it is row g·C + c of the positions that `kernel` moves, and draws
/// from its own generators, split from one block of `rng` (core/random.h). Throws Error for invalid
/// options, and if ln p or its gradient is not finite at a start.
Run run_chains(const LogDensity& density, const Tensor& start, const ChainOptions& options,
               const TransitionKernel& kernel, Generator& rng);

/// run_chains() with one group, and with of_single_rows() to check the density.
Chains sample_chains(const LogDensity& density, const Tensor& start, const ChainOptions& options,
                     const TransitionKernel& kernel, Generator& rng);

}  // namespace ladon::samplers
