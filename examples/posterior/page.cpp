#include <algorithm>
#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/posterior/study.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

/// Draws of latents, which the page reweights and moves; fewer draws if each has many elements. Row
/// i is from run i mod `replicates` of sequential Monte Carlo, so that the page can form
/// independent groups of rows.
Json draws_json(const LatentDraws& draws) {
  constexpr std::int64_t most = 50, numbers = 7000;  // per run
  const std::int64_t each = draws.latents.size(0) / replicates, dim = draws.latents.size(1);
  const std::int64_t count = std::clamp<std::int64_t>(numbers / dim, 1, std::min(each, most));
  Json rows = Json::array();
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t r = 0; r < replicates; ++r) {
      const Tensor one = select(draws.latents, 0, r * each + i * (each / count));
      rows.push_back(rounded(contiguous(one).to_vector()));
    }
  return {{"heads", draws.heads}, {"latents", rows}};
}

Json band_json(const Band& band) {
  return {{"method", band.method},
          {"heads", band.heads},
          {"steps", band.steps},
          {"mean", rounded(band.belief.mean.to_vector())},
          {"sd", rounded(standard_deviation(band.belief).to_vector())}};
}

}  // namespace

Page page(const Settings& s, const Study& study) {
  const NoGrad off;
  const Tensor limit = limit_kernel(s), x = inputs();
  Json draws = Json::array(), exact = Json::array(), runs = Json::array(), ratios = Json::array();
  for (const LatentDraws& each : study.draws) draws.push_back(draws_json(each));
  for (const Band& band : study.bands)
    if (exactly_known(band.method)) exact.push_back(band_json(band));
  for (const Band& band : study.runs)
    if (!exactly_known(band.method)) runs.push_back(band_json(band));
  for (const MethodRuns& r : study.methods) {
    const Measured ratio = mean_of(r.scores, &BeliefScore::variance_ratio);
    ratios.push_back({r.method, r.heads, r.steps, ratio.value, ratio.se});
  }
  return {
      .title = "Few heads learn from the data how sure to be; infinitely many knew it before",
      .about = join("A layer of attention is to find a function of s from eight targets, with "
                    "noise of variance ",
                    noise,
                    ". Drag a target, or move it by the arrow keys: the exact posteriors follow, "
                    "mean ± 2 standard deviations. Then choose a method that moves the weights of "
                    "networks, and stop it early: which look right for a moment? Below a ratio of "
                    "variances of 1 a method is too sure; one that is right comes to 1 and stays "
                    "there."),
      .script = page_script,
      .data = {{"training", training_places().to_vector()},
               {"places", test_places().to_vector()},
               {"targets", study.targets.to_vector()},
               {"noise", noise},
               {"steps", s.steps},
               {"data_sets", s.draws},
               {"tokens", (x / std::sqrt(static_cast<double>(x.size(2)))).to_vector()},
               {"query_key", network(s, 1).query_key_std},
               {"limit", blocks_json(limit)},
               {"draws", draws},
               {"exact", exact},
               {"runs", runs},
               {"ratios", ratios},
               {"checks", checks(s, study, limit)}}};
}

}  // namespace ladon::example
