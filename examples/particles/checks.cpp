#include "ladon/examples/particles/checks.h"

#include <memory>

#include "ladon/autograd/ops.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/optim/optim.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

/// Forces of the library on places [M, 2]: what is added per unit of rate, without noise.
Tensor library_forces(const std::string& method, const Tensor& places, const Tensor& score,
                      double alpha, double h2, double noise) {
  Tensor x = parameter(clone(places));
  x.set_grad(-score);
  const SteinKernel kernel = rbf({.bandwidth = Bandwidth::fixed, .h2 = h2});
  const SvgdOptions svgd{.kernel = kernel, .alpha = alpha};
  std::unique_ptr<ParticleMethod> forces;
  if (method == "svgd")
    forces = std::make_unique<Svgd>(particles_of_rows(x), svgd);
  else if (method == "spos")
    forces = std::make_unique<Spos>(particles_of_rows(x),
                                    SposOptions{.svgd = svgd, .diffusion = noise}, Generator(0));
  else
    forces =
        std::make_unique<Wgd>(particles_of_rows(x), WgdOptions{.kernel = kernel, .alpha = alpha});
  forces->apply();
  return -x.grad();
}

}  // namespace

void add_checks(const TargetStudy& study, double apart, Json& checks) {
  const std::string& name = study.target.name;
  const Tensor start = contiguous(slice(study.runs[0][0].frames[0], 0, {.stop = 8}));  // [8, 2]
  for (const double width : {1.0, 1e-3}) {
    const Tensor middle = mean(start, 0, Dims::keep);
    const Tensor places = contiguous(middle + width * (start - middle));
    const Tensor score = study.target.density.score(places).gradient;
    const Tensor between = unsqueeze(places, 1) - unsqueeze(places, 0);  // [8, 8, 2]
    const double median = bandwidth(Bandwidth::median, contiguous(sum(square(between), 2)));
    const Json at = json_rows(places), scores = json_rows(score);
    checks.push_back(checked("scores", {name, at, apart}, scores));
    checks.push_back(checked("bandwidth", Json::array({at}), median));
    for (const char* method : {"svgd", "spos", "wgd"}) {
      constexpr double alpha = 0.7, wider = 3, noise = 0.2;
      const Tensor forces = library_forces(method, places, score, alpha, wider * median, noise);
      checks.push_back(checked(
          "forces", {method, at, scores, {{"alpha", alpha}, {"wider", wider}, {"noise", noise}}},
          json_rows(forces)));
    }
  }
}

}  // namespace ladon::example
