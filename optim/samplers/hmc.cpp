#include "ladon/optim/samplers/hmc.h"

#include "ladon/core/error.h"
#include "ladon/optim/samplers/run.h"

namespace ladon {

using namespace samplers;

Chains hmc(const LogDensity& density, const Tensor& start, const HmcOptions& options,
           Generator& rng) {
  check_steps("hmc", options.steps);
  const TransitionKernel kernel = [&](const LogDensity& scored, Phase& at, const Tuning& tuning,
                                      RandomStreams& streams, bool) {
    return hmc_move(scored, at, tuning, options.steps, streams);
  };
  return sample_chains(density, start, chain_options("hmc", options), kernel, rng);
}

}  // namespace ladon
