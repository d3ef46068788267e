#pragma once
// Helpers for predictions from kernel matrices: checks of kernel and target blocks, and the
// Cholesky factor of a regularized kernel. All returned tensors are f64, row-major and without
// history; all functions that check a block throw Error if a derivative would be lost (check_plain,
// number.h).

#include <cstdint>
#include <functional>
#include <string_view>

#include "ladon/core/tensor.h"

namespace ladon {
struct LinearSolution;
}

namespace ladon::kernel_blocks {

/// Checks a symmetric matrix [N, N], N ≥ 1, and returns it in f64. Throws Error naming `what` for
/// another shape, for an element that is not finite, and if x_ij and x_ji differ by more than
///   √ε·max(√(x_ii·x_jj), |x_ij|) + e_ij,   e_ij = max(64ε·max(x_ii, x_jj), ε^¾·median(x_kk)),
/// where ε is the machine epsilon of x's dtype and e_ij bounds the error of an element that is a
/// difference of larger numbers.
Tensor symmetric_block(std::string_view operation, std::string_view what, const Tensor& x);

/// Checks a matrix of shape [rows, columns] with finite elements; rows = −1 allows any number of
/// rows.
Tensor cross_block(std::string_view operation, std::string_view what, const Tensor& x,
                   std::int64_t rows, std::int64_t columns);

/// Checks finite targets [N] or [N, O] and returns them as [N, O].
Tensor target_block(std::string_view operation, std::string_view what, const Tensor& x,
                    std::int64_t n);

/// Checks that a result x of a Solver's `function` is f64, of this shape and finite: users write
/// solvers.
void check_solved(std::string_view operation, std::string_view function, std::string_view what,
                  const Tensor& x, const Shape& shape);
/// Checks the members of a solution for right-hand sides b [N, k] as check_solved() does.
void check_solution(std::string_view operation, std::string_view function, const LinearSolution& y,
                    const Tensor& b);

/// Checks a test kernel: variances [M], or a symmetric [M, M] whose covariances are possible for
/// its variances: |x_ij| ≤ (1 + √ε)·√((x_ii + e_ij)·(x_jj + e_ij)), with e_ij as in
/// symmetric_block(). Variances below −e_ij are left to proper_covariance().
Tensor test_block(std::string_view operation, const Tensor& x, std::int64_t m);

/// Ridge added to a kernel's diagonal before factorization: noise + jitter · mean of the diagonal.
/// The jitter is relative, so that its effect does not depend on the kernel's scale.
struct Ridge {
  double noise, jitter, mean;
  /// Whether the caller has an option `noise` and an option `jitter`, so that error messages can
  /// suggest larger values of them.
  bool takes_noise = true, takes_jitter = true;
  double total() const { return noise + jitter * mean; }
};

/// The Ridge of a kernel with this diagonal [N]. Throws Error for a negative or infinite noise or
/// jitter.
Ridge ridge_of(std::string_view operation, const Tensor& diagonal, double noise, double jitter);

/// Cholesky factor L of K + ridge·I = LLᵀ. Throws Error if K + ridge·I is not positive definite,
/// naming its smallest eigenvalue and a sufficient jitter (or noise).
Tensor factorize(std::string_view operation, const Tensor& kernel, const Ridge& ridge);

/// Throws the Error of factorize() for a kernel with this smallest eigenvalue, ridge included;
/// adding `missing` to the diagonal would suffice.
[[noreturn]] void fail_indefinite(std::string_view operation, const Ridge& ridge,
                                  double smallest_eigenvalue, double missing);

/// Cleans up computed posterior covariances `left` [M, M] or variances [M]; `prior` has the same
/// shape. Symmetrizes a matrix, and sets variances that rounding made negative to 0. Throws Error
/// with `hint`, naming the worst variance, if a variance is below −(√ε·prior + allowed()), where ε
/// is the machine epsilon of `precision`, the dtype of the least precise kernel. allowed() returns
/// further error bounds [M], and is called only if a variance is below −√ε·prior.
Tensor proper_covariance(std::string_view operation, const Tensor& left, const Tensor& prior,
                         DType precision, const std::function<Tensor()>& allowed,
                         std::string_view hint);
/// Hint for kernel blocks K, K* and K** that are inconsistent with each other.
inline constexpr std::string_view one_kernel =
    "K, K* and K** must be blocks of the same kernel, in the same units. Kernels of a model whose "
    "layers draw random numbers need common landmarks: limit.with_landmarks(x)";
/// Bound [M] on the rounding error of the variance of f_i − Σ_j s_ij·f_j for each row of s [M, N],
///   K**_ii − 2·Σ_j s_ij·K*_ij + Σ_jl s_ij·K_jl·s_il.
/// Rounding changes an element K_jl by at most about (ε + N·2⁻⁵²)·√(K_jj·K_ll), where ε is the
/// relative rounding error of the elements in `precision` (0 for f64), so the bound is
///   (ε + N·2⁻⁵²)·(√K**_ii + Σ_j |s_ij|·√K_jj)².
/// The bound for one test input does not depend on the other test inputs. `prior` is K** [M, M] or
/// its diagonal [M]; `train` is the diagonal of K, [N], or an estimate of it for each test input,
/// [M, N]. A K**_ii ≤ 0 has no correct digit, and is replaced by the mean of `train`.
Tensor rounding_of_squares(const Tensor& s, const Tensor& prior, const Tensor& train,
                           DType precision);
/// Machine epsilon of f32 or f64: the distance from 1 to the next larger number.
double epsilon_of(DType dtype);
/// f32 if a or b is f32, else f64.
DType least_precise(DType a, DType b);

}  // namespace ladon::kernel_blocks
