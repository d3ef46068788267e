#include "ladon/optim/extra/samplers/tempering.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/index.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/core/unread.h"
#include "ladon/optim/samplers/run.h"

namespace ladon {
namespace {

using namespace samplers;

constexpr const char* operation = "parallel_tempering";

std::vector<double> ladder(const TemperingOptions& options) {
  std::vector<double> betas = options.betas;
  if (betas.empty()) {
    LADON_CHECK(options.levels >= 1 && options.levels <= 10'000, operation, "levels is ",
                options.levels, "; it must be from 1 to 10,000");
    LADON_CHECK(options.lowest > 0 && options.lowest < 1, operation, "lowest is ", options.lowest,
                "; it must be in (0, 1)");
    const double ratios = std::max(1.0, double(options.levels - 1));
    for (std::int64_t k = 0; k < options.levels; ++k)
      betas.push_back(std::pow(options.lowest, double(k) / ratios));
  } else {
    constexpr auto why = "betas are given, so it has no effect; leave betas empty";
    detail::check_unread(operation, "levels", options.levels, TemperingOptions{}.levels, why);
    detail::check_unread(operation, "lowest", options.lowest, TemperingOptions{}.lowest, why);
  }
  LADON_CHECK(betas[0] == 1, operation, "the first β is ", betas[0], "; it must be 1");
  for (std::size_t k = 1; k < betas.size(); ++k)
    LADON_CHECK(betas[k] >= 0 && betas[k] < betas[k - 1], operation, "β is ", betas[k], " after ",
                betas[k - 1], "; betas must decrease and be at least 0");
  return betas;
}

/// Density base·likelihood^β of each row. Keeps the scores of both factors, since swaps need the
/// likelihood alone.
class Parts {
 public:
  Parts(const LogDensity* base, const LogDensity& likelihood, const Tensor& row_betas)
      : base_density_(base), likelihood_density_(likelihood), betas_(row_betas) {}

  /// Evaluates the density at the rows θ, and stores both factors as the latest scores.
  DensityScore score(const Tensor& theta) {
    latest_.likelihood = likelihood_density_.score(theta);
    if (base_density_) latest_.base = base_density_->score(theta);
    if (!current_.likelihood.value.defined()) current_ = latest_;
    return combined(latest_);
  }
  /// Makes the latest scores the current ones of the rows whose proposals were accepted.
  void accept(const Tensor& accepted) {
    const Tensor column = unsqueeze(accepted, 1);
    const auto choose = [&](DensityScore& current, const DensityScore& latest) {
      if (!latest.value.defined()) return;
      current = {where(accepted, latest.value, current.value),
                 where(column, latest.gradient, current.gradient)};
    };
    choose(current_.likelihood, latest_.likelihood);
    choose(current_.base, latest_.base);
  }
  /// Moves the current scores of row rows[r] to row r for all r; returns the scores at the rows'
  /// new β.
  DensityScore permute(const Tensor& rows) {
    for (DensityScore* score : {&current_.likelihood, &current_.base})
      if (score->value.defined())
        *score = {index_select(score->value, 0, rows), index_select(score->gradient, 0, rows)};
    return combined(current_);
  }
  /// Current log likelihood of a row; −∞ if the log likelihood or its gradient is not finite: only
  /// the level β = 0 may visit such a point.
  double likelihood(std::int64_t row) const {
    const std::int64_t dim = current_.likelihood.gradient.size(1);
    const double* slope = current_.likelihood.gradient.data<double>() + row * dim;
    const double value = current_.likelihood.value.data<double>()[row];
    const bool fit = std::isfinite(value) &&
                     std::all_of(slope, slope + dim, [](double v) { return std::isfinite(v); });
    return fit ? value : -std::numeric_limits<double>::infinity();
  }

 private:
  struct Pair {
    DensityScore base, likelihood;
  };
  DensityScore combined(const Pair& at) const {
    const Tensor none = scalar(0, f64), positive = greater(betas_, 0);  // β = 0: ln L counts as 0
    const Tensor gradient = unsqueeze(betas_, 1) * at.likelihood.gradient;
    DensityScore all{where(positive, betas_ * at.likelihood.value, none),
                     where(unsqueeze(positive, 1), gradient, none)};
    if (at.base.value.defined()) all = {all.value + at.base.value, all.gradient + at.base.gradient};
    return all;
  }

  const LogDensity* base_density_;
  const LogDensity& likelihood_density_;
  Tensor betas_;  // β of each row
  Pair latest_, current_;
};

/// Counts the round trips of an ensemble's replicas between the coldest and the hottest level.
class Journeys {
 public:
  explicit Journeys(std::size_t levels) : replica_(levels), state_(levels) {
    std::iota(replica_.begin(), replica_.end(), std::size_t{0});
    visit();
  }
  void swap(std::size_t level) { std::swap(replica_[level], replica_[level + 1]); }
  /// Called after the swaps of a draw; returns the number of round trips completed.
  int visit() {
    State &cold = state_[replica_.front()], &hot = state_[replica_.back()];
    const bool ended = cold == State::returning;
    cold = State::leaving;
    if (hot == State::leaving && replica_.size() > 1) hot = State::returning;
    return ended;
  }

 private:
  enum class State { unknown, leaving, returning };
  std::vector<std::size_t> replica_;  // replica at each level
  std::vector<State> state_;          // state of each replica
};

class Tempering {
 public:
  Tempering(const LogDensity* base, const LogDensity& likelihood, std::vector<double> betas,
            std::int64_t chains)
      : chains_(chains), betas_(std::move(betas)), parts_(base, likelihood, row_betas()) {
    result_.swap_rates.resize(betas_.size() - 1);
    result_.round_trips.resize(chains);
    attempts_.resize(betas_.size() - 1);
    for (std::int64_t c = 0; c < chains; ++c) journeys_.emplace_back(betas_.size());
  }

  LogDensity density(std::int64_t dim) {
    return LogDensity::of_scores(dim, [this](const Tensor& theta) { return parts_.score(theta); });
  }

  Moved move(const LogDensity& density, Phase& at, const Tuning& tuning, std::int64_t steps,
             RandomStreams& streams, bool counts) {
    const Moved moved = hmc_move(density, at, tuning, steps, streams);
    parts_.accept(moved.accepted);
    const Tensor order = swaps(streams, counts);
    at.position = index_select(at.position, 0, order);
    at.score = parts_.permute(order);
    return moved;
  }

  Tempered result(Run run) {
    result_.chains = std::move(run.chains);
    result_.steps = std::move(run.steps);
    result_.betas = betas_;
    for (std::size_t k = 0; k < attempts_.size(); ++k) result_.swap_rates[k] /= attempts_[k];
    return std::move(result_);
  }

 private:
  Tensor row_betas() const {
    std::vector<double> rows;
    for (const double beta : betas_) rows.insert(rows.end(), std::size_t(chains_), beta);
    return from_vector(rows, {std::int64_t(rows.size())});
  }

  /// Decides the swaps after a draw; returns for each row the index of the row that moves to it.
  Tensor swaps(RandomStreams& streams, bool counts) {
    std::vector<std::int64_t> order(betas_.size() * std::size_t(chains_));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    for (std::size_t k = draws_++ % 2; k + 1 < betas_.size(); k += 2)
      for (std::int64_t c = 0; c < chains_; ++c) {
        const std::int64_t cold = std::int64_t(k) * chains_ + c, hot = cold + chains_;
        const double gain =
            (betas_[k] - betas_[k + 1]) * (parts_.likelihood(hot) - parts_.likelihood(cold));
        const double probability = std::exp(std::min(0.0, gain));
        if (counts) {
          result_.swap_rates[k] += probability;
          attempts_[k] += 1;
        }
        if (!(streams.rows[cold].uniform() < probability)) continue;
        std::swap(order[cold], order[hot]);
        journeys_[c].swap(k);
      }
    for (std::int64_t c = 0; c < chains_; ++c) {
      const int ended = journeys_[c].visit();
      if (counts) result_.round_trips[c] += ended;
    }
    return from_vector(order, {std::int64_t(order.size())});
  }

  std::int64_t chains_;
  std::vector<double> betas_;
  Parts parts_;
  std::vector<Journeys> journeys_;  // one per ensemble
  std::vector<double> attempts_;
  std::int64_t draws_ = 0;
  Tempered result_;
};

Tempered temper(const LogDensity* base, const LogDensity& likelihood, const Tensor& start,
                const TemperingOptions& options, Generator& rng) {
  check_steps(operation, options.steps);
  ChainOptions run = chain_options(operation, options);
  const std::vector<double> betas = ladder(options);
  LADON_CHECK(base || betas.back() > 0, operation,
              "the last β is 0, but must be positive without a base density, because p⁰ is not a "
              "density; pass a base density");
  run.adaptation.groups = std::int64_t(betas.size());
  const bool rows = start.defined() && start.rank() == 2;  // otherwise run_chains throws
  Tempering tempering(base, likelihood, betas, rows ? start.size(0) : 1);
  const TransitionKernel kernel = [&](const LogDensity& scored, Phase& at, const Tuning& tuning,
                                      RandomStreams& streams, bool counts) {
    return tempering.move(scored, at, tuning, options.steps, streams, counts);
  };
  return tempering.result(run_chains(tempering.density(likelihood.dim()), start, run, kernel, rng));
}

}  // namespace

Tempered parallel_tempering(const LogDensity& base, const LogDensity& likelihood,
                            const Tensor& start, const TemperingOptions& options, Generator& rng) {
  LADON_CHECK(base.dim() == likelihood.dim(), operation,
              "base and likelihood must have the same dimension, but base has ", base.dim(),
              " dimensions, and the likelihood has ", likelihood.dim());
  const LogDensity rows_of_base = of_single_rows(operation, base);
  return temper(&rows_of_base, of_single_rows(operation, likelihood), start, options, rng);
}

Tempered parallel_tempering(const LogDensity& p, const Tensor& start,
                            const TemperingOptions& options, Generator& rng) {
  return temper(nullptr, of_single_rows(operation, p), start, options, rng);
}

}  // namespace ladon
