// LibTorch's side of entries of layers. The inputs x are the layer's input x[0], then its
// parameters in the order of Ladon's entry.

#include "peers.h"

namespace ladon::bench::every {
namespace {

at::Tensor dense(const at::Tensor& x, const P& p, std::size_t weight) {
  return at::linear(x, p[weight], p[weight + 1]);
}
at::Tensor norm(const at::Tensor& x, const P& p, std::size_t weight) {
  return at::layer_norm(x, {x.size(-1)}, p[weight], p[weight + 1]);
}

void add_maps(PeerTable& t) {
  t.add("Linear", [](const P& x) { return dense(x[0], x, 1); });
  t.add("Embedding", [](const P& x) { return at::embedding(x[1], x[0]); });
  t.add("Activation", [](const P& x) { return at::relu(x[0]); });
  t.add("Elementwise", [](const P& x) { return at::tanh(x[0]); });
  t.add("Dropout", [](const P& x) { return at::dropout(x[0], 0.3, true); });
  t.add("LayerNorm", [](const P& x) { return norm(x[0], x, 1); });
  t.add("RmsNorm", [](const P& x) { return at::rms_norm(x[0], {x[0].size(-1)}, x[1], 1e-5); });
  t.add_made("BatchNorm", [](const P& x) -> PeerFunction {
    const at::Tensor mean = at::zeros_like(x[1]), var = at::ones_like(x[1]);
    return [=](const P& p) {
      return last(at::batch_norm(first(p[0]), p[1], p[2], mean, var, true, 0.1, 1e-5, false));
    };
  });
  t.add("GroupNorm",
        [](const P& x) { return last(at::group_norm(first(x[0]), 4, x[1], x[2], 1e-5, false)); });
  t.add("InstanceNorm", [](const P& x) {
    return last(at::group_norm(first(x[0]), x[0].size(3), x[1], x[2], 1e-5, false));
  });
}

void add_containers(PeerTable& t) {
  t.add("Sequential", [](const P& x) { return dense(at::relu(dense(x[0], x, 1)), x, 3); });
  t.add("SumBranches", [](const P& x) { return x[0] + dense(x[0], x, 1); });
  t.add("MultiplyBranches", [](const P& x) { return dense(x[0], x, 1) * dense(x[0], x, 3); });
  t.add("ConcatenateBranches", [](const P& x) {
    return at::cat({dense(x[0], x, 1), dense(x[0], x, 3)}, -1);
  });
  t.add("Residual", [](const P& x) {
    return at::add(x[0] * std::sqrt(0.3), dense(x[0], x, 1), std::sqrt(0.7));
  });
  t.add("LearnedPositions", [](const P& x) { return x[0] + x[1]; });
}

/// [out, taps · in] as [out, in, taps…], a view.
at::Tensor filter(const at::Tensor& weight, std::int64_t in) {
  return weight.view({weight.size(0), 3, 3, in}).permute({0, 3, 1, 2});
}

void add_windows_of(PeerTable& t) {
  t.add("Conv1d", [](const P& x) {
    const at::Tensor weight = x[1].view({x[1].size(0), 3, x[0].size(2)}).transpose(1, 2);
    return at::conv1d(x[0].transpose(1, 2), weight, x[2], 1, 1).transpose(1, 2);
  });
  t.add("Conv2d", [](const P& x) {
    return last(at::conv2d(first(x[0]), filter(x[1], x[0].size(3)), x[2], 1, 1));
  });
  t.add("ConvTranspose1d", [](const P& x) {
    return at::conv_transpose1d(x[0].transpose(1, 2), x[1].transpose(1, 2), x[2]).transpose(1, 2);
  });
  t.add("ConvTranspose2d",
        [](const P& x) { return last(at::conv_transpose2d(first(x[0]), first(x[1]), x[2])); });
  t.add("AveragePool", [](const P& x) { return last(at::avg_pool2d(first(x[0]), 2)); });
  t.add("MaxPool", [](const P& x) { return last(at::max_pool2d(first(x[0]), 2)); });
  t.add("AdaptiveAveragePool", [](const P& x) {
    return last(at::adaptive_avg_pool2d(first(x[0]), {3, 3}));
  });
  t.add("MeanPositions", [](const P& x) { return x[0].mean(1); });
  t.add("SumPositions", [](const P& x) { return x[0].sum(1); });
  t.add("MaxPositions", [](const P& x) { return x[0].amax(1); });
  t.add("Flatten", [](const P& x) { return x[0].flatten(1); });
  t.add("FirstToken", [](const P& x) { return x[0].select(1, 0); });
  t.add("FlattenPositions", [](const P& x) { return x[0].flatten(1, 2); });
}

void add_recurrent_layers(PeerTable& t) {
  const auto state = [](const P& x) {
    return at::zeros({1, x[0].size(0), x[2].size(1)}, x[0].options());
  };
  const auto weights = [](const P& x) { return P(x.begin() + 1, x.end()); };
  t.add("Lstm", [=](const P& x) {
    const at::Tensor zero = state(x);
    return std::get<0>(at::lstm(x[0], {zero, zero}, weights(x), true, 1, 0, true, false, true));
  });
  t.add("Gru", [=](const P& x) {
    return std::get<0>(at::gru(x[0], state(x), weights(x), true, 1, 0, true, false, true));
  });
  t.add("Rnn", [=](const P& x) {
    return std::get<0>(at::rnn_tanh(x[0], state(x), weights(x), true, 1, 0, true, false, true));
  });
  t.add("Recurrent", [=](const P& x) {
    return std::get<0>(at::rnn_relu(x[0], state(x), weights(x), true, 1, 0, true, false, true));
  });
}

/// Of parameters from `at` on: query, key, value [heads, width, dim], output [heads, width, dim],
/// and their biases.
at::Tensor attention(const at::Tensor& x, const P& p, std::size_t at, bool causal) {
  const std::int64_t batch = x.size(0), time = x.size(1), dim = x.size(2);
  const std::int64_t heads = p[at].size(0), width = p[at].size(1);
  const auto projected = [&](std::size_t i) {
    return at::linear(x, p[at + i].reshape({dim, dim}), p[at + 4 + i].reshape({dim}))
        .view({batch, time, heads, width})
        .transpose(1, 2);
  };
  const at::Tensor y = peer_attention(projected(0), projected(1), projected(2), causal);
  return at::linear(y.transpose(1, 2).reshape({batch, time, dim}),
                    p[at + 3].reshape({dim, dim}).t(), p[at + 7]);
}
constexpr std::size_t of_block = 16;  ///< attention 8, two norms, two linear maps
at::Tensor block(const at::Tensor& x, const P& p, std::size_t at) {
  const at::Tensor h = x + attention(norm(x, p, at + 8), p, at, false);
  return h + dense(at::gelu(dense(norm(h, p, at + 10), p, at + 12)), p, at + 14);
}

void add_attention_layers(PeerTable& t) {
  t.add("MultiHeadAttention", [](const P& x) { return attention(x[0], x, 1, false); });
  t.add("MultiHeadAttention, causal", [](const P& x) { return attention(x[0], x, 1, true); });
  t.add("TransformerEncoderLayer", [](const P& x) { return block(x[0], x, 1); });
  t.add("TransformerEncoder", [](const P& x) {
    const at::Tensor h = block(block(x[0], x, 1), x, 1 + of_block);
    return norm(h, x, 1 + 2 * of_block);
  });
}

}  // namespace

void add_layers(PeerTable& t) {
  add_maps(t);
  add_containers(t);
  add_windows_of(t);
  add_recurrent_layers(t);
  add_attention_layers(t);
}

}  // namespace ladon::bench::every
