#include "ladon/optim/clip.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/number.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/autograd/ops/pointwise.h"
#include "ladon/autograd/ops/reduce.h"
#include "ladon/core/error.h"
#include "ladon/core/kernels/pointwise.h"
#include "ladon/core/kernels/reductions/lane_sum.h"
#include "ladon/core/machine/parallel.h"

namespace ladon {
namespace {

/// Gradients of the parameters that are not frozen and have a gradient.
std::vector<Tensor> gradients_of(const char* operation, const ParameterSet& parameters) {
  parameters.check_in_place(operation);
  std::vector<Tensor> gradients;
  for (const auto& [name, x] : parameters.trained())
    if (const Tensor g = x.grad(); g.defined()) gradients.push_back(g);
  return gradients;
}

constexpr std::int64_t grain = 1 << 16;

double sum_of_squares(const Tensor& x) {
  const Tensor row = kernels::contiguous(x);
  std::vector<double> partial((x.count() + grain - 1) / grain);
  visit_floating("clip_grad_norm", x.dtype(), [&]<class T>() {
    const T* data = row.data<T>();
    parallel::for_range(x.count(), grain, [&](std::int64_t begin, std::int64_t end) {
      partial[begin / grain] = kernels::lane_sum(end - begin, [&](std::int64_t k) {
        const double v = data[begin + k];
        return v * v;
      });
    });
  });
  double sum = 0;
  for (const double part : partial) sum += part;
  return sum;
}

double largest(const Tensor& x) {
  const double most =
      x.count() > 0 ? number_of("clip_grad_norm", amax(abs(cast(x.detach(), f64)))) : 0;
  return std::isnan(most) ? std::numeric_limits<double>::infinity() : most;
}

/// Norm of the gradients as the product most·root with root = sqrt(Σ (g/most)²), where `most` is 1
/// or the largest |g|: neither factor overflows.
struct Norm {
  double most = 1, root = 0;
  double value() const { return most * root; }
};

Norm norm_of(const std::vector<Tensor>& gradients) {
  double sum = 0;
  for (const Tensor& g : gradients) sum += sum_of_squares(g.detach());
  if (std::isfinite(sum) && sum >= 1e-280) return {1, std::sqrt(sum)};
  double most = 0;  // squares overflow or underflow: scale by the largest element
  for (const Tensor& g : gradients) most = std::max(most, largest(g.detach()));
  if (most == 0 || !std::isfinite(most)) return {1, std::sqrt(sum)};
  sum = 0;
  for (const Tensor& g : gradients) sum += sum_of_squares(cast(g.detach(), f64) / most);
  return {most, std::sqrt(sum)};
}

}  // namespace

double clip_grad_norm(const ParameterSet& parameters, double max_norm, ClipOptions options) {
  LADON_CHECK(max_norm > 0, "clip_grad_norm", "max_norm is ", max_norm, "; it must be positive");
  NoGrad no_grad;
  const std::vector<Tensor> gradients = gradients_of("clip_grad_norm", parameters);
  const Norm norm = norm_of(gradients);
  const bool finite = std::isfinite(norm.root);
  LADON_CHECK(finite || !options.error_if_nonfinite, "clip_grad_norm",
              "the norm of the gradients is ", norm.root,
              "; it must be finite: find the operation that is the cause with DetectAnomaly, or "
              "pass error_if_nonfinite = false");
  if (finite && norm.value() > max_norm)
    for (const Tensor& g : gradients) mul_(g, max_norm / norm.most / norm.root);
  return norm.value();
}

void clip_grad_value(const ParameterSet& parameters, double max_value) {
  LADON_CHECK(max_value > 0, "clip_grad_value", "max_value is ", max_value,
              "; it must be positive");
  NoGrad no_grad;
  for (const Tensor& g : gradients_of("clip_grad_value", parameters))
    copy_(g, clamp(g, -max_value, max_value));
}

}  // namespace ladon
