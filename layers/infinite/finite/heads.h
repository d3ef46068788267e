#pragma once
// Distribution of the outputs of attention with a finite number of heads.
//
//   const FiniteHeads heads = infinite::finite_heads(model, {.heads = 4});
//   const Latents z = heads.draw(x, rng);              // the random variables of four heads
//   const Kernel k = heads.kernel(x, z);               // given z, outputs are N(0, k.nngp)
//   const ScaleMixture y = heads.outputs(x, 10000, rng)[0];   // first input, averaged over z
//
// With square-root scaling the logits of a wide head stay random. But one small matrix B determines
// the logits of a head for all inputs n, G(n) = QK·Φ_n·B·Φ_nᵀ with k = Φ·Φᵀ. Given z, the matrices
// B of all heads, the outputs are Gaussian (Sakai, Karakida and Imaizumi 2025, arXiv 2506.00846):
//   f | z ~ N(0, K_z),   K_z = OV²/H Σ_h r_h·A_h(n)·k_v(n, m)·A_h(m)ᵀ (+ σ_b²),   A_h = ζ(G_h),
// where k_v is the kernel of the values; QK, OV, σ_b and ζ are those of attention/limit.h. For
// outputs of the attention layer E K_z is the NNGP kernel for every number H of heads, also after
// further layers that map kernels linearly (Linear, convolutions, pooling); after a nonlinearity, a
// LayerNorm or another attention the mean differs by O(1/H). The distribution of an output is a
// mixture of normal distributions with different variances. The mixture is exact for any given
// widths of keys and values; the scale r_h (HeadLatents::scale) is 1 for values of infinite width.
// Layers around attention are infinitely wide, and map kernels as they do in the limit; a second
// attention layer has separate latents, in coordinates of the first one's outputs. With linear
// scaling the logits of wide heads are not random, so that such a layer has no latents.

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "ladon/core/measured.h"
#include "ladon/core/random.h"
#include "ladon/layers/infinite/kernel/heads.h"
#include "ladon/layers/infinite/limit.h"

namespace ladon::infinite {

struct FiniteHeadsOptions {
  std::int64_t heads = 1;        ///< H, in every attention layer.
  std::int64_t key_width = 0;    ///< d_k; 0 for infinite.
  std::int64_t value_width = 0;  ///< d_v; 0 for infinite. If finite, K_z is for one output channel.
};

/// Mixture of the normal distributions N(0, v) for v in `variances` (sorted), with equal weights.
class ScaleMixture {
 public:
  /// Throws Error if there are no variances, or if one is negative or not finite.
  explicit ScaleMixture(std::vector<double> variances);
  const std::vector<double>& variances() const& { return variances_; }
  std::vector<double> variances() && { return std::move(variances_); }
  double density(double y) const;  ///< Without the point mass at 0 that variances of 0 give.
  double cdf(double y) const;
  /// The variance, E v.
  double variance() const;
  /// Excess kurtosis 3·(E v²/(E v)² − 1), with its standard error for independent draws of v.
  Measured excess_kurtosis() const;

 private:
  std::vector<double> variances_;
};

/// Mean and variance of kernels over draws of the heads, elementwise, and the standard error of the
/// mean. ntk is undefined unless requested.
struct KernelMoments {
  struct Of {
    Tensor mean, variance, se;
  };
  Of nngp, ntk;
};

class FiniteHeads {
 public:
  FiniteHeads(Limit limit, const FiniteHeadsOptions& options);
  const FiniteHeadsOptions& options() const& { return options_; }
  FiniteHeadsOptions options() && { return options_; }

  /// Latents of all attention layers, for these inputs together: kernels of training and test
  /// inputs belong to one network only if both are in x. Advances rng by one block
  /// (Generator::reserve).
  Latents draw(const Inputs& x, Generator& rng) const;

  /// K_z between all inputs of x, with the shapes of the NNGP kernel of Limit; with Get::ntk, at
  /// infinite widths, also the NTK given the latents. Differentiable with respect to the
  /// latents. Entries at padded positions are meaningless: masked tokens have no coordinates, so
  /// that their queries weigh all keys equally. Throws Error if the latents do not fit the model's
  /// layers and their tokens, or the options.
  Kernel kernel(const Inputs& x, const Latents& z, Get get = Get::nngp,
                Entries wanted = Entries::full) const;

  /// Features of each head for the tokens that queries and keys see, A_h·Φ [H, N, T, R], per
  /// attention layer with sqrt scaling. If values see the same tokens, the layer's kernel is OV²/H
  /// Σ_h r_h times their inner products (+ σ_b²), with rank at most H·R.
  std::vector<Tensor> features(const Inputs& x, const Latents& z) const;
  /// Tokens and attention weights (HeadMap) of each attention layer with sqrt scaling, for inputs
  /// x; the tokens of a later layer depend on z.
  std::vector<HeadMap> maps(const Inputs& x, const Latents& z) const;

  /// Calls `use` with kernel() for `draws` independent latents, in order; they are computed on all
  /// threads. The first latents are those of draw(x, rng) with the same generator. Advances rng by
  /// one block.
  void for_each(const Inputs& x, std::int64_t draws, Generator& rng, Get get,
                const std::function<void(const Kernel&)>& use) const;

  /// Moments of kernel() over `draws` draws of the latents, at least 2.
  KernelMoments moments(const Inputs& x, std::int64_t draws, Generator& rng,
                        Get get = Get::nngp) const;

  /// Distribution of a channel of the output for each input or, if outputs have positions, for each
  /// position of each input (those of the first input first), from `draws` draws of the latents, at
  /// least one.
  std::vector<ScaleMixture> outputs(const Inputs& x, std::int64_t draws, Generator& rng) const;

 private:
  Kernel run(const Inputs& x, const HeadSource& heads, Get get, Entries wanted,
             std::vector<HeadMap>* maps = nullptr) const;
  Kernel given(const Inputs& x, const Latents& z, Get get, Entries wanted,
               std::vector<HeadMap>* maps = nullptr) const;
  HeadLatents draw_layer(std::int64_t rank, Generator rng) const;

  Limit limit_;
  FiniteHeadsOptions options_;
};

/// Finite heads of a model. The model must outlive the result, unless it is a temporary, which the
/// result keeps. Throws Error for negative sizes, and for zero heads.
FiniteHeads finite_heads(const Layer& model, const FiniteHeadsOptions& options = {});
template <std::derived_from<Layer> M>
requires(!std::is_reference_v<M>) FiniteHeads
    finite_heads(M&& model, const FiniteHeadsOptions& options = {}) {
  return {limit(std::move(model)), options};
}

}  // namespace ladon::infinite
