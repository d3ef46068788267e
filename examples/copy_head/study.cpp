#include "ladon/examples/copy_head/study.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ladon/autograd/ops.h"
#include "ladon/core/machine/parallel.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/statistics.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/posterior/compare.h"
#include "ladon/optim/samplers/smc.h"

namespace ladon::example {
namespace {

constexpr std::int64_t replicates = 4;
constexpr std::size_t later = 3;  // methods also run at the third N after N* (study.h)

double ordered_share(const Tensor& alignments) {
  return mean(cast(alignments > ordered_from, f64)).item();
}

/// Runs the study; when interrupted, keeps the finished results.
class Course {
 public:
  explicit Course(const Settings& settings) : s_(settings) {
    for (std::int64_t set = 0; set < s_.sets; ++set) {
      Generator own = rng(0, set, 0);
      data_.push_back(copy_data(s_.sequences.back(), own));
    }
  }

  Study run() {
    study_.interrupted = !ran_to_the_end([&] {
      find_exact();
      run_methods();
    });
    return std::move(study_);
  }

 private:
  Generator rng(std::uint64_t purpose, std::int64_t set, std::int64_t number) const {
    return Generator(s_.common.seed)
        .split(purpose)
        .split(static_cast<std::uint64_t>(set))
        .split(static_cast<std::uint64_t>(number));
  }
  CopyData data(std::int64_t set, std::int64_t sequences) const {
    return data_[set].first(sequences);
  }

  /// Runs jobs in parallel, and stores their results in order.
  template <class Job, class Result>
  void work(const std::vector<Job>& jobs, Result (Course::*make)(const Job&) const,
            std::vector<Result>& results, const std::string& what) {
    Progress progress(static_cast<double>(jobs.size()));
    parallel::in_order(
        std::ssize(jobs), 8,
        [&](std::int64_t i) {
          stop_if_interrupted();
          return (this->*make)(jobs[i]);
        },
        [&](const Result& result) {
          results.push_back(result);
          progress.step(what);
        });
  }

  void find_exact() {
    std::vector<Point> jobs;
    for (const Weighting weighting : attentions)
      for (std::int64_t set = 0; set < s_.sets; ++set)
        for (const std::int64_t n : s_.sequences)
          jobs.push_back({.weighting = weighting, .set = set, .sequences = n});
    work(jobs, &Course::exact, study_.points, "exact posteriors");
  }

  Point exact(const Point& job) const {
    Point point = job;
    point.histogram.assign(bins, 0);
    const LogLikelihood likelihood = copy_likelihood(data(job.set, job.sequences), job.weighting);
    std::vector<double> ordered, aligned, right, evidence;
    for (std::int64_t r = 0; r < replicates; ++r) {
      std::vector<Tensor> seen, weights;  // alignments, and weights on the right token
      Generator own = rng(1, job.set, job.sequences).split(static_cast<std::uint64_t>(r));
      const SmcResult run = tempered_smc(
          logits, likelihood,
          {.particles = s_.particles, .parts = length, .keep = 0.8, .sweeps = 8, .recorded = 5},
          own, [&](const EllipticalState& state) {
            const Tensor maps = attention_maps(job.weighting, state.z);
            seen.push_back(alignment(maps));
            weights.push_back(weight_on_right(maps));
          });
      const Tensor all = concat(seen, 0);
      for (const double a : all.to_vector())
        point.histogram[std::min<std::size_t>(bins - 1, static_cast<std::size_t>(a * bins))] +=
            1.0 / static_cast<double>(replicates * all.count());
      ordered.push_back(ordered_share(all));
      aligned.push_back(mean(all).item());
      right.push_back(mean(concat(weights, 0)).item());
      evidence.push_back(run.log_evidence);
      // Neighbouring particles may descend from one ancestor, so draws are taken far apart.
      point.drawn = ordered_share(slice(seen.back(), 0, {.step = s_.particles / members}));
    }
    point.ordered = estimate(ordered);
    point.aligned = estimate(aligned);
    point.right = estimate(right);
    point.log_evidence = estimate(evidence);
    return point;
  }

  void run_methods() {
    std::vector<MethodRun> jobs;
    for (const bool after : {false, true})
      for (std::int64_t set = 0; set < s_.sets; ++set) {
        for (const char* method : methods)
          for (const std::int64_t steps : {s_.steps / 4, s_.steps})
            jobs.push_back({.method = method, .steps = steps, .after = after, .set = set});
        jobs.push_back({.method = exact_draws, .steps = s_.steps, .after = after, .set = set});
      }
    work(jobs, &Course::run_method, study_.runs, "methods");
  }

  MethodRun run_method(const MethodRun& job) const {
    const std::vector<Point> curve = curve_of(study_, Weighting::softmax, job.set);
    const std::size_t place =
        std::min(transition(curve) + (job.after ? later : 0), curve.size() - 1);
    MethodRun result = job;
    result.share = result.exact = curve[place].ordered.value;
    if (job.method == exact_draws) {
      result.share = curve[place].drawn;
      return result;
    }
    const CopyData own = data(job.set, curve[place].sequences);
    Generator source = rng(job.after ? 3 : 2, job.set, job.steps);
    const PosteriorRun run = run_posterior_method(job.method, copy_network(own, Weighting::softmax),
                                                  {.members = members, .steps = job.steps}, source);
    result.share = ordered_share(run.functions);
    return result;
  }

  const Settings& s_;
  std::vector<CopyData> data_;
  Study study_;
};

}  // namespace

double valley(const std::vector<double>& histogram) {
  constexpr double least = 0.03;
  double depth = 0;
  for (std::size_t j = 1; j + 1 < histogram.size(); ++j) {
    const auto middle = histogram.begin() + static_cast<std::ptrdiff_t>(j);
    const double lower = std::min(*std::max_element(histogram.begin(), middle),
                                  *std::max_element(middle + 1, histogram.end()));
    if (lower >= least) depth = std::max(depth, 1 - *middle / lower);
  }
  return depth;
}

std::vector<Point> curve_of(const Study& study, Weighting weighting, std::int64_t set) {
  std::vector<Point> curve;
  for (const Point& p : study.points)
    if (p.weighting == weighting && p.set == set) curve.push_back(p);
  return curve;
}

std::size_t transition(const std::vector<Point>& curve) {
  const auto from_half = [](const Point& p) { return std::abs(p.ordered.value - 0.5); };
  return static_cast<std::size_t>(std::ranges::min_element(curve, {}, from_half) - curve.begin());
}

Study run_study(const Settings& settings) { return Course(settings).run(); }

}  // namespace ladon::example
