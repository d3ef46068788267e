#pragma once
// Dual activations: the effect of a nonlinearity φ on the kernels of an infinitely wide network. A
// pair of pre-activations (u, v) is normal with variances p and q, covariance c and correlation ρ =
// c/√(pq). After the nonlinearity its covariance is E[φ(u)φ(v)], and the NTK is multiplied by
// E[φ'(u)φ'(v)] (Daniely, Frostig and Singer 2016; Jacot, Gabriel and Hongler 2018).

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"

namespace ladon::infinite {

/// An elementwise function on f64 tensors, written in Ladon's operations.
using Pointwise = std::function<Tensor(const Tensor& x)>;
/// E[φ(u)φ(v)] as a function of p, q and c, which broadcast, written in Ladon's operations.
using Covariance = std::function<Tensor(const Tensor& p, const Tensor& q, const Tensor& c)>;

class DualRule;

/// A function φ, with the rule by which dual() computes its dual. A value type: copies share
/// precomputed tables.
class DualFunction {
 public:
  static DualFunction identity() { return rectifier(1, 1); }
  static DualFunction relu() { return rectifier(0, 1); }
  static DualFunction leaky_relu(double slope) { return rectifier(slope, 1); }
  static DualFunction abs() { return rectifier(-1, 1); }
  /// below·min(x, 0) + above·max(x, 0)
  static DualFunction rectifier(double below, double above);
  static DualFunction sign();
  static DualFunction step();  ///< 0 for x < 0, 1 for x > 0, ½ at 0
  static DualFunction erf();
  static DualFunction gelu();  ///< x·Φ(x)
  /// Duals of tanh, sigmoid, silu and softplus are computed from mixtures of erf, gelu and relu.
  /// Their errors are at most 1e-11 of the values at ρ = 1, at any variance.
  static DualFunction tanh();
  static DualFunction sigmoid();   ///< 1/(1 + e⁻ˣ)
  static DualFunction silu();      ///< x·sigmoid(x)
  static DualFunction softplus();  ///< ln(1 + eˣ)
  /// x·Φ(x) in the tanh approximation of most Transformers: errors are at most 1e-9 at any
  /// variance.
  static DualFunction gelu_tanh();
  /// ELU: x for x > 0, else alpha·(eˣ − 1). SELU: Klambauer et al. 2017. Both have errors of at
  /// most 1e-10 at any variance. Throws Error for an alpha that is not finite.
  static DualFunction elu(double alpha = 1);
  static DualFunction selu();
  static DualFunction sin(double a = 1, double b = 1, double shift = 0);  ///< a·sin(bx + shift)
  static DualFunction cos(double a = 1, double b = 1, double shift = 0);  ///< a·cos(bx + shift)
  static DualFunction exp(double a = 1, double b = 1);                    ///< a·exp(bx)
  /// √2·sin(√(2γ)·x + π/4), whose dual is exp(−γ(p + q − 2c)). Throws Error unless gamma ≥ 0.
  static DualFunction rbf(double gamma);
  /// x^n. This function, polynomial() and hermite() throw Error for degrees outside 0 … 64.
  static DualFunction monomial(int n);
  /// Σ_n coefficients[n]·x^n
  static DualFunction polynomial(const std::vector<double>& coefficients);
  /// The orthonormal probabilists' Hermite polynomial He_n(x)/√n!, for which E[φ(u)φ(v)] is ρⁿ at
  /// p = q = 1.
  static DualFunction hermite(int n);
  /// Σ_n coefficients[n]·He_n(x)/√n!
  static DualFunction hermite(const std::vector<double>& coefficients);

  /// A function φ whose E = E[φ(u)φ(v)] is known in closed form, as a function of p, q and c:
  ///
  ///   DualFunction::closed("cube", [](auto& x) { return x * x * x; },
  ///                      [](auto& p, auto& q, auto& c) { return 9 * p * q * c + 6 * c * c * c; });
  ///
  /// E[φ'(u)φ'(v)] = ∂E/∂c comes from E's graph (Price 1958), as do the gradients of both with
  /// respect to p, q and c, to any order that its operations support. So φ must be continuous, and
  /// E must have a finite derivative with respect to c up to c² = pq: write square roots of pq − c²
  /// as sqrt(relu(p·q − square(c))), whose gradient is 0 there.
  ///
  /// Throws Error if E or ∂E/∂c disagree with `function` at a few test points (to 1e-3, by
  /// numeric()), or are not finite at c² = pq.
  static DualFunction closed(std::string name, Pointwise function, Covariance e);

  /// Any pointwise φ that is written in Ladon's operations (φ' comes from its graph).
  ///
  /// φ(σz), for standard normal z, is expanded in orthonormal Hermite polynomials: E[φ(u)φ(v)] =
  /// Σ_k a_k(√p)·a_k(√q)·ρ^k over k < `terms`, with coefficients a_k(σ) (Mehler 1866). Each a_k is
  /// an integral over one normal variable, computed once per variance by Gauss–Legendre quadrature
  /// on panels that end at 0. If φ has a kink at 0, its a_k decay slowly; the part of the kink that
  /// the truncated sum omits is then added from the closed form for |x|. So an entry costs `terms`
  /// multiplications (three times as many with a kink), and the error is the truncation of the sum.
  /// For smooth φ the error falls exponentially with `terms`, more slowly for larger variances; for
  /// any φ it contains the factor |ρ|^terms. Errors at 128 terms, of value and derivative, relative
  /// to their values at ρ = 1:
  ///
  ///                        |ρ| = 1, p = q = 1      |ρ| = 1, p = q = 10     |ρ| ≤ 0.9, p = q = 10
  ///   gelu_tanh              1e-15    1e-15           9e-9     1e-6           6e-15    6e-13
  ///   elu (φ'' jumps)        2e-7     3e-5            2e-6     3e-4           5e-13    7e-11
  ///   selu (kink)            6e-7     1e-4            9e-6     1e-3           2e-12    3e-10
  ///   a jump                 4e-2     –               4e-2     –              2e-9     –
  ///
  /// The share of E φ² and E φ'² that the truncated sum omits is measured at each variance; if it
  /// exceeds `tolerance`, after multiplication by |ρ|^terms, dual() throws Error.
  ///
  /// The gradient of the value is correct if φ is continuous. Throws Error if `function` is empty
  /// or not pointwise (it is called at 24 points, in several orders and shapes), and unless `terms`
  /// is a multiple of 8 from 8 to 256; dual() throws if φ or φ' is not finite where it is
  /// integrated, and, unless under NoGrad, if φ captures a tensor that requires a gradient or has a
  /// tangent of jvp.
  static DualFunction numeric(Pointwise function, int terms = 128, double tolerance = 1e-2);

  const std::string& name() const& { return name_; }
  std::string name() && { return std::move(name_); }
  /// φ, if the dual was made from it, as by closed() and numeric(); else empty.
  const Pointwise& function() const& { return function_; }
  Pointwise function() && { return std::move(function_); }
  const DualRule& rule() const&;  ///< Throws Error after being moved from.
  void rule() && = delete;

 private:
  DualFunction(std::string name, std::shared_ptr<const DualRule> rule, Pointwise function = {});

  std::string name_;
  Pointwise function_;
  std::shared_ptr<const DualRule> rule_;
};

/// (0, …, 0, 1): the coefficients of the single term of degree n. Throws Error naming `what` for
/// degrees outside 0 … 64.
std::vector<double> unit_coefficients(const char* what, int n);

/// Result of dual(): tensors of c's shape.
struct DualResult {
  Tensor value;       ///< E[φ(u)φ(v)]
  Tensor derivative;  ///< E[φ'(u)φ'(v)]; undefined unless requested
};

/// The dual of φ for (u, v) ~ N(0, [[p, c], [c, q]]), all f64; p and q broadcast to c's shape. Fast
/// if p and q are each constant or contiguous along c's last axis: c [N1, N2] with p [N1, 1] and
/// q [1, N2]; c [N1, N2, T, T] with p [N1, 1, T, 1] and q [1, N2, 1, T].
///
/// φ' counts as 0 at a jump, as in a finite network's gradient. s² = pq − c² counts as 0 if it is
/// negative, and so does a variance that rounding made negative. If a variance is 0, u and v count
/// as independent; for that variable, φ' at a kink at 0 is the mean of the two slopes. An entry has
/// the same bits at any index and with any number of threads.
///
/// The gradients of value and derivative with respect to p, q and c are recorded (first order
/// only); infinite gradients count as 0. If φ has a kink or a jump, gradients are infinite at zero
/// variance; and at s = 0 the gradient of the value is infinite for a jump, and that of the
/// derivative for a kink. (For DualFunction::closed, value and derivative have the gradients of E's
/// graph, of any order.) Throws Error for other dtypes and shapes, and for variances and
/// covariances that check_covariances() refuses.
DualResult dual(const DualFunction& f, const Tensor& p, const Tensor& q, const Tensor& c,
                bool with_derivative);

/// dual() without check_covariances(), for kernels that a limit computes: after cancellation, as in
/// LayerNorm of nearly constant channels, a variance may consist of rounding errors only.
DualResult dual_of_computed(const DualFunction& f, const Tensor& p, const Tensor& q,
                            const Tensor& c, bool with_derivative);

/// Throws Error naming `operation` if normal variables cannot have variances p and q and covariance
/// c (f64; p and q broadcast to c), beyond rounding: if a variance is below −1e-9 times the upper
/// decile of the magnitudes of all nonzero variances, or if |c| > (1 + 1e-6)·√(p'q'). Here p' is
/// max(p, 0) plus 1e-12 of the median magnitude in p, and q' likewise. Nothing is checked if a
/// number is NaN or ∞.
void check_covariances(const char* operation, const Tensor& p, const Tensor& q, const Tensor& c);

}  // namespace ladon::infinite
