#include "ladon/layers/norm.h"

#include "ladon/core/error.h"

namespace ladon {

LayerNorm::LayerNorm(const LayerNormOptions& options) : dim(options.dim), eps(options.eps) {
  check(dim > 0, "LayerNorm", "dim must be positive, got ", dim);
  if (!options.affine) return;
  weight = parameter(ones({dim}));
  bias = parameter(zeros({dim}));
}

Tensor LayerNorm::forward(const Tensor& x) const {
  check(x.rank() > 0 && x.size(-1) == dim, "LayerNorm", "expects [.., ", dim, "], got shape ",
        x.shape());
  return layer_norm(x, weight, bias, eps);
}

void LayerNorm::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
}

std::string LayerNorm::describe() const { return concat("LayerNorm(", dim, ")"); }

}  // namespace ladon
