#include "ladon/examples/finite_width/law.h"

#include <array>
#include <cmath>
#include <numbers>

#include "ladon/ladon.h"

namespace ladon::example {
namespace {

constexpr double root = std::numbers::sqrt2;

Tensor identity() { return eye(tokens, f64); }

/// Distribution of χ²/scale, for each number of degrees of freedom.
Gamma chi_square(const Tensor& degrees, double scale) {
  return {0.5 * degrees, full({}, 0.5 * scale, f64)};
}

/// Draws of the factor T of C = T·Tᵀ (law.h), [N, s, s], by Bartlett's decomposition of the Wishart
/// distribution: squared diagonal entries χ²_{n−i}, normal numbers below them, all independent.
Tensor gram_factors(double n, std::int64_t draws, Generator& rng) {
  const Tensor rho = chi_square(full({1, 1}, n, f64), n).sample({draws}, rng);
  const Tensor square = chi_square(n - arange(0, tokens, 1, f64), n).sample({draws}, rng);
  const Tensor below = normal({draws, tokens, tokens}, rng, 0, 1 / std::sqrt(n), f64);
  return sqrt(rho) * (tril(below, -1) + unsqueeze(sqrt(square), -1) * identity());
}

/// Variances aᵀCa of the heads' outputs (law.h, with r = 1) [N, H], from normal numbers g [N, H,
/// s], factors T [N or 1, s, s] and κ.
Tensor variances(const Tensor& g, const Tensor& factor, const Tensor& kappa) {
  const Tensor c11 = sum(square(select(factor, 1, 0)), -1, keep_dims);
  // [N, H, s] · [N, s, s] → [N, H, s]: T·g, whose covariance is C
  const Tensor logits = matmul(g, transpose(factor)) * unsqueeze(sqrt(kappa * c11), -1);
  return sum(square(matmul(softmax(logits), factor)), -1);  // |Tᵀa|² = aᵀCa
}

/// Directions D in C = I + Σ z·D, scaled such that each z has variance 1/n (see expand()).
std::vector<Tensor> directions() {
  std::vector<Tensor> all = {root * identity()};
  for (int i = 0; i < tokens; ++i)
    for (int j = 0; j <= i; ++j) {
      std::vector<double> d(tokens * tokens);
      for (const int entry : {i * tokens + j, j * tokens + i}) d[entry] = i == j ? root : 1;
      all.push_back(from_vector(d, {tokens, tokens}));
    }
  return all;
}

/// First and second derivative of a function of z, the coordinate along a direction, at z = 0.
struct Slopes {
  Tensor first = zeros({1}, f64), second = zeros({1}, f64);
};

Slopes slopes(const std::function<Tensor(const Tensor& z)>& f) {
  const Tensor one = ones({}, f64);
  const auto first = [&](const std::vector<Tensor>& z) {
    return jvp([&](const std::vector<Tensor>& at) { return f(at[0]); }, z, {one}).tangent;
  };
  const JvpResult both = jvp(first, {zeros({}, f64)}, {one});
  return {both.output, both.tangent};
}

/// Derivatives of ln w, where w is the ratio of the densities N(0, I + z·M + z²·N) and N(0, I) at g
/// [N, H, s].
Slopes log_ratio(const Tensor& g, const Tensor& m, const Tensor& n) {
  const Tensor mg = matmul(g, m), ng = matmul(g, n);
  const auto trace = [](const Tensor& x) { return sum(diagonal(x)); };
  return {0.5 * (sum(g * mg, -1) - trace(m)),
          0.5 * trace(matmul(m, m)) - trace(n) - sum(square(mg), -1) + sum(g * ng, -1)};
}

/// Coefficients (weights) of the normal density φ(y; V) and its derivatives φ_V and φ_VV in the sum
/// of ½·∂²(w·φ(y; V))/∂z² over directions.
struct Weights {
  std::array<Tensor, 3> of = {zeros({}, f64), zeros({}, f64), zeros({}, f64)};
  void add(const Slopes& log_w, const Slopes& v) {
    of[0] = of[0] + 0.5 * (log_w.second + square(log_w.first));
    of[1] = of[1] + 0.5 * v.second + log_w.first * v.first;
    of[2] = of[2] + 0.5 * square(v.first);
  }
  /// Σ over draws of of[0]·φ + of[1]·φ_V + of[2]·φ_VV. It is three sums of φ, times 1, y² and y⁴,
  /// since φ_V = φ·(y²/V − 1)/(2V) and φ_VV = φ·(y⁴/V² − 6y²/V + 3)/(4V²).
  Tensor summed(const Tensor& v, const Tensor& phi, const Tensor& y2) const {
    const Tensor a = of[1] / (2 * v), b = of[2] / (4 * square(v));
    const auto sum_of = [&](const Tensor& x) { return matmul(x, phi); };  // [N] · [N, Y] → [Y]
    return sum_of(of[0] - a + 3 * b) + y2 * sum_of((a - 6 * b) / v) +
           square(y2) * sum_of(b / square(v));
  }
};

/// Derivatives by z at z = 0 for each head, [N, H], of ln w (w: density ratio of the logits, which
/// only Route::scores uses) and of the variance aᵀCa of the head's output, along C = I + z·D and
/// κ = 1 + k·z. At least one of D and k must be 0.
std::pair<Slopes, Slopes> along(const Tensor& g, const Tensor& d, double k, Route route) {
  if (route == Route::curves)
    return {{}, slopes([&](const Tensor& z) {  // I + z·D = T² + O(z³)
              const Tensor t = identity() + 0.5 * z * d - 0.125 * square(z) * matmul(d, d);
              return variances(g, unsqueeze(t, 0), 1 + k * z);
            })};
  // The logits' covariance is κ·C₁₁·C = I + z(D + (D₁₁ + k)·I) + z²·D₁₁·D.
  const Tensor d11 = select(select(d, 0, 0), 0, 0), a = softmax(g);
  return {log_ratio(g, d + (d11 + k) * identity(), d11 * d), {sum(a * matmul(a, d), -1)}};
}

/// Coefficients (Weights) for the directions of the tokens' Gram matrix C (law.h), which all heads
/// share.
Weights token_weights(const Tensor& g, Route route) {
  Weights w;
  for (const Tensor& d : directions()) {
    const auto [log_w, v] = along(g, d, 0, route);
    w.add({sum(log_w.first, -1), sum(log_w.second, -1)}, {mean(v.first, -1), mean(v.second, -1)});
  }
  return w;
}

/// Coefficients (Weights) for the directions of κ_h and r_h (law.h), one head at a time; v [N, H]
/// holds the heads' variances divided by H.
Weights head_weights(const Tensor& g, const Tensor& v, Route route) {
  const double h = static_cast<double>(g.size(1));
  const auto [log_w, moved] = along(g, zeros({tokens, tokens}, f64), root, route);
  Weights w;
  w.add(log_w, {moved.first / h, moved.second / h});
  w.add({}, {root * v});
  for (Tensor& each : w.of) each = sum(each + zeros_like(v), -1);
  return w;
}

/// Calls use(number of draws) until there are `draws` in total, with a bounded number of heads per
/// call.
void in_chunks(std::int64_t draws, std::int64_t heads,
               const std::function<void(std::int64_t)>& use) {
  const std::int64_t held = std::max<std::int64_t>(1, (1 << 14) / heads);
  for (std::int64_t done = 0; done < draws; done += held) use(std::min(held, draws - done));
}

}  // namespace

Variances draw_variances(const OneLayer& layer, std::int64_t draws, Generator& rng) {
  const NoGrad off;
  const double n = static_cast<double>(layer.width), m = static_cast<double>(layer.head_width);
  const Gamma squares = chi_square(full({}, m, f64), m);
  std::vector<Tensor> finite, limit;
  in_chunks(draws, layer.heads, [&](std::int64_t some) {
    const Tensor g = normal({some, layer.heads, tokens}, rng, 0, 1, f64);
    const Tensor t = gram_factors(n, some, rng), kappa = squares.sample({some, layer.heads}, rng);
    const Tensor r = squares.sample({some, layer.heads}, rng);
    finite.push_back(mean(r * variances(g, t, kappa), -1));
    limit.push_back(mean(sum(square(softmax(g)), -1), -1));
  });
  return {concat(finite, 0), concat(limit, 0)};
}

Tensor expand(std::int64_t heads, Route route, const Tensor& grid, std::int64_t draws,
              Generator& rng) {
  const NoGrad off;
  const Tensor y2 = square(grid);
  Tensor sums = zeros({3, grid.count()}, f64);
  in_chunks(draws, heads, [&](std::int64_t some) {
    const Tensor g = normal({some, heads, tokens}, rng, 0, 1, f64);
    const Tensor each = mean(square(softmax(g)), -1) * (tokens / static_cast<double>(heads));
    const Tensor v = sum(each, -1), column = unsqueeze(v, -1);
    const Tensor phi = exp(-0.5 * y2 / column) / sqrt(2 * std::numbers::pi * column);  // [N, Y]
    sums = sums + stack({sum(phi, 0), token_weights(g, route).summed(v, phi, y2),
                         head_weights(g, each, route).summed(v, phi, y2)});
  });
  return sums / static_cast<double>(draws);
}

}  // namespace ladon::example
