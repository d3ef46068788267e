#include "ladon/examples/lessons/08_evidence/page.h"

#include <cmath>

#include "ladon/autograd/ops.h"
#include "ladon/optim/posterior/gp.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

namespace {

/// Log evidences of the first target, the first two targets, and so on.
Json evidences(const Tensor& kernel, const Tensor& y) {
  Json all = Json::array();
  for (std::int64_t n = 1; n <= y.count(); ++n) {
    const Slice first{.stop = n};
    all.push_back(GaussianProcess(slice(slice(kernel, 0, first), 1, first), slice(y, 0, first),
                                  {.noise = 0.05})
                      .log_marginal_likelihood());
  }
  return all;
}

}  // namespace

Page page(const Tensor& x, const Tensor& y, const Tensor& limit, const infinite::LatentKernel& head,
          const Tensor& log_b) {
  Json factors = Json::array(), checks = Json::array();
  for (std::int64_t row = 0; row < log_b.size(0); ++row)
    factors.push_back(rounded(contiguous(select(log_b, 0, row)).to_vector()));
  for (const std::int64_t set : {0, 45}) {
    const Tensor one = contiguous(select(y, 1, set));
    const Tensor z = tensor({0.4, -1.1, 0.7, set / 30.0}, {1, 4});
    checks.push_back(checked("ofLimit", {one.to_vector()}, evidences(limit, one)));
    const Tensor kernel = select(head.at(z, x.size(0)), 0, 0);
    checks.push_back(
        checked("givenHead", {z.to_vector(), one.to_vector()}, evidences(kernel, one)));
  }
  return {.title = "The evidence is right on average, and often wrong on one data set",
          .about =
              "Each of 80 data sets is from one head or from infinitely many, half of them of "
              "each. The page estimates ln B, the logarithm of the evidence of one head over that "
              "of infinitely many, by draws of one head's weights. Turn the numbers of targets "
              "and of draws, and say where the data are from.",
          .script = page_script,
          .data = {{"sizes", {3, 6, 12, 24}},
                   {"factors", factors},
                   {"inputs", (x / std::sqrt(2.0)).to_vector()},
                   {"targets", json_rows(transpose(y))},
                   {"limit", json_rows(limit)},
                   {"checks", checks}}};
}

}  // namespace ladon::example
