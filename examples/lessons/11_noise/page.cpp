#include "ladon/examples/lessons/11_noise/page.h"

#include "ladon/ladon.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

/// Checks of the page's steps by steps of the library's optimizers. The noise that Sgld drew is
/// found as a step from 0 at rate 1/2 with gradient 0, which consists of the noise alone.
Json checks() {
  Json all = Json::array();
  for (const double step : {0.1, 0.8}) {
    Tensor noise = parameter(zeros({1}, f64)), x = parameter(full({1}, 0.7, f64));
    noise.set_grad(zeros({1}, f64));
    Sgld({noise}, {.lr = 0.5}, Generator(3)).step();
    x.set_grad(full({1}, -1.3, f64));
    Sgld({x}, {.lr = step}, Generator(3)).step();
    all.push_back(checked("langevin", {0.7, -1.3, step, noise.item()}, x.item()));
    Rmsprop rule({x}, {.lr = step, .decay = 0.995});
    const double start = x.item();
    const std::vector<double> gradients = {2, -5, 0.5};
    for (const double gradient : gradients) {
      x.set_grad(full({1}, gradient, f64));
      rule.step();
    }
    all.push_back(checked("rmsprop", {start, gradients, step}, x.item()));
  }
  return all;
}

}  // namespace

Page page(const std::vector<std::vector<double>>& rows, const Tensor& items) {
  Json curves = Json::array();
  for (const std::vector<double>& row : rows) curves.push_back(rounded(row));
  return {.title = "Noise has one right size and one right place",
          .about =
              "400 chains begin as draws of N(0, 1), which they are to sample. Turn the rule, "
              "the step and the batch: which rules leave N(0, 1) alone where steps are small?",
          .script = page_script,
          .data = {{"rows", curves}, {"items", items.to_vector()}, {"checks", checks()}}};
}

}  // namespace ladon::example
