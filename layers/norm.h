#pragma once
// Normalization layers.

#include "ladon/layers/module.h"

namespace ladon {

struct LayerNormOptions {
  std::int64_t dim;
  double eps = 1e-5;
  bool affine = true;  ///< Trained weight (from 1) and bias (from 0).
};

/// Zero mean and unit variance over the last axis:  [.., dim] → [.., dim]   (Ba et al. 2016).
struct LayerNorm : Layer {
  Tensor weight, bias;  ///< [dim]; undefined when affine = false
  std::int64_t dim;
  double eps;

  explicit LayerNorm(const LayerNormOptions& options);
  Tensor forward(const Tensor& x) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
