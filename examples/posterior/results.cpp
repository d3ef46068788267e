#include "ladon/examples/posterior/results.h"

#include <cmath>

#include "ladon/examples/common/text.h"

namespace ladon::example {

Measured mean_of(const std::vector<BeliefScore>& scores, double BeliefScore::*figure) {
  std::vector<double> values;
  for (const BeliefScore& score : scores) values.push_back(score.*figure);
  return estimate(values);
}

namespace {

const Column data_sets = {"data_sets", "of which the row is the mean", Better::neither, true};

}  // namespace

Table approach_table(const Study& study) {
  Table table(
      "posterior",
      {{"heads", "H", Better::neither, true},
       {"mean_error",
        "root mean square over places of (mean − the Gaussian process's)/its standard deviation; "
        "mean over data sets ± standard error, as all that follows. Falls as 1/H",
        Better::lower},
       {"predicted",
        "the same as theory says to first order in 1/H (optim/posterior/flow/first_order.h)"},
       {"w2",
        "2-Wasserstein distance of the two normal laws with their means and covariances, in units "
        "of √(trace of the Gaussian process's covariance)",
        Better::lower},
       {"heads_w2", "H times w2: level where the distance falls as 1/H"},
       {"evidence",
        "ln p(targets) of H heads less that of the Gaussian process: above 0, the data favour few "
        "heads"},
       data_sets});
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
       data_sets});
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

std::string incomplete(const Settings& s, const Study& study) {
  std::string text;
  const auto note = [&](const std::string& row, std::size_t sets) {
    if (sets < static_cast<std::size_t>(s.draws))
      text += join(row, ": mean over ", sets, " of ", s.draws, " data sets\n");
  };
  for (const Approach& a : study.approaches) note(join("exact ", a.heads), a.scores.size());
  for (const auto* rows : {&study.methods, &study.to_limit})
    for (const MethodRuns& r : *rows)
      note(join(r.method, ", ", r.heads, r.heads == 1 ? " head" : " heads",
                r.steps > 0 ? join(", ", r.steps, " steps") : "",
                rows == &study.to_limit ? ", against the limit" : ""),
           r.scores.size());
  return text;
}

nlohmann::ordered_json bands_json(const Study& study) {
  nlohmann::ordered_json bands = nlohmann::ordered_json::array();
  for (const Band& band : study.bands)
    bands.push_back({{"method", band.method},
                     {"heads", band.heads > 0 ? nlohmann::ordered_json(band.heads) : nullptr},
                     {"mean", band.belief.mean.to_vector()},
                     {"sd", standard_deviation(band.belief).to_vector()}});
  return {{"bands", bands}, {"places", test_places().to_vector()}};
}

}  // namespace ladon::example
