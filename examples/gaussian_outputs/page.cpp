#include "ladon/autograd/ops.h"
#include "ladon/examples/gaussian_outputs/study.h"
#include "ladon/layers/infinite/finite/gaussianity.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

Page page(const Study& study, const Tensor& x) {
  const HeadSeries& series = series_shown(study);
  const Tensor first = select(x, 0, 0);
  const Tensor k = matmul(first, transpose(first)) / static_cast<double>(x.size(2));  // [T, T]
  const Json covariance = json_rows(k);
  const Tensor limit = select(select(series.rows[0].nngp.limit, 0, 0), 0, 0);  // [T, T]
  Json kurtosis = Json::array(), densities = Json::array(), checks = Json::array();
  for (const infinite::ComparisonRow& row : series.rows) {
    const std::int64_t heads = row.point.size.heads;
    const Measured found = row.gaussianity.kurtosis;
    kurtosis.push_back({heads, found.value, found.se});
    Json points = Json::array();
    for (const Bin& bin : histogram(row))
      points.push_back({bin.centre, bin.density.value, bin.width});
    densities.push_back({{"heads", heads}, {"points", points}});
  }
  checks.push_back(checked("limit", Json::array({covariance}), contiguous(limit).to_vector()));
  for (const std::int64_t heads : {1, 8})
    for (const double width : {2.0, 128.0})
      checks.push_back(
          checked("kurtosis", {covariance, heads, width},
                  infinite::identity_kurtosis(
                      k, k, {.heads = heads, .key_width = width, .value_width = width})));
  return {
      .title = "One head is not Gaussian, however wide; many heads are",
      .about =
          "Every dot is one random layer of attention before any training; its place is what the "
          "layer answers at two tokens. (Logits themselves are its weights, without a softmax: "
          "then the law is exact.) Vary the number of heads and their width. The ellipse holds "
          "95% of the Gaussian process that infinitely many heads are; excess kurtosis measures "
          "how heavy tails are, and is 0 for a Gaussian.",
      .script = page_script,
      .data = {{"covariance", covariance},
               {"head_width", series.rows[0].point.size.width},
               {"kurtosis", kurtosis},
               {"densities", densities},
               {"checks", checks}}};
}

}  // namespace ladon::example
