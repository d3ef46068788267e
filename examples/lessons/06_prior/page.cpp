#include "ladon/examples/lessons/06_prior/page.h"

#include "ladon/ladon.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

/// Outputs of layers with two heads, computed by the library, with the matrices B = QᵀK and vectors
/// u = VᵀO of the heads, from which the page computes the same outputs.
Json outputs() {
  Generator rng(9);
  Json all = Json::array();
  for (const auto& [qk, vo] : {std::pair{1.0, 20.0}, {16.0, 1.0}}) {
    MultiHeadAttentionOptions o{.dim = 3, .heads = 2, .head_dim = 4, .bias = false, .out = 1};
    o.prior = {
        .parameterization = Parameterization::ntk, .query_key_std = qk, .value_output_std = vo};
    MultiHeadAttention layer(o, rng);
    layer.to(f64);
    const Tensor x = normal({1, 2, 3}, rng, 0, 1, f64),
                 b = matmul(transpose(layer.query), layer.key);
    const Tensor u = matmul(transpose(layer.value), layer.output);
    Json heads = Json::array();
    for (const std::int64_t h : {0, 1})
      heads.push_back({{"b", select(b, 0, h).to_vector()}, {"u", select(u, 0, h).to_vector()}});
    const Json tokens = {at(x, {0, 0}).to_vector(), at(x, {0, 1}).to_vector()};
    all.push_back(checked("output", {heads, 4, tokens, qk, vo}, mean(layer(x)).item()));
  }
  return all;
}

}  // namespace

Page page(const Tensor& w, const Tensor& b, const MakeNetwork& network, const Table& sure) {
  const Tensor x = std::sqrt(2.0) * cos(tensor({0, 0.25}, {2, 1, 1}) * w + b);
  Json kernels = Json::array(), shares = Json::array(), checks = outputs();
  for (const double qk : {0.0, 1.0, 4.0, 16.0, 64.0}) {
    const Tensor k = infinite::limit(network(qk))(x, infinite::Get::nngp).nngp;  // [2, 2]
    kernels.push_back({qk, at(k, {0, 0}).item(), at(k, {0, 1}).item(), at(k, {1, 1}).item()});
  }
  for (const Row& row : sure.rows()) {
    const auto& f = row.figures;  // variance, formula, networks
    shares.push_back({std::stod(row.method), f[2].value, f[2].se});
    checks.push_back(checked("shareSure", {f[0].value}, f[1].value));
  }
  return {
      .title = "Weights of N(0, 1) are no weak prior: they decide how sure a network is",
      .about =
          "A hundred networks of 64 heads, without any training, give an input s the "
          "probability of class 1. Turn σ, the product of the standard deviations of two matrices "
          "of weights: of queries and keys, and of values and outputs.",
      .script = page_script,
      .data = {{"frequencies", w.to_vector()},
               {"phases", b.to_vector()},
               {"kernels", kernels},
               {"shares", shares},
               {"checks", checks}}};
}

}  // namespace ladon::example
