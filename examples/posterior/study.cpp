#include "ladon/examples/posterior/study.h"

#include <algorithm>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"
#include "ladon/optim/posterior/compare.h"
#include "ladon/optim/posterior/flow/first_order.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon::example {
namespace {

/// The posterior under another prior, twice as wide: to be seen.
constexpr const char* wrong_prior = "wrong_prior";

/// A data set, and what is exactly known of it.
struct DataSet {
  std::int64_t draw = 0;
  Tensor y = {};
  Belief limit = {};
  double limit_evidence = 0;
  std::vector<Belief> exact = {}, drawn = {};  // of each number of heads; of so many exact draws
};

/// Everything, as far as it got.
class Course {
 public:
  explicit Course(const Settings& settings) : s_(settings), kernel_(limit_kernel(settings)) {
    study_.prior_sd = clone(sqrt(slice(diagonal(kernel_), 0, {.start = train_})));
    for (const std::int64_t heads : s_.heads) {
      study_.approaches.push_back({heads});
      plan_methods(heads);
    }
  }

  Study run() {
    const auto rows = static_cast<std::int64_t>(study_.methods.size()), jobs = rows * s_.draws;
    Progress progress(static_cast<double>(jobs + s_.draws * std::ssize(s_.heads)));
    study_.interrupted = !ran_to_the_end([&] {
      for (std::int64_t d = 0; d < s_.draws; ++d) find_exact(d, progress);
      const auto runs_of = [&](std::int64_t job) -> MethodRuns& {
        return study_.methods[static_cast<std::size_t>(job / s_.draws)];
      };
      const auto set_of = [&](std::int64_t job) -> const DataSet& {
        return sets_[static_cast<std::size_t>(job % s_.draws)];
      };
      std::int64_t next = 0;
      constexpr std::int64_t held = 8;
      parallel::in_order(
          jobs, held,
          [&](std::int64_t job) {
            stop_if_interrupted();
            return run_method(runs_of(job), set_of(job));
          },
          [&](const Answer& answer) {
            MethodRuns& runs = runs_of(next);
            note(runs, set_of(next++), answer);
            progress.step(join(runs.method, ", ", runs.heads, " heads"));
          });
    });
    std::erase_if(study_.approaches, [](const Approach& a) { return a.scores.empty(); });
    std::erase_if(study_.methods, [](const MethodRuns& r) { return r.scores.empty(); });
    return std::move(study_);
  }

 private:
  struct Answer {
    Belief belief;
    std::int64_t gradients = 0;
  };

  /// Rows of the table, in their order.
  void plan_methods(std::int64_t heads) {
    for (const char* known : {"gp", "finite_heads"}) study_.methods.push_back({known, heads});
    for (const std::string& method : s_.methods) {
      if (method == wrong_prior && heads != heads_shown(s_)) continue;
      if (method != "prior" && method != wrong_prior)
        study_.methods.push_back({method, heads, s_.steps / 4});
      study_.methods.push_back({method, heads, method == "prior" ? 0 : s_.steps});
    }
  }

  std::size_t place(std::int64_t heads) const {
    return static_cast<std::size_t>(std::ranges::find(s_.heads, heads) - s_.heads.begin());
  }
  Generator rng(std::uint64_t purpose, std::int64_t draw, std::int64_t number) const {
    return Generator(s_.common.seed)
        .split(purpose)
        .split(static_cast<std::uint64_t>(draw))
        .split(static_cast<std::uint64_t>(number));
  }
  infinite::LatentKernel latents(std::int64_t heads) const {
    return infinite::latent_kernel(infinite::finite_heads(limit_model(s_), {.heads = heads}),
                                   inputs_);
  }

  void find_exact(std::int64_t draw, Progress& progress) {
    DataSet& set = sets_.emplace_back(DataSet{.draw = draw, .y = targets(s_, kernel_, draw)});
    const Slice train{.stop = train_}, test{.start = train_};
    const Tensor rows = slice(kernel_, 0, test);
    const GaussianProcess gp(slice(slice(kernel_, 0, train), 1, train), set.y,
                             {.noise = noise, .jitter = 0});
    set.limit = belief_of(gp.predict(slice(rows, 1, train), slice(rows, 1, test)));
    set.limit_evidence = gp.log_marginal_likelihood();
    const FirstOrder first = first_order(set);
    for (Approach& approach : study_.approaches) {
      sample_exact(set, first, approach);
      progress.step(join("exact posterior, data set ", draw + 1, ", ", approach.heads, " heads"));
    }
    if (draw > 0) return;
    study_.targets = set.y;
    for (const std::int64_t heads : s_.heads)
      study_.bands.push_back({"finite_heads", heads, set.exact[place(heads)]});
    study_.bands.push_back({"gp", 0, set.limit});
  }

  /// The limit's answers to first order in 1/H.
  FirstOrder first_order(const DataSet& set) const {
    constexpr std::int64_t draws = 4000, at_once = 500;
    FirstOrder first(kernel_, set.y, {.noise = noise, .jitter = 0});
    const infinite::LatentKernel one = latents(1);
    Generator own = rng(2, set.draw, 0);
    for (std::int64_t done = 0; done < draws; done += at_once) {
      const Tensor kernels = one.at(normal({at_once, one.dim}, own, 0, 1, f64), inputs_.size(0));
      for (std::int64_t i = 0; i < at_once; ++i) first.add(select(kernels, 0, i));
    }
    return first;
  }

  void sample_exact(DataSet& set, const FirstOrder& first, Approach& approach) {
    const infinite::LatentKernel kernel = latents(approach.heads);
    const std::int64_t all = inputs_.size(0);
    Generator own = rng(1, set.draw, approach.heads);
    // Fewer particles for more heads: each costs more, and there is less for them to find.
    const std::int64_t particles =
        std::max(s_.particles / approach.heads, std::min<std::int64_t>(s_.particles, 60));
    const LatentPosterior exact =
        sample_posterior(kernel, all, set.y,
                         {.noise = noise,
                          .smc = {.particles = particles, .sweeps = 3, .recorded = 8},
                          .replicates = replicates},
                         own);
    const std::int64_t stride = exact.latents.size(0) / s_.members;
    const Tensor chosen = slice(exact.latents, 0, {.stop = stride * s_.members, .step = stride});
    set.exact.push_back(belief_of(exact));
    set.drawn.push_back(
        belief_of_draws(select(draw_functions(kernel, all, set.y, noise, chosen, own), 2, 0)));
    const Belief predicted = belief_of(first.predict(static_cast<double>(approach.heads)));
    approach.scores.push_back(score_belief(set.exact.back(), set.limit, noise));
    approach.predicted.push_back(score_belief(predicted, set.limit, noise));
    if (set.draw == 0) study_.draws.push_back({approach.heads, exact.latents});
    approach.log_evidence.push_back(exact.log_evidence.value - set.limit_evidence);
  }

  /// One method on one data set.
  Answer run_method(const MethodRuns& runs, const DataSet& set) const {
    if (runs.method == "gp") return {set.limit};
    if (runs.method == "finite_heads") return {set.drawn[place(runs.heads)]};
    WideHeadsOptions options = network(s_, runs.heads);
    const bool wrong = runs.method == wrong_prior;
    if (wrong) options.value_output_std *= 2;
    const std::int64_t steps = runs.steps > 0 ? runs.steps : s_.steps;
    Generator own = rng(3, set.draw, runs.heads).split(static_cast<std::uint64_t>(steps));
    const PosteriorRun run = run_posterior_method(
        wrong ? "hmc" : runs.method, wide_heads_task(options, inputs_, set.y, noise),
        {.members = s_.members, .steps = steps, .prior_kernel = kernel_}, own);
    return {belief_of_draws(run.functions), run.gradients};
  }

  void note(MethodRuns& runs, const DataSet& set, const Answer& answer) {
    const auto score_against = [&](const Belief& truth, MethodRuns& of) {
      if (set.draw == 0) of.gradients = answer.gradients;
      of.scores.push_back(score_belief(answer.belief, truth, noise));
    };
    score_against(set.exact[place(runs.heads)], runs);
    if (set.draw == 0) study_.runs.push_back({runs.method, runs.heads, answer.belief, runs.steps});
    const bool longest = !exactly_known(runs.method) && (runs.steps == 0 || runs.steps == s_.steps);
    if (runs.method == "hmc" && longest) {
      if (set.draw == 0) study_.to_limit.push_back({runs.method, runs.heads, runs.steps});
      score_against(set.limit, study_.to_limit.back());
    }
    if (set.draw == 0 && longest && runs.heads == heads_shown(s_))
      study_.bands.push_back({runs.method, runs.heads, answer.belief});
  }

  const Settings& s_;
  const Tensor kernel_;             // of infinitely many heads
  const Tensor inputs_ = inputs();  // [N + M, 2, 3]
  const std::int64_t train_ = training_places().count();
  Study study_;
  std::vector<DataSet> sets_;
};

}  // namespace

std::vector<std::string> method_names() {
  std::vector<std::string> all = posterior_methods();
  all.push_back(wrong_prior);
  return all;
}

bool exactly_known(const std::string& method) { return method == "gp" || method == "finite_heads"; }

Tensor standard_deviation(const Belief& belief) { return sqrt(clone(diagonal(belief.covariance))); }

std::int64_t heads_shown(const Settings& settings) {
  return settings.heads[std::min<std::size_t>(1, settings.heads.size() - 1)];
}

Study run_study(const Settings& settings) { return Course(settings).run(); }

}  // namespace ladon::example
