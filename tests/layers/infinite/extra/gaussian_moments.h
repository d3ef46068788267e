#pragma once
// Expectations of functions of Gaussian variables by quadrature, which share no code with the
// library's closed forms and Monte Carlo estimates.

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ladon::test {

/// A function and its derivative.
struct Pointwise {
  std::function<double(double)> value, slope;
};
/// The nonlinearity φ or attention function ζ with the name that formulas use. Throws Error for an
/// unknown name.
Pointwise pointwise(const std::string& name);

/// Nodes of Gauss–Legendre quadrature on an interval, with their weights.
std::vector<std::pair<double, double>> nodes_between(double begin, double end, int count);
/// E[f(u)·f(v)] for Gaussian u and v with mean 0, E u² = p, E v² = q and E uv = c. f must be
/// smooth, except at 0.
double expectation(const std::function<double(double)>& f, double p, double q, double c);

using Matrix = std::vector<std::vector<double>>;

/// Moments of the softmax weights ζ of a query of input x with logits G, and of the weights ζ' of a
/// query of input x' with logits G'.
struct SoftmaxMoments {
  Matrix weights, slopes;  ///< E[ζ_i·ζ'_j], and E[∂ζ_i/∂G_c·∂ζ'_j/∂G'_e] by (i, c) and (j, e).
};
/// Moments for two queries that see the keys `left` and the keys `right` (indices below `keys`).
/// `covariance` is that of logit differences: the logits of each query minus its logit of the last
/// key that it sees, first those of `left`, then those of `right`.
SoftmaxMoments softmax_moments(const std::vector<int>& left, const std::vector<int>& right,
                               const Matrix& covariance, int keys);

}  // namespace ladon::test
