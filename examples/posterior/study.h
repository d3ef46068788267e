#pragma once
// What the example computes: exact posteriors of finitely many heads, and methods beside them.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/examples/posterior/settings.h"
#include "ladon/optim/posterior/belief.h"

namespace ladon::example {

/// A method's runs on all data sets, of one length.
struct MethodRuns {
  std::string method;
  std::int64_t heads = 0;
  std::int64_t steps = 0;  ///< 0: no matter.
  std::string against;     ///< What it is scored against: finite_heads (of that H), or gp.
  std::vector<BeliefScore> scores = {};
  std::vector<std::int64_t> gradients = {};
};

/// What one data set's first run looks like, for the picture.
struct Band {
  std::string method;
  std::int64_t heads = 0;
  Tensor mean, sd;  ///< [M]
};

/// The finitely many heads' posterior and the limit's on one data set, and what theory says of it.
struct Approach {
  std::int64_t heads = 0;
  std::vector<double> mean_error = {}, predicted = {};  ///< Of the GP's; by the first order in 1/H.
  std::vector<double> w2 = {};
  std::vector<double> log_evidence = {};  ///< Less that of the Gaussian process.
};

struct Study {
  std::vector<MethodRuns> runs;
  std::vector<Approach> approaches;
  std::vector<Band> bands;  ///< Of the first data set; heads 0: infinitely many.
  Tensor targets;           ///< Its targets.
  Tensor prior_sd;          ///< Of f at the test places [M].
  bool interrupted = false;
};

/// The heads at which methods are compared in the picture: the second number, or the only one.
std::int64_t heads_shown(const Settings& settings);

/// What --methods may name: those of compare.h, and wrong_prior, a control.
std::vector<std::string> method_names();

Study run_study(const Settings& settings);

}  // namespace ladon::example
