// Θ is the NTK, δ the ridge added to its diagonal, η the learning rate, f_0 the network before
// training, and Φ_t the matrix for which training to time t changes f_0(x) by
// Θ(x, X)·Φ_t·(y − f_0(X)), with training inputs X and targets y (head of gradient_flow.h).

#include "ladon/optim/posterior/gradient_flow.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "ladon/autograd/number.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/core/held.h"
#include "ladon/core/linalg/lapack.h"
#include "ladon/core/random.h"
#include "ladon/optim/posterior/kernel_blocks.h"

namespace ladon {
namespace {

constexpr std::string_view name = "GradientFlow", among = "the training kernel";

// (1 − e^(−λτ))/λ for λ, τ ≥ 0, computed without cancellation and without 0/0.
double decay(double lambda, double tau) {
  const double x = lambda * tau;
  if (x == 0) return tau;
  return x > 1 ? -std::expm1(-x) / lambda : tau * (-std::expm1(-x) / x);
}

// Largest eigenvalue of a symmetric A [n, n] by Lanczos' method (Golub and Van Loan, ch. 10): k
// steps, k ≪ n, take n²·k operations, where a full decomposition takes n³. The orthonormal rows of
// V span the Krylov space of a random vector; T = V A Vᵀ is tridiagonal, with α_k on the diagonal
// and β_k next to it. The largest eigenvalue θ of T, with eigenvector s, is within β_k|s_k| of an
// eigenvalue of A.
double largest_eigenvalue(const Tensor& a) {
  constexpr std::int64_t most_steps = 256, stride = 8;
  constexpr double tolerance = 1e-8;  // for the residual; the error of θ is about its square
  const std::int64_t n = a.size(0);
  if (n <= most_steps) return lapack::eigenvalues(a).data<double>()[n - 1];
  Generator generic(0);
  Tensor v = normal({n, 1}, generic, 0, 1, f64);
  v = v / norm(v);
  Tensor basis = zeros({most_steps, n}, f64), t = zeros({most_steps, most_steps}, f64);
  double* const entry = t.mutable_data<double>();
  for (std::int64_t k = 0; k < most_steps; ++k) {
    copy_(select(basis, 0, k), select(v, 1, 0));
    const Tensor rows = slice(basis, 0, {.stop = k + 1});
    Tensor w = matmul(a, v);
    entry[k * (most_steps + 1)] = number_of("max_learning_rate", dot(v, w));
    for (int twice = 0; twice < 2; ++twice)  // rounding makes a second orthogonalization necessary
      w = w - matmul(transpose(rows), matmul(rows, w));
    const double beta = number_of("max_learning_rate", norm(w));
    if ((k + 1) % stride == 0 || beta <= tolerance * std::abs(entry[k * (most_steps + 1)])) {
      const Slice done{.stop = k + 1};
      const auto [values, vectors] = lapack::eigh(at(t, {done, done}));
      const double theta = number_of("max_learning_rate", at(values, {k}));
      if (beta * std::abs(number_of("max_learning_rate", at(vectors, {k, k}))) <=
          tolerance * std::abs(theta))
        return theta;
    }
    if (k + 1 < most_steps)
      entry[(k + 1) * most_steps + k] = beta;  // eigh reads only the lower triangle
    v = w / beta;
  }
  return lapack::eigenvalues(a).data<double>()[n - 1];
}

void check_time(double t) {
  LADON_CHECK(t >= 0, name, "the time is ", t, "; it must be ≥ 0 (or `infinite_time`)");
}

}  // namespace

struct GradientFlow::Decompositions {
  kernel_blocks::Ridge ridge;
  std::mutex mutex;
  Tensor factor;           // Cholesky factor of the NTK with jitter, [N, N]
  Tensor values, vectors;  // eigenvalues [N] and eigenvectors [N, N] of the NTK without jitter
};

GradientFlow::GradientFlow(const infinite::KernelMatrix& ntk, const Tensor& targets,
                           const GradientFlowOptions& options)
    : kind_(ntk.kind()),
      ntk_(clone(
          kernel_blocks::symmetric_block(name, "the NTK", ntk))),  // a copy: the caller may edit
                                                                   // the original
      targets_(clone(kernel_blocks::target_block(name, "the targets", targets, ntk_.size(0)))),
      rate_(options.learning_rate / static_cast<double>(targets_.count())),
      decompositions_(std::make_shared<Decompositions>()) {
  LADON_CHECK(options.learning_rate > 0 && std::isfinite(options.learning_rate), name,
              "the learning rate is ", options.learning_rate, "; it must be positive and finite");
  decompositions_->ridge = kernel_blocks::ridge_of(name, diagonal(ntk_), 0, options.jitter);
  decompositions_->ridge.takes_noise = false;
}

GradientFlow::Decompositions& GradientFlow::decompositions() const {
  return detail::held(name, decompositions_);
}

const Tensor& GradientFlow::factor() const {
  Decompositions& d = decompositions();
  const std::lock_guard lock(d.mutex);
  if (!d.factor.defined()) d.factor = kernel_blocks::factorize(name, ntk_, d.ridge);
  return d.factor;
}

const GradientFlow::Decompositions& GradientFlow::eigenbasis() const {
  Decompositions& d = decompositions();
  const std::lock_guard lock(d.mutex);
  if (d.values.defined()) return d;
  const auto [values, vectors] = lapack::eigh(ntk_);
  const std::int64_t n = values.size(0);
  const double lowest = values.data<double>()[0], highest = values.data<double>()[n - 1];
  // Rounding changes eigenvalues by about n·ε·‖Θ‖, with the machine epsilon ε.
  const double rounding = 4 * static_cast<double>(n) * std::numeric_limits<double>::epsilon() *
                          std::max(-lowest, highest);
  const double least = lowest + d.ridge.total();
  if (least < -rounding) kernel_blocks::fail_indefinite(name, d.ridge, least, -2 * least);
  d.values = values;
  d.vectors = vectors;
  return d;
}

// Φ_t r (Φ_t: head of this file), or with `times_kernel` K Φ_t r for the NTK K without jitter,
// computed in K's eigenbasis V. r and the result are [N, k].
Tensor GradientFlow::spectral(double t, const Tensor& r, bool times_kernel) const {
  const Decompositions& d = eigenbasis();
  Tensor scale = empty({r.size(0), 1}, f64);
  const double* lambda = d.values.data<double>();
  double* s = scale.mutable_data<double>();
  for (std::int64_t i = 0; i < r.size(0); ++i) {
    s[i] = decay(std::max(lambda[i] + d.ridge.total(), 0.0), t * rate_);
    if (times_kernel) s[i] *= std::max(lambda[i], 0.0);
  }
  return matmul(d.vectors, scale * matmul(transpose(d.vectors), r));  // V (s ∘ Vᵀr)
}

Tensor GradientFlow::phi(double t, const Tensor& r) const {
  return std::isinf(t) ? lapack::cholesky_solve(factor(), r) : spectral(t, r, false);
}

// Targets minus initial outputs, y − f_0, at the training inputs.
Tensor GradientFlow::residual(const Tensor& initial) const {
  if (!initial.defined()) return targets_;
  const Tensor f =
      kernel_blocks::target_block(name, "the initial training outputs", initial, targets_.size(0));
  LADON_CHECK(f.shape() == targets_.shape(), name,
              "the initial training outputs must have the targets' shape, but their shapes are ",
              f.shape(), " and ", targets_.shape());
  return targets_ - f;
}

Tensor GradientFlow::train(double t, const Tensor& initial) const {
  decompositions();
  check_time(t);
  const Tensor r = residual(initial);
  if (!std::isinf(t)) return targets_ - r + spectral(t, r, true);
  // f_0 + K (K + δI)⁻¹ r = y − δ (K + δI)⁻¹ r, with r = y − f_0
  return targets_ - phi(t, r) * decompositions().ridge.total();
}

Tensor GradientFlow::test(double t, const infinite::KernelMatrix& cross,
                          const InitialOutputs& initial) const {
  decompositions();
  check_time(t);
  infinite::check_one_kind(name, among, kind_, "the cross kernel", cross.kind());
  const Tensor k = kernel_blocks::cross_block(name, "the cross NTK", cross, -1, targets_.size(0));
  const Tensor change = matmul(k, phi(t, residual(initial.train)));  // [M, N] · [N, O] → [M, O]
  if (!initial.test.defined()) return change;
  const Tensor f =
      kernel_blocks::target_block(name, "the initial test outputs", initial.test, k.size(0));
  LADON_CHECK(f.shape() == change.shape(), name, "the initial test outputs have shape ", f.shape(),
              "; it must be ", change.shape());
  return f + change;
}

// f_t = f_0(x) + S (y − f_0(X)), where S = Θ* Φ_t [M, N] and Θ* is `cross`, is linear in f_0 ~
// GP(0, K). With the NNGP kernels K, K* and K** (nngp.train, cross and test)
//   mean = S y,   covariance = K** − S K*ᵀ − K* Sᵀ + S K Sᵀ,
// the symmetric part of K** + (S K − 2 K*) Sᵀ.
GpPrediction GradientFlow::ensemble(double t, const infinite::KernelMatrix& cross,
                                    const NngpBlocks& nngp) const {
  decompositions();
  check_time(t);
  infinite::check_one_kind(name, among, kind_, "the cross kernel", cross.kind());
  for (const infinite::KernelMatrix& block : {nngp.train, nngp.cross, nngp.test})
    infinite::check_one_kind(name, "the covariance of networks before training",
                             infinite::Get::nngp, "a matrix of NngpBlocks", block.kind());
  const std::int64_t n = targets_.size(0);
  const Tensor theta = kernel_blocks::cross_block(name, "the cross NTK", cross, -1, n);
  const std::int64_t m = theta.size(0);
  const Tensor k =
      kernel_blocks::symmetric_block(name, "the NNGP kernel of the training inputs", nngp.train);
  LADON_CHECK(k.size(0) == n, name,
              "the NNGP kernel of the training inputs must have the NTK's shape: it has shape ",
              k.shape(), ", but the NTK has shape ", ntk_.shape());
  const Tensor k_cross =
      kernel_blocks::cross_block(name, "the cross NNGP kernel", nngp.cross, m, n);
  const Tensor k_test = kernel_blocks::test_block(name, nngp.test, m);
  const Tensor s = transpose(phi(t, transpose(theta)));  // Φ is symmetric
  const Tensor d = matmul(s, k) - 2 * k_cross;           // [M, N]
  const Tensor change = k_test.rank() == 1 ? sum(d * s, 1) : matmul(d, transpose(s));
  const DType precision = kernel_blocks::least_precise(
      kernel_blocks::least_precise(nngp.train.dtype(), nngp.cross.dtype()), nngp.test.dtype());
  // For any S, k_test + change is the covariance of f_0(x) − S f_0(X). So rounding errors of S and
  // of the NTK make no variance negative.
  const auto rounding = [&] {
    return kernel_blocks::rounding_of_squares(s, k_test, diagonal(k), precision);
  };
  return {matmul(s, targets_),
          kernel_blocks::proper_covariance(name, k_test + change, k_test, precision, rounding,
                                           kernel_blocks::one_kernel)};
}

double max_learning_rate(const Tensor& ntk, std::int64_t elements, double momentum) {
  constexpr std::string_view operation = "max_learning_rate";
  const Tensor k = kernel_blocks::symmetric_block(operation, "the NTK", ntk);
  LADON_CHECK(elements >= 1, operation, "the number of target elements is ", elements,
              "; it must be at least 1");
  LADON_CHECK(momentum >= 0 && momentum < 1, operation, "the momentum is ", momentum,
              "; it must be in [0, 1)");
  const double largest = largest_eigenvalue(k);
  if (largest <= 0) return infinite_time;
  return 2 * (1 + momentum) * static_cast<double>(elements) / largest;
}

}  // namespace ladon
