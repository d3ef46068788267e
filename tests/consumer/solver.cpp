// A solver of one's own: a kernel K = Φ·Φᵀ of D features solved in D dimensions, for N inputs of
// which no matrix [N, N] is ever made (Woodbury; Rasmussen and Williams 2006, A.9 and A.10):
//   A = ΦΦᵀ + s·I,  A⁻¹b = (b − Φ·S⁻¹Φᵀb)/s,  ln det A = ln det S + (N − D)·ln s,   S = ΦᵀΦ + s·I.
// The Gaussian process does the rest: means, variances, evidence, leave-one-out.
#include <cmath>

#include "expect.h"
#include "ladon/ladon.h"

using namespace ladon;

class FeatureSolver : public Solver {
 public:
  FeatureSolver(Tensor features, double noise)  // Φ [N, D], s
      : features_(std::move(features)),
        noise_(noise),
        small_(matmul(transpose(features_), features_), {.noise = noise, .jitter = 0}) {}
  std::int64_t size() const override { return features_.size(0); }
  LinearSolution solve(const Tensor& b) const override {
    const Tensor inner = small_.solve(matmul(transpose(features_), b)).x;  // [D, k]
    return {(b - matmul(features_, inner)) / noise_};
  }
  double log_determinant() const override {
    const auto more = static_cast<double>(features_.size(0) - features_.size(1));
    return small_.log_determinant() + more * std::log(noise_);
  }

 private:
  Tensor features_;
  double noise_;
  DenseFactor small_;  // of S
};

int main() {
  Generator rng(1);
  const Tensor phi = normal({300, 5}, rng, 0, 1, f64), test = normal({7, 5}, rng, 0, 1, f64),
               y = normal({300}, rng, 0, 1, f64);
  const auto kernel = [](const Tensor& a, const Tensor& b) { return matmul(a, transpose(b)); };
  const GaussianProcess fast(FeatureSolver(phi, 0.1), y);
  const GaussianProcess dense(kernel(phi, phi), y, {.noise = 0.1, .jitter = 0});
  const auto predict = [&](const GaussianProcess& gp) {
    return gp.predict(kernel(test, phi), kernel(test, test));
  };
  const auto far = [](const Tensor& a, const Tensor& b) { return amax(abs(a - b)).item(); };
  expect_near("means", far(predict(fast).mean, predict(dense).mean), 0, 1e-9);
  expect_near("covariances", far(predict(fast).covariance, predict(dense).covariance), 0, 1e-9);
  expect_near("evidence", fast.log_marginal_likelihood(), dense.log_marginal_likelihood(), 1e-7);
  expect_near("left out", fast.leave_one_out().log_density, dense.leave_one_out().log_density,
              1e-7);
}
