#pragma once
// Exact posteriors of finitely many heads, and methods beside them.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/examples/posterior/task.h"
#include "ladon/optim/posterior/belief.h"

namespace ladon::example {

/// Names for --methods: those of compare.h, and wrong_prior, a control.
std::vector<std::string> method_names();
/// Of gp and finite_heads, which stand beside them: the Gaussian process, and exact draws.
bool exactly_known(const std::string& method);

/// A method's runs of one length on all data sets.
struct MethodRuns {
  std::string method;
  std::int64_t heads = 0;
  std::int64_t steps = 0;  ///< 0: no matter.
  std::vector<BeliefScore> scores = {};
  std::int64_t gradients = 0;  ///< Of one network, in all, of the first data set.
};

/// The finitely many heads' posterior held against the limit's on all data sets.
struct Approach {
  std::int64_t heads = 0;
  std::vector<BeliefScore> scores = {}, predicted = {};  ///< By the first order in 1/H.
  std::vector<double> log_evidence = {};                 ///< Less that of the Gaussian process.
};

/// Beliefs from the first data set.
struct Band {
  std::string method;
  std::int64_t heads = 0;  ///< 0: infinitely many.
  Belief belief;
  std::int64_t steps = 0;  ///< 0: no matter.
};
Tensor standard_deviation(const Belief& belief);  // [M]

/// Independent runs of sequential Monte Carlo that find the exact posterior.
constexpr std::int64_t replicates = 4;

/// The exact posterior of so many heads, given the first data set, as draws of their latents, those
/// of one replicate after those of another.
struct LatentDraws {
  std::int64_t heads = 0;
  Tensor latents;  ///< [S, D]
};

struct Study {
  std::vector<Approach> approaches;
  std::vector<MethodRuns> methods;   ///< Held against the exact posterior of so many heads.
  std::vector<MethodRuns> to_limit;  ///< Held against the Gaussian process.
  std::vector<Band> bands;           ///< Of all exact posteriors, and of methods at heads_shown().
  std::vector<Band> runs;            ///< Of every method, number of heads and length of run.
  std::vector<LatentDraws> draws;
  Tensor targets;            ///< Of the first data set.
  Tensor prior_sd;           ///< Of f at the test places [M].
  bool interrupted = false;  ///< Then there is what was finished; rows without scores are left out.
};

/// The heads at which methods are compared in the picture: the second number, or the only one.
std::int64_t heads_shown(const Settings& settings);

Study run_study(const Settings& settings);

}  // namespace ladon::example
