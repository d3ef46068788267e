// An operation of one's own, with its gradient: swish, y = x·σ(βx), whose steepness β is learned
// (Ramachandran et al. 2017). record.h says how operations are written.

#include "expect.h"
#include "ladon/autograd/functional.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/record.h"
#include "ladon/core/random.h"
using namespace ladon;

Tensor value_of_swish(const Tensor& x, const Tensor& beta) {
  const NoGrad off;  // the rules below say what its gradient is
  return x * sigmoid(beta * x);
}

Tensor swish(const Tensor& x, const Tensor& beta) {
  return record(
      "swish", value_of_swish(x, beta), {x, beta},
      [x = saved(x), beta = saved(beta)](const Tensor& g) {
        const Tensor s = sigmoid(*beta * x);
        return g * s * (1 + *beta * x * (1 - s));  // ∂y/∂x = s + βx·s(1 − s)
      },
      [x = saved(x), beta = saved(beta)](const Tensor& g) {
        const Tensor s = sigmoid(*beta * x);
        return g * square(x) * s * (1 - s);  // ∂y/∂β = x²·s(1 − s), which the sweep sums over x
      });
}

int main() {
  Generator rng(1);
  const Tensor x = normal({3, 4}, rng, 0, 1, f64).set_requires_grad();
  const Tensor beta = scalar(1.5, f64).set_requires_grad();
  const auto f = [](const std::vector<Tensor>& in) { return swish(in[0], in[1]); };
  gradcheck(f, {x, beta});      // against differences: an Error names what differs
  gradgradcheck(f, {x, beta});  // second derivatives come with rules in public operations
  expect_near("swish(1)", swish(scalar(1, f64), beta).item(), 0.8175744761936437, 1e-15);
}
