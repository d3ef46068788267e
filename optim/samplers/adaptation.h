#pragma once
// Warm-up: what samplers learn of the density before their draws count. Rows come in groups (hmc
// and nuts have one, tempering one a temperature) that share a step and a mass.

#include <cstdint>
#include <vector>

#include "ladon/optim/samplers/hamiltonian.h"

namespace ladon::samplers {

/// A step size at which the mean acceptance is `target`: dual averaging (Hoffman and Gelman 2014,
/// arXiv 1111.4246, section 3.2; their γ = 0.05, t₀ = 10, κ = 0.75, μ = ln 10ε₀).
class DualAveraging {
 public:
  DualAveraging(double step, double target);
  void update(double acceptance);
  double step() const { return step_; }          ///< To try next.
  double averaged() const { return averaged_; }  ///< To keep.

 private:
  double centre_, target_, step_, averaged_, missing_ = 0;
  std::int64_t updates_ = 0;
};

/// The variance of rows, by group: positions [G·C, D], added draw by draw → [G, D].
class GroupVariance {
 public:
  explicit GroupVariance(std::int64_t groups) : groups_(groups) {}
  void add(const Tensor& position);
  /// Shrunk to what is there by the weight of 5 draws, which also stands where nothing moved.
  Tensor shrunk_to(const Tensor& variance) const;

 private:
  std::int64_t groups_, count_ = 0;
  Tensor origin_, sum_, squares_;  // [G, 1, D], [G, D], [G, D]
};

struct AdaptationOptions {
  std::int64_t groups = 1;
  std::int64_t warmup = 1000;  ///< Draws before those that count.
  double step = 0;             ///< Above 0: taken as it is, and nothing is adapted.
  double target_accept = 0.8;  ///< Mean probability of acceptance that the step is adapted to.
  bool adapt_mass = true;      ///< Whether M⁻¹ becomes the draws' variances, or stays 1.
};

/// Steps of all groups by dual averaging on their mean acceptance, and M⁻¹ = the variances of θ
/// over the rows of a group, in three windows of warm-up that double: from 1/10 to 2/10 of it, to
/// 4/10, and to 9/10. After each the step is found anew. Below 20 draws of warm-up M stays 1.
class Adaptation {
 public:
  Adaptation(const char* operation, const AdaptationOptions& options, std::int64_t rows,
             std::int64_t dim);

  const Tuning& tuning() const { return tuning_; }
  double step(std::int64_t group) const { return steps_[static_cast<std::size_t>(group)]; }
  Tensor inverse_mass(std::int64_t group) const;

  /// A first step for each group: it is doubled, or halved, until one leapfrog step is accepted
  /// with probability ½ on average (Hoffman and Gelman 2014, algorithm 4). Throws Error where none
  /// is.
  void find_steps(const LogDensity& density, Phase at, RandomStreams streams);
  /// Learns from draw t of warm-up, which gave `moved`; at its end keeps what was learned.
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
