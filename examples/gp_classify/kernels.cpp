#include "ladon/examples/gp_classify/kernels.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/predict.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/infinite/gram/tiles/stored.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/solvers/cg_solver.h"
#include "ladon/optim/posterior/solvers/stored_factor.h"

namespace ladon::example {
namespace {

using infinite::Gram;
using infinite::Inputs;
using std::filesystem::path;

/// A kernel that a limit has.
struct Form {
  const char* name;
  infinite::Get get;
  Tensor Gram::*matrix;
};
constexpr Form forms[] = {{"NNGP", infinite::Get::nngp, &Gram::nngp},
                          {"NTK", infinite::Get::ntk, &Gram::ntk}};

infinite::Limit limit_of(const Model& model, const Task& task, const Settings& settings) {
  Generator rng(settings.common.seed);
  return infinite::limit(network(model, task, settings, 1, rng));
}

/// "0.001", or "0.0001 (the smallest tried)": beyond the grid's ends a better one may lie.
std::string noise_in_words(double noise) {
  return join(noise, noise == *std::begin(noises)    ? " (the smallest tried)"
                     : noise == *std::rbegin(noises) ? " (the largest tried)"
                                                     : "");
}

/// A model's limit on a task.
struct Infinite {
  const Model& model;
  const Task& task;
  const Settings& s;
  Progress& progress;
  infinite::Limit limit;
  const Inputs &train, &test;

  void in_memory(std::vector<Outcome>& outcomes) const;
  Outcome by_tiles(const Form& form) const;

  std::uint64_t budget() const { return static_cast<std::uint64_t>(s.memory_budget) * 1'000'000; }
  // Of tiles on disk a third each is for those of the kernel, for those of its factor, and for
  // kernels of test inputs.
  std::uint64_t share() const { return budget() / 3; }
  /// Test inputs whose kernels, N numbers each, fit so often.
  std::int64_t at_once(std::uint64_t copies) const {
    const auto each = sizeof(double) * copies * static_cast<std::uint64_t>(train.count());
    return static_cast<std::int64_t>(std::max<std::uint64_t>(1, share() / each));
  }
  std::string label(const Form& form) const { return join(model.name, ' ', form.name); }
  path folder(const char* of) const {
    return s.checkpoint / join(task.name, '-', model.name, '-', of);
  }
  Tensor targets() const { return classification_targets(task.train.labels, task.classes()); }

  auto counted(const std::string& label) const;
  Choice chosen(const Tensor& kernel, const std::string& label) const;
  GaussianProcess solved(const infinite::StoredGram& gram, double noise, const Form& form) const;
  void predict(const GaussianProcess& process, const Form& form, double noise,
               Outcome& outcome) const;
};

/// Says what a matrix will take, and counts its tiles as one step.
auto Infinite::counted(const std::string& label) const {
  return [this, label, done = std::int64_t{0}](const auto& state) mutable {
    if (state.tiles_done == 0) progress.say(join("  ", label, ": ", state.estimate.describe()));
    progress.step(label, double(state.tiles_done - done) / double(state.estimate.tiles));
    done = state.tiles_done;
  };
}

/// From the kernel of the first rows.
Choice Infinite::chosen(const Tensor& kernel, const std::string& label) const {
  const std::string doing = label + ", leave-one-out";
  progress.step(doing, 0);
  const std::int64_t rows = kernel.size(0);
  const Choice choice = choose(kernel, slice(task.train.labels, 0, {.stop = rows}), task.classes(),
                               [&] { progress.step(doing, 1.0 / std::size(noises)); });
  progress.say(join("  ", label, ": noise ", noise_in_words(choice.noise), " by leave-one-out on ",
                    rows, " rows (accuracy ", choice.loo_accuracy, ", nll ", choice.loo_nll, ")"));
  return choice;
}

void Infinite::in_memory(std::vector<Outcome>& outcomes) const {
  const Meter meter;
  const auto options = [&](const char* what) {
    infinite::GramOptions o{.memory_budget = budget()};
    if (!s.checkpoint.empty()) o.checkpoint = folder(what);
    o.progress = counted(join(model.name, ", ", what));
    return o;
  };
  const Gram among = infinite::gram(limit, train, options("train"));
  const Gram across = infinite::gram(limit, test, train, options("test"));
  const Gram self = infinite::gram_diagonal(limit.with_landmarks(train), test);
  const double together = meter.seconds();
  for (const Form& form : forms) {
    const double begun = meter.seconds();
    const Tensor& kernel = among.*form.matrix;
    const Choice choice = chosen(kernel, label(form));
    const double noise = choice.noise * mean(diagonal(kernel)).item();
    const GaussianProcess process(kernel, targets(), {.noise = noise});
    const GpPrediction p = process.predict(across.*form.matrix, self.*form.matrix);
    outcomes.push_back(
        {.model = model.name,
         .form = form.name,
         .probabilities = probabilities(p.mean, p.variance() + noise, choice.amplitude),
         .choice = choice});
    outcomes.back().seconds = together + meter.seconds() - begun;
    outcomes.back().peak_mb = meter.peak_mb();
    progress.step(label(form) + ", prediction");
  }
}

Outcome Infinite::by_tiles(const Form& form) const {
  const Meter meter;
  // A kernel in memory takes six matrices of its size until a noise is chosen.
  const auto fits = static_cast<std::int64_t>(
      std::sqrt(static_cast<double>(budget()) / (2 * 6 * sizeof(double))));
  const std::int64_t rows = std::min({train.count(), fits, std::int64_t{2000}});
  Outcome outcome{.model = model.name, .form = form.name};
  outcome.choice =
      chosen(infinite::gram(limit, train.rows(0, rows), form.get).*form.matrix, label(form));
  infinite::StoredGramOptions o{.get = form.get, .memory_budget = share()};
  o.progress = counted(label(form));
  const infinite::StoredGram gram =
      infinite::store_gram(limit, train, folder(form.name) / "kernel", o);
  const double scale = mean(gram.diagonal()).item(), noise = outcome.choice->noise * scale;
  predict(solved(gram, noise, form), form, noise, outcome);
  if (outcome.iterated) outcome.iterated->variance_error /= scale;
  outcome.seconds = meter.seconds();
  outcome.peak_mb = meter.peak_mb();
  return outcome;
}

GaussianProcess Infinite::solved(const infinite::StoredGram& gram, double noise,
                                 const Form& form) const {
  if (s.solver == "direct") {
    StoredFactorOptions o{.memory_budget = share()};
    o.progress = [&](const StoredFactorProgress&) { progress.step(label(form) + ", factor", 0); };
    return {store_factor(gram, folder(form.name) / "factor", {.noise = noise}, o), targets()};
  }
  // Ten copies: right sides, solutions, residuals, directions, their products and what is between.
  // Variances must be known well below the smallest noise: on digits 1e-3 leaves more than they
  // are.
  CgSolverOptions o{.test_tolerance = 1e-6, .at_once = std::min<std::int64_t>(256, at_once(10))};
  o.progress = [this, doing = label(form) + ", conjugate gradients"](const CgProgress&) {
    progress.step(doing, 0);
  };
  return {CgSolver(kernel_map(gram), {.noise = noise}, o), targets()};
}

/// As many test inputs at a time as fit.
void Infinite::predict(const GaussianProcess& process, const Form& form, double noise,
                       Outcome& outcome) const {
  if (s.solver == "cg") outcome.iterated = Iterated{double(process.weights().iterations), 0, 0};
  const auto raise = [](double& most, const Tensor& errors) {
    most = std::max(most, amax(errors).item());
  };
  // Cross, transposed, solutions, residuals and two products.
  const std::int64_t m = test.count(), rows = at_once(6);
  std::vector<Tensor> parts;
  for (std::int64_t begin = 0; begin < m; begin += rows) {
    const Inputs some = test.rows(begin, std::min(m, begin + rows));
    const infinite::GramOptions o{.get = form.get, .memory_budget = share()};
    const Gram cross = infinite::gram(limit, some, train, o);
    const Gram self = infinite::gram_diagonal(limit.with_landmarks(train), some, o);
    const GpPrediction p = process.predict(cross.*form.matrix, self.*form.matrix);
    if (outcome.iterated) {
      raise(outcome.iterated->mean_error, p.mean_error);
      raise(outcome.iterated->variance_error, p.covariance_error);
    }
    parts.push_back(probabilities(p.mean, p.variance() + noise, outcome.choice->amplitude));
    progress.step(label(form) + ", prediction", double(some.count()) / double(m));
  }
  outcome.probabilities = concat(parts, 0);
}

}  // namespace

void add_infinite(const Model& model, const Task& task, const Settings& s, Progress& progress,
                  std::vector<Outcome>& outcomes) {
  const NoGrad off;
  const Infinite infinite{model,
                          task,
                          s,
                          progress,
                          limit_of(model, task, s),
                          model.inputs(task.train),
                          model.inputs(task.test)};
  try {
    if (s.solver == "memory") return infinite.in_memory(outcomes);
    for (const Form& form : forms) outcomes.push_back(infinite.by_tiles(form));
  } catch (const Error& error) {
    throw Error(join(error.what(), " (--memory-budget ", s.memory_budget, " MB, --threads ",
                     num_threads(),
                     s.checkpoint.empty() ? "" : ", --checkpoint " + s.checkpoint.string(), ")"));
  }
}

}  // namespace ladon::example
