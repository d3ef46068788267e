#include "ladon/examples/lessons/16_copy_head/page.h"

#include "ladon/ladon.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

Page page(const Tensor& x, const Tensor& y, double noise, double weight, const Table& table) {
  const std::int64_t symbols = x.size(1);
  const auto of = [&](const Tensor& all, std::int64_t n) {
    return slice(all, 0, {0, n * symbols});
  };
  const auto overlap = [&](std::int64_t n) {  // |XᵀY|²
    return sum(square(matmul(transpose(of(x, n)), of(y, n)))).item();
  };
  Json overlaps = Json::array(), checks = Json::array(), found = Json::array();
  for (std::int64_t n = 0; n <= 80; n += 2) overlaps.push_back({n, n > 0 ? overlap(n) : 0});
  // The model is a Gaussian process, since outputs are linear in Gaussian weights.
  const auto log_evidence = [&](double rho, std::int64_t n) {
    const Tensor one = of(x, n), k = matmul(one, transpose(one)) / double(symbols);
    const GaussianProcess gp(rho * rho * weight * weight * k, of(y, n),
                             {.noise = noise, .jitter = 0});
    return gp.log_marginal_likelihood();
  };
  for (const std::int64_t n : {2, 10})
    for (const double g : {-1.0, 1.5, 6.0})
      for (const double scale : {0.8, 3.2}) {
        const Tensor a = softmax(scale * g * one_hot(scalar(0, i64), symbols, f64));
        const double rho = (at(a, {0}) - at(a, {1})).item();
        checks.push_back(checked("evidence", {g, scale, n, overlap(n)},
                                 log_evidence(rho, n) - log_evidence(0, n)));
      }
  for (const Row& row : table.rows())
    found.push_back({std::stoi(row.method), row.figures[4].value, row.figures[5].value});
  return {.title = "More data move the mass between two peaks; ascents stay at theirs",
          .about =
              "A head copies by one logit g: at 0 it looks at all tokens alike, from 5 on it "
              "copies. Turn the number of sequences: the exact posterior of g follows. Do a "
              "hundred gradient ascents follow?",
          .script = page_script,
          .data = {{"symbols", symbols},
                   {"noise", noise},
                   {"weight", weight},
                   {"overlaps", overlaps},
                   {"found", found},
                   {"checks", checks}}};
}

}  // namespace ladon::example
