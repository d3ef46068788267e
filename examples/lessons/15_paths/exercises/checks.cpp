#include "15_paths/exercises/exercises.h"

using namespace ladon;
using lessons::require;

namespace {

/// Data of eight chains and three heads, the first of which predicts most of the targets.
PathData path_data() {
  Generator rng(3);
  const Tensor x = normal({3, 8, 4}, rng, 0, 1, f64);
  const Tensor c = matmul(unsqueeze(x, 1), transpose(unsqueeze(x, 0))) / 4.0;
  const Tensor y = 2 * slice(select(x, 0, 0), 1, {0, 1}) + normal({8, 1}, rng, 0, 0.4, f64);
  return {c, y, 0.2, 12};
}

/// A positive definite U [3, 3] that is not the identity.
Tensor some_overlaps() {
  Generator rng(4);
  const Tensor w = normal({3, 9}, rng, 0, 1, f64);
  return matmul(w, transpose(w)) / 9.0;
}

Tensor kernel_of(const PathData& data, const Tensor& u) {
  return sum(sum(reshape(u, {3, 3, 1, 1}) * data.kernels, 0), 0) / 3.0;
}

double log_determinant(const Tensor& a) {
  return 2 * sum(log(diagonal(lapack::cholesky(a)))).item();
}

/// −2·ln p(y | U), from the kernel K of the outputs, without the constant.
double of_targets(const PathData& data, const Tensor& kernel) {
  const GaussianProcess gp(kernel, data.y, {.noise = data.noise, .jitter = 0});
  return -2 * gp.log_marginal_likelihood() - 8 * std::log(8 * std::atan(1));
}

/// U from the vector w [N] of each path: their inner products, divided by `over`.
Tensor products(const std::vector<Tensor>& w, double over) {
  const Tensor all = stack(w, 0);
  return matmul(all, transpose(all)) / over;
}

}  // namespace

void check_path_overlaps(decltype(path_overlaps)* yours) {
  constexpr std::int64_t n = 5;
  Generator rng(1);
  const PathWeights some = {normal({2, n, n}, rng, 0, 1, f64), normal({3, n, n}, rng, 0, 1, f64),
                            normal({n}, rng, 0, 1, f64)};
  // The path's vector: the output of path (h, g) for the token e_i is its element i divided by √N.
  const auto vector_of = [&](int h, int g, bool turned) {
    const Tensor v = select(some.first, 0, h), o = select(some.second, 0, g);
    const Tensor above = matmul(turned ? o : transpose(o), some.readout);
    return matmul(turned ? v : transpose(v), above) / double(n);
  };
  std::vector<Tensor> right, inner, turned;
  for (int h = 0; h < 2; ++h)
    for (int g = 0; g < 3; ++g) {
      right.push_back(vector_of(h, g, false));
      turned.push_back(vector_of(h, g, true));
    }
  for (int g = 0; g < 3; ++g)
    for (int h = 0; h < 2; ++h) inner.push_back(vector_of(h, g, false));
  const Tensor u = products(right, n);
  lessons::compare(
      "U", yours(some), u,
      {{products(inner, n), "the head of the first layer is the outer index: h₁·H₂ + h₂"},
       {products(turned, n), "aᵀ·V₂·V₁ is a row: its column is V₁ᵀ·V₂ᵀ·a, not V₁·V₂·a"},
       {u * eye(6, f64),
        "only the diagonal: paths that share a head share weights, and "
        "data tie others to each other"},
       {u * double(n), "w·wᵀ is not divided by N: E U is to be 1 at any width"},
       {u * double(n * n),
        "one factor 1/√N per layer and per readout, squared: three "
        "factors 1/N in all"},
       {u * double(n * n * n), "without any 1/√N U grows as N³"}});
}

void check_overlap_cost(decltype(overlap_cost)* yours) {
  const PathData data = path_data();
  const Tensor u = some_overlaps();
  const double prior = sum(diagonal(u)).item() - log_determinant(u);
  const double likely = of_targets(data, kernel_of(data, u)), right = likely + data.width * prior;
  const Tensor a = kernel_of(data, u) + data.noise * eye(8, f64);
  const double fit = sum(data.y * solve(a, data.y)).item();
  lessons::compare(
      "S(U)", yours(data, u), right,
      {{likely, "the prior's part is left out: without it nothing keeps U near 1"},
       {likely + prior, "the prior weighs N times as much: U is a mean over N"},
       {likely + data.width * prior / 2,
        "S is minus twice the logarithm: the prior's part is N, not N/2"},
       {likely / 2 + data.width * prior, "minus twice the logarithm of the density, not once"},
       {likely + data.width * (sum(diagonal(u)).item() + log_determinant(u)),
        "the sign of ln det U is wrong: it keeps U from collapsing to 0"},
       {fit + data.width * prior, "ln det(K + σ²) is left out: large kernels would cost nothing"},
       {likely - fit + data.width * prior, "the targets do not enter"},
       {likely - 2 * fit + data.width * prior, "the sign of yᵀ(K + σ²)⁻¹y is wrong"},
       {of_targets(data, 3 * kernel_of(data, u)) + data.width * prior,
        "K is the sum over pairs divided by the number P of paths"},
       {of_targets(data, kernel_of(data, u * eye(3, f64))) + data.width * prior,
        "pairs of different paths are left out of K"}});
}

void check_overlap_slope(decltype(overlap_slope)* yours) {
  const PathData data = path_data();
  const Tensor u = some_overlaps(), identity = eye(3, f64), inverse = solve(u, identity);
  // Evidence by the library, with its gradient recorded.
  Tensor free = clone(u);
  free.set_requires_grad(true);
  const Tensor evidence =
      log_marginal_likelihood(kernel_of(data, free), data.y, tensor({data.noise}, {1}, f64), 0);
  const Tensor force = -2 * grad({evidence}, {free})[0];
  const Tensor prior = data.width * (identity - inverse);
  const Tensor a = kernel_of(data, u) + data.noise * eye(8, f64), alpha = solve(a, data.y);
  const Tensor trace = sum(sum(data.kernels * solve(a, eye(8, f64)), -1), -1) / 3.0;
  const Tensor energy = trace - force;
  lessons::compare(
      "the slope", yours(data, u), force + prior,
      {{force, "the prior's part N·(1 − U⁻¹) is left out"},
       {trace + prior, "αᵀC_pq α is left out: the targets have no effect"},
       {prior - energy, "tr(A⁻¹C_pq) is left out: it is what ln det A gives"},
       {trace + energy + prior, "the sign of αᵀC_pq α is wrong: ∂A⁻¹ = −A⁻¹ ∂A A⁻¹"},
       {force + data.width * (identity + inverse),
        "the sign of U⁻¹, the gradient of ln det U, "
        "is wrong"},
       {force + data.width * (identity - u), "the gradient of ln det U is U⁻¹, not U"},
       {3 * force + prior, "K is the sum over pairs divided by P: so is the data's part"},
       {force * identity + prior, "pairs of different paths feel a force as well"}},
      1e-8);
  // At the most likely U that the library computes for an infinitely wide readout, where u = 1, the
  // gradient must be 0. For a readout as wide as the layer, that U solves g + N·(1/u − U⁻¹) = 0
  // with the data's part g, so the gradient at u = 1 must be N·(1 − 1/u) on the diagonal.
  for (const std::int64_t readout : {std::int64_t{1'000'000'000}, std::int64_t{12}}) {
    const PathOptions layer{.heads = {3}, .widths = {12}, .readout = readout};
    const PathSaddle likely = path_saddle(data.kernels, data.y, data.noise, layer);
    const Tensor left = data.width * (1 - 1 / likely.readout) * identity;
    require(amax(abs(yours(data, likely.order[0]) - left)).item() < 1e-5,
            readout == 12 ? "at the most likely U for a readout of width 12, where u is not 1, "
                            "the slope is not N·(1 − 1/u) on the diagonal"
                          : "at the most likely U the slope is not 0");
  }
}
