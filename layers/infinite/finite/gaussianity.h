#pragma once
// Gaussianity of the outputs of finite networks.
//
// A network's limit is a Gaussian process only if its outputs become Gaussian; the right covariance
// is not enough. If the variance of an output is itself random from network to network (one
// attention head with square-root scaling: Hron et al. 2020), outputs are a mixture of Gaussians of
// different variances, with heavier tails.

#include <cstdint>
#include <functional>
#include <limits>

#include "ladon/core/measured.h"
#include "ladon/core/random.h"
#include "ladon/core/tensor.h"

namespace ladon::infinite {

// --- excess kurtosis ---

/// Excess kurtosis E y⁴/(E y²)² − 3 of outputs with known mean 0, from samples [draws, N, C]: it is
/// computed for each of the N inputs, over draws and channels, then averaged over inputs. Channels
/// of one draw may depend on each other, so bias and standard error are the jackknife's over draws
/// (Efron 1982). Throws Error for fewer than 3 draws.
Measured excess_kurtosis(const Tensor& samples);

/// Widths of an attention layer with square-root scaling and independent queries and keys.
struct AttentionWidths {
  std::int64_t heads = 1;
  double key_width = std::numeric_limits<double>::infinity();    ///< d_k
  double value_width = std::numeric_limits<double>::infinity();  ///< d_v
  /// d_r: channels of the layer, if the output is a random linear readout of all of them.
  double readout_width = std::numeric_limits<double>::infinity();
};

/// The exact excess kurtosis of an output of an attention layer whose weights are the logits
/// themselves (Weighting::identity), with no output bias and these widths (H heads):
///   3·((1 + 2/d_r)·(1 + ((1 + 2/d_k)(1 + 2/d_v)(1 + 2ρ) − 1)/H) − 1),
///   ρ = tr((k·k_v)²)/tr(k·k_v)²,
/// which is 6ρ/H for heads of infinite width. `keys` [T, T] is the kernel k of the input of queries
/// and keys (with positional encodings), `values` [T, T] is the kernel k_v of the input of values.
/// The standard deviations of the weights cancel, and so does the fixed combination of tokens that
/// forms the output (one token, their mean, …).
///
/// Reason: let g be the row of logits of the combination of tokens. Given g, the output is Gaussian
/// with variance s = (1/H) Σ_h q_h, q = gᵀ k_v g, up to a factor, and a Gaussian of random variance
/// has excess kurtosis 3·Var s/(E s)² = (3/H)·Var q/(E q)². For wide keys g ~ N(0, c·k) with a
/// constant c, so that E q = c·tr(k·k_v) and Var q = 2c²·tr((k·k_v)²). With finite d_k, |Wx|² of
/// the query makes c a χ²/d_k variable, and with finite d_v, q is a mean of squares: each
/// multiplies E q² by 1 + 2/width. Throws Error for a width or a number of heads that is not
/// positive.
double identity_kurtosis(const Tensor& keys, const Tensor& values, const AttentionWidths& widths);

/// Excess kurtosis for any ζ and wide heads: (3/H)·Var q/(E q)² with q = (wᵀζ(G))·k_v·(wᵀζ(G))ᵀ,
/// Cov(G_ai, G_bj) = qk_std²·k_ab·k_ij; k, k_v as in identity_kurtosis(). No closed form is known
/// for softmax: this is a Monte Carlo estimate over `samples` draws of G, with its standard error.
/// `zeta` maps logits [S, T, T] to weights; `readout` [T] is the combination w of tokens.
Measured head_kurtosis(const std::function<Tensor(const Tensor&)>& zeta, double qk_std,
                       const Tensor& keys, const Tensor& values, const Tensor& readout,
                       std::int64_t heads, std::int64_t samples, Generator& rng);

// --- the whole distribution ---

/// Kolmogorov-Smirnov test of samples [n] against N(0, σ²): the largest distance between their
/// distribution functions.
struct KolmogorovSmirnov {
  double distance = 0;
  /// Probability of a larger distance, if samples are independent draws of the tested distribution.
  double p_value = 1;
  std::int64_t count = 0;
};
KolmogorovSmirnov kolmogorov_smirnov(const Tensor& samples, double stddev);
/// Kolmogorov-Smirnov test of samples [n] against the distribution with the continuous distribution
/// function `cdf`.
KolmogorovSmirnov kolmogorov_smirnov(const Tensor& samples,
                                     const std::function<double(double)>& cdf);
/// p-value P(distance > d) for n samples of the tested distribution: Kolmogorov's series at
/// (sqrt(n) + 0.12 + 0.11/sqrt(n))·d (Stephens 1970), accurate to about 1% for n ≥ 5.
double kolmogorov_p_value(double distance, std::int64_t n);
/// The distance with this p-value: about 1.358/sqrt(n) for 0.05.
double kolmogorov_critical(double p_value, std::int64_t n);

/// Maximum mean discrepancy (Gretton et al. 2012) between samples [n, d], independent draws of a
/// vector, and N(0, K), for the kernel k(x, y) = exp(−|x − y|²/(2h²)). The mean of the kernel under
/// N(0, K) is known in closed form, so only one sample is needed: the unbiased estimate
///   1/(n(n−1)) Σ_{i≠j} k(x_i, x_j) − (2/n) Σ_i E_y k(x_i, y) + E k(y, y').
struct Discrepancy {
  double squared = 0;    ///< MMD², unbiased: may be negative.
  double se = 0;         ///< Standard error of `squared` if the distributions differ.
  double null_sd = 0;    ///< Exact standard deviation of `squared` if they are the same.
  double bandwidth = 0;  ///< h
};
/// Discrepancy of samples [n, d] from N(0, covariance). A bandwidth of 0 stands for h² = tr K, half
/// the mean squared distance of two draws of N(0, K). Throws Error for fewer than 3 samples, for a
/// bandwidth that is negative or not finite, or if all of K is zero and no bandwidth is given.
Discrepancy mmd(const Tensor& samples, const Tensor& covariance, double bandwidth = 0);

}  // namespace ladon::infinite
