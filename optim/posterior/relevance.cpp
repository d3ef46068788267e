// K_h is the kernel of head h, r_h its scale, d_v the width of the values, and K_r the kernel of
// the layer at scales r (head of relevance.h). S is the action that relevance_saddle() minimizes.

#include "ladon/optim/posterior/relevance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

constexpr std::string_view operation = "relevance";

Tensor checked_heads(const Tensor& heads, std::int64_t value_width) {
  LADON_CHECK(
      heads.defined() && heads.rank() == 3 && heads.size(0) >= 1 && heads.size(1) == heads.size(2),
      operation, "the heads' kernels must be [H, N, N], got ", detail::shape_in_words(heads));
  LADON_CHECK(value_width >= 1, operation, "the width of values is ", value_width,
              "; it must be at least 1");
  std::vector<Tensor> all;
  for (std::int64_t h = 0; h < heads.size(0); ++h)
    all.push_back(kernel_blocks::symmetric_block(operation, "a head's kernel",
                                                 contiguous(select(heads, 0, h))));
  return stack(all, 0);
}

/// The action S of relevance_saddle() and its gradient ∂S/∂r, at scales r.
struct Action {
  double value;
  std::vector<double> slope;
};
Action action(const std::vector<double>& r, const Tensor& heads, const Tensor& y, double noise,
              double width) {
  const auto h = static_cast<std::int64_t>(r.size());
  const std::int64_t n = y.size(0);
  const Tensor weights = from_vector(r, {1, h}) / static_cast<double>(h);
  const Tensor kernel = reshape(matmul(weights, flatten(heads, 1, -1)), {n, n});
  const Tensor factor = lapack::cholesky(kernel + noise * eye(n, f64));
  const Tensor alpha = lapack::cholesky_solve(factor, y),
               inverse = lapack::cholesky_inverse(factor);
  const double outputs = y.size(1);
  Action at{2 * outputs * number_of("relevance", sum(log(diagonal(factor)))) +
                number_of("relevance", sum(alpha * y)),
            {}};
  // tr(A⁻¹K_h) and αᵀK_hα, summed over outputs, with A = K_r + σ²·I and α = A⁻¹y
  const Tensor pull = outputs * inverse - matmul(alpha, transpose(alpha));
  for (std::int64_t i = 0; i < h; ++i) {
    const double scale = r[i];
    at.value += width * (scale - std::log(scale));
    at.slope.push_back(number_of("relevance", sum(pull * select(heads, 0, i))) /
                           static_cast<double>(h) +
                       width * (1 - 1 / scale));
  }
  return at;
}

double largest(const Action& at, const std::vector<double>& r, double width) {
  double most = 0;
  for (std::size_t i = 0; i < r.size(); ++i)
    most = std::max(most, std::abs(at.slope[i] * r[i]) / width);
  return most;
}

}  // namespace

infinite::LatentKernel relevance_kernel(const Tensor& heads, std::int64_t value_width) {
  const NoGrad off;
  const Tensor kernels = checked_heads(heads, value_width);
  const std::int64_t h = kernels.size(0);
  return {detail::checked_product(operation, h, value_width), h,
          [=](const Tensor& z, std::int64_t inputs) {
            const NoGrad inner;
            const Slice some{.stop = inputs};
            const Tensor seen = contiguous(slice(slice(kernels, 1, some), 2, some));
            const Tensor r = scales_of_latents(z, h) / static_cast<double>(h);
            return reshape(matmul(r, flatten(seen, 1, -1)), {z.size(0), inputs, inputs});
          }};
}

Tensor scales_of_latents(const Tensor& latents, std::int64_t heads) {
  LADON_CHECK(heads >= 1 && latents.defined() && latents.rank() == 2 && latents.size(1) > 0 &&
                  latents.size(1) % heads == 0,
              operation, "latents of ", heads, " heads must be [S, H·d_v], got ",
              detail::shape_in_words(latents));
  return mean(square(reshape(latents, {latents.size(0), heads, latents.size(1) / heads})), 2);
}

RelevanceSaddle relevance_saddle(const Tensor& heads, const Tensor& targets, double noise,
                                 std::int64_t value_width) {
  const NoGrad off;
  const Tensor all = checked_heads(heads, value_width);
  LADON_CHECK(std::isfinite(noise) && noise > 0, operation, "the noise is ", noise,
              "; it must be positive and finite");
  LADON_CHECK(targets.defined() && targets.rank() >= 1 && targets.size(0) <= all.size(1), operation,
              "the targets must be [N] or [N, O], with N at most ", all.size(1),
              ", the number of inputs");
  const std::int64_t n = targets.size(0);
  const Tensor y = kernel_blocks::target_block(operation, "the targets", targets, n);
  const Tensor kernels = contiguous(slice(slice(all, 1, {.stop = n}), 2, {.stop = n}));
  const auto width = static_cast<double>(value_width);

  std::vector<double> r(all.size(0), 1.0);
  Action at = action(r, kernels, y, noise, width);
  double step = 1;
  constexpr double enough = 1e-12;
  RelevanceSaddle out{.gradient = largest(at, r, width)};
  // Near the minimum rounding hides the decrease of S, so a smaller gradient is accepted too.
  while (out.gradient > enough && out.iterations < 2000 && step > 1e-12) {
    ++out.iterations;
    std::vector<double> next = r;
    for (std::size_t i = 0; i < r.size(); ++i)
      next[i] = r[i] * std::exp(std::clamp(-step * at.slope[i] * r[i] / width, -1.0, 1.0));
    const Action there = action(next, kernels, y, noise, width);
    const double gradient = largest(there, next, width);
    if (there.value < at.value || gradient < out.gradient) {
      r = next;
      at = there;
      out.gradient = gradient;
      step = std::min(1.0, 1.5 * step);
    } else {
      step *= 0.5;
    }
  }
  out.scales = from_vector(r, {all.size(0)});
  return out;
}

}  // namespace ladon
