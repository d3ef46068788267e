#include <algorithm>
#include <set>

#include "ladon/examples/common/text.h"
#include "ladon/examples/gaussian_outputs/study.h"

namespace ladon::example {

using infinite::ComparisonRow;

namespace {

std::vector<Column> head_columns(const ComparisonRow& any) {
  return {
      {"kurtosis",
       join("excess kurtosis E y⁴/(E y²)² - 3 of outputs, mean over positions, of ",
            any.point.draws,
            " networks ± standard error (jackknife): 0 for a Gaussian, above it where tails are "
            "heavier")},
      {"law", join("what theory expects of kurtosis at width ", any.point.size.width,
                   ", exactly; – where no formula is known")},
      {"wide_law",
       "the same of infinitely wide heads: 6ρ/H for identity ζ, for others simulated, ± standard "
       "error; 0 with linear scaling"},
      {"ks",
       "Kolmogorov-Smirnov distance: the largest difference between the outputs' and the limit's "
       "distribution functions, from 0 to 1, at the worst position",
       Better::lower},
      {"ks_p", join("chance of such a distance if outputs were the limit's, times the ",
                    any.outputs.size(1),
                    " positions that the worst is chosen from: below 0.05 they are not")},
      {"mmd2",
       "squared maximum mean discrepancy between outputs and limit, all positions together: 0 "
       "where they agree; unbiased, so it may be negative; ± standard error"},
      {"mmd2_z",
       "mmd2 in the standard deviations that it has where there is no difference: about ±1 then"}};
}

}  // namespace

Table head_table(const Study& study) {
  if (study.empty()) return {"method", {}};
  Table table("method", head_columns(study[0].rows[0]));
  for (const HeadSeries& series : study)
    for (std::size_t i = 0; i < series.rows.size(); ++i) {
      const auto& [kurtosis, ks, mmd] = series.rows[i].gaussianity;
      table.add({join(series.name, ", H = ", series.rows[i].point.size.heads),
                 {kurtosis,
                  series.theory[i].kurtosis,
                  series.theory[i].wide_kurtosis,
                  {ks.distance},
                  {ks.p_value},
                  {mmd.squared, mmd.se},
                  {mmd.squared / mmd.null_sd}}});
    }
  return table;
}

const HeadSeries& series_shown(const Study& study) {
  const auto sqrt = std::ranges::find(study, AttentionScaling::sqrt, &HeadSeries::scaling);
  return sqrt == study.end() ? study.front() : *sqrt;
}

std::vector<std::size_t> rows_shown(const HeadSeries& series) {
  const std::size_t last = series.rows.size() - 1;
  const std::set<std::size_t> rows = {0, std::min<std::size_t>(2, last), last};
  return {rows.begin(), rows.end()};
}

nlohmann::ordered_json densities(const Study& study) {
  using Json = nlohmann::ordered_json;
  Json density = Json::array();
  if (!study.empty()) {
    const HeadSeries& series = series_shown(study);
    for (const std::size_t i : rows_shown(series)) {
      Json each{
          {"scaling", series.name}, {"heads", series.rows[i].point.size.heads}, {"law", nullptr}};
      for (const Bin& bin : histogram(series.rows[i])) {
        each["output_over_sd"].push_back(bin.centre);
        each["bin_width"].push_back(bin.width);
        each["density"].push_back(bin.density.value);
        each["se"].push_back(bin.density.se);
      }
      for (const Bin& bin : series.theory[i].outputs) {
        each["law"]["output_over_sd"].push_back(bin.centre);
        each["law"]["density"].push_back(bin.density.value);
      }
      density.push_back(each);
    }
  }
  return {{"density", density}};
}

}  // namespace ladon::example
