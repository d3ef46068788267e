#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/nngp_compare/study.h"

namespace ladon::example {

using infinite::ComparisonRow;

namespace {

std::vector<Column> width_columns(const WidthSeries& any) {
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
  if (!any.reference.empty())
    columns.push_back({"reference", "ntk_error as another program found it; – where it did not"});
  return columns;
}

}  // namespace

Table width_table(const Study& study) {
  if (study.empty()) return {"method", {}};
  Table table("method", width_columns(study[0]));
  for (const WidthSeries& series : study)
    for (const ComparisonRow& r : series.rows) {
      const std::int64_t width = r.point.size.width;
      Row row{join(series.name, ", w = ", width),
              {r.ntk.single_error,
               r.nngp.single_error,
               {r.ntk.rms_z},
               {r.ntk.largest_z},
               {r.nngp.rms_z},
               {r.nngp.largest_z}}};
      if (!series.reference.empty())
        row.figures.push_back(
            {series.reference.contains(width) ? series.reference.at(width) : NAN});
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
  for (const WidthSeries& series : study)
    table.add({"slope, " + series.name,
               {slope(series, &ComparisonRow::ntk), slope(series, &ComparisonRow::nngp)}});
  return table;
}

std::vector<double> z_scores(const ComparisonRow& row) {
  std::vector<double> scores;
  for (const infinite::Agreement* kernel : {&row.nngp, &row.ntk}) {
    const Tensor z = over_positions((kernel->mean - kernel->limit) / kernel->se);
    for (std::int64_t i = 0; i < z.size(0); ++i)
      for (const double score : slice(select(z, 0, i), 0, {.stop = i + 1}).to_vector())
        if (std::isfinite(score)) scores.push_back(score);
  }
  return scores;
}

nlohmann::ordered_json entries(const Study& study) {
  using Json = nlohmann::ordered_json;
  Json entries = Json::array();
  const auto kernel = [](const infinite::Agreement& k) -> Json {
    return {{"limit", k.limit.to_vector()}, {"mean", k.mean.to_vector()}, {"se", k.se.to_vector()}};
  };
  for (const WidthSeries& series : study) {
    const ComparisonRow& r = series.rows.back();
    entries.push_back({{"series", series.name},
                       {"width", r.point.size.width},
                       {"heads", r.point.size.heads},
                       {"nngp", kernel(r.nngp)},
                       {"ntk", kernel(r.ntk)},
                       {"z_scores", z_scores(r)}});
  }
  return {{"entries", entries}};
}

}  // namespace ladon::example
