#pragma once
// Deprecated aliases for renamed types and functions, which the next version removes. Former names
// that are everyday words (Batch, Target, Sum, …) have no alias, because they would clash with
// users' own types.

#include <string>

#include "ladon/autograd/extra/windows/pooling.h"
#include "ladon/autograd/ops/inplace.h"
#include "ladon/core/extra/data/batches.h"
#include "ladon/core/extra/text/glove.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/embedding.h"
#include "ladon/layers/norm.h"
#include "ladon/layers/pooling.h"
#include "ladon/optim/extra/training/average.h"

namespace ladon {

using Batches [[deprecated("TextBatches")]] = TextBatches;
using BatchOptions [[deprecated("TextBatchOptions")]] = TextBatchOptions;
using Concatenate [[deprecated("ConcatenateBranches")]] = ConcatenateBranches;
using EmbeddingLayerOptions [[deprecated("EmbeddingOptions")]] = EmbeddingOptions;
using MeanPool [[deprecated("MeanPositions")]] = MeanPositions;
using RMSNorm [[deprecated("RmsNorm")]] = RmsNorm;
using RMSNormOptions [[deprecated("RmsNormOptions")]] = RmsNormOptions;
using SumPool [[deprecated("SumPositions")]] = SumPositions;
using AverageOptions [[deprecated("WeightAverageOptions")]] = WeightAverageOptions;
using AveragePoolingOptions [[deprecated("AveragePoolOptions")]] = AveragePoolOptions;

[[deprecated("max_pool")]] inline Tensor max_pooling(const Tensor& x, const Shape& window,
                                                     const WindowOptions& options = {}) {
  return max_pool(x, window, options);
}
[[deprecated("mean_positions")]] inline Tensor mean_pool(const Tensor& x, const Tensor& mask = {}) {
  return mean_positions(x, mask);
}
[[deprecated("mul_")]] inline void scale_(Tensor x, double s) { mul_(x, s); }
[[deprecated("read_glove")]] inline Glove load_glove(const std::string& path) {
  return read_glove(path);
}

}  // namespace ladon
