// Softmax attention with sqrt scaling at infinitely many heads: expectations over Gaussian logits
// that have no closed form. One or two positions are computed by quadrature, more are averaged over
// draws (attention_draws.cpp).
//
// Two positions. Softmax is the logistic function of x_a = G_a0 − G_a1: ζ_a0 = σ(x_a), ζ_a1 =
// 1 − σ(x_a). With Δ(X) = X_00 − X_01 − X_10 + X_11, (x_a, x'_b) is normal with variances
// QK²·k_aa·Δ(k(n,n)) and QK²·k'_bb·Δ(k(m,m)) and covariance QK²·k_ab·Δ(k). By symmetry E σ = ½, so
//   E[ζ_ai·ζ'_bj] = ¼ + ±_i·±_j·e,   e = E[(σ − ½)(σ' − ½)],   ±_0 = 1, ±_1 = −1
//   Σ_ij v_ij Σ_ce E[∂ζ_ai/∂G_ac·∂ζ'_bj/∂G_be]·X_ce = e'·Δ(v)·Δ(X),   e' = E[dσ·dσ'].
// A query that sees one key has ζ = 1 there, whatever the logits, and no derivative.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ladon/autograd/graph.h"
#include "ladon/core/parallel.h"
#include "ladon/layers/infinite/attention/draws.h"
#include "ladon/layers/infinite/attention/pair_products.h"

namespace ladon::infinite {

// The trapezoidal rule in independent standard normals (X, Y), x = √p·X, y = (c/√p)·X + s·Y, p ≥ q.
// Its error falls as exp(−2π·w/h) with the step h and the distance w of the nearest pole of the
// integrand from the real axis, π/√p for the logistic function (Trefethen and Weideman 2014), and
// as exp(−2π²/h²) for the normal density. The step makes the first exp(−38); poles of higher order
// and the density at w cost some of that.
LogisticDual logistic_dual(double p, double q, double c) {
  if (q > p) std::swap(p, q);
  if (p <= 0) return {0, 1.0 / 16};
  constexpr double reach = 7.5, pi = std::numbers::pi, digits = 38;
  const double root = std::sqrt(p), slope = c / root;
  const double rest = std::sqrt(std::max(0.0, q - slope * slope));
  const double step = std::min(0.5, std::max(2 * pi * pi / (root * digits), 0.01));
  const int n = static_cast<int>(reach / step);
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  LogisticDual total{0, 0};
  for (int i = -n; i <= n; ++i) {
    const double x = i * step, at = logistic(root * x);
    LogisticDual inner{0, 0};
    for (int j = -n; j <= n; ++j) {
      const double y = j * step, weight = std::exp(-0.5 * y * y);
      const double other = logistic(slope * x + rest * y);
      inner.value += weight * (other - 0.5);
      inner.derivative += weight * other * (1 - other);
    }
    const double weight = std::exp(-0.5 * x * x);
    total.value += weight * (at - 0.5) * inner.value;
    total.derivative += weight * at * (1 - at) * inner.derivative;
  }
  const double norm = step * step / (2 * pi);
  return {norm * total.value, norm * total.derivative};
}

namespace {

/// What query a sees of at most two keys.
struct View {
  double mean[2] = {};  ///< E ζ_ai
  bool free = false;    ///< Whether ζ depends on the logits: both keys are visible.
};

View view_of(const double* may, std::int64_t positions) {
  View view;
  double seen = 0;
  for (std::int64_t i = 0; i < positions; ++i) seen += may[i];
  for (std::int64_t i = 0; i < positions; ++i) view.mean[i] = seen > 0 ? may[i] / seen : 0;
  view.free = seen == 2;
  return view;
}

double difference(const double* x) { return x[0] - x[1] - x[2] + x[3]; }

double mean_of(const double* x, const View& a, const View& b, std::int64_t t) {
  double sum = 0;
  for (std::int64_t i = 0; i < t; ++i)
    for (std::int64_t j = 0; j < t; ++j) sum += a.mean[i] * b.mean[j] * x[i * t + j];
  return sum;
}

struct Moment {
  double value, tangent;
};

/// The moments at queries (a, b) of one pair; `left` is k(n, n), `right` k(m, m).
Moment moment(const AttentionLimit& layer, const PairBlocks& x, std::int64_t a, std::int64_t b) {
  const std::int64_t t = x.positions, ab = a * t + b;
  const View of_a = view_of(x.left_may + a * t, t), of_b = view_of(x.right_may + b * t, t);
  Moment m{mean_of(x.v, of_a, of_b, t), x.u ? mean_of(x.u, of_a, of_b, t) : 0};
  if (!of_a.free || !of_b.free) return m;
  const double qk = layer.query_key.item(), qk2 = qk * qk;
  const double key = difference(x.k);
  const LogisticDual e =
      logistic_dual(qk2 * x.left[a * t + a] * difference(x.left),
                    qk2 * x.right[b * t + b] * difference(x.right), qk2 * x.k[ab] * key);
  m.value += e.value * difference(x.v);
  if (!x.u) return m;
  const double tangents =
      (layer.query_key_trained * x.k[ab] + x.t[ab] + layer.query_bias_trained) * key +
      x.k[ab] * difference(x.t);
  m.tangent += e.value * difference(x.u) + e.derivative * difference(x.v) * qk2 * tangents;
  return m;
}

}  // namespace

AttentionMoments softmax_moments(const AttentionLimit& layer, const Pairs& seen,
                                 const Pairs& values) {
  check_no_gradient("softmax", layer, seen, values);
  const NoGrad off;
  const BlockList blocks(layer, seen, values);
  const std::int64_t t = blocks.positions();
  AttentionMoments m{empty(seen.nngp.shape(), f64), {}};
  if (values.ntk.defined()) m.tangent = empty(seen.nngp.shape(), f64);
  double* value = m.value.mutable_data<double>();
  double* tangent = m.tangent.defined() ? m.tangent.mutable_data<double>() : nullptr;
  if (t > 2) {
    average_over_draws(layer, seen, values, value, tangent);
    return m;
  }
  parallel::for_range(blocks.count(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p)
      for (std::int64_t ab = 0; ab < t * t; ++ab) {
        const Moment at = moment(layer, blocks[p], ab / t, ab % t);
        value[p * t * t + ab] = at.value;
        if (tangent) tangent[p * t * t + ab] = at.tangent;
      }
  });
  return m;
}

}  // namespace ladon::infinite
