#include "ladon/examples/attention_paths/study.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/posterior/gp.h"
#include "ladon/optim/posterior/latent_posterior.h"
#include "ladon/optim/posterior/path_relevance.h"

namespace ladon::example {
namespace {

PathOptions options(std::int64_t width) {
  return {.heads = {2, 2}, .widths = {width, width}, .readout = width};
}

/// Kernel K [n, n] = Σ_ππ′ U_ππ′·C_ππ′ / paths, of the order parameter U [paths, paths] and kernels
/// of pairs of paths C [paths, paths, n, n].
Tensor kernel(const Tensor& c, const Tensor& order) {
  return sum(sum(reshape(order, {paths, paths, 1, 1}) * c, 0), 0) / static_cast<double>(paths);
}

Tensor limit_kernel(const Tensor& c) { return kernel(c, eye(paths, f64)); }

/// Order parameter U [paths, paths] with equal weights for the chosen paths and 0 for all others,
/// as in a network that has the chosen paths alone.
Tensor alone(const std::vector<std::int64_t>& chosen) {
  Tensor u = zeros({paths, paths}, f64);
  for (const std::int64_t path : chosen)
    u.mutable_data<double>()[path * paths + path] =
        static_cast<double>(paths) / static_cast<double>(chosen.size());
  return u;
}

GaussianProcess process(const Task& task, const Tensor& k) {
  const Slice train{.stop = task.train};
  return {slice(slice(k, 0, train), 1, train), task.targets(), {.noise = noise, .jitter = 0}};
}

/// Posterior means [M] at the test chains, for the kernel k of all chains.
Tensor mean_of(const Task& task, const Tensor& k) {
  const Tensor rows = slice(slice(k, 0, {.start = task.train}), 1, {.stop = task.train});
  return select(process(task, k).predict(rows).mean, 1, 0);
}

double accuracy(const Task& task, const Tensor& k) {
  const Tensor truth = slice(task.labels, 0, {.start = task.train});
  return mean(cast(greater(mean_of(task, k) * truth, 0), f64)).item();
}

/// Index of the head with the smallest score (head_scores()): heads 0 and 1 are in layer 1, heads 2
/// and 3 in layer 2.
std::int64_t worst_head(const PathSaddle& saddle, const PathOptions& o) {
  const std::vector<double> scores =
      concat({head_scores(saddle, o, 0), head_scores(saddle, o, 1)}, 0).to_vector();
  return std::min_element(scores.begin(), scores.end()) - scores.begin();
}

/// Paths that do not pass through this head.
std::vector<std::int64_t> without(std::int64_t head) {
  std::vector<std::int64_t> kept;
  for (std::int64_t path = 0; path < paths; ++path)
    if ((head < 2 ? path / 2 : 2 + path % 2) != head) kept.push_back(path);
  return kept;
}

double distance(const Tensor& a, const Tensor& b) { return std::sqrt(mean(square(a - b)).item()); }

const std::vector<Column> exact_columns = {
    {"evidence",
     "ln p(targets) less that of the Gaussian process, of the first seed, ± "
     "standard error over two replicates: above 0, the data favour the width"},
    {"good", "posterior mean of U of the good path"},
    {"saddle_good", "the same at the saddle"},
    {"cross", "posterior mean of U of the good with the denoising path"},
    {"saddle_cross", "the same at the saddle"}};

const std::vector<Column> network_columns = {
    {.name = "weights", .meaning = "numbers sampled by 16 chains", .whole = true},
    {"rhat", "largest R̂ of f over 100 test chains: near 1 where the chains agree"},
    {"chance", "Monte Carlo standard error of the network's mean"},
    {"to_exact",
     "root mean square difference of the network's mean to the exact posterior's, over 100 "
     "test chains, on 40 training chains: about `chance` where they agree"},
    {"to_saddle", "the same to the saddle's"},
    {"to_limit", "the same to the Gaussian process's"}};

class Course {
 public:
  explicit Course(const Settings& settings)
      : s_(settings),
        study_{{}, {}, Table("width", exact_columns), Table("network", network_columns)} {
    study_.predictors.push_back({"Gaussian process (N = ∞)"});
    for (const std::int64_t width : s_.widths) {
      study_.predictors.push_back({join("N = ", width)});
      study_.orders.push_back({width});
    }
    study_.predictors.insert(study_.predictors.end(),
                             {{"good path alone"},
                              {"good and denoising path"},
                              {"after pruning"},
                              {join("N = ", s_.widths[0], ", no cross entries")}});
  }

  Study run() {
    Progress progress(static_cast<double>(s_.seeds + std::ssize(s_.exact_widths) +
                                          std::ssize(s_.network_widths)));
    study_.interrupted = !ran_to_the_end([&] {
      for (int seed = 0; seed < s_.seeds; ++seed) {
        saddles(seed);
        progress.step(join("seed ", seed + 1));
      }
      for (const std::int64_t width : s_.exact_widths) {
        exact(width);
        progress.step(join("exact posterior, N = ", width));
      }
      for (const std::int64_t width : s_.network_widths) {
        network(width);
        progress.step(join("network, N = ", width));
      }
    });
    return std::move(study_);
  }

 private:
  Generator rng(std::uint64_t purpose, int seed) const {
    return Generator(s_.common.seed).split(purpose).split(static_cast<std::uint64_t>(seed));
  }
  Task task(int seed) const {
    Generator own = rng(1, seed);
    return draw_task({}, own);
  }

  void saddles(int seed) {
    const Task t = task(seed);
    const Tensor c = t.kernels();
    std::vector<double> found = {accuracy(t, limit_kernel(c))};
    std::vector<std::int64_t> kept;
    for (Order& order : study_.orders) {
      stop_if_interrupted();
      const PathOptions o = options(order.width);
      const PathSaddle saddle = path_saddle(c, t.targets(), noise, o);
      if (kept.empty()) kept = without(worst_head(saddle, o));  // chosen at the first width
      order.entries.push_back(saddle.order[0].to_vector());
      found.push_back(accuracy(t, kernel(c, saddle.order[0])));
    }
    for (const std::vector<std::int64_t>& some : {std::vector<std::int64_t>{0}, {0, 2}, kept})
      found.push_back(accuracy(t, kernel(c, alone(some))));
    const Tensor narrow = from_vector(study_.orders[0].entries.back(), {paths, paths});
    found.push_back(accuracy(t, kernel(c, narrow * eye(paths, f64))));
    for (std::size_t i = 0; i < found.size(); ++i)
      study_.predictors[i].accuracy.push_back(found[i]);
  }

  LatentPosterior exact_posterior(const Task& t, const Tensor& c, const PathOptions& o,
                                  Generator& own) const {
    return sample_posterior(
        path_kernel(c, o), t.labels.size(0), t.targets(),
        {.noise = noise, .smc = {.particles = s_.particles, .sweeps = 3}, .replicates = 2}, own);
  }

  void exact(std::int64_t width) {
    const Task t = task(0);
    const Tensor c = t.kernels();
    const PathOptions o = options(width);
    Generator own = rng(2, static_cast<int>(width));
    const LatentPosterior posterior = exact_posterior(t, c, o, own);
    const Tensor exact = mean(path_order(posterior.latents, o), 0);
    const Tensor saddle = path_saddle(c, t.targets(), noise, o).order[0];
    const double limit = process(t, limit_kernel(c)).log_marginal_likelihood();
    const auto entry = [](const Tensor& u, std::int64_t row, std::int64_t column) {
      return Measured{at(u, {row, column}).item(), 0};
    };
    study_.exacts.add({join("N = ", width),
                       {{posterior.log_evidence.value - limit, posterior.log_evidence.se},
                        entry(exact, good, good),
                        entry(saddle, good, good),
                        entry(exact, good, denoising),
                        entry(saddle, good, denoising)}});
  }

  void network(std::int64_t width) {
    Generator own = rng(3, static_cast<int>(width));
    const Task t = draw_task({.train = 40, .test = 100, .features = 40, .states = 12}, own);
    const Tensor c = t.kernels();
    const PathOptions o = options(width);
    const LatentPosterior exact = exact_posterior(t, c, o, own);
    const NetworkDraws draws = sample_network(t, width, s_.draws, own);
    const Tensor u = path_saddle(c, t.targets(), noise, o).order[0];
    const auto from = [&](const Tensor& mean) { return Measured{distance(draws.mean, mean), 0}; };
    study_.networks.add({join("N = ", width),
                         {{static_cast<double>(draws.weights), 0},
                          {draws.rhat, 0},
                          {draws.error, 0},
                          from(select(exact.mean, 1, 0)),
                          from(mean_of(t, kernel(c, u))),
                          from(mean_of(t, limit_kernel(c)))}});
  }

  const Settings& s_;
  Study study_;
};

}  // namespace

Study run_study(const Settings& settings) { return Course(settings).run(); }

}  // namespace ladon::example
