#include "ladon/optim/samplers/hmc.h"

#include "ladon/core/error.h"
#include "ladon/optim/samplers/run.h"

namespace ladon {

using namespace samplers;

Chains hmc(const LogDensity& density, const Tensor& start, const HmcOptions& options,
           Generator& rng) {
  check_steps("hmc", options.steps);
  Course course = course_of("hmc", options);
  course.adaptation.step = options.step;
  const Move move = [&](const LogDensity& scored, Phase& at, const Tuning& tuning, Numbers& numbers,
                        bool) { return hmc_move(scored, at, tuning, options.steps, numbers); };
  return run_chains(of_single_rows("hmc", density), start, course, move, rng).chains;
}

}  // namespace ladon
