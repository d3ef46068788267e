#include "ladon/examples/lessons/08_evidence/page.h"

#include "ladon/autograd/ops.h"

namespace ladon::example {

using Json = nlohmann::ordered_json;

Page page(const Tensor& log_b) {
  Json factors = Json::array();
  for (std::int64_t row = 0; row < log_b.size(0); ++row)
    factors.push_back(rounded(contiguous(select(log_b, 0, row)).to_vector()));
  return {.title = "The evidence is right on average, and often wrong on one data set",
          .about =
              "Each of 80 data sets is from one head or from infinitely many, half of them of "
              "each. You see ln B, the logarithm of the evidence of one head over that of "
              "infinitely many. Turn the number of targets, and say where the data are from.",
          .script = page_script,
          .data = {{"sizes", {3, 6, 12, 24}}, {"factors", factors}}};
}

}  // namespace ladon::example
