// C are the kernels of pairs of paths, U_ℓ the random matrices of the layers, u the mean square of
// the readout weights, K the network's kernel, H_ℓ the numbers of heads, and N_ℓ and N_a the widths
// (head of path_relevance.h). S is the action that path_saddle() minimizes.

#include "ladon/optim/posterior/path_relevance.h"

#include <algorithm>
#include <cmath>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

constexpr std::string_view operation = "path_relevance";

/// Number of partial paths that begin in layer `from` (counted from 0), which is the number of rows
/// of that layer's U.
std::int64_t rows_of(const PathOptions& o, std::size_t from) {
  std::int64_t rows = 1;
  for (std::size_t l = from; l < o.heads.size(); ++l) rows *= o.heads[l];
  return rows;
}

void check(const PathOptions& o) {
  LADON_CHECK(!o.heads.empty() && o.heads.size() == o.widths.size(), operation,
              "`heads` and `widths` need one element per layer, and at least one layer, but have "
              "sizes ",
              o.heads.size(), " and ", o.widths.size());
  LADON_CHECK(o.readout >= 1, operation, "the readout's width is ", o.readout,
              "; it must be at least 1");
  for (std::size_t l = 0; l < o.heads.size(); ++l) {
    LADON_CHECK(o.heads[l] >= 1 && o.heads[l] <= 64, operation, "layer ", l, " has ", o.heads[l],
                " heads; the number must be from 1 to 64");
    LADON_CHECK(rows_of(o, l) <= 4096 && o.widths[l] >= rows_of(o, l), operation, "layer ", l,
                " has an input of width ", o.widths[l], " and ", rows_of(o, l),
                " paths from it on; at most 4096 paths are supported, and the width must be at "
                "least their number, or U would be singular");
  }
}

/// The checked kernels of paths, C, in f64 [Π, Π, N, N].
Tensor checked_paths(const Tensor& paths, const PathOptions& o) {
  check(o);
  const std::int64_t p = rows_of(o, 0);
  LADON_CHECK(paths.defined() && paths.rank() == 4 && paths.size(0) == p && paths.size(1) == p &&
                  paths.size(2) == paths.size(3),
              operation, "the paths' kernels must be [", p, ", ", p, ", N, N], got ",
              detail::shape_in_words(paths));
  const std::int64_t n = paths.size(2);
  kernel_blocks::symmetric_block(operation, "the paths' kernel",
                                 reshape(permute(paths, {0, 2, 1, 3}), {p * n, p * n}));
  return contiguous(cast(paths.detach(), f64));
}

/// Kronecker product 1_H ⊗ A: H diagonal blocks A.
Tensor repeated(const Tensor& a, std::int64_t heads) {
  const std::int64_t r = a.size(0);
  const Tensor grid = unsqueeze(unsqueeze(eye(heads, f64), 1), 3) * unsqueeze(unsqueeze(a, 0), 2);
  return reshape(grid, {heads * r, heads * r});  // [H, r, H, r] → [H·r, H·r]
}

/// Sum of the H diagonal blocks [r, r] of a matrix [H·r, H·r].
Tensor sum_of_blocks(const Tensor& u, std::int64_t heads) {
  const std::int64_t r = u.size(0) / heads;
  Tensor sum = zeros({r, r}, f64);
  for (std::int64_t h = 0; h < heads; ++h) {
    const Slice block{.start = h * r, .stop = (h + 1) * r};
    sum = sum + slice(slice(u, 0, block), 1, block);
  }
  return sum;
}

double log_determinant(const Tensor& factor) {
  return 2 * number_of("path_relevance", sum(log(diagonal(factor))));
}

/// The order parameter U_1 from one row of latents, which contains the readout weights a, then the
/// standard normal matrices that U_L, …, U_1 are computed from.
Tensor order_of_row(const Tensor& row, const PathOptions& o) {
  auto part = [&, start = std::int64_t{0}](std::int64_t count) mutable {
    start += count;
    return slice(row, 0, {.start = start - count, .stop = start});
  };
  Tensor u = full({1, 1}, number_of("path_relevance", mean(square(part(o.readout)))), f64);
  for (std::size_t l = o.heads.size(); l-- > 0;) {
    const std::int64_t rows = rows_of(o, l);
    const Tensor root = repeated(lapack::cholesky(u), o.heads[l]);
    const Tensor w = matmul(root, reshape(part(rows * o.widths[l]), {rows, o.widths[l]}));
    u = matmul(w, transpose(w)) / static_cast<double>(o.widths[l]);
  }
  return u;
}

std::int64_t numbers(const PathOptions& o) {
  std::int64_t count = o.readout;
  for (std::size_t l = 0; l < o.heads.size(); ++l) count += rows_of(o, l) * o.widths[l];
  return count;
}

}  // namespace

Tensor path_order(const Tensor& latents, const PathOptions& options) {
  const NoGrad off;
  check(options);
  LADON_CHECK(latents.defined() && latents.rank() == 2 && latents.size(0) >= 1 &&
                  latents.size(1) == numbers(options),
              operation, "latents must be [S, ", numbers(options), "], got ",
              detail::shape_in_words(latents));
  std::vector<Tensor> all;
  for (std::int64_t s = 0; s < latents.size(0); ++s)
    all.push_back(order_of_row(cast(select(latents, 0, s), f64), options));
  return stack(all, 0);
}

infinite::LatentKernel path_kernel(const Tensor& paths, const PathOptions& options) {
  const NoGrad off;
  const Tensor c = checked_paths(paths, options);
  const std::int64_t p = c.size(0);
  return {numbers(options), 1, [=](const Tensor& z, std::int64_t inputs) {
            const NoGrad inner;
            if (z.size(0) == 0) return zeros({0, inputs, inputs}, f64);
            const Slice some{.stop = inputs};
            const Tensor seen = contiguous(slice(slice(c, 2, some), 3, some));
            const Tensor u = reshape(path_order(z, options), {z.size(0), p * p});
            const Tensor k = matmul(u, reshape(seen, {p * p, inputs * inputs}));
            return reshape(k, {z.size(0), inputs, inputs}) / static_cast<double>(p);
          }};
}

namespace {

/// The part of the action S (path_saddle()) that depends on the data, ln det(K + σ²) + yᵀ(K +
/// σ²)⁻¹y, and its gradient with respect to U_1.
struct Evidence {
  double value;
  Tensor slope;  // the gradient, [Π, Π]
};
Evidence evidence(const Tensor& u, const Tensor& c, const Tensor& y, double noise) {
  const std::int64_t p = u.size(0), n = y.size(0);
  const Tensor flat = reshape(c, {p * p, n * n});
  const Tensor k = reshape(matmul(reshape(u, {1, p * p}), flat), {n, n}) / static_cast<double>(p);
  const Tensor factor = lapack::cholesky(k + noise * eye(n, f64));
  const Tensor alpha = lapack::cholesky_solve(factor, y);
  const double outputs = y.size(1);
  const Tensor pull = outputs * lapack::cholesky_inverse(factor) - matmul(alpha, transpose(alpha));
  const Tensor slope =
      reshape(matmul(flat, reshape(pull, {n * n, 1})), {p, p}) / static_cast<double>(p);
  return {outputs * log_determinant(factor) + number_of("path_relevance", sum(alpha * y)),
          0.5 * (slope + transpose(slope))};
}

/// The action S (path_saddle()) with u at its optimum (`readout`), the steps U_ℓ·(∂S/∂U_ℓ)·U_ℓ/N_ℓ
/// of all layers, and the largest element of |U_ℓ·∂S/∂U_ℓ|/N_ℓ (`gradient`).
struct Action {
  double value, readout;
  std::vector<Tensor> steps;
  double gradient = 0;
};
Action action(const std::vector<Tensor>& u, const Tensor& c, const Tensor& y, double noise,
              const PathOptions& o) {
  const std::size_t layers = u.size();
  const double readout = static_cast<double>(o.readout);
  const double last = static_cast<double>(o.widths.back()) / readout;
  // The optimal u solves u² + u(H_L·N_L/N_a − 1) − tr(U_L)·N_L/N_a = 0.
  const double b = static_cast<double>(o.heads.back()) * last - 1,
               t = number_of("path_relevance", sum(diagonal(u.back()))) * last;
  Action at{.value = 0, .readout = 0.5 * (-b + std::sqrt(b * b + 4 * t)), .steps = {}};
  const Evidence data = evidence(u[0], c, y, noise);
  at.value = data.value + readout * (at.readout - std::log(at.readout));
  std::vector<Tensor> inverse, slope;
  std::vector<double> determinant;
  for (const Tensor& x : u) {
    const Tensor factor = lapack::cholesky(x);
    inverse.push_back(lapack::cholesky_inverse(factor));
    determinant.push_back(log_determinant(factor));
    slope.push_back(zeros(x.shape(), f64));
  }
  slope[0] = data.slope;
  for (std::size_t l = 0; l < layers; ++l) {
    const double width = static_cast<double>(o.widths[l]), heads = static_cast<double>(o.heads[l]);
    const bool top = l + 1 == layers;
    const Tensor next = top ? full({1, 1}, 1 / at.readout, f64) : inverse[l + 1];
    const double above = top ? std::log(at.readout) : determinant[l + 1];
    const Tensor prior = repeated(next, o.heads[l]);
    at.value +=
        width * (number_of("path_relevance", sum(prior * u[l])) - determinant[l] + heads * above);
    slope[l] = slope[l] + width * (prior - inverse[l]);
    if (top) continue;
    const Tensor blocks = sum_of_blocks(u[l], o.heads[l]);
    slope[l + 1] = slope[l + 1] + width * (heads * next - matmul(next, matmul(blocks, next)));
  }
  for (std::size_t l = 0; l < layers; ++l) {
    const Tensor moved = matmul(u[l], slope[l]) / static_cast<double>(o.widths[l]);
    at.gradient = std::max(at.gradient, number_of("path_relevance", amax(abs(moved))));
    at.steps.push_back(matmul(moved, u[l]));
  }
  return at;
}

bool positive_definite(const Tensor& u) {
  return number_of("path_relevance", amin(lapack::eigenvalues(u))) > 0;
}

}  // namespace

PathSaddle path_saddle(const Tensor& paths, const Tensor& targets, double noise,
                       const PathOptions& options) {
  const NoGrad off;
  const Tensor all = checked_paths(paths, options);
  LADON_CHECK(std::isfinite(noise) && noise > 0, operation, "the noise is ", noise,
              "; it must be positive and finite");
  LADON_CHECK(targets.defined() && targets.rank() >= 1 && targets.size(0) <= all.size(2), operation,
              "the targets must be [N] or [N, O], with N at most ", all.size(2),
              ", the number of inputs");
  const std::int64_t n = targets.size(0);
  const Tensor y = kernel_blocks::target_block(operation, "the targets", targets, n);
  const Tensor c = contiguous(slice(slice(all, 2, {.stop = n}), 3, {.stop = n}));
  std::vector<Tensor> u;
  for (std::size_t l = 0; l < options.heads.size(); ++l) u.push_back(eye(rows_of(options, l), f64));
  Action at = action(u, c, y, noise, options);
  PathSaddle out{.order = {}, .gradient = at.gradient};
  double step = 0.5;
  while (at.gradient > 1e-10 && out.iterations < 5000 && step > 1e-10) {
    ++out.iterations;
    std::vector<Tensor> next;
    bool proper = true;
    for (std::size_t l = 0; l < u.size(); ++l) {
      const Tensor moved = u[l] - step * at.steps[l];
      next.push_back(0.5 * (moved + transpose(moved)));
      proper = proper && positive_definite(next.back());
    }
    const Action there = proper ? action(next, c, y, noise, options) : at;
    // near the minimum rounding hides the decrease of S, so a smaller gradient is accepted too
    if (proper && (there.value < at.value || there.gradient < at.gradient)) {
      u = next;
      at = there;
      step = std::min(1.0, 1.3 * step);
    } else {
      step *= 0.5;
    }
  }
  out.order = u;
  out.readout = at.readout;
  out.gradient = at.gradient;
  return out;
}

Tensor head_scores(const PathSaddle& saddle, const PathOptions& options, std::size_t layer) {
  check(options);
  LADON_CHECK(layer < options.heads.size(), operation, "there is no layer ", layer,
              "; layers count from 0, and their number is ", options.heads.size());
  const Shape wanted{rows_of(options, 0), rows_of(options, 0)};
  LADON_CHECK(
      !saddle.order.empty() && saddle.order[0].defined() && saddle.order[0].shape() == wanted,
      operation, "the saddle's first order parameter must be [paths, paths] = ", wanted,
      " for these options, got ",
      saddle.order.empty() || !saddle.order[0].defined() ? "none"
                                                         : detail::join(saddle.order[0].shape()),
      "; pass the options that path_saddle() was called with");
  const std::int64_t paths = rows_of(options, 0), below = rows_of(options, layer + 1),
                     heads = options.heads[layer];
  const std::vector<double> u = numbers_of("path_relevance", saddle.order[0]);
  std::vector<double> scores(heads, 0);
  const auto head_of = [&](std::int64_t path) { return path / below % heads; };
  for (std::int64_t i = 0; i < paths; ++i)
    for (std::int64_t j = 0; j < paths; ++j) {
      const double weight = std::abs(u[i * paths + j]);
      scores[head_of(i)] += weight;
      if (head_of(j) != head_of(i)) scores[head_of(j)] += weight;
    }
  return from_vector(scores, {heads});
}

}  // namespace ladon
