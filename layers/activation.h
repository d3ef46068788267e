#pragma once
// Activations: layers that apply a function elementwise.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ladon/layers/infinite/dual/dual.h"
#include "ladon/layers/layer.h"
#include "ladon/layers/nonlinearity.h"

namespace ladon {

struct Activation : Layer {
  Nonlinearity function;
  std::optional<double> parameter;

  /// Throws Error if a parameter is given for a function that has no parameter.
  explicit Activation(Nonlinearity f, std::optional<double> parameter = {});
  Tensor forward(const Tensor& x) const override { return activate(function, x, parameter); }
  bool per_position() const override { return true; }
  /// NNGP kernel k' = E[φ(u)φ(v)] and NTK t' = t·E[φ'(u)φ'(v)] for the function φ, where k and t
  /// are the kernels of the inputs and (u, v) is Gaussian with covariance k.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;
};

/// A polynomial, applied elementwise.
struct Polynomial : Layer {
  /// Basis of the coefficients: powers xⁿ, or orthonormal Hermite polynomials He_n(x)/√n!.
  enum class Basis { power, hermite };
  std::vector<double> coefficients;  ///< Coefficients of degree 0, 1, …
  Basis basis;

  /// Throws Error unless there are 1 to 65 coefficients.
  explicit Polynomial(std::vector<double> coefficients, Basis basis = Basis::power);
  /// monomial(n) is xⁿ, hermite(n) the n-th orthonormal Hermite polynomial. Both throw Error for n
  /// outside 0 … 64.
  static Polynomial monomial(int n);
  static Polynomial hermite(int n);

  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;

 private:
  infinite::DualFunction dual_function() const;
};

/// Any elementwise function, written in Ladon's operations. Its limit is computed numerically, or
/// by a given closed form:
///
///   Elementwise([](const Tensor& x) { return x * sigmoid(1.702 * x); }, "quick gelu")
///   Elementwise(infinite::DualFunction::closed("relu²", φ, E))
struct Elementwise : Layer {
  infinite::Pointwise function;
  infinite::DualFunction dual;
  std::string title;

  /// Throws Error if DualFunction::numeric rejects `function` (empty or not pointwise) or `terms`.
  explicit Elementwise(infinite::Pointwise function, std::string title = "φ", int terms = 128);
  /// Layer of a dual from DualFunction::closed or numeric, titled with the dual's name. Throws
  /// Error for any other dual, since only these store their function.
  explicit Elementwise(infinite::DualFunction dual);
  Tensor forward(const Tensor& x) const override;
  bool per_position() const override { return true; }
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override { return "Elementwise(" + title + ")"; }
};

}  // namespace ladon
