#pragma once
// Exact posteriors of the task's data sets: of infinitely many heads, which are a Gaussian process,
// and of finitely many, by sequential Monte Carlo.

#include <string>
#include <vector>

#include "ladon/core/measured.h"
#include "ladon/examples/common/program.h"
#include "ladon/examples/exact_posterior/task.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"
#include "ladon/optim/posterior/belief.h"

namespace ladon::example {

/// --heads, --draws, --particles, --labels and --scaling.
void add_task_options(Program& program, TaskSettings& settings);

/// A data set, and the answer of infinitely many heads.
struct DataSet {
  std::int64_t draw = 0;
  Tensor targets = {};  ///< [N]
  Belief limit = {};
  double limit_evidence = 0;  ///< ln p(targets).
};
/// `kernel` is limit_kernel's.
DataSet data_set(const TaskSettings& settings, const Tensor& kernel, std::int64_t draw);

/// Random numbers of one purpose for one data set.
Generator random_numbers(const TaskSettings& settings, std::uint64_t purpose, std::int64_t draw,
                         std::int64_t number);

/// The kernel of H heads given their latents, over training and test places.
infinite::LatentKernel heads_kernel(const TaskSettings& settings, std::int64_t heads);

/// Independent runs of sequential Monte Carlo.
constexpr std::int64_t replicates = 4;
/// The posterior of H heads; its draws of latents are those of one replicate after those of
/// another.
LatentPosterior posterior_of_heads(const TaskSettings& settings, const DataSet& set,
                                   std::int64_t heads, Generator& rng);

/// The mean of a figure over data sets.
Measured mean_of(const std::vector<BeliefScore>& scores, double BeliefScore::*figure);
/// A line for a row that an interrupt left as the mean over fewer data sets than were asked for;
/// else nothing.
std::string incomplete(const TaskSettings& settings, const std::string& row, std::size_t sets);

}  // namespace ladon::example
