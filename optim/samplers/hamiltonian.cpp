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
namespace {

void check_f64(const char* operation, const char* name, const Tensor& x, const Shape& shape) {
  LADON_CHECK(x.defined() && x.dtype() == f64 && x.shape() == shape, operation, name,
              " must be f64 ", shape, ", got ", detail::kind_in_words(x));
}

/// Throws Error unless x is f64 [rows, columns] or [1, columns]: an inverse mass has D columns, and
/// a step has one.
void check_for_rows(const char* operation, const char* name, const Tensor& x, std::int64_t rows,
                    std::int64_t columns) {
  const bool one = x.defined() && x.rank() == 2 && x.size(0) == 1;
  check_f64(operation, name, x, {one ? 1 : rows, columns});
}

/// Throws Error unless positions are [R, D], values [R], and gradients and momenta, if
/// defined, [R, D].
void check_phase(const char* operation, const Phase& at) {
  LADON_CHECK(at.position.defined() && at.position.rank() == 2, operation,
              "positions must be f64 [R, D], got ", detail::shape_in_words(at.position));
  const Shape& rows = at.position.shape();
  check_f64(operation, "positions", at.position, rows);
  check_f64(operation, "values of ln p", at.score.value, {rows[0]});
  if (at.score.gradient.defined())
    check_f64(operation, "gradients of ln p", at.score.gradient, rows);
  if (at.momentum.defined()) check_f64(operation, "momenta", at.momentum, rows);
}

void check_tuning(const char* operation, const Tuning& tuning, const Shape& rows) {
  check_for_rows(operation, "the step", tuning.step, rows[0], 1);
  check_for_rows(operation, "the inverse mass", tuning.inverse_mass, rows[0], rows[1]);
}

void check_streams(const char* operation, const RandomStreams& streams, std::int64_t rows) {
  LADON_CHECK(static_cast<std::int64_t>(streams.rows.size()) == rows, operation, "got ",
              streams.rows.size(), " generators for ", rows, " rows; there must be one per row");
}

}  // namespace

Tensor energy(const Phase& at, const Tensor& inverse_mass) {
  check_phase("energy", at);
  LADON_CHECK(at.momentum.defined(), "energy", "momenta are undefined; draw them by momenta()");
  check_for_rows("energy", "the inverse mass", inverse_mass, at.position.size(0),
                 at.position.size(1));
  return 0.5 * sum(square(at.momentum) * inverse_mass, 1) - at.score.value;
}

Phase leapfrog(const LogDensity& density, const Phase& from, const Tuning& tuning) {
  check_phase("leapfrog", from);
  LADON_CHECK(from.momentum.defined(), "leapfrog", "momenta are undefined; draw them by momenta()");
  check_tuning("leapfrog", tuning, from.position.shape());
  const Tensor half = 0.5 * tuning.step;
  const Tensor between = from.momentum + half * from.score.gradient;
  Phase to;
  to.position = from.position + tuning.step * tuning.inverse_mass * between;
  to.score = density.score(to.position);
  to.momentum = between + half * to.score.gradient;
  return to;
}

Tensor momenta(std::vector<Generator>& rows, const Tensor& inverse_mass) {
  LADON_CHECK(inverse_mass.defined() && inverse_mass.rank() == 2, "momenta",
              "the inverse mass must be f64 [R, D] or [1, D], got ",
              detail::shape_in_words(inverse_mass));
  check_for_rows("momenta", "the inverse mass", inverse_mass,
                 static_cast<std::int64_t>(rows.size()), inverse_mass.size(1));
  std::vector<Tensor> units;
  for (Generator& rng : rows) units.push_back(normal({inverse_mass.size(1)}, rng, 0, 1, f64));
  return stack(units, 0) * rsqrt(inverse_mass);
}

std::vector<double> acceptance(const Tensor& before, const Tensor& after) {
  LADON_CHECK(before.defined() && before.rank() == 1, "acceptance",
              "energies must be f64 [R], got ", detail::shape_in_words(before));
  check_f64("acceptance", "energies before", before, before.shape());
  check_f64("acceptance", "energies after", after, before.shape());
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
  check_phase("metropolis", at);
  check_phase("metropolis", end);
  const std::int64_t rows = at.position.size(0);
  LADON_CHECK(end.position.shape() == at.position.shape(), "metropolis", "positions are ",
              at.position.shape(), ", and ends are ", end.position.shape(), "; they must agree");
  LADON_CHECK(at.momentum.defined() || !end.momentum.defined(), "metropolis",
              "the ends have momenta, and the positions have none");
  LADON_CHECK(static_cast<std::int64_t>(probability.size()) == rows, "metropolis", "got ",
              probability.size(), " probabilities for ", rows, " rows; there must be one per row");
  check_streams("metropolis", streams, rows);
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
  check_phase("hmc_move", at);
  check_tuning("hmc_move", tuning, at.position.shape());
  check_streams("hmc_move", streams, at.position.size(0));
  check_steps("hmc_move", steps);
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
