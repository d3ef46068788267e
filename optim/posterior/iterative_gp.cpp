#include "ladon/optim/posterior/iterative_gp.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/optim/posterior/pivoted_cholesky.h"
#include "ladon/optim/posterior/solve.h"

namespace ladon {
namespace {

constexpr const char* operation = "IterativeGaussianProcess";

/// uᵀP⁻¹u of each column, [k].
Tensor energies(const LowRankPlusNoise& p, const Tensor& u) {
  return maximum(sum(u * p.solve(u), 0), 0);
}

/// Test kernels in f64: cross [M, N] and k** [M].
struct TestKernels {
  TestKernels(const Tensor& cross, const Tensor& variances, std::int64_t n)
      : across(kernel_blocks::cross_block(operation, "the kernel between test and training inputs",
                                          cross, -1, n)) {
    own = kernel_blocks::test_block(operation, variances, across.size(0));
    LADON_CHECK(own.rank() == 1, operation, "the test kernel must be variances, [", across.size(0),
                "], got ", own.shape());
  }
  Tensor across, own;
};

}  // namespace

KernelMap kernel_map(const Tensor& kernel) {
  const NoGrad off;
  const Tensor k = kernel_blocks::symmetric_block("kernel_map", "the kernel", kernel);
  return {clone(diagonal(k)), [k](const Tensor& v) { return matmul(k, v); },
          [k](std::int64_t i) { return select(k, 0, i); }};
}

KernelMap kernel_map(const infinite::StoredGram& kernel) {
  return {kernel.diagonal(), [&kernel](const Tensor& v) { return kernel.multiply(v); },
          [&kernel](std::int64_t i) { return reshape(kernel.rows(i, i + 1), {kernel.size()}); }};
}

IterativeGaussianProcess::IterativeGaussianProcess(KernelMap kernel, const Tensor& targets,
                                                   const IterativeGpOptions& options)
    : kernel_(std::move(kernel)), options_(options) {
  const NoGrad off;
  LADON_CHECK(options.at_once >= 1, operation, "at_once must be at least 1, got ", options.at_once);
  LADON_CHECK(kernel_.diagonal.defined() && kernel_.diagonal.rank() == 1, operation,
              "the kernel's diagonal must be [N]");
  const Tensor y =
      kernel_blocks::target_block(operation, "the targets", targets, kernel_.diagonal.size(0));
  ridge_ =
      kernel_blocks::ridge_of(operation, kernel_.diagonal, options.noise, options.jitter).total();
  LADON_CHECK(ridge_ > 0 && std::isfinite(ridge_), operation, "noise and jitter add ", ridge_,
              " to the diagonal; that must be positive");
  const PivotedCholesky some(kernel_.diagonal, kernel_.row, {.rank = options.rank});
  rank_ = some.rank();
  near_ = std::make_shared<LowRankPlusNoise>(some.factor(), ridge_);
  solved_ = solve(y, options.tolerance);
  energy_ = energies(*near_, solved_.residual);
}

CgResult IterativeGaussianProcess::solve(const Tensor& b, double tolerance) const {
  return conjugate_gradients([this](const Tensor& v) { return kernel_.multiply(v) + ridge_ * v; },
                             b,
                             {.tolerance = tolerance,
                              .max_iterations = options_.max_iterations,
                              .preconditioner = [this](const Tensor& r) { return near_->solve(r); },
                              .progress = options_.progress});
}

BoundedPrediction IterativeGaussianProcess::predict_mean(const Tensor& cross,
                                                         const Tensor& variances) const {
  const NoGrad off;
  const TestKernels test(cross, variances, kernel_.diagonal.size(0));
  std::vector<Tensor> explained;  // k*ᵀP⁻¹k*
  for (std::int64_t begin = 0; begin < test.across.size(0); begin += options_.at_once)
    explained.push_back(energies(
        *near_,
        transpose(slice(
            test.across, 0,
            {.start = begin, .stop = std::min(begin + options_.at_once, test.across.size(0))}))));
  explained.push_back(zeros({0}, f64));  // there may be no test input
  const Tensor least = unsqueeze(minimum(test.own, concat(explained, 0)), 1);  // [M, 1]
  const Tensor norms = sqrt(sum(square(solved_.residual), 0));                 // [O]
  return {.mean = matmul(test.across, solved_.x),
          .mean_error = minimum(sqrt(least * energy_),
                                sqrt(unsqueeze(test.own, 1)) * norms / (2 * std::sqrt(ridge_))),
          .variance = {},
          .variance_error = {}};
}

BoundedPrediction IterativeGaussianProcess::predict(const Tensor& cross,
                                                    const Tensor& variances) const {
  const NoGrad off;
  const TestKernels test(cross, variances, kernel_.diagonal.size(0));
  const std::int64_t m = test.across.size(0);
  BoundedPrediction all{empty({m, energy_.size(0)}, f64), empty({m, energy_.size(0)}, f64),
                        empty({m}, f64), empty({m}, f64)};
  for (std::int64_t begin = 0; begin < m; begin += options_.at_once) {
    const Slice some{begin, std::min(m, begin + options_.at_once)};
    const Tensor k = contiguous(transpose(slice(test.across, 0, some)));  // [N, m]
    const CgResult z = solve(k, options_.test_tolerance);
    const Tensor left = energies(*near_, z.residual);  // [m]
    const Tensor variance = slice(test.own, 0, some) - sum((k + z.residual) * z.x, 0) - left / 2;
    const auto set = [&](const Tensor& to, const Tensor& from) { copy_(slice(to, 0, some), from); };
    set(all.mean, matmul(transpose(k), solved_.x) + matmul(transpose(z.x), solved_.residual));
    set(all.mean_error, sqrt(unsqueeze(left, 1) * energy_));
    set(all.variance, maximum(variance, 0));
    set(all.variance_error, left / 2);
  }
  return all;
}

}  // namespace ladon
