#include "ladon/optim/samplers/adaptation.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"

namespace ladon::samplers {

DualAveraging::DualAveraging(double step, double target)
    : centre_(std::log(10 * step)), target_(target), step_(step), averaged_(step) {}

void DualAveraging::update(double acceptance) {
  const double t = static_cast<double>(++updates_);
  missing_ += (target_ - acceptance - missing_) / (t + 10);
  const double log_step = centre_ - std::sqrt(t) / 0.05 * missing_;
  const double weight = std::pow(t, -0.75);
  averaged_ = std::exp(weight * log_step + (1 - weight) * std::log(averaged_));
  step_ = std::exp(log_step);
}

void GroupVariance::add(const Tensor& position) {
  const std::int64_t dim = position.size(1), chains = position.size(0) / groups_;
  const Tensor rows = reshape(position, {groups_, chains, dim});
  // Sums of x − origin_, where origin_ is the first draw of each group's first chain, so that the
  // difference in shrunk_to() does not suffer from cancellation.
  if (!origin_.defined()) {
    origin_ = clone(slice(rows, 1, {.stop = 1}));
    sum_ = zeros({groups_, dim}, f64);
    squares_ = zeros({groups_, dim}, f64);
  }
  const Tensor shifted = rows - origin_;
  sum_ = sum_ + sum(shifted, 1);
  squares_ = squares_ + sum(square(shifted), 1);
  count_ += chains;
}

Tensor GroupVariance::shrunk_to(const Tensor& variance) const {
  const double n = static_cast<double>(count_);
  const Tensor found = (squares_ - square(sum_) / n) / (n - 1);
  const Tensor shrunk = (n * found + 5.0 * variance) / (n + 5);
  return where(logical_and(isfinite(found), greater(found, 0)), shrunk, variance);
}

Adaptation::Adaptation(const char* operation, const AdaptationOptions& options, std::int64_t rows,
                       std::int64_t dim)
    : operation_(operation),
      options_(options),
      rows_(rows),
      steps_(options.groups, options.step > 0 ? options.step : 1),
      inverse_mass_(ones({options.groups, dim}, f64)),
      variance_(options.groups) {
  set_steps();
}

Tensor Adaptation::inverse_mass(std::int64_t group) const {
  return clone(select(inverse_mass_, 0, group));
}

void Adaptation::set_steps() {
  const std::int64_t groups = options_.groups, dim = inverse_mass_.size(1);
  const Tensor steps = from_vector(steps_, {groups, 1});
  if (groups == 1) {
    tuning_ = {steps, inverse_mass_};
    return;
  }
  const auto for_rows = [&](const Tensor& x, std::int64_t columns) {
    return reshape(expand(unsqueeze(x, 1), {groups, rows_ / groups, columns}), {rows_, columns});
  };
  tuning_ = {for_rows(steps, 1), for_rows(inverse_mass_, dim)};
}

std::vector<double> Adaptation::group_means(const std::vector<double>& rows) const {
  const std::int64_t chains = rows_ / options_.groups;
  std::vector<double> means(options_.groups);
  for (std::int64_t r = 0; r < rows_; ++r) means[r / chains] += rows[r] / double(chains);
  return means;
}

void Adaptation::find_steps(const LogDensity& density, Phase at, RandomStreams streams) {
  at.momentum = momenta(streams.rows, tuning_.inverse_mass);
  const Tensor before = energy(at, tuning_.inverse_mass);
  std::vector<int> direction(options_.groups);  // 1: doubling, −1: halving
  std::vector<bool> found(options_.groups);
  constexpr int tries = 100;
  for (int i = 0; i < tries; ++i) {
    const Phase end = leapfrog(density, at, tuning_);
    const auto mean = group_means(acceptance(before, energy(end, tuning_.inverse_mass)));
    for (std::size_t g = 0; g < mean.size(); ++g) {
      const int wish = mean[g] > 0.5 ? 1 : -1;
      if (i == 0) direction[g] = wish;
      if (wish != direction[g]) found[g] = true;
      if (!found[g]) steps_[g] *= direction[g] > 0 ? 2 : 0.5;
    }
    set_steps();
    if (std::all_of(found.begin(), found.end(), [](bool f) { return f; })) return;
  }
  const auto failed = std::find(found.begin(), found.end(), false) - found.begin();
  LADON_CHECK(
      direction[failed] < 0, operation_, "a step size of ", steps_[failed],
      " is still accepted in more than half of the chains' proposals; the density is flat, so "
      "it cannot be normalized");
  detail::fail(operation_, "no step size is accepted, not even ", steps_[failed],
               "; check that the gradient belongs to the density, or rescale the parameters, whose "
               "posterior may be very narrow");
}

void Adaptation::learn(std::int64_t t, const Moved& moved, const LogDensity& density,
                       const Phase& at, const RandomStreams& streams) {
  if (options_.step > 0) return;
  const std::int64_t all = options_.warmup, tenth = all / 10;
  // After the last window the search for a step size starts again. It needs at least ten draws,
  // more than a tenth of a short warm-up.
  const std::int64_t end = all < 50 ? std::min(9 * tenth, all - 10) : 9 * tenth;
  if (averaging_.empty())
    for (const double step : steps_) averaging_.emplace_back(step, options_.target_accept);
  const std::vector<double> mean = group_means(moved.acceptance);
  const bool last = t + 1 == all;
  for (std::size_t g = 0; g < steps_.size(); ++g) {
    averaging_[g].update(mean[g]);
    steps_[g] = last ? averaging_[g].averaged() : averaging_[g].step();
  }
  set_steps();
  if (!options_.adapt_mass || tenth < 2 || t < tenth || t >= end) return;
  variance_.add(at.position);
  if (t + 1 == 2 * tenth || t + 1 == 4 * tenth || t + 1 == end) {
    inverse_mass_ = variance_.shrunk_to(inverse_mass_);
    variance_ = GroupVariance(options_.groups);
    for (std::size_t g = 0; g < steps_.size(); ++g) steps_[g] = averaging_[g].averaged();
    set_steps();
    find_steps(density, at, streams);
    averaging_.clear();
  }
}

}  // namespace ladon::samplers
