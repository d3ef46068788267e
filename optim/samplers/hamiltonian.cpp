#include "ladon/optim/samplers/hamiltonian.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon::samplers {

Tensor energy(const Phase& at, const Tensor& inverse_mass) {
  return 0.5 * sum(square(at.momentum) * inverse_mass, 1) - at.score.value;
}

Phase leapfrog(const LogDensity& density, const Phase& from, const Tuning& tuning) {
  const Tensor half = 0.5 * tuning.step;
  const Tensor between = from.momentum + half * from.score.gradient;
  Phase to;
  to.position = from.position + tuning.step * tuning.inverse_mass * between;
  to.score = density.score(to.position);
  to.momentum = between + half * to.score.gradient;
  return to;
}

Tensor momenta(std::vector<Generator>& rows, const Tensor& inverse_mass) {
  std::vector<Tensor> units;
  for (Generator& rng : rows) units.push_back(normal({inverse_mass.size(1)}, rng, 0, 1, f64));
  return stack(units, 0) * rsqrt(inverse_mass);
}

std::vector<double> acceptance(const Tensor& before, const Tensor& after) {
  std::vector<double> from = numbers_of("metropolis", before), to = numbers_of("metropolis", after);
  for (std::size_t r = 0; r < to.size(); ++r)
    to[r] = std::isfinite(to[r]) ? std::exp(std::min(0.0, from[r] - to[r])) : 0;
  return to;
}

void check_steps(const char* operation, std::int64_t steps) {
  LADON_CHECK(steps >= 1 && steps <= 1'000'000, operation, "steps is ", steps,
              "; it must be from 1 to 1,000,000");
}

Moved metropolis(Phase& at, const Phase& end, std::vector<double> probability,
                 RandomStreams& streams) {
  const std::int64_t rows = at.position.size(0);
  LADON_CHECK(static_cast<std::int64_t>(probability.size()) == rows, "metropolis", "got ",
              probability.size(), " probabilities for ", rows, " rows; there must be one per row");
  Moved moved{std::move(probability), std::vector<bool>(rows), empty({rows}, boolean)};
  bool* accepted = moved.accepted.mutable_data<bool>();
  for (std::int64_t r = 0; r < rows; ++r)
    accepted[r] = streams.rows[r].uniform() < moved.acceptance[r];
  const Tensor column = unsqueeze(moved.accepted, 1);
  at = {where(column, end.position, at.position),
        end.momentum.defined() ? where(column, end.momentum, at.momentum) : Tensor(),
        {where(moved.accepted, end.score.value, at.score.value),
         where(column, end.score.gradient, at.score.gradient)}};
  return moved;
}

Moved hmc_move(const LogDensity& density, Phase& at, const Tuning& tuning, std::int64_t steps,
               RandomStreams& streams) {
  at.momentum = momenta(streams.rows, tuning.inverse_mass);
  Phase end = at;
  for (std::int64_t left = 1 + streams.shared.below(2 * steps - 1); left > 0; --left)
    end = leapfrog(density, end, tuning);
  const Tensor before = energy(at, tuning.inverse_mass), after = energy(end, tuning.inverse_mass);
  Moved moved = metropolis(at, end, acceptance(before, after), streams);
  for (std::size_t r = 0; r < moved.diverged.size(); ++r)
    moved.diverged[r] = !(after.data<double>()[r] - before.data<double>()[r] <= energy_bound);
  return moved;
}

}  // namespace ladon::samplers
