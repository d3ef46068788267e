#pragma once
// Shared by the predictions from kernel matrices: checks of their blocks, and the factor of a
// regularized kernel. All results are f64, row-major and without history.

#include <cstdint>
#include <string_view>

#include "ladon/core/tensor.h"

namespace ladon::kernel_blocks {

/// A symmetric [N, N] with N ≥ 1. Throws Error naming `what` for another shape, for an element that
/// is not finite, and where K_ij and K_ji differ by more than √ε times the largest element.
Tensor symmetric_block(std::string_view operation, std::string_view what, const Tensor& x);

/// A finite block of a stated shape; rows = −1 leaves their number free.
Tensor cross_block(std::string_view operation, std::string_view what, const Tensor& x,
                   std::int64_t rows, std::int64_t columns);

/// Finite targets [N] or [N, O] as [N, O].
Tensor target_block(std::string_view operation, std::string_view what, const Tensor& x,
                    std::int64_t n);

/// Test kernel: variances [M] or a symmetric [M, M].
Tensor test_block(std::string_view operation, const Tensor& x, std::int64_t m);

/// Addition to a kernel's diagonal before it is factorized: noise + jitter · mean of the
/// diagonal. The jitter is relative, so that it means the same for any scale of the kernel.
struct Ridge {
  double noise, jitter, mean;
  double total() const { return noise + jitter * mean; }
};

/// From the kernel's diagonal [N]. Throws Error for a negative or infinite noise or jitter.
Ridge ridge_of(std::string_view operation, const Tensor& diagonal, double noise, double jitter);

/// L of LLᵀ = K + ridge·I. Throws Error where it is not positive definite, naming its smallest
/// eigenvalue and the jitter (or noise) that would do.
Tensor factorize(std::string_view operation, const Tensor& kernel, const Ridge& ridge);

/// Throws the Error of factorize().
[[noreturn]] void fail_indefinite(std::string_view operation, const Ridge& ridge,
                                  double smallest_eigenvalue, double missing);

/// x symmetrized and its diagonal raised to 0, which rounding may have left. Variances [M]
/// likewise.
Tensor proper_covariance(const Tensor& x);

}  // namespace ladon::kernel_blocks
