#pragma once
// Warm-up: adaptation of step sizes ε and diagonal mass matrices M of Hamiltonian samplers before
// the kept draws. Chains are rows of a matrix [G·C, D] that come in G groups of C chains (hmc and
// nuts have one group, tempering one per temperature); the rows of a group share a step size and a
// mass matrix.

#include <cstdint>
#include <vector>

#include "ladon/optim/samplers/hamiltonian.h"

namespace ladon::samplers {

/// Finds a step size at which the mean acceptance is `target`, by dual averaging (Hoffman and
/// Gelman 2014, arXiv 1111.4246, section 3.2, with their γ = 0.05, t₀ = 10, κ = 0.75, μ = ln 10ε₀).
class DualAveraging {
 public:
  DualAveraging(double step, double target);
  void update(double acceptance);
  double step() const { return step_; }          ///< Step size to try next.
  double averaged() const { return averaged_; }  ///< Step size to use after warm-up.

 private:
  double centre_, target_, step_, averaged_, missing_ = 0;
  std::int64_t updates_ = 0;
};

/// Running variances per group: add() takes the positions [G·C, D] of one draw, the variances are
/// [G, D].
class GroupVariance {
 public:
  explicit GroupVariance(std::int64_t groups) : groups_(groups) {}
  void add(const Tensor& position);
  /// Variances [G, D] shrunk towards `variance`, which counts as much as 5 draws; equal to
  /// `variance` in coordinates where no draw moved.
  Tensor shrunk_to(const Tensor& variance) const;

 private:
  std::int64_t groups_, count_ = 0;
  Tensor origin_, sum_, squares_;  // [G, 1, D], [G, D], [G, D]
};

struct AdaptationOptions {
  std::int64_t groups = 1;
  std::int64_t warmup = 1000;  ///< Number of warm-up draws, which are discarded.
  double step = 0;             ///< If above 0, the fixed step size; then nothing is adapted.
  double target_accept = 0.8;  ///< Target of the mean acceptance probability; must be 0.8 if the
                               ///< step size is fixed (Error otherwise).
  bool adapt_mass = true;  ///< Whether to set the inverse mass matrix M⁻¹ to the draws' variances;
                           ///< otherwise M is the identity.
};

/// Adapts each group's step size by dual averaging on its mean acceptance, and the diagonal of M⁻¹
/// to the variances of θ over the rows of a group. The variances are estimated in three windows of
/// growing length: from 1/10 to 2/10, from 2/10 to 4/10 and from 4/10 to 9/10 of warm-up. (If
/// warm-up has fewer than 50 draws, the last window ends at least ten draws before warm-up does.)
/// After each window the search for a step size starts again. With a warm-up below 20 draws M stays
/// the identity.
class Adaptation {
 public:
  Adaptation(const char* operation, const AdaptationOptions& options, std::int64_t rows,
             std::int64_t dim);

  const Tuning& tuning() const& { return tuning_; }
  Tuning tuning() && { return std::move(tuning_); }
  double step(std::int64_t group) const { return steps_[static_cast<std::size_t>(group)]; }
  Tensor inverse_mass(std::int64_t group) const;

  /// Finds an initial step size per group: doubles or halves it until the mean acceptance
  /// probability of one leapfrog step crosses ½ (Hoffman and Gelman 2014, algorithm 4). Throws
  /// Error if that never happens.
  void find_steps(const LogDensity& density, Phase at, RandomStreams streams);
  /// Adapts to the result `moved` of draw t of warm-up (counted from 0); the last draw of warm-up
  /// fixes step sizes and masses.
  void learn(std::int64_t t, const Moved& moved, const LogDensity& density, const Phase& at,
             const RandomStreams& streams);

 private:
  void set_steps();
  std::vector<double> group_means(const std::vector<double>& rows) const;

  const char* operation_;
  AdaptationOptions options_;
  std::int64_t rows_;
  std::vector<double> steps_;
  std::vector<DualAveraging> averaging_;
  Tensor inverse_mass_;  // [G, D]
  GroupVariance variance_;
  Tuning tuning_;
};

}  // namespace ladon::samplers
