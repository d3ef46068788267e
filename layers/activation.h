#pragma once
// Activations: layers of one function of each element.

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

  /// Throws Error for a parameter beside a function that has none.
  explicit Activation(Nonlinearity f, std::optional<double> parameter = {});
  Tensor forward(const Tensor& x) const override { return activate(function, x, parameter); }
  bool per_position() const override { return true; }
  /// k' = E[φ(u)φ(v)], t' = t·E[φ'(u)φ'(v)], where (u, v) has the covariance k.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;
};

/// A polynomial, applied elementwise.
struct Polynomial : Layer {
  /// Basis of the coefficients: powers xⁿ, or orthonormal Hermite polynomials He_n(x)/√n!.
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
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override;

 private:
  infinite::DualFunction dual_function() const;
};

/// Any function of each element, written in Ladon's operations. Its limit is numeric, or what the
/// closed form gives:
///
///   Elementwise([](const Tensor& x) { return x * sigmoid(1.702 * x); }, "quick gelu")
///   Elementwise(infinite::DualFunction::closed("relu²", φ, E))
struct Elementwise : Layer {
  infinite::Pointwise function;
  infinite::DualFunction dual;
  std::string title;

  /// Throws Error where `function` is empty, or for terms that DualFunction::numeric refuses.
  explicit Elementwise(infinite::Pointwise function, std::string title = "φ", int terms = 128);
  /// Layer of a dual from DualFunction::closed or numeric, with the dual's name as title. Throws
  /// Error for other duals, which do not hold their function.
  explicit Elementwise(infinite::DualFunction dual);
  Tensor forward(const Tensor& x) const override { return function(x); }
  bool per_position() const override { return true; }
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor&) override {}
  std::string describe() const override { return "Elementwise(" + title + ")"; }
};

}  // namespace ladon
