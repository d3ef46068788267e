#pragma once
// Kernel discrepancies: distances of samples from a density (kernelized Stein discrepancy) or from
// other samples (maximum mean discrepancy, MMD). Both are the largest difference between the means
// of a function under two distributions, over functions in the unit ball of a kernel's reproducing
// Hilbert space. Computed in f64, in an order of summation that depends on the shapes alone.

#include <cstdint>
#include <limits>
#include <optional>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"
#include "ladon/optim/samplers/log_density.h"

namespace ladon {

enum class DiscrepancyKernel {
  imq,  ///< k(x, y) = (1 + |x − y|²/h²)^(−1/2)
  rbf,  ///< k(x, y) = exp(−|x − y|²/(2h²))
};

struct DiscrepancyOptions {
  /// Prefer imq: in three dimensions or more the Stein discrepancy with rbf can tend to 0 even for
  /// samples that do not converge to the density; with imq it cannot (Gorham and Mackey 2017,
  /// theorems 6 and 8).
  DiscrepancyKernel kernel = DiscrepancyKernel::imq;
  /// Squared bandwidth h². If empty, it is the median of |x − y|² over all pairs (the median
  /// heuristic of Gretton et al. 2012). Because that median depends on the samples,
  /// SteinDiscrepancy::u and SampleMmd::unbiased are then unbiased only approximately, and results
  /// for different samples are comparable only if you set the same h².
  std::optional<double> h2 = {};
};

/// The squared kernelized Stein discrepancy between samples and a density.
struct SteinDiscrepancy {
  double v;  ///< (1/M²) Σ_ij u_p(x_i, x_j) ≥ 0, u_p as in ksd(); positive even for samples of p.
  double
      u;  ///< (1/(M(M−1))) Σ_{i≠j} u_p(x_i, x_j): unbiased, so it may be negative. NaN for M = 1.
  double se;  ///< Standard error of u, by the jackknife (Efron 1982), which overestimates on
              ///< average. NaN for M < 3.
  /// Standard deviation of u under the null hypothesis that the samples are independent draws from
  /// p, sqrt(2/(M(M−1))·mean_{i≠j} u_p²); u then has mean 0, but is not a sum of independent terms.
  /// NaN for M = 1.
  double null_sd;
  double h2;
};

/// Kernelized Stein discrepancy of samples x [M, D], given their scores s = ∇ ln p [M, D]; p need
/// not be normalized. With the kernel k = k(x, y) it averages
///   u_p(x, y) = k·s_xᵀs_y + s_xᵀ∇_y k + s_yᵀ∇_x k + tr ∇_x∇_yᵀ k,
/// which has mean 0 over x ~ p for every y. The result v is mean_i [s_i·φ(x_i) + div φ(x_i)] with
/// SVGD's direction φ (svgd.h, same kernel, α = 1): the rate at which SVGD decreases the divergence
/// KL(q ‖ p) of the distribution q of its particles. (Liu, Lee and Jordan 2016; Chwialkowski,
/// Strathmann and Gretton 2016; Gorham and Mackey 2017.) O(M²·D) operations; memory O(M) if h2 is
/// given, O(M²) for the median. Throws Error for other shapes, for values that are not finite, for
/// an h2 that is not positive and finite, and if the median is 0 (for one sample, or if most
/// samples are equal).
SteinDiscrepancy ksd(const Tensor& x, const Tensor& score, const DiscrepancyOptions& options = {});
/// Kernelized Stein discrepancy of samples x [M, D], with scores computed from the density p.
SteinDiscrepancy ksd(const Tensor& x, const LogDensity& p, const DiscrepancyOptions& options = {});

/// The squared maximum mean discrepancy between two sets of samples x and y, with the kernel k.
struct SampleMmd {
  double biased;  ///< mean k(x, x′) + mean k(y, y′) − 2 mean k(x, y) over all pairs, including
                  ///< x = x′ and y = y′: at least 0.
  double unbiased;  ///< The same without pairs x = x′ and y = y′: may be negative. NaN if a set has
                    ///< one sample.
  double h2;
};

/// MMD² between x [M, D] and y [N, D] (Gretton, Borgwardt, Rasch, Schölkopf and Smola 2012, section
/// 2.2). The default h² is the median over pairs of both sets together. Throws the Errors of ksd().
SampleMmd sample_mmd(const Tensor& x, const Tensor& y, const DiscrepancyOptions& options = {});

/// P-value of a permutation test of the null hypothesis that both sets are independent samples of
/// one distribution: (1 + number of random permutations of the M + N samples whose `unbiased` is at
/// least as large as the observed one)/(1 + permutations). It is never 0, and under the null
/// hypothesis it is at most α with probability at most α, for every α (Phipson and Smyth 2010).
/// Samples of a Markov chain are not independent: thin them first. Throws Error if a set has fewer
/// than two samples, and unless there are 1 to 1,000,000 permutations.
double mmd_p_value(const Tensor& x, const Tensor& y, std::int64_t permutations,
                   const DiscrepancyOptions& options, Generator& rng);
inline double mmd_p_value(const Tensor& x, const Tensor& y, std::int64_t permutations,
                          Generator& rng) {
  return mmd_p_value(x, y, permutations, {}, rng);
}

}  // namespace ladon
