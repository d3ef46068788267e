#pragma once
// Layers without parameters: activations and dropout.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ladon/layers/infinite/dual/dual.h"
#include "ladon/layers/module.h"

namespace ladon {

enum class Nonlinearity {
  identity,
  relu,
  leaky_relu,
  elu,
  selu,
  gelu,
  gelu_tanh,
  silu,
  tanh,
  sigmoid,
  softplus,
  abs,
  erf,
  sin,
  cos,
  exp,
  rbf,  ///< √2·sin(√(2γ)·x + π/4): random features of the kernel exp(−γ‖x − x'‖²)
  sign,  ///< −1, 0 or 1
  step   ///< 0 for x < 0, 1 for x > 0, ½ at 0
};

/// The nonlinearity of that name ("gelu"). Throws Error listing the names otherwise.
Nonlinearity nonlinearity_from_name(std::string_view name);
std::string_view to_string(Nonlinearity f);

/// f(x) elementwise. The parameter is leaky_relu's slope (default 0.01) or rbf's γ (default 1);
/// Error for one beside any other function.
Tensor apply(Nonlinearity f, const Tensor& x, std::optional<double> parameter = {});

/// What f does to the kernels of wide networks; elu, selu, gelu_tanh, silu, tanh, sigmoid and
/// softplus have no closed form, and are expanded numerically. The parameter is as in apply.
infinite::DualFunction dual_of(Nonlinearity f, std::optional<double> parameter = {});

struct Activation : Layer {
  Nonlinearity function;
  std::optional<double> parameter;

  /// Throws Error for a parameter beside a function that has none.
  explicit Activation(Nonlinearity f, std::optional<double> parameter = {});
  Tensor forward(const Tensor& x) const override { return apply(function, x, parameter); }
  bool per_position() const override { return true; }
  /// k' = E[φ(u)φ(v)], t' = t·E[φ'(u)φ'(v)], where (u, v) has the covariance k.
  infinite::Kernel limit(const infinite::Kernel& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;
};

/// A polynomial, applied elementwise.
struct Polynomial : Layer {
  /// What the coefficients count: powers xⁿ, or orthonormal Hermite polynomials He_n(x)/√n!.
  enum class Basis { power, hermite };
  std::vector<double> coefficients;  ///< Of degree 0, 1, …
  Basis basis;

  /// Throws Error unless there are 1 to 65 coefficients.
  explicit Polynomial(std::vector<double> coefficients, Basis basis = Basis::power);
  /// The n-th power, and the n-th Hermite polynomial. Throw Error for n outside 0 … 64.
  static Polynomial monomial(int n);
  static Polynomial hermite(int n);

  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  infinite::Kernel limit(const infinite::Kernel& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;

 private:
  infinite::DualFunction dual_function() const;
};

/// Any pointwise function of a tensor, written in Ladon's operations.
struct Elementwise : Layer {
  std::function<Tensor(const Tensor&)> function;
  std::string title;
  int terms;  ///< Of the expansion that the limit takes (DualFunction::numeric).

  /// Throws Error where `function` is empty, or for terms that DualFunction::numeric refuses.
  explicit Elementwise(std::function<Tensor(const Tensor&)> function, std::string title = "φ",
                       int terms = 128);
  Tensor forward(const Tensor& x) const override { return function(x); }
  bool per_position() const override { return true; }
  infinite::Kernel limit(const infinite::Kernel& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;
};

/// In training mode zeroes each element with probability p and divides the others by 1 − p; the
/// identity in evaluation mode. Draws from its own generator, split off the one given: copies of
/// the layer draw the same numbers.
struct Dropout : Layer {
  double p;
  mutable Generator rng;

  /// Throws Error unless 0 ≤ p ≤ 1.
  Dropout(double p, Generator& rng);
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  /// In training mode E[mask²]/(1 − p)² = 1/(1 − p) multiplies the entries of an element with
  /// itself: k_nn, or k_nn,aa, where the pairs are known to be the same input (Kernel::same). Masks
  /// of different elements are independent and change nothing. The identity in evaluation mode.
  infinite::Kernel limit(const infinite::Kernel& k) const override;
  void visit(Visitor& v) override { v.generator("rng", rng); }
  std::string describe() const override;
};

}  // namespace ladon
