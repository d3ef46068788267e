#include "ladon/examples/gp_classify/tiles.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/examples/common/text.h"
#include "ladon/layers/infinite/gram/gram.h"
#include "ladon/layers/infinite/gram/tiles/stored.h"
#include "ladon/optim/posterior/classification.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/solvers/cg_solver.h"
#include "ladon/optim/posterior/solvers/stored_factor.h"

namespace ladon::example {
namespace {

using infinite::Get;
using infinite::Gram;
using infinite::Inputs;

const Tensor& wanted(const Gram& gram, Get get) { return get == Get::ntk ? gram.ntk : gram.nngp; }

/// One kernel's work, from its tiles to the probabilities.
class Tiled {
 public:
  Tiled(const Model& model, const Task& task, const Settings& settings, Get get, Progress& progress,
        double steps)
      : model_(model),
        task_(task),
        settings_(settings),
        get_(get),
        progress_(progress),
        steps_(steps),
        label_(join(model.name, get == Get::ntk ? " NTK" : " NNGP")),
        folder_(settings.checkpoint /
                join(task.name, '-', model.name, '-', get == Get::ntk ? "ntk" : "nngp")),
        budget_(1e6 * static_cast<double>(settings.memory_budget)) {
    Generator rng(settings.common.seed);
    net_ = model.make(1, rng);  // at infinite width the number of hidden units plays no part
  }

  TiledPrediction run() {
    const auto start = std::chrono::steady_clock::now();
    const Choice choice = chosen();
    const infinite::StoredGram gram = stored();
    const double noise = choice.noise * mean(gram.diagonal()).item();
    const GaussianProcess process = solved(gram, noise);
    TiledPrediction all{predicted(process, choice, noise), choice, 0, {}};
    if (process.weights().iterations > 0) {
      iterated_.iterations = process.weights().iterations;
      iterated_.variance_error /= mean(gram.diagonal()).item();
      all.iterated = iterated_;
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    all.seconds = spent.count();
    return all;
  }

 private:
  // Of the budget a third each is for tiles of the kernel, for those of its factor, and for kernels
  // of test inputs.
  std::uint64_t share() const { return static_cast<std::uint64_t>(budget_ / 3); }
  const Inputs& train() const { return model_.inputs(task_.train); }
  infinite::Limit limit() const { return infinite::limit(net_); }
  /// Test inputs whose kernels, N numbers each, fit so often.
  std::int64_t at_once(double copies) const {
    const double each = copies * sizeof(double) * static_cast<double>(train().count());
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(budget_ / 3 / each));
  }

  /// A kernel in memory takes six matrices of its size until a noise is chosen.
  Choice chosen() {
    const auto fits = static_cast<std::int64_t>(std::sqrt(budget_ / (2 * 6 * 8)));
    const std::int64_t rows = std::min({task_.train.size(), fits, std::int64_t{2000}});
    progress_.step(label_ + ", choice of the noise", 0);
    const Gram first = infinite::gram(limit(), train().rows(0, rows), {.get = get_});
    const Tensor labels = slice(task_.train.labels, 0, {.stop = rows});
    const Choice choice = fit({wanted(first, get_), {}, {}}, labels, task_.classes(), [] {}).choice;
    progress_.say(join("  ", label_, ": noise ", noise_in_words(choice.noise),
                       " by leave-one-out on ", rows, " rows (accuracy ", choice.loo_accuracy,
                       ", nll ", choice.loo_nll, ")"));
    return choice;
  }

  infinite::StoredGram stored() {
    infinite::StoredGramOptions o{.get = get_, .memory_budget = share()};
    o.progress = [this, done = std::int64_t{0}](const infinite::StoredGramProgress& p) mutable {
      if (p.tiles_done == 0) progress_.say(join("  ", label_, ": ", p.estimate.describe()));
      progress_.step(label_ + ", tiles",
                     steps_ / 3 * double(p.tiles_done - done) / double(p.estimate.tiles));
      done = p.tiles_done;
    };
    return infinite::store_gram(limit(), train(), folder_ / "kernel", o);
  }

  GaussianProcess solved(const infinite::StoredGram& gram, double noise) {
    const Tensor targets = classification_targets(task_.train.labels, task_.classes());
    if (settings_.solver == "direct") {
      StoredFactorOptions o{.memory_budget = share()};
      o.progress = [this, done = 0.0](const StoredFactorProgress& p) mutable {
        progress_.step(label_ + ", factor", steps_ / 3 * (p.share_done - done));
        done = p.share_done;
      };
      return {store_factor(gram, folder_ / "factor", {.noise = noise}, o), targets};
    }
    // Ten copies: right sides, solutions, residuals, directions, their products and what is
    // between. Variances must be known well below the smallest noise: on digits 1e-3 leaves more
    // than they are.
    CgSolverOptions o{.test_tolerance = 1e-6, .at_once = std::min<std::int64_t>(256, at_once(10))};
    o.progress = [this](const CgProgress&) { progress_.step(label_ + ", conjugate gradients", 0); };
    GaussianProcess process(CgSolver(kernel_map(gram), {.noise = noise}, o), targets);
    progress_.step(label_ + ", prediction", steps_ / 3);
    return process;
  }

  Tensor predicted(const GaussianProcess& process, const Choice& choice, double noise) {
    const Inputs& test = model_.inputs(task_.test);
    // Cross, transposed, solutions, residuals and two products.
    const std::int64_t m = test.count(), rows = at_once(6);
    std::vector<Tensor> parts;
    for (std::int64_t begin = 0; begin < m; begin += rows) {
      const Inputs some = test.rows(begin, std::min(m, begin + rows));
      const infinite::GramOptions o{.get = get_, .memory_budget = share()};
      const Tensor cross = wanted(infinite::gram(limit(), some, train(), o), get_);
      const Gram own = infinite::gram_diagonal(limit().with_landmarks(train()), some, o);
      const GpPrediction p = process.predict(cross, wanted(own, get_));
      if (p.mean_error.defined()) {
        const auto raise = [](double& most, const Tensor& errors) {
          most = std::max(most, amax(errors).item());
        };
        raise(iterated_.mean_error, p.mean_error);
        raise(iterated_.variance_error, p.covariance_error);
      }
      parts.push_back(probabilities(p.mean, p.variance() + noise, choice.amplitude));
      progress_.step(label_ + ", prediction", steps_ / 3 * double(some.count()) / double(m));
    }
    return concat(parts, 0);
  }

  const Model& model_;
  const Task& task_;
  const Settings& settings_;
  Get get_;
  Progress& progress_;
  double steps_;
  std::string label_;
  std::filesystem::path folder_;
  double budget_;
  Sequential net_;
  Iterated iterated_;
};

}  // namespace

TiledPrediction predict_by_tiles(const Model& model, const Task& task, const Settings& settings,
                                 Get get, Progress& progress, double steps) {
  const NoGrad off;
  try {
    return Tiled(model, task, settings, get, progress, steps).run();
  } catch (const Error& error) {
    throw Error(join(error.what(), "; the tiles are in ", settings.checkpoint.string(),
                     ", the budget is --memory-budget ", settings.memory_budget, " MB"));
  }
}

}  // namespace ladon::example
