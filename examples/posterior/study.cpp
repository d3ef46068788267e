#include "ladon/examples/posterior/study.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/posterior/task.h"
#include "ladon/layers/infinite/finite/latent_kernel.h"
#include "ladon/optim/posterior/compare.h"
#include "ladon/optim/posterior/flow/first_order.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon::example {
namespace {

using infinite::LatentKernel;

/// What all data sets share.
struct Common {
  const Settings& settings;
  Tensor kernel;  // of infinitely many heads
  Tensor inputs;  // [N + M, 2, 3]

  std::int64_t train() const { return training_places().count(); }
  LatentKernel heads(std::int64_t number) const {
    return infinite::latent_kernel(infinite::finite_heads(limit_model(settings), {.heads = number}),
                                   inputs);
  }
  Generator rng(std::uint64_t purpose, std::int64_t draw, std::int64_t number) const {
    return Generator(settings.common.seed)
        .split(purpose)
        .split(static_cast<std::uint64_t>(draw))
        .split(static_cast<std::uint64_t>(number));
  }
};

/// A data set, and what is exactly known of it.
struct DataSet {
  std::int64_t draw = 0;
  Tensor y = {};
  Belief limit = {};
  double limit_evidence = 0;
  std::vector<LatentPosterior> exact = {};  // for each number of heads
  std::vector<Belief> beliefs = {};
  std::vector<Tensor> functions = {};  // [P, M], exact draws
};

/// Fewer particles for more heads: each costs more, and there is less for them to find.
std::int64_t particles_for(const Settings& s, std::int64_t heads) {
  return std::max(s.particles / heads, std::min<std::int64_t>(s.particles, 60));
}

DataSet data_set(const Common& common, std::int64_t draw) {
  DataSet set{.draw = draw, .y = targets(common.settings, common.kernel, draw)};
  const Slice train{.stop = common.train()}, test{.start = common.train()};
  const Tensor rows = slice(common.kernel, 0, test);
  const GaussianProcess gp(slice(slice(common.kernel, 0, train), 1, train), set.y,
                           {.noise = noise, .jitter = 0});
  set.limit = belief_of(gp.predict(slice(rows, 1, train), slice(rows, 1, test)));
  set.limit_evidence = gp.log_marginal_likelihood();
  return set;
}

void sample_exact(const Common& common, std::int64_t heads, DataSet& set) {
  const LatentKernel kernel = common.heads(heads);
  Generator rng = common.rng(1, set.draw, heads);
  set.exact.push_back(sample_posterior(
      kernel, common.inputs.size(0), set.y,
      {.noise = noise,
       .smc = {.particles = particles_for(common.settings, heads), .sweeps = 3, .recorded = 8},
       .replicates = 4},
      rng));
  const LatentPosterior& exact = set.exact.back();
  set.beliefs.push_back(belief_of(exact));
  const std::int64_t members = common.settings.members;
  const Tensor chosen = slice(exact.latents, 0, {.step = exact.latents.size(0) / members});
  set.functions.push_back(select(draw_functions(kernel, common.inputs.size(0), set.y, noise,
                                                slice(chosen, 0, {.stop = members}), rng),
                                 2, 0));
}

/// The limit's answers to first order in 1/H.
FirstOrder first_order(const Common& common, const DataSet& set) {
  constexpr std::int64_t draws = 4000, at_once = 500;
  FirstOrder first(common.kernel, set.y, {.noise = noise, .jitter = 0});
  const LatentKernel one = common.heads(1);
  Generator rng = common.rng(2, set.draw, 0);
  for (std::int64_t done = 0; done < draws; done += at_once) {
    const Tensor kernels =
        one.at(normal({at_once, one.dim}, rng, 0, 1, f64), common.inputs.size(0));
    for (std::int64_t i = 0; i < at_once; ++i) first.add(select(kernels, 0, i));
  }
  return first;
}

/// One method on one data set.
struct Job {
  std::size_t set = 0, heads = 0, runs = 0;
  std::string method;
  std::int64_t steps = 0;
};
struct Done {
  BeliefScore score;
  std::int64_t gradients = 0;
  Belief belief;
};

/// The posterior under another prior, twice as wide: to be seen.
constexpr const char* wrong_prior = "wrong_prior";

Done run_job(const Common& common, const DataSet& set, const Job& job) {
  const std::int64_t heads = common.settings.heads[job.heads];
  WideHeadsOptions options = network(common.settings, heads);
  const bool wrong = job.method == wrong_prior;
  if (wrong) options.value_output_std *= 2;
  const RegressionTask task = wide_heads_task(options, common.inputs, set.y, noise);
  Generator rng = common.rng(3, set.draw, heads).split(static_cast<std::uint64_t>(job.steps));
  const PosteriorRun run = run_posterior_method(
      wrong ? "hmc" : job.method, task,
      {.members = common.settings.members, .steps = job.steps, .prior_kernel = common.kernel}, rng);
  Belief belief = belief_of_draws(run.functions);
  return {score_belief(belief, set.beliefs[job.heads], noise), run.gradients, std::move(belief)};
}

std::vector<std::string> chosen_methods(const Settings& s) {
  return s.methods.empty() ? method_names() : s.methods;
}

/// Everything, as far as it got.
class Course {
 public:
  explicit Course(const Settings& settings)
      : common_{settings, limit_kernel(settings),
                tokens(concat({training_places(), test_places()}, 0))} {
    const std::int64_t n = common_.train();
    study_.prior_sd = clone(sqrt(slice(diagonal(common_.kernel), 0, {.start = n})));
  }

  Study run() {
    study_.interrupted = !ran_to_the_end([&] {
      plan();
      Progress progress(work_);
      exact(progress);
      methods(progress);
    });
    for (auto* runs : {&study_.runs})
      std::erase_if(*runs, [](const MethodRuns& r) { return r.scores.empty(); });
    return std::move(study_);
  }

 private:
  const Settings& settings() const { return common_.settings; }

  /// Rows of the table, and the jobs that fill them: of all data sets, one after the other.
  void plan() {
    for (std::size_t h = 0; h < settings().heads.size(); ++h) {
      const std::int64_t heads = settings().heads[h];
      study_.approaches.push_back({.heads = heads});
      for (const char* known : {"gp", "finite_heads"})
        study_.runs.push_back({known, heads, 0, "finite_heads"});
      for (const std::string& method : chosen_methods(settings()))
        for (const std::int64_t steps : {settings().steps / 4, settings().steps}) {
          if (method == "prior" && steps != settings().steps) continue;
          if (method == wrong_prior && (steps != settings().steps || heads != shown())) continue;
          study_.runs.push_back({method, heads, method == "prior" ? 0 : steps, "finite_heads"});
          for (std::int64_t d = 0; d < settings().draws; ++d)
            jobs_.push_back(
                {static_cast<std::size_t>(d), h, study_.runs.size() - 1, method, steps});
        }
      if (std::ranges::count(chosen_methods(settings()), "hmc") > 0)
        study_.runs.push_back({"hmc", heads, settings().steps, "gp"});
    }
    for (const Job& job : jobs_) work_ += cost(job);
    work_ += static_cast<double>(settings().draws) * exact_cost();
  }
  std::int64_t shown() const { return heads_shown(settings()); }
  double exact_cost() const { return 2000.0 * static_cast<double>(settings().heads.size()); }
  /// In gradients of a network of a few heads.
  double cost(const Job& job) const {
    const double heads = static_cast<double>(settings().heads[job.heads]);
    const bool samples = job.method == "hmc" || job.method == "spos" || job.method == wrong_prior ||
                         job.method.starts_with("sg");
    return static_cast<double>(job.steps) * (samples ? 4 : 1) * (4 + heads) / 8;
  }

  void exact(Progress& progress) {
    for (std::int64_t d = 0; d < settings().draws; ++d) {
      DataSet set = data_set(common_, d);
      const FirstOrder first = first_order(common_, set);
      for (std::size_t h = 0; h < settings().heads.size(); ++h) {
        stop_if_interrupted();
        sample_exact(common_, settings().heads[h], set);
      }
      if (d == 0) show_exact(set);
      for (std::size_t h = 0; h < settings().heads.size(); ++h) note_exact(set, first, h);
      sets_.push_back(std::move(set));
      progress.step(join("exact posteriors, data set ", d + 1), exact_cost());
    }
  }

  MethodRuns& runs_of(const std::string& method, std::int64_t heads, const std::string& against) {
    return *std::ranges::find_if(study_.runs, [&](const MethodRuns& r) {
      return r.method == method && r.heads == heads && r.against == against;
    });
  }

  void note_exact(const DataSet& set, const FirstOrder& first, std::size_t h) {
    const std::int64_t heads = settings().heads[h];
    Approach& approach = study_.approaches[h];
    const BeliefScore score = score_belief(set.beliefs[h], set.limit, noise);
    const Belief predicted = belief_of(first.predict(static_cast<double>(heads)));
    approach.mean_error.push_back(score.mean_error);
    approach.predicted.push_back(score_belief(predicted, set.limit, noise).mean_error);
    approach.w2.push_back(score.w2);
    approach.log_evidence.push_back(set.exact[h].log_evidence.value - set.limit_evidence);
    const auto note = [&](const char* method, const Belief& belief) {
      MethodRuns& runs = runs_of(method, heads, "finite_heads");
      runs.scores.push_back(score_belief(belief, set.beliefs[h], noise));
      runs.gradients.push_back(0);
    };
    note("gp", set.limit);
    note("finite_heads", belief_of_draws(set.functions[h]));
  }

  void show(const std::string& method, std::int64_t heads, const Belief& belief) {
    study_.bands.push_back({method, heads, belief.mean, sqrt(clone(diagonal(belief.covariance)))});
  }
  void show_exact(const DataSet& set) {
    study_.targets = set.y;
    for (std::size_t h = 0; h < settings().heads.size(); ++h)
      show("finite_heads", settings().heads[h], set.beliefs[h]);
    show("gp", 0, set.limit);
  }

  void methods(Progress& progress) {
    constexpr std::int64_t held = 8;
    std::size_t next = 0;
    parallel::in_order(
        static_cast<std::int64_t>(jobs_.size()), held,
        [&](std::int64_t i) {
          stop_if_interrupted();
          const Job& job = jobs_[static_cast<std::size_t>(i)];
          return run_job(common_, sets_[job.set], job);
        },
        [&](const Done& done) { note(jobs_[next++], done, progress); });
  }

  void note(const Job& job, const Done& done, Progress& progress) {
    MethodRuns& runs = study_.runs[job.runs];
    runs.scores.push_back(done.score);
    runs.gradients.push_back(done.gradients);
    const bool longest = job.steps == settings().steps;
    if (job.method == "hmc" && longest) {
      MethodRuns& against = runs_of("hmc", runs.heads, "gp");
      against.scores.push_back(score_belief(done.belief, sets_[job.set].limit, noise));
      against.gradients.push_back(done.gradients);
    }
    if (job.set == 0 && longest && runs.heads == shown()) show(job.method, runs.heads, done.belief);
    progress.step(join(job.method, ", ", runs.heads, " heads"), cost(job));
  }

  Common common_;
  Study study_;
  std::vector<DataSet> sets_;
  std::vector<Job> jobs_;
  double work_ = 0;
};

}  // namespace

std::int64_t heads_shown(const Settings& settings) {
  return settings.heads[std::min<std::size_t>(1, settings.heads.size() - 1)];
}

std::vector<std::string> method_names() {
  std::vector<std::string> all = posterior_methods();
  all.push_back(wrong_prior);
  return all;
}

Study run_study(const Settings& settings) { return Course(settings).run(); }

}  // namespace ladon::example
