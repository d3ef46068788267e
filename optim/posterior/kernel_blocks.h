#pragma once
// Helpers for predictions from kernel matrices: checks of their blocks, and the factor of a
// regularized kernel. All results are f64, row-major and without history.

#include <cstdint>
#include <functional>
#include <string_view>

#include "ladon/core/tensor.h"

namespace ladon::kernel_blocks {

/// Checks a symmetric [N, N] with N ≥ 1. Throws Error naming `what` for another shape, for an
/// element that is not finite, and where K_ij and K_ji differ by more than √ε times the largest
/// element.
Tensor symmetric_block(std::string_view operation, std::string_view what, const Tensor& x);

/// Checks a finite block of the given shape; rows = −1 allows any number of rows.
Tensor cross_block(std::string_view operation, std::string_view what, const Tensor& x,
                   std::int64_t rows, std::int64_t columns);

/// Checks finite targets [N] or [N, O] and returns them as [N, O].
Tensor target_block(std::string_view operation, std::string_view what, const Tensor& x,
                    std::int64_t n);

/// Checks a test kernel: variances [M] or a symmetric [M, M].
Tensor test_block(std::string_view operation, const Tensor& x, std::int64_t m);

/// Number added to a kernel's diagonal before factorization: noise + jitter · mean of the diagonal.
/// The jitter is relative, so that its effect does not depend on the kernel's scale.
struct Ridge {
  double noise, jitter, mean;
  bool takes_noise = true;  ///< Whether the caller has a noise option that an error may suggest.
  double total() const { return noise + jitter * mean; }
};

/// The ridge for the kernel's diagonal [N]. Throws Error for a negative or infinite noise or
/// jitter.
Ridge ridge_of(std::string_view operation, const Tensor& diagonal, double noise, double jitter);

/// L with LLᵀ = K + ridge·I. Throws Error if that is not positive definite, naming its smallest
/// eigenvalue and a sufficient jitter (or noise).
Tensor factorize(std::string_view operation, const Tensor& kernel, const Ridge& ridge);

/// Throws the Error of factorize().
[[noreturn]] void fail_indefinite(std::string_view operation, const Ridge& ridge,
                                  double smallest_eigenvalue, double missing);

/// Posterior covariances [M, M] (symmetrized here) or variances [M]; `prior` has the same shape.
/// Sets variances that rounding made negative to 0. Throws Error with `hint`, naming the worst
/// variance, if one is below −(√ε·prior + allowed()), where ε belongs to the least precise kernel.
/// allowed() gives further error bounds, [M], and is called only if a variance is below −√ε·prior.
Tensor proper_covariance(std::string_view operation, const Tensor& left, const Tensor& prior,
                         DType precision, const std::function<Tensor()>& allowed,
                         std::string_view hint);
/// Hint for kernel blocks K, K* and K** that do not fit together.
inline constexpr std::string_view one_kernel =
    "are K* and K** of one kernel with K, in the same units? Kernels of a model that draws need "
    "common landmarks: limit.with_landmarks(x)";
/// Bound on the rounding error of Σ_jl s_j·K_jl·s_l for rows s of [M, N], [M]: (ε + N·2⁻⁵²)·(1 +
/// Σ_j|s_j|)² times the largest variance, with the ε of the kernel's elements.
Tensor rounding_of_squares(const Tensor& s, double largest_variance, DType precision);
/// Distance from 1 to the next number of f32 or f64.
double epsilon_of(DType dtype);
/// f32 if either is f32.
DType least_precise(DType a, DType b);

}  // namespace ladon::kernel_blocks
