#include "ladon/examples/nngp_compare/results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "ladon/examples/common/text.h"

namespace ladon::example {

using infinite::ComparisonRow;

namespace {

std::vector<Column> width_columns(const Series& any) {
  const std::int64_t draws = any.rows[0].point.draws;
  const std::int64_t positions = over_positions(any.rows[0].nngp.limit).size(0),
                     entries = positions * (positions + 1) / 2;  // a kernel is symmetric
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
      {"ntk_mean_largest_z",
       join("the largest of these without its sign; up to about ",
            decimals(std::sqrt(2 * std::log(2.0 * static_cast<double>(entries))), 1), " where all ",
            entries, " entries agree")},
      {"nngp_mean_rms_z", "as ntk_mean_rms_z, of the NNGP kernel"},
      {"nngp_mean_largest_z", "as ntk_mean_largest_z, of the NNGP kernel"}};
  if (!any.plan.reference.empty())
    columns.push_back({"reference", "ntk_error as another program found it; – where it did not"});
  return columns;
}

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

Table width_table(const Study& study) {
  if (study.by_width.empty()) return {"method", {}};
  Table table("method", width_columns(study.by_width[0]));
  for (const auto& [plan, rows, theory] : study.by_width)
    for (const ComparisonRow& r : rows) {
      const std::int64_t width = r.point.size.width;
      Row row{join(plan.name, ", w = ", width),
              {r.ntk.single_error,
               r.nngp.single_error,
               {r.ntk.rms_z},
               {r.ntk.largest_z},
               {r.nngp.rms_z},
               {r.nngp.largest_z}}};
      if (!plan.reference.empty())
        row.figures.push_back({plan.reference.contains(width) ? plan.reference.at(width) : NAN});
      table.add(row);
    }
  return table;
}

Measured slope(const Series& series, infinite::Agreement ComparisonRow::*kernel) {
  std::vector<double> widths;
  std::vector<Measured> errors;
  for (const ComparisonRow& row : series.rows) {
    widths.push_back(static_cast<double>(row.point.size.width));
    errors.push_back((row.*kernel).single_error);
  }
  return infinite::fit_slope(widths, errors).slope;
}

Table slope_table(const Study& study) {
  Table table(
      "method",
      {{"ntk_slope",
        "p of ntk_error ~ width^p, by least squares on logarithms, ± standard error. Expected are "
        "-1/2 with linear scaling, 0 with sqrt scaling and one head, -1/4 with sqrt(w) heads, "
        "which is heads^(-1/2)"},
       {"nngp_slope", "the same of nngp_error"}});
  for (const Series& series : study.by_width)
    table.add({"slope, " + series.plan.name,
               {slope(series, &ComparisonRow::ntk), slope(series, &ComparisonRow::nngp)}});
  return table;
}

Table head_table(const Study& study) {
  if (study.by_heads.empty()) return {"method", {}};
  Table table("method", head_columns(study.by_heads[0].rows[0]));
  for (const auto& [plan, rows, theory] : study.by_heads)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& [kurtosis, ks, mmd] = rows[i].gaussianity;
      table.add({join(plan.name, ", H = ", rows[i].point.size.heads),
                 {kurtosis,
                  theory[i].kurtosis,
                  theory[i].wide_kurtosis,
                  {ks.distance},
                  {ks.p_value},
                  {mmd.squared, mmd.se},
                  {mmd.squared / mmd.null_sd}}});
    }
  return table;
}

std::string decimals(double x, int digits) {
  const double power = std::pow(10, digits);
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, std::round(x * power) / power + 0.0);
  return text;
}

// --- what the pictures show ---

const Series& series_shown(const Study& study) {
  const auto sqrt = std::ranges::find(study.by_heads, AttentionScaling::sqrt,
                                      [](const Series& series) { return series.plan.scaling; });
  return sqrt == study.by_heads.end() ? study.by_heads.front() : *sqrt;
}

std::vector<std::size_t> rows_shown(const Series& series) {
  const std::size_t last = series.rows.size() - 1;
  const std::set<std::size_t> rows = {0, std::min<std::size_t>(2, last), last};
  return {rows.begin(), rows.end()};
}

nlohmann::ordered_json panels(const Study& study) {
  using Json = nlohmann::ordered_json;
  Json density = Json::array(), entries = Json::array();
  if (!study.by_heads.empty()) {
    const Series& series = series_shown(study);
    for (const std::size_t i : rows_shown(series)) {
      Json each{{"scaling", series.plan.name},
                {"heads", series.rows[i].point.size.heads},
                {"law", nullptr}};
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
  const auto kernel = [](const infinite::Agreement& k) -> Json {
    return {{"limit", k.limit.to_vector()}, {"mean", k.mean.to_vector()}, {"se", k.se.to_vector()}};
  };
  for (const Series& series : study.by_width) {
    const ComparisonRow& r = series.rows.back();
    entries.push_back({{"series", series.plan.name},
                       {"width", r.point.size.width},
                       {"heads", r.point.size.heads},
                       {"nngp", kernel(r.nngp)},
                       {"ntk", kernel(r.ntk)},
                       {"z_scores", z_scores(r)}});
  }
  return {{"density", density}, {"entries", entries}};
}

}  // namespace ladon::example
