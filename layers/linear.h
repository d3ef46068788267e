#pragma once
// Affine maps and tables.

#include "ladon/layers/init.h"
#include "ladon/layers/module.h"

namespace ladon {

struct LinearOptions {
  std::int64_t in, out;
  bool bias = true;
  Init init = Init::xavier_uniform;  ///< Of the weight; the bias starts at zero.
  double gain = 1;
};

/// y = x·Wᵀ + b:  [.., in] → [.., out].
struct Linear : Layer {
  Tensor weight;  ///< [out, in]
  Tensor bias;    ///< [out]; undefined when bias = false

  Linear(const LinearOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

struct EmbeddingLayerOptions {
  std::int64_t count, dim;
  std::int64_t padding_index = -1;  ///< ≥ 0: a row that is zero and gets no gradient.
  double stddev = 1;                ///< Rows start as N(0, stddev²).
};

/// Rows of a table:  i64 [..] → [.., dim]. Throws Error for an index outside [0, count).
struct Embedding : Layer {
  Tensor weight;  ///< [count, dim]
  std::int64_t padding_index;

  Embedding(const EmbeddingLayerOptions& options, Generator& rng);
  Tensor forward(const Tensor& index) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
