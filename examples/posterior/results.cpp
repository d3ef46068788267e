#include "ladon/examples/posterior/results.h"

#include <cmath>

#include "ladon/examples/posterior/task.h"

namespace ladon::example {
namespace {

Measured mean_of(const std::vector<BeliefScore>& scores, double BeliefScore::*figure) {
  std::vector<double> values;
  for (const BeliefScore& score : scores) values.push_back(score.*figure);
  return estimate(values);
}

std::vector<double> times(const std::vector<double>& values, double factor) {
  std::vector<double> scaled = values;
  for (double& value : scaled) value *= factor;
  return scaled;
}

}  // namespace

Table approach_table(const Study& study) {
  Table table(
      "posterior",
      {{"heads", "H", Better::neither, true},
       {"mean_error",
        "root mean square over places of (mean − the Gaussian process's)/its standard "
        "deviation; mean over data sets ± standard error, as all that follows. Falls as 1/H",
        Better::lower},
       {"predicted",
        "the same as theory says to first order in 1/H (optim/posterior/first_order.h)"},
       {"w2",
        "2-Wasserstein distance of the two normal laws with their means and covariances, in "
        "units of √(trace of the Gaussian process's covariance)",
        Better::lower},
       {"heads_w2", "H times w2: level where the distance falls as 1/H"},
       {"evidence",
        "ln p(targets) of H heads less that of the Gaussian process: above 0, data ask for few "
        "heads"}});
  for (const Approach& a : study.approaches) {
    if (a.w2.empty()) continue;
    const auto heads = static_cast<double>(a.heads);
    table.add({"exact",
               {{heads},
                estimate(a.mean_error),
                estimate(a.predicted),
                estimate(a.w2),
                estimate(times(a.w2, heads)),
                estimate(a.log_evidence)}});
  }
  return table;
}

Table method_table(const Study& study, const std::string& against) {
  Table table(
      "method",
      {{"heads", "H; D = 12·H weights", Better::neither, true},
       {"steps", "gradients of each network (samplers: four times that); – for what takes none",
        Better::neither, true},
       {"mean_error",
        "root mean square over places of (mean − true mean)/true standard deviation: even 20 "
        "independent exact draws (finite_heads) have about 1/√20; mean over data sets ± standard "
        "error",
        Better::lower},
       {"variance_ratio",
        "trace of the covariance over the true one: 1 where the method knows what it does not "
        "know, "
        "below where it is too sure"},
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
        Better::neither, true}});
  for (const MethodRuns& r : study.runs)
    if (r.against == against)
      table.add({r.method,
                 {{static_cast<double>(r.heads)},
                  {r.steps > 0 ? static_cast<double>(r.steps) : NAN},
                  mean_of(r.scores, &BeliefScore::mean_error),
                  mean_of(r.scores, &BeliefScore::variance_ratio),
                  mean_of(r.scores, &BeliefScore::w2),
                  mean_of(r.scores, &BeliefScore::coverage90),
                  mean_of(r.scores, &BeliefScore::log_density),
                  mean_of(r.scores, &BeliefScore::coverage50),
                  {static_cast<double>(r.gradients.front())},
                  {against == "gp" ? 1.0 : 0.0}}});
  return table;
}

nlohmann::ordered_json bands_json(const Study& study) {
  nlohmann::ordered_json bands = nlohmann::ordered_json::array();
  for (const Band& band : study.bands)
    bands.push_back({{"method", band.method},
                     {"heads", band.heads > 0 ? nlohmann::ordered_json(band.heads) : nullptr},
                     {"mean", band.mean.to_vector()},
                     {"sd", band.sd.to_vector()}});
  return {{"bands", bands}, {"places", test_places().to_vector()}};
}

}  // namespace ladon::example
