#include "ladon/examples/kernels_on_disk/tiles.h"

#include <algorithm>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/examples/common/meter.h"
#include "ladon/examples/common/text.h"
#include "ladon/layers/extra/tiles/stored.h"
#include "ladon/optim/extra/posterior/cg_solver.h"
#include "ladon/optim/extra/posterior/stored_factor.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon::example {
namespace {

using infinite::Inputs;

/// A kernel of a model's limit on a task, as tiles.
struct TiledKernel {
  const std::string& solver;
  const KernelForm& form;
  const Task& task;
  const Inputs &train, &test;
  infinite::Limit limit;
  std::uint64_t budget;
  std::filesystem::path folder;
  std::string label;
  Progress& progress;

  // One third of the budget each is for tiles of the kernel, for tiles of its factor, and for
  // kernels of test inputs.
  std::uint64_t share() const { return budget / 3; }
  /// Number of test inputs for which `copies` vectors of N elements each fit into one share of the
  /// memory budget (share()); N is the number of training inputs.
  std::int64_t at_once(std::uint64_t copies) const {
    const auto each = sizeof(double) * copies * static_cast<std::uint64_t>(train.count());
    return static_cast<std::int64_t>(std::max<std::uint64_t>(1, share() / each));
  }

  Choice chosen() const;
  GaussianProcess process(const infinite::StoredGram& gram, double noise) const;
  void predict(const GaussianProcess& process, double noise, double amplitude,
               Solved& solved) const;
};

Choice TiledKernel::chosen() const {
  // choose() needs six matrices of the kernel's size in memory; they may take half of the budget.
  const auto fits =
      static_cast<std::int64_t>(std::sqrt(static_cast<double>(budget) / (2 * 6 * sizeof(double))));
  const std::int64_t rows = std::min({train.count(), fits, std::int64_t{2000}});
  const Tensor kernel = infinite::gram(limit, train.rows(0, rows), form.get).*form.matrix;
  return choose(kernel, slice(task.train.labels, 0, {.stop = rows}), task.classes, label, progress);
}

GaussianProcess TiledKernel::process(const infinite::StoredGram& gram, double noise) const {
  const Tensor targets = classification_targets(task.train.labels, task.classes);
  if (solver == "direct") {
    StoredFactorOptions o{.memory_budget = share()};
    o.progress = [&](const StoredFactorProgress&) { progress.step(label + ", factor", 0); };
    return {store_factor(gram, folder / "factor", {.noise = noise}, o), targets};
  }
  // Ten vectors per test input: right-hand sides, solutions, residuals, directions, their products
  // and temporaries. Errors of variances must be well below the smallest noise: on digits, errors
  // of 1e-3 would exceed the variances.
  CgSolverOptions o{.test_tolerance = 1e-6, .at_once = std::min<std::int64_t>(256, at_once(10))};
  o.progress = [this](const CgProgress&) { progress.step(label + ", conjugate gradients", 0); };
  return {CgSolver(kernel_map(gram), {.noise = noise}, o), targets};
}

/// Predicts for as many test inputs at a time as fit into a third of the memory budget (share()).
void TiledKernel::predict(const GaussianProcess& process, double noise, double amplitude,
                          Solved& solved) const {
  const bool iterates = solver == "cg";
  if (iterates) solved.how = {double(process.weights().iterations), 0, 0};
  const auto raise = [](double& most, const Tensor& errors) {
    most = std::max(most, amax(errors).item());
  };
  // Six vectors per test input: cross kernels, their transposes, solutions, residuals and two
  // products.
  const std::int64_t m = test.count(), rows = at_once(6);
  std::vector<Tensor> parts;
  for (std::int64_t begin = 0; begin < m; begin += rows) {
    const Inputs some = test.rows(begin, std::min(m, begin + rows));
    const infinite::GramOptions o{.get = form.get, .memory_budget = share()};
    const infinite::Gram cross = infinite::gram(limit, some, train, o);
    const infinite::Gram self = infinite::gram_diagonal(limit.with_landmarks(train), some, o);
    const GpPrediction p = process.predict(cross.*form.matrix, self.*form.matrix);
    if (iterates) {
      raise(solved.how.mean_error, p.mean_error);
      raise(solved.how.variance_error, p.covariance_error);
    }
    parts.push_back(probabilities(p.mean, p.variance() + noise, amplitude));
    progress.step(label + ", prediction", double(some.count()) / double(m));
  }
  solved.outcome.probabilities = concat(parts, 0);
}

}  // namespace

Solved by_tiles(const std::string& solver, const KernelForm& form, const Model& model,
                const Task& task, const TileSettings& s, const std::filesystem::path& folder,
                Progress& progress) {
  const NoGrad off;
  const Meter meter;
  Generator rng(s.common.seed);
  const TiledKernel kernel{solver,
                           form,
                           task,
                           model.inputs(task.train),
                           model.inputs(task.test),
                           infinite::limit(network(model, task, s.sharpness, 1, rng)),
                           static_cast<std::uint64_t>(s.memory_budget) * 1'000'000,
                           folder / join(task.name, '-', model.name, '-', form.name),
                           join(model.name, ' ', form.name),
                           progress};
  Solved solved{{.model = model.name, .form = form.name}};
  with_memory_options(s, [&] {
    const Choice choice = kernel.chosen();
    infinite::StoredGramOptions o{.get = form.get, .memory_budget = kernel.share()};
    o.progress = counted_tiles(kernel.label, progress);
    const infinite::StoredGram gram =
        infinite::store_gram(kernel.limit, kernel.train, kernel.folder / "kernel", o);
    const double scale = mean(gram.diagonal()).item(), noise = choice.noise * scale;
    kernel.predict(kernel.process(gram, noise), noise, choice.amplitude, solved);
    solved.how.variance_error /= scale;
  });
  solved.outcome.seconds = meter.seconds();
  solved.outcome.peak_mb = meter.peak_mb();
  return solved;
}

}  // namespace ladon::example
