#pragma once
// Expectations of functions of Gaussian numbers by quadrature, which share nothing with the duals
// and draws of the library.

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ladon::test {

/// A function and its derivative.
struct Pointwise {
  std::function<double(double)> value, slope;
};
/// φ or ζ by the name that a formula gives it. Throws Error for one that is not known here.
Pointwise pointwise(const std::string& name);

/// Nodes of Gauss and Legendre between two ends, with their weights.
std::vector<std::pair<double, double>> nodes_between(double begin, double end, int count);
/// E[f(u)·f(v)] with E u² = p, E v² = q, E uv = c, of f that is smooth but at 0.
double expectation(const std::function<double(double)>& f, double p, double q, double c);

using Matrix = std::vector<std::vector<double>>;

/// Moments of the softmax weights ζ of a query of x, by its logits G, and ζ' of one of x'.
struct SoftmaxMoments {
  Matrix weights, slopes;  ///< E[ζ_i·ζ'_j], and E[∂ζ_i/∂G_c·∂ζ'_j/∂G'_e] by (i, c) and (j, e).
};
/// Of queries that see the keys `left` and `right` of `keys`; covariance: of the differences of
/// their logits to those of the last that each sees, first the left ones.
SoftmaxMoments softmax_moments(const std::vector<int>& left, const std::vector<int>& right,
                               const Matrix& covariance, int keys);

}  // namespace ladon::test
