#include "ladon/examples/lessons/14_tangent/page.h"

#include <cmath>

#include "ladon/ladon.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

Page page(const Tensor& w, const Tensor& phase, const infinite::Limit& limit, const Tensor& y,
          const std::vector<std::vector<double>>& f) {
  const auto tokens = [&](const Tensor& s) {
    return std::sqrt(2.0) * cos(reshape(s, {-1, 1, 1}) * w + phase);
  };
  const Tensor s = linspace(-4, 4, 65), x = tokens(tensor({-3, -1, 1, 3}, {4})), line = tokens(s);
  const infinite::Kernel own = limit(x), cross = limit(line, x), tests = limit(line);
  Json layers = Json::object(), checks = Json::array(), networks = Json::array();
  for (const std::string which : {"all", "last"}) {
    const Tensor k = which == "all" ? own.ntk : own.nngp;
    const Tensor across = which == "all" ? cross.ntk : cross.nngp;
    const double rate = max_learning_rate(k, 4) / 4;
    const auto [values, vectors] = eigh(k);
    layers[which] = {{"rate", rate},
                     {"values", values.to_vector()},
                     {"vectors", json_rows(vectors)},
                     {"cross", json_rows(across)}};
    const GradientFlow flow(k, y, {.learning_rate = rate, .jitter = 0});
    for (const double t : {0.0, 3.0, 100.0, infinite_time}) {
      const auto p = flow.ensemble(t, across, {own.nngp, cross.nngp, tests.nngp});
      checks.push_back(checked("ensemble", {which, std::min(t, 1e300), y.to_vector()},
                               json_rows(stack({flatten(p.mean), p.variance()}, 1))));
    }
  }
  for (const std::vector<double>& at_step : f)
    networks.push_back(rounded({at_step.begin() + 4, at_step.begin() + 24}));
  return {.title = "Training ends at the posterior only where the last layer learns alone",
          .about =
              "Wide attention layers learn four targets by gradient descent. Turn the steps, "
              "drag the targets, choose what learns: a formula gives the mean and the spread "
              "over all random beginnings.",
          .script = page_script,
          .data = {{"line", s.to_vector()},
                   {"targets", y.to_vector()},
                   {"k", json_rows(own.nngp)},
                   {"cross", json_rows(cross.nngp)},
                   {"variances", diagonal(tests.nngp).to_vector()},
                   {"layers", layers},
                   {"networks", networks},
                   {"checks", checks}}};
}

}  // namespace ladon::example
