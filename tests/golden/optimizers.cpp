// ONNX operators: steps of optimizers. Inputs are R (learning rate), T (number of earlier steps), n
// parameters X₁ … X_n, their n gradients, and n tensors of each kind of state; outputs are the new
// parameters and states in the same order.

#include <cmath>

#include "case.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/optimizer.h"

namespace ladon::golden {
namespace {

/// Element i of family f: 0 the parameters, 1 the gradients, 2 … the states; copies that may be
/// changed.
class Families {
 public:
  Families(const Case& c, std::size_t families) : c_(c) {
    LADON_CHECK(c.inputs() > 2 && (c.inputs() - 2) % families == 0, c.op(), "has ", c.inputs(),
                " inputs, not 2 and ", families, " a parameter");
    count = (c.inputs() - 2) / families;
  }
  Tensor of(std::size_t family, std::size_t i) const {
    return clone(c_.in(2 + family * count + i));
  }
  std::size_t count;

 private:
  const Case& c_;
};

double rate(const Case& c) { return c.in(0).item(); }
double steps_before(const Case& c) { return c.in(1).item(); }

// The gradient is that of a loss with norm_coefficient/2·|x|²; eps stands outside of the root and
// is not corrected, and the first step (T = 0) has the plain rate.
Tensors adam(const Case& c) {
  const double a = c.number("alpha", 0.9), b = c.number("beta", 0.999), t = steps_before(c);
  const double correction = t > 0 ? std::sqrt(1 - std::pow(b, t)) / (1 - std::pow(a, t)) : 1;
  const kernels::AdamStep step{.lr = rate(c) * correction,
                               .beta1 = a,
                               .beta2 = b,
                               .correction = 1,
                               .eps = c.number("epsilon", 1e-6),
                               .weight_decay = c.number("norm_coefficient", 0),
                               .shrink = 1};
  const Families all(c, 4);
  Tensors x, m, v;
  for (std::size_t i = 0; i < all.count; ++i) {
    x.push_back(all.of(0, i));
    m.push_back(all.of(2, i));
    v.push_back(all.of(3, i));
    kernels::adam(x[i], all.of(1, i), m[i], v[i], {}, step);
    x[i] = (1 - c.number("norm_coefficient_post", 0)) * x[i];
  }
  x.insert(x.end(), m.begin(), m.end());
  x.insert(x.end(), v.begin(), v.end());
  return x;
}

Tensors adagrad(const Case& c) {
  const kernels::AdagradStep step{
      .lr = rate(c) / (1 + steps_before(c) * c.number("decay_factor", 0)),
      .eps = c.number("epsilon", 1e-6),
      .weight_decay = c.number("norm_coefficient", 0)};
  const Families all(c, 3);
  Tensors x, v;
  for (std::size_t i = 0; i < all.count; ++i) {
    x.push_back(all.of(0, i));
    v.push_back(all.of(2, i));
    kernels::adagrad(x[i], all.of(1, i), v[i], step);
  }
  x.insert(x.end(), v.begin(), v.end());
  return x;
}

Tensors momentum(const Case& c) {
  const std::string mode = c.text("mode", "");
  LADON_CHECK(mode == "standard" || mode == "nesterov", c.op(), "has the mode ", mode);
  const kernels::SgdStep step{.lr = rate(c),
                              .momentum = c.number("alpha", 0),
                              .gradient_weight = steps_before(c) > 0 ? c.number("beta", 1) : 1,
                              .weight_decay = c.number("norm_coefficient", 0),
                              .nesterov = mode == "nesterov"};
  const Families all(c, 3);
  Tensors x, m;
  for (std::size_t i = 0; i < all.count; ++i) {
    x.push_back(all.of(0, i));
    m.push_back(all.of(2, i));
    kernels::sgd(x[i], all.of(1, i), m[i], step);
  }
  x.insert(x.end(), m.begin(), m.end());
  return x;
}

}  // namespace

void add_optimizers(Table& t) {
  t["Adam"] = adam;
  t["Adagrad"] = adagrad;
  t["Momentum"] = momentum;
}

}  // namespace ladon::golden
