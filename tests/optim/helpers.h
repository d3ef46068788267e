#pragma once
// Helpers of the tests of optimizers and particles.

#include <functional>
#include <vector>

#include "ladon/autograd/ops.h"
#include "ladon/optim/optim.h"
#include "ladon/tests/same_bits.h"
#include "ladon/tests/support.h"

namespace ladon::test {

inline void expect_values(const Tensor& x, const std::vector<double>& expected, double tolerance) {
  const auto values = x.detach().to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance) << "element " << i;
}

/// A leaf that requires a gradient, with a copy of the elements of x.
inline Tensor leaf(const Tensor& x) { return parameter(clone(x.detach())); }

/// The four particles in the plane for which tests have reference values.
inline Tensor four_points() { return leaf(tensor({1, 2, 10, 5, 7, 3, 2, -1}, {4, 2}, f64)); }

/// Gradient ∇U of the loss as a function of the particles Θ.
using Gradient = std::function<Tensor(const Tensor& theta)>;
inline Tensor standard_normal(const Tensor& theta) { return clone(theta); }

/// Moves the rows of theta by `steps` steps of gradient descent along the forces of a particle
/// method.
inline void descend(Tensor theta, ParticleMethod& method, const Gradient& gradient, double lr,
                    int steps) {
  Sgd sgd({theta}, {.lr = lr});
  for (int t = 0; t < steps; ++t) {
    theta.set_grad(gradient(theta.detach()));
    method.apply();
    sgd.step();
  }
}

/// Values of a kernel at given particles: its matrix k [M, M], found as the kernel's product with
/// the identity; repulsion; and squared bandwidth h².
struct KernelValues {
  Tensor k, repulsion;
  double h2;
};
inline KernelValues values_at(const SteinKernel& kernel, const Tensor& theta) {
  const KernelAt at = kernel.at(theta);
  return {at.share(eye(theta.size(0), f64)), at.repel(), at.h2};
}

/// Gradient at theta after a particle method has modified the loss gradient g.
template <class Method, class... Options>
Tensor rewritten(const Tensor& theta, const Tensor& g, Options&&... options) {
  Tensor x = leaf(theta);
  x.set_grad(clone(g));
  Method method(particles_of_rows(x), std::forward<Options>(options)...);
  method.apply();
  return x.grad();
}

}  // namespace ladon::test
