#include "ladon/examples/exact_posterior/study.h"

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/common/progress.h"
#include "ladon/examples/common/text.h"
#include "ladon/optim/extra/posterior/first_order.h"

namespace ladon::example {
namespace {

/// The posterior of finitely many heads to first order in 1/H.
FirstOrder first_order(const TaskSettings& s, const Tensor& kernel, const DataSet& set) {
  constexpr std::int64_t draws = 4000, at_once = 500;
  FirstOrder first(kernel, set.targets, {.noise = noise, .jitter = 0});
  const infinite::LatentKernel one = heads_kernel(s, 1);
  Generator rng = random_numbers(s, 2, set.draw, 0);
  for (std::int64_t done = 0; done < draws; done += at_once) {
    const Tensor kernels = one.at(normal({at_once, one.dim}, rng, 0, 1, f64), kernel.size(0));
    for (std::int64_t i = 0; i < at_once; ++i) first.add(select(kernels, 0, i));
  }
  return first;
}

}  // namespace

Study run_study(const TaskSettings& s) {
  const Tensor kernel = limit_kernel(s);
  Study study;
  study.prior_sd = clone(sqrt(slice(diagonal(kernel), 0, {.start = training_places().count()})));
  for (const std::int64_t heads : s.heads) study.approaches.push_back({heads});
  Progress progress(static_cast<double>(s.draws * std::ssize(s.heads)));
  study.interrupted = !ran_to_the_end([&] {
    for (std::int64_t draw = 0; draw < s.draws; ++draw) {
      const DataSet set = data_set(s, kernel, draw);
      const FirstOrder first = first_order(s, kernel, set);
      if (draw == 0) study.targets = set.targets;
      for (Approach& a : study.approaches) {
        Generator rng = random_numbers(s, 1, draw, a.heads);
        const LatentPosterior exact = posterior_of_heads(s, set, a.heads, rng);
        const Belief belief = belief_of(exact);
        // Only means are predicted: with few heads some first-order variances are negative.
        Belief predicted = set.limit;
        predicted.mean = select(first.mean(static_cast<double>(a.heads)), 1, 0);
        a.scores.push_back(score_belief(belief, set.limit, noise));
        a.predicted.push_back(score_belief(predicted, set.limit, noise));
        a.log_evidence.push_back(exact.log_evidence.value - set.limit_evidence);
        if (draw == 0) study.bands.push_back({"finite_heads", a.heads, belief});
        progress.step(join("data set ", draw + 1, ", ", a.heads, " heads"));
      }
      if (draw == 0) study.bands.push_back({"gp", 0, set.limit});
    }
  });
  std::erase_if(study.approaches, [](const Approach& a) { return a.scores.empty(); });
  return study;
}

Table approach_table(const Study& study) {
  Table table(
      "posterior",
      {{"heads", "H", Better::neither, true},
       {"mean_error",
        "root mean square over places of (mean − the Gaussian process's)/its standard deviation; "
        "mean over data sets ± standard error, as all that follows. Falls as 1/H",
        Better::lower},
       {"predicted",
        "the same as theory says to first order in 1/H (optim/extra/posterior/first_order.h)"},
       {"w2",
        "2-Wasserstein distance of the two normal laws with their means and covariances, in units "
        "of √(trace of the Gaussian process's covariance)",
        Better::lower},
       {"heads_w2", "H times w2: level where the distance falls as 1/H"},
       {"evidence",
        "ln p(targets) of H heads less that of the Gaussian process: above 0, the data favour few "
        "heads"},
       {"data_sets", "of which the row is the mean", Better::neither, true}});
  for (const Approach& a : study.approaches) {
    const auto heads = static_cast<double>(a.heads);
    const Measured w2 = mean_of(a.scores, &BeliefScore::w2);
    table.add({"exact",
               {{heads},
                mean_of(a.scores, &BeliefScore::mean_error),
                mean_of(a.predicted, &BeliefScore::mean_error),
                w2,
                {heads * w2.value, heads * w2.se},
                estimate(a.log_evidence),
                {static_cast<double>(a.scores.size())}}});
  }
  return table;
}

}  // namespace ladon::example
