#include <iterator>
#include <limits>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/extra/data/metrics.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/meter.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/gp_classify/study.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/search.h"

namespace ladon::example {
namespace {

using infinite::Gram;

constexpr double noises[] = {1e-4, 1e-3, 1e-2, 1e-1, 1};

/// Note for a noise level at an end of the grid, since a better level may lie beyond it.
const char* edge_of(double noise) {
  return noise == *std::begin(noises)    ? " (the smallest tried)"
         : noise == *std::rbegin(noises) ? " (the largest tried)"
                                         : "";
}

/// Both kernels (NNGP and NTK) of a limit, computed in one pass: among training inputs, between
/// test and training inputs, and the diagonal of test inputs.
struct Grams {
  Gram among, across, self;
};
Grams grams(const Model& model, const Task& task, const Settings& s, Progress& progress) {
  Generator rng(s.common.seed);
  const infinite::Limit limit = infinite::limit(network(model, task, s.sharpness, 1, rng));
  const infinite::Inputs &train = model.inputs(task.train), &test = model.inputs(task.test);
  const auto options = [&](const char* set) {
    infinite::GramOptions o{.memory_budget =
                                static_cast<std::uint64_t>(s.memory_budget) * 1'000'000};
    o.progress = counted_tiles(join(model.name, ", ", set), progress);
    return o;
  };
  Gram among = infinite::gram(limit, train, options("train"));
  Gram across = infinite::gram(limit, test, train, options("test"));
  return {std::move(among), std::move(across),
          infinite::gram_diagonal(limit.with_landmarks(train), test)};
}

}  // namespace

Choice choose(const Tensor& kernel, const Tensor& labels, std::int64_t classes,
              const std::string& label, Progress& progress) {
  const std::string doing = label + ", leave-one-out";
  progress.step(doing, 0);
  const Tensor targets = classification_targets(labels, classes);
  const double scale = mean(diagonal(kernel)).item();
  Choice best;
  double best_nll = std::numeric_limits<double>::infinity(), accuracy = 0;
  for (const double noise : noises) {
    const GaussianProcess process(kernel, targets, {.noise = noise * scale});
    const LeaveOneOut left_out = process.leave_one_out();
    const double likeliest = process.amplitude();
    const auto nll = [&](double log_factor) {
      return metrics::nll(
          probabilities(left_out.mean, left_out.variance, likeliest * std::exp(log_factor)),
          labels);
    };
    const auto [log_factor, smallest_nll] = smallest(-6, 3, 0.25, nll);
    if (smallest_nll < best_nll) {
      best = {.noise = noise, .amplitude = likeliest * std::exp(log_factor)};
      best_nll = smallest_nll;
      accuracy = metrics::accuracy(left_out.mean, labels);
    }
    progress.step(doing, 1.0 / std::size(noises));
  }
  progress.say(join("  ", label, ": noise ", best.noise, edge_of(best.noise),
                    " by leave-one-out on ", labels.size(0), " rows (accuracy ", accuracy, ", nll ",
                    best_nll, ")"));
  return best;
}

// Adds `least` to each probability: smaller ones cannot be distinguished from 0 by the quadrature.
Tensor probabilities(const Tensor& mean, const Tensor& variance, double amplitude) {
  constexpr double least = 1e-12;
  const Tensor p = class_probabilities(mean, variance * amplitude) + least;
  return p / sum(p, 1, keep_dims);
}

void with_memory_options(const Settings& s, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    throw Error(join(error.what(), " (options: --memory-budget ", s.memory_budget,
                     " MB, --threads ", num_threads(), ")"));
  }
}

void add_infinite(const Model& model, const Task& task, const Settings& s, Progress& progress,
                  std::vector<Outcome>& outcomes) {
  const NoGrad off;
  const Meter meter;
  Grams all;
  with_memory_options(s, [&] { all = grams(model, task, s, progress); });
  const double together = meter.seconds();
  const Tensor targets = classification_targets(task.train.labels, task.classes);
  for (const KernelForm& form : kernel_forms) {
    const double begun = meter.seconds();
    const std::string label = join(model.name, ' ', form.name);
    const Tensor& kernel = all.among.*form.matrix;
    const Choice choice = choose(kernel, task.train.labels, task.classes, label, progress);
    const double noise = choice.noise * mean(diagonal(kernel)).item();
    const GaussianProcess process(kernel, targets, {.noise = noise});
    const GpPrediction p = process.predict(all.across.*form.matrix, all.self.*form.matrix);
    outcomes.push_back(
        {.model = model.name,
         .form = form.name,
         .probabilities = probabilities(p.mean, p.variance() + noise, choice.amplitude)});
    outcomes.back().seconds = together + meter.seconds() - begun;
    outcomes.back().peak_mb = meter.peak_mb();
    progress.step(label + ", prediction");
  }
}

}  // namespace ladon::example
