#include "ladon/examples/posterior/study.h"

#include <algorithm>
#include <utility>

#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/posterior/compare.h"

namespace ladon::example {
namespace {

/// Control whose error must be detected: HMC under a prior with twice the standard deviation.
constexpr const char* wrong_prior = "wrong_prior";

/// A data set, and its exact posteriors.
struct Truth {
  DataSet set;
  /// Per number of heads: the exact posterior, and its estimate from `members` exact draws.
  std::vector<Belief> exact = {}, drawn = {};
};

/// Runs the study; when interrupted, keeps the finished results.
class Course {
 public:
  explicit Course(const Settings& settings) : s_(settings), kernel_(limit_kernel(settings)) {
    for (const std::int64_t heads : s_.heads) plan_methods(heads);
  }

  Study run() {
    const auto rows = static_cast<std::int64_t>(study_.methods.size()), jobs = rows * s_.draws;
    Progress progress(static_cast<double>(jobs + s_.draws * std::ssize(s_.heads)));
    study_.interrupted = !ran_to_the_end([&] {
      for (std::int64_t d = 0; d < s_.draws; ++d) find_exact(d, progress);
      const auto runs_of = [&](std::int64_t job) -> MethodRuns& {
        return study_.methods[job / s_.draws];
      };
      const auto truth_of = [&](std::int64_t job) -> const Truth& {
        return truths_[job % s_.draws];
      };
      std::int64_t next = 0;
      constexpr std::int64_t held = 8;
      parallel::in_order(
          jobs, held,
          [&](std::int64_t job) {
            stop_if_interrupted();
            return run_method(runs_of(job), truth_of(job));
          },
          [&](const Answer& answer) {
            MethodRuns& runs = runs_of(next);
            note(runs, truth_of(next++), answer);
            progress.step(join(runs.method, ", ", runs.heads, " heads"));
          });
    });
    std::erase_if(study_.methods, [](const MethodRuns& r) { return r.scores.empty(); });
    return std::move(study_);
  }

 private:
  struct Answer {
    Belief belief;
    std::int64_t gradients = 0;
  };

  /// Plans the rows of the table for this number of heads, in their order.
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

  void find_exact(std::int64_t draw, Progress& progress) {
    Truth& truth = truths_.emplace_back(Truth{data_set(s_, kernel_, draw)});
    for (const std::int64_t heads : s_.heads) {
      Generator rng = random_numbers(s_, 1, draw, heads);
      const LatentPosterior exact = posterior_of_heads(s_, truth.set, heads, rng);
      const std::int64_t stride = exact.latents.size(0) / s_.members;
      const Tensor chosen = slice(exact.latents, 0, {.stop = stride * s_.members, .step = stride});
      const Tensor functions = draw_functions(heads_kernel(s_, heads), inputs_.size(0),
                                              truth.set.targets, noise, chosen, rng);
      truth.exact.push_back(belief_of(exact));
      truth.drawn.push_back(belief_of_draws(select(functions, 2, 0)));
      if (draw == 0) study_.draws.push_back({heads, exact.latents});
      progress.step(join("exact posterior, data set ", draw + 1, ", ", heads, " heads"));
    }
    if (draw > 0) return;
    study_.targets = truth.set.targets;
    for (const std::int64_t heads : s_.heads)
      study_.bands.push_back({"finite_heads", heads, truth.exact[place(heads)]});
    study_.bands.push_back({"gp", 0, truth.set.limit});
  }

  /// Runs one method on one data set.
  Answer run_method(const MethodRuns& runs, const Truth& truth) const {
    if (runs.method == "gp") return {truth.set.limit};
    if (runs.method == "finite_heads") return {truth.drawn[place(runs.heads)]};
    WideHeadsOptions options = network(s_, runs.heads);
    const bool wrong = runs.method == wrong_prior;
    if (wrong) options.value_output_std *= 2;
    const std::int64_t steps = runs.steps > 0 ? runs.steps : s_.steps;
    Generator own =
        random_numbers(s_, 3, truth.set.draw, runs.heads).split(static_cast<std::uint64_t>(steps));
    const PosteriorRun run = run_posterior_method(
        wrong ? "hmc" : runs.method, wide_heads_task(options, inputs_, truth.set.targets, noise),
        {.members = s_.members, .steps = steps, .prior_kernel = kernel_}, own);
    return {belief_of_draws(run.functions), run.gradients};
  }

  void note(MethodRuns& runs, const Truth& truth, const Answer& answer) {
    const bool first = truth.set.draw == 0;
    const auto score_against = [&](const Belief& right, MethodRuns& of) {
      if (first) of.gradients = answer.gradients;
      of.scores.push_back(score_belief(answer.belief, right, noise));
    };
    score_against(truth.exact[place(runs.heads)], runs);
    if (first) study_.runs.push_back({runs.method, runs.heads, answer.belief, runs.steps});
    const bool longest = !exactly_known(runs.method) && (runs.steps == 0 || runs.steps == s_.steps);
    if (runs.method == "hmc" && longest) {
      if (first) study_.to_limit.push_back({runs.method, runs.heads, runs.steps});
      score_against(truth.set.limit, study_.to_limit.back());
    }
    if (first && longest && runs.heads == heads_shown(s_))
      study_.bands.push_back({runs.method, runs.heads, answer.belief});
  }

  const Settings& s_;
  const Tensor kernel_;             // kernel of infinitely many heads
  const Tensor inputs_ = inputs();  // [N + M, 2, 3]
  Study study_;
  std::vector<Truth> truths_;
};

}  // namespace

std::vector<std::string> method_names() {
  std::vector<std::string> all = posterior_methods();
  all.push_back(wrong_prior);
  return all;
}

bool exactly_known(const std::string& method) { return method == "gp" || method == "finite_heads"; }

std::int64_t heads_shown(const Settings& settings) {
  return settings.heads[std::min<std::size_t>(1, settings.heads.size() - 1)];
}

Study run_study(const Settings& settings) { return Course(settings).run(); }

}  // namespace ladon::example
