#include "ladon/examples/nngp_compare/page.h"

#include "ladon/autograd/ops.h"
#include "ladon/examples/nngp_compare/results.h"
#include "ladon/layers/infinite/finite/gaussianity.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

/// What networks of so many heads showed, beside the law.
Json kurtosis_rows(const Series& series) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < series.rows.size(); ++i) {
    const Measured measured = series.rows[i].gaussianity.kurtosis;
    rows.push_back({series.rows[i].point.size.heads, measured.value, measured.se});
  }
  return rows;
}

/// Densities of outputs over their standard deviation, by number of heads.
Json densities(const Series& series) {
  Json all = Json::array();
  for (const infinite::ComparisonRow& row : series.rows) {
    Json points = Json::array();
    for (const Bin& bin : histogram(row))
      points.push_back({bin.centre, bin.density.value, bin.width});
    all.push_back({{"heads", row.point.size.heads}, {"points", points}});
  }
  return all;
}

}  // namespace

Page page(const Study& study, const Tensor& x) {
  const Series& series = series_shown(study);
  const Tensor first = select(x, 0, 0);
  const Tensor k = matmul(first, transpose(first)) / static_cast<double>(x.size(2));  // [T, T]
  const Json covariance = json_rows(k);
  const Tensor limit = select(select(series.rows[0].nngp.limit, 0, 0), 0, 0);  // [T, T]
  Json checks = Json::array();
  checks.push_back(checked("limit", Json::array({covariance}), contiguous(limit).to_vector()));
  for (const std::int64_t heads : {1, 8})
    for (const double width : {2.0, 128.0})
      checks.push_back(
          checked("kurtosis", {covariance, heads, width},
                  infinite::identity_kurtosis(
                      k, k, {.heads = heads, .key_width = width, .value_width = width})));
  return {.title = "One head is not Gaussian, however wide; many heads are",
          .about =
              "Every dot is one random layer of attention before any training; its place is what "
              "the layer answers at two tokens. (Logits themselves are its weights, without a "
              "softmax: then the law is exact.) Turn the number of heads and their width. The "
              "ellipse holds 95% of the Gaussian process that infinitely many heads are; excess "
              "kurtosis measures how heavy tails are, and is 0 for a Gaussian.",
          .script = page_script,
          .data = {{"covariance", covariance},
                   {"head_width", series.rows[0].point.size.width},
                   {"kurtosis", kurtosis_rows(series)},
                   {"densities", densities(series)},
                   {"checks", checks}}};
}

}  // namespace ladon::example
