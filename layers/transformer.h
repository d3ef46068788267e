#pragma once
// The Transformer encoder (Vaswani et al. 2017).

#include <functional>
#include <optional>
#include <vector>

#include "ladon/layers/activation.h"
#include "ladon/layers/attention.h"
#include "ladon/layers/dropout.h"
#include "ladon/layers/linear.h"
#include "ladon/layers/norm.h"

namespace ladon {

enum class NormPlacement {
  pre,   ///< x + f(norm(x)): the residual stream is never normalized   (Xiong et al. 2020)
  post,  ///< norm(x + f(x)): as published
};

struct TransformerEncoderLayerOptions {
  std::int64_t dim;
  std::int64_t heads;
  std::int64_t hidden = 0;  ///< Width of the feed-forward block; 0: 4·dim.
  double dropout = 0.1;     ///< After each branch and inside the feed-forward block.
  double attention_dropout = 0;
  NormPlacement norm = NormPlacement::pre;
  Nonlinearity activation = Nonlinearity::gelu;
  bool causal = false;
  bool projection_bias = true;  ///< Of queries, keys and values.
  AttentionForm form = {};      ///< Scaling of the logits, and what takes softmax's place.
  std::optional<AttentionPositions> positions = {};  ///< Added, or set beside, inside attention.
  AttentionPrior prior =
      {};  ///< Of attention; its parameterization is also the feed-forward block's …
  double weight_std = 1;  ///< … whose σ_w, and …
  double bias_std = 0;    ///< … σ_b are these in ntk parameterization.
  LimitDraws limit_draws = {};
};

/// Self-attention and a feed-forward block, each with dropout, residual and layer norm:
/// [batch, T, dim] → [batch, T, dim].
struct TransformerEncoderLayer : Layer {
  MultiHeadAttention attention;
  LayerNorm attention_norm, feedforward_norm;
  Linear expand, contract;
  Dropout dropout;
  NormPlacement placement;
  Nonlinearity activation;

  TransformerEncoderLayer(const TransformerEncoderLayerOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override { return forward(x, AttentionMask{}); }
  Tensor forward(const Tensor& x, const AttentionMask& mask) const;
  using Layer::operator();
  Tensor operator()(const Tensor& x, const AttentionMask& mask) const {
    return called([&] { return forward(x, mask); });
  }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override {
    return forward(x, padding(mask));
  }
  /// The same, and the attention weights [batch, heads, T, T].
  AttentionResult forward_with_weights(const Tensor& x, const AttentionMask& mask) const;
  /// That of its parts. Throws Error where the inputs' channels do not have mean zero, but for a fixed
  /// table of positions, as a random linear map makes them.
  infinite::Kernel limit(const infinite::Kernel& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;

 private:
  Tensor around(const Tensor& x, const std::function<Tensor(const Tensor&)>& attend) const;
  Tensor feedforward(const Tensor& x) const;
};

struct TransformerEncoderOptions {
  TransformerEncoderLayerOptions layer;
  std::int64_t layers;
};

/// A stack of encoder layers; with pre-norm, a final layer norm.
struct TransformerEncoder : Layer {
  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> final_norm;

  TransformerEncoder(const TransformerEncoderOptions& options, Generator& rng);
  Tensor forward(const Tensor& x) const override { return forward(x, AttentionMask{}); }
  Tensor forward(const Tensor& x, const AttentionMask& mask) const;
  using Layer::operator();
  Tensor operator()(const Tensor& x, const AttentionMask& mask) const {
    return called([&] { return forward(x, mask); });
  }
  Tensor forward_masked(const Tensor& x, const Tensor& mask) const override {
    return forward(x, padding(mask));
  }
  /// The same, and the attention weights [batch, heads, T, T] of each layer.
  struct Details {
    Tensor output;
    std::vector<Tensor> weights;
  };
  Details forward_with_weights(const Tensor& x, const AttentionMask& mask) const;
  infinite::Kernel limit(const infinite::Kernel& k) const override;
  void visit(Visitor& v) override;
  std::string describe() const override;
};

}  // namespace ladon
