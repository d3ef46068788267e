#include "ladon/examples/lessons/05_between/page.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

Page page(const Law& law, const Drawn& drawn, const Table& tails, const Table& widths) {
  constexpr std::size_t kept = 2000;
  Json variances = Json::array(), bins = Json::array(), shares = Json::array();
  Json divergences = Json::array(), checks = Json::array();
  for (const std::int64_t width : {2, 4, 8, 16, 32, 0}) {
    std::vector<double> all = law(1, width).variances(), some;
    std::ranges::sort(all);
    for (std::size_t i = 0; i < kept; ++i)
      some.push_back(all[(2 * i + 1) * all.size() / (2 * kept)]);
    variances.push_back({width, rounded(some)});  // 2000 quantiles represent all draws
    some.resize(50);
    const infinite::ScaleMixture mixture(some);
    const double sd = std::sqrt(mixture.variance());
    for (const double y : {0.5, 3.0}) {
      checks.push_back(checked("density", {some, y * sd}, mixture.density(y * sd)));
      checks.push_back(checked("beyond", {some, y * sd}, 2 * mixture.cdf(-y * sd)));
    }
  }
  for (const auto& [heads, rows] : drawn)
    for (const std::vector<double>& row : rows) bins.push_back({heads, row[0], row[1], row[2]});
  for (const Row& row : tails.rows())
    shares.push_back({std::stoi(row.method), row.figures[0].value, row.figures[0].se});
  for (const Row& row : widths.rows()) {
    const double n = std::stod(row.method);
    const Measured scaled = row.figures[0];  // divergence times n²
    divergences.push_back({n, scaled.value / n / n, scaled.se / n / n});
  }
  return {
      .title = "Finitely many heads have an exact law: a mean of Gaussian densities",
      .about =
          "The output of a random layer of attention is Gaussian, given its logits, of which "
          "softmax makes the weights; its variance is random, and so large outputs are "
          "more frequent than a Gaussian's. Turn the number of heads and their width: the law is exact at each. The KL "
          "divergence of two laws is the mean of the logarithm of their densities' ratio, 0 "
          "where they are equal.",
      .script = page_script,
      .data = {{"variances", variances},
               {"bins", bins},
               {"shares", shares},
               {"divergences", divergences},
               {"checks", checks}}};
}

}  // namespace ladon::example
