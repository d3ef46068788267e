#pragma once
// Transposed convolutions, channels last: layers that increase the number of positions.

#include "ladon/layers/init.h"
#include "ladon/layers/layer.h"

namespace ladon {

/// Options, with one number per axis as in transposed_convolution
/// (autograd/extra/windows/convolution.h).
struct ConvTransposeOptions {
  std::int64_t in, out;
  Shape window;       ///< {w} or {h, w}: size of the filter in taps.
  Shape stride = {};  ///< If empty, 1 on every axis.
  /// Numbers of positions cut off at the beginning and at the end of each axis. If `after` is
  /// empty, `before` holds for both ends.
  Shape before = {}, after = {};
  Shape dilation = {};        ///< If empty, 1 on every axis.
  Shape output_padding = {};  ///< Additional positions at the end.
  std::int64_t groups = 1;
  bool bias = true;
  Init init = Init::kaiming_normal;  ///< fan_in = taps·in/groups, fan_out = out.
  double gain = 1;
};

/// The gradient of a convolution with respect to its input: n positions become
/// (n − 1)·stride − before − after + dilation·(window − 1) + output_padding + 1. A mask throws
/// Error.
struct ConvTranspose : Layer {
  Tensor weight;  ///< [in, window.., out/groups]
  Tensor bias;    ///< [out]; undefined when bias = false
  ConvTransposeOptions options;

  Tensor forward(const Tensor& x) const override;
  /// Let k be the NNGP kernel and Θ the NTK of the inputs, v the variance of a weight at
  /// initialization, and i(a, o) the input position that output position a sees through tap o, if
  /// there is one. Then
  ///   k'_ab = v·in·Σ_o k_i(a,o),i(b,o),
  ///   Θ'_ab = v·in·Σ_o Θ_i(a,o),i(b,o) + in·Σ_o k_i(a,o),i(b,o),
  /// plus 1 in Θ' for a bias. Throws Error with several groups.
  infinite::KernelNode limit(const infinite::KernelNode& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;

 protected:
  ConvTranspose(const char* name, int axes, const ConvTransposeOptions& options, Generator& rng);

 private:
  void report(const Tensor& x, const Tensor& y) const;
  const char* name_;
};

/// [N, T, in] → [N, T', out].
struct ConvTranspose1d : ConvTranspose {
  /// Throws Error if a size is not positive, if groups do not divide the channels evenly, and
  /// unless there is one window size.
  ConvTranspose1d(const ConvTransposeOptions& o, Generator& rng)
      : ConvTranspose("ConvTranspose1d", 1, o, rng) {}
};

/// [N, H, W, in] → [N, H', W', out].
struct ConvTranspose2d : ConvTranspose {
  /// Throws Error if a size is not positive, if groups do not divide the channels evenly, and
  /// unless there are two window sizes.
  ConvTranspose2d(const ConvTransposeOptions& o, Generator& rng)
      : ConvTranspose("ConvTranspose2d", 2, o, rng) {}
};

}  // namespace ladon
