#include <cmath>

#include "ladon/examples/common/text.h"
#include "ladon/examples/posterior/study.h"

namespace ladon::example {

Table method_table(const Settings& s, const std::vector<MethodRuns>& rows, bool against_gp) {
  Table table(
      "method",
      {{"heads", "H; D = 12·H weights", Better::neither, true},
       {"steps", "gradients of each network (samplers: four times that); – for what takes none",
        Better::neither, true},
       {"mean_error",
        join("root mean square over places of (mean − true mean)/true standard deviation: even ",
             s.members, " independent exact draws (finite_heads) have about 1/√", s.members,
             "; mean over data sets ± standard error"),
        Better::lower},
       {"variance_ratio",
        "trace of the covariance over the true one: 1 where the method knows what it does not "
        "know, below where it is too sure"},
       {"w2", "2-Wasserstein distance to the truth, in units of √(trace of the true covariance)",
        Better::lower},
       {"coverage", "mass that the truth gives to the method's 90% intervals of a noisy target"},
       {"log_density",
        "expected ln density of a noisy target under the truth, less what the truth itself has, in "
        "nats: 0 at best",
        Better::higher},
       {"coverage50", "as coverage, of 50% intervals"},
       {"gradients", "of one network, in all, of the first data set", Better::neither, true},
       {"against_gp", "1: held against the Gaussian process, not against the truth at H heads",
        Better::neither, true},
       {"data_sets", "of which the row is the mean", Better::neither, true}});
  for (const MethodRuns& r : rows)
    table.add({r.method,
               {{static_cast<double>(r.heads)},
                {r.steps > 0 ? static_cast<double>(r.steps) : NAN},
                mean_of(r.scores, &BeliefScore::mean_error),
                mean_of(r.scores, &BeliefScore::variance_ratio),
                mean_of(r.scores, &BeliefScore::w2),
                mean_of(r.scores, &BeliefScore::coverage90),
                mean_of(r.scores, &BeliefScore::log_density),
                mean_of(r.scores, &BeliefScore::coverage50),
                {static_cast<double>(r.gradients)},
                {against_gp ? 1.0 : 0.0},
                {static_cast<double>(r.scores.size())}}});
  return table;
}

}  // namespace ladon::example
