#include "ladon/autograd/ops.h"
#include "ladon/examples/moving_particles/study.h"
#include "ladon/optim/optim.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

void add_checks(const Settings& s, const TargetStudy& study, Json& checks) {
  const std::string& name = study.target.name;
  const Tensor start = contiguous(slice(study.runs[0][0].frames[0], 0, {.stop = 8}));  // [8, 2]
  Settings tried = s;
  tried.alpha = "0.7";
  tried.noise = 0.2;
  for (const double width : {1.0, 1e-3}) {
    const Tensor middle = mean(start, 0, Dims::keep);
    const Tensor places = contiguous(middle + width * (start - middle));
    const Tensor score = study.target.density.score(places).gradient;
    const Tensor between = unsqueeze(places, 1) - unsqueeze(places, 0);  // [8, 8, 2]
    const double median = bandwidth(Bandwidth::median, contiguous(sum(square(between), 2)));
    const Json at = json_rows(places), scores = json_rows(score);
    checks.push_back(checked("scores", {name, at, s.apart}, scores));
    checks.push_back(checked("bandwidth", Json::array({at}), median));
    for (const char* method : {"svgd", "spos", "wgd"}) {
      constexpr double wider = 3;
      const SteinKernel kernel = rbf({.bandwidth = Bandwidth::fixed, .h2 = wider * median});
      Tensor x = parameter(clone(places));
      x.set_grad(-score);
      force_of(method, tried, x, Generator(0), kernel)->apply();
      checks.push_back(
          checked("forces",
                  {method, at, scores, {{"alpha", 0.7}, {"wider", wider}, {"noise", tried.noise}}},
                  json_rows(-x.grad())));  // forces: change per unit of rate, without noise
    }
  }
}

}  // namespace ladon::example
