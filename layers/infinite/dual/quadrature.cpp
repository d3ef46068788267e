#include "ladon/layers/infinite/dual/quadrature.h"

#include <cmath>
#include <vector>

#include "ladon/autograd/number.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"

namespace ladon::infinite {
namespace {

/// Eigenvalues of the symmetric tridiagonal matrix with zero diagonal and off-diagonal `beta`: the
/// nodes, to the accuracy of the eigensolver (Golub and Welsch 1969).
std::vector<double> eigenvalues(const std::vector<double>& beta) {
  const auto n = static_cast<std::int64_t>(beta.size()) + 1;
  Tensor jacobi = zeros({n, n}, f64);
  double* a = jacobi.mutable_data<double>();
  for (std::int64_t k = 1; k < n; ++k) a[k * n + k - 1] = beta[k - 1];
  return numbers_of("gauss_legendre", lapack::eigh(jacobi).first);
}

void check_count(const char* rule, int n) {
  LADON_CHECK(n >= 1 && n <= 512, rule, "got a rule of ", n,
              " nodes; the number of nodes must be 1 to 512");
}

/// The recurrences run in higher precision than their results.
using Wide = long double;

/// A rule that is symmetric about 0. `newton(x)` is one Newton step from x, `weight(x)` the weight
/// of a node.
template <class Newton, class Weight>
std::pair<Tensor, Tensor> symmetric_rule(std::vector<double> x, Newton newton, Weight weight) {
  const std::size_t n = x.size();
  std::vector<double> w(n);
  for (std::size_t j = 0; j < (n + 1) / 2; ++j) {
    Wide node = 2 * j + 1 == n ? 0 : x[n - 1 - j];
    if (node != 0)
      for (int step = 0; step < 3; ++step) node = newton(node);
    x[n - 1 - j] = static_cast<double>(node);
    x[j] = -x[n - 1 - j];
    w[j] = w[n - 1 - j] = static_cast<double>(weight(node));
  }
  const Shape shape{static_cast<std::int64_t>(n)};
  return {from_vector(x, shape), from_vector(w, shape)};
}

}  // namespace

// The orthonormal Hermite polynomials satisfy √(k+1)·h_{k+1} = x·h_k − √k·h_{k−1} and h_n' =
// √n·h_{n−1}. The nodes are the zeros of h_n, with weights 1/(n·h_{n−1}²). The polynomials are
// multiplied by exp(−x²/4), which keeps them in range.
std::pair<Tensor, Tensor> gauss_hermite(int n) {
  check_count("gauss_hermite", n);
  std::vector<double> beta;
  for (int k = 1; k < n; ++k) beta.push_back(std::sqrt(k));
  const auto last_two = [n](Wide x) {
    Wide before = 0, h = std::exp(-x * x / 4);
    for (int k = 0; k < n; ++k) {
      const Wide next = (x * h - std::sqrt(Wide(k)) * before) / std::sqrt(Wide(k + 1));
      before = h;
      h = next;
    }
    return std::pair(before, h);
  };
  return symmetric_rule(
      eigenvalues(beta),
      [&](Wide x) {
        const auto [before, h] = last_two(x);
        return x - h / (std::sqrt(Wide(n)) * before);
      },
      [&](Wide x) {
        const Wide before = last_two(x).first;
        return std::exp(-x * x / 2) / (n * before * before);
      });
}

// The Legendre polynomials satisfy (k+1)·P_{k+1} = (2k+1)·x·P_k − k·P_{k−1} and (1 − x²)·P_n' =
// n·(P_{n−1} − x·P_n). The nodes are the zeros of P_n, with weights 2/((1 − x²)·P_n'²) = 2·(1 −
// x²)/(n·P_{n−1})².
std::pair<Tensor, Tensor> gauss_legendre(int n) {
  check_count("gauss_legendre", n);
  std::vector<double> beta;
  for (int k = 1; k < n; ++k) beta.push_back(k / std::sqrt(4.0 * k * k - 1));
  const auto last_two = [n](Wide x) {
    Wide before = 0, p = 1;
    for (int k = 0; k < n; ++k) {
      const Wide next = ((2 * k + 1) * x * p - k * before) / (k + 1);
      before = p;
      p = next;
    }
    return std::pair(before, p);
  };
  return symmetric_rule(
      eigenvalues(beta),
      [&](Wide x) {
        const auto [before, p] = last_two(x);
        return x - p * (1 - x) * (1 + x) / (n * (before - x * p));
      },
      [&](Wide x) {
        const Wide before = n * last_two(x).first;
        return 2 * (1 - x) * (1 + x) / (before * before);
      });
}

}  // namespace ladon::infinite
