#pragma once
// Exact posteriors of the task's data sets: a Gaussian process for infinitely many heads, and
// sequential Monte Carlo for finitely many.

#include <string>
#include <vector>

#include "ladon/core/measured.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/exact_posterior/task.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"
#include "ladon/optim/posterior/belief.h"

namespace ladon::example {

/// Adds --heads, --draws, --particles, --labels and --scaling.
void add_task_options(Program& program, TaskSettings& settings);

/// A data set, and the posterior of infinitely many heads.
struct DataSet {
  std::int64_t draw = 0;
  Tensor targets = {};  ///< [N]
  Belief limit = {};
  double limit_evidence = 0;  ///< ln p(targets).
};
/// Data set number `draw`; `kernel` is the result of limit_kernel().
DataSet data_set(const TaskSettings& settings, const Tensor& kernel, std::int64_t draw);

/// Random stream for one purpose, one data set, and a further number, such as the number of heads.
Generator random_numbers(const TaskSettings& settings, std::uint64_t purpose, std::int64_t draw,
                         std::int64_t number);

/// Kernel of H heads at training and test inputs, as a function of their latents: the random
/// numbers that determine the heads.
infinite::LatentKernel heads_kernel(const TaskSettings& settings, std::int64_t heads);

/// Number of independent runs of sequential Monte Carlo.
constexpr std::int64_t replicates = 4;
/// The posterior of H heads; its draws of latents are stored replicate by replicate.
LatentPosterior posterior_of_heads(const TaskSettings& settings, const DataSet& set,
                                   std::int64_t heads, Generator& rng);

/// The mean of a figure over data sets.
Measured mean_of(const std::vector<BeliefScore>& scores, double BeliefScore::*figure);
/// Line that says how many data sets a row's mean is over, if an interrupt left fewer than
/// requested; else empty.
std::string incomplete(const TaskSettings& settings, const std::string& row, std::size_t sets);

}  // namespace ladon::example
