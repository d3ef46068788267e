#include "ladon/examples/exact_posterior/exact.h"

#include <algorithm>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/options.h"
#include "ladon/examples/common/statistics.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon::example {

void add_task_options(Program& program, TaskSettings& s) {
  program.list(
      "--heads", s.heads, "Numbers of heads H",
      "Add 16 to see the slope of 1/H more clearly; the largest number takes most of the time",
      whole_number<std::int64_t>(1, 256));
  program.option("--draws", s.draws, "Number of data sets", "Standard errors are over data sets",
                 whole_number<std::int64_t>(1, 1000));
  program.option(
      "--particles", s.particles,
      "Particles in each of four runs of sequential Monte Carlo, which sample the exact "
      "posterior of one head; fewer for more heads",
      "More make the posterior more accurate where it has several modes: with one head, and many "
      "data",
      whole_number<std::int64_t>(20, 1'000'000));
  program.option("--labels", s.labels,
                 "Source of the targets: gp (infinitely many heads) or one (one head)",
                 "With one, see whether the evidence prefers few heads", one_of({"gp", "one"}));
  program.option(
      "--scaling", s.scaling,
      "Scaling of logits: sqrt 1/sqrt(d_k), or linear 1/d_k, which makes all wide heads equal",
      "As a control choose linear: any number of heads is then the Gaussian process",
      one_of({"sqrt", "linear"}));
}

DataSet data_set(const TaskSettings& settings, const Tensor& kernel, std::int64_t draw) {
  const Slice train{.stop = training_places().count()}, test{.start = training_places().count()};
  const Tensor y = targets(settings, kernel, draw), rows = slice(kernel, 0, test);
  const GaussianProcess gp(slice(slice(kernel, 0, train), 1, train), y,
                           {.noise = noise, .jitter = 0});
  return {draw, y, belief_of(gp.predict(slice(rows, 1, train), slice(rows, 1, test))),
          gp.log_marginal_likelihood()};
}

Generator random_numbers(const TaskSettings& settings, std::uint64_t purpose, std::int64_t draw,
                         std::int64_t number) {
  return Generator(settings.common.seed)
      .split(purpose)
      .split(static_cast<std::uint64_t>(draw))
      .split(static_cast<std::uint64_t>(number));
}

infinite::LatentKernel heads_kernel(const TaskSettings& settings, std::int64_t heads) {
  return infinite::latent_kernel(infinite::finite_heads(limit_model(settings), {.heads = heads}),
                                 inputs());
}

LatentPosterior posterior_of_heads(const TaskSettings& s, const DataSet& set, std::int64_t heads,
                                   Generator& rng) {
  // With more heads fewer particles are used: each costs more, and the latents' posterior differs
  // less from their prior.
  const std::int64_t particles =
      std::max(s.particles / heads, std::min<std::int64_t>(s.particles, 60));
  return sample_posterior(heads_kernel(s, heads), inputs().size(0), set.targets,
                          {.noise = noise,
                           .smc = {.particles = particles, .sweeps = 3, .recorded = 8},
                           .replicates = replicates},
                          rng);
}

Measured mean_of(const std::vector<BeliefScore>& scores, double BeliefScore::*figure) {
  std::vector<double> values;
  for (const BeliefScore& score : scores) values.push_back(score.*figure);
  return estimate(values);
}

std::string incomplete(const TaskSettings& s, const std::string& row, std::size_t sets) {
  if (sets >= static_cast<std::size_t>(s.draws)) return "";
  return join(row, ": mean over ", sets, " of ", s.draws, " data sets\n");
}

}  // namespace ladon::example
