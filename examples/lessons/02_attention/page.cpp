#include "ladon/examples/lessons/02_attention/page.h"

#include "ladon/ladon.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

/// Logits, weights and outputs of one head, computed by the library to check the page's functions.
Json checks(const Tensor& values) {
  Generator rng(7);
  const Tensor query = normal({1, 1, 16}, rng, f64), keys = normal({1, 8, 16}, rng, f64);
  const Tensor products = flatten(matmul(query, transpose(keys)));
  Json all = Json::array();
  for (const bool root : {false, true})
    for (const double temperature : {0.25, 1.0, 4.0})
      for (const int seen : {3, 8}) {
        const double by = root ? 4 : 1;  // √16
        const Json logits = (products / by).to_vector();
        const AttentionResult head =
            attention_with_weights(query, keys, unsqueeze(values, 0),
                                   {.mask = arange(8) < seen, .scale = 1 / (by * temperature)});
        const Json weights = flatten(head.weights).to_vector();
        all.push_back(checked(
            "logitsOf", {flatten(query).to_vector(), json_rows(squeeze(keys, 0)), root}, logits));
        all.push_back(checked("weightsOf", {logits, temperature, seen}, weights));
        all.push_back(
            checked("contextOf", {weights, json_rows(values)}, flatten(head.output).to_vector()));
      }
  return all;
}

}  // namespace

Page page(const Table& widths) {
  Generator rng(8);
  const Tensor values = normal({8, 2}, rng, f64);
  Json largest = Json::array();
  for (const Row& row : widths.rows())
    largest.push_back({std::stoi(row.method), row.figures[1].value, row.figures[2].value});
  return {.title = "A head takes a mean of all values, not one of them",
          .about =
              "A query has a logit for each of eight keys. Turn their scale, or drag them: "
              "the softmax makes weights of them, and the context is the mean of the values "
              "with these weights.",
          .script = page_script,
          .data = {{"values", json_rows(values)}, {"widths", largest}, {"checks", checks(values)}}};
}

}  // namespace ladon::example
