#include "ladon/examples/nngp_compare/results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "ladon/examples/common/text.h"

namespace ladon::example {

using infinite::ComparisonRow;

namespace {

/// "3.2"
std::string short_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", x);
  return text;
}

std::vector<Column> width_columns(const Study& study) {
  const ComparisonRow& any = study.by_width.front().comparison.rows.front();
  const std::int64_t draws = any.point.draws;
  const std::int64_t positions = over_positions(any.nngp.limit).size(0),
                     entries = positions * (positions + 1) / 2;  // a kernel is symmetric
  const std::string largest =
      join("the largest of these without its sign; up to about ",
           short_number(std::sqrt(2 * std::log(2.0 * static_cast<double>(entries)))), " where all ",
           entries, " entries agree");
  std::vector<Column> columns = {
      {"ntk_error",
       join("|K - limit| / |limit| of one network's NTK K (products of the gradients that outputs "
            "have by the parameters), Frobenius norm over all pairs of positions (tokens of "
            "inputs); mean of ",
            draws, " networks ± standard error. Falls toward 0 where networks converge"),
       Better::lower},
      {"nngp_error",
       "the same of the NNGP kernel (products of outputs, mean over output channels: with few of "
       "those it stays large)",
       Better::lower},
      {"ntk_mean_rms_z",
       join("(mean of the NTK over ", draws,
            " networks - limit) / standard error of that mean, root mean square over entries: "
            "about 1 where they agree, and grows with --draws where they do not")},
      {"ntk_mean_largest_z", largest},
      {"nngp_mean_rms_z", "as ntk_mean_rms_z, of the NNGP kernel"},
      {"nngp_mean_largest_z", "as ntk_mean_largest_z, of the NNGP kernel"}};
  if (!study.by_width.front().reference.empty())
    columns.push_back({"reference", "ntk_error as another program found it; – where it did not"});
  return columns;
}

std::vector<Column> head_columns(const Study& study) {
  const ComparisonRow& any = study.by_heads.front().comparison.rows.front();
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

Table width_table(const Study& study) {
  if (study.by_width.empty()) return {"method", {}};
  Table table("method", width_columns(study));
  for (const WidthSeries& series : study.by_width)
    for (std::size_t i = 0; i < series.comparison.rows.size(); ++i) {
      const ComparisonRow& r = series.comparison.rows[i];
      Row row{join(series.name, ", w = ", r.point.size.width),
              {r.ntk.single_error,
               r.nngp.single_error,
               {r.ntk.rms_z},
               {r.ntk.largest_z},
               {r.nngp.rms_z},
               {r.nngp.largest_z}}};
      if (!series.reference.empty()) row.figures.push_back({series.reference[i]});
      table.add(row);
    }
  return table;
}

Table slope_table(const Study& study) {
  Table table(
      "method",
      {{"ntk_slope",
        "p of ntk_error ~ width^p, by least squares on logarithms, ± standard error. Expected are "
        "-1/2 with linear scaling, 0 with sqrt scaling and one head, -1/4 with sqrt(w) heads, "
        "which is heads^(-1/2)"},
       {"nngp_slope", "the same of nngp_error"}});
  for (const WidthSeries& series : study.by_width)
    table.add({"slope, " + series.name,
               {series.comparison.ntk_slope.slope, series.comparison.nngp_slope.slope}});
  return table;
}

Table head_table(const Study& study) {
  if (study.by_heads.empty()) return {"method", {}};
  Table table("method", head_columns(study));
  for (const HeadSeries& series : study.by_heads)
    for (std::size_t i = 0; i < series.comparison.rows.size(); ++i) {
      const ComparisonRow& r = series.comparison.rows[i];
      const auto& g = r.gaussianity;
      table.add({join(series.name, ", H = ", r.point.size.heads),
                 {g.kurtosis,
                  series.law[i],
                  series.wide_law[i],
                  {g.kolmogorov_smirnov.distance},
                  {g.kolmogorov_smirnov.p_value},
                  {g.mmd.squared, g.mmd.se},
                  {g.mmd.squared / g.mmd.null_sd}}});
    }
  return table;
}

// --- what the pictures show ---

const HeadSeries& series_shown(const Study& study) {
  const auto chosen = std::find_if(study.by_heads.begin(), study.by_heads.end(), [](const auto& h) {
    return h.scaling == AttentionScaling::sqrt;
  });
  return chosen == study.by_heads.end() ? study.by_heads.front() : *chosen;
}

std::vector<std::size_t> rows_shown(const HeadSeries& series) {
  const std::size_t last = series.comparison.rows.size() - 1;
  std::vector<std::size_t> rows = {0};
  for (const std::size_t row : {std::min<std::size_t>(2, last), last})
    if (row != rows.back()) rows.push_back(row);
  return rows;
}

namespace {

/// Row i of a series: what networks gave, and the law.
nlohmann::ordered_json as_json(const HeadSeries& series, std::size_t i) {
  const ComparisonRow& row = series.comparison.rows[i];
  const Histogram h = outputs_histogram(row);
  std::vector<double> density, se;
  for (const Measured& bin : h.density) {
    density.push_back(bin.value);
    se.push_back(bin.se);
  }
  nlohmann::ordered_json y{{"scaling", series.name},
                           {"heads", row.point.size.heads},
                           {"output_over_sd", h.centres},
                           {"bin_width", h.widths},
                           {"density", density},
                           {"se", se},
                           {"law", nullptr}};
  if (!series.outputs.empty())
    y["law"] = {{"output_over_sd", series.outputs[i].x}, {"density", series.outputs[i].density}};
  return y;
}

}  // namespace

nlohmann::ordered_json panels(const Study& study) {
  nlohmann::ordered_json all{{"density", nlohmann::ordered_json::array()},
                             {"entries", nlohmann::ordered_json::array()}};
  if (!study.by_heads.empty()) {
    const HeadSeries& series = series_shown(study);
    for (const std::size_t i : rows_shown(series)) all["density"].push_back(as_json(series, i));
  }
  const auto kernel = [](const infinite::Agreement& k) -> nlohmann::ordered_json {
    return {{"limit", k.limit.to_vector()}, {"mean", k.mean.to_vector()}, {"se", k.se.to_vector()}};
  };
  for (const WidthSeries& series : study.by_width) {
    const ComparisonRow& r = series.comparison.rows.back();
    all["entries"].push_back({{"series", series.name},
                              {"width", r.point.size.width},
                              {"heads", r.point.size.heads},
                              {"nngp", kernel(r.nngp)},
                              {"ntk", kernel(r.ntk)},
                              {"z_scores", z_scores(r)}});
  }
  return all;
}

}  // namespace ladon::example
