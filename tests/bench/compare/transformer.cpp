// Rows of layers with attention: an attention layer, and training steps of a Transformer block and
// of a small GPT.

#include "ladon/layers/transformer/transformer.h"

#include <optional>

#include "both.h"
#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/random.h"
#include "ladon/layers/extra/sequence/language_model.h"
#include "ladon/optim/adam.h"

namespace ladon::bench {
namespace {

namespace functional = torch::nn::functional;

// --- the peer's layers, of parameters by their names ---

at::Tensor apply_linear(const at::Tensor& x, const Named& p, const std::string& name) {
  return at::linear(x, p.at(name + ".weight"), p.at(name + ".bias"));
}

at::Tensor apply_norm(const at::Tensor& x, const Named& p, const std::string& name) {
  return at::layer_norm(x, {x.size(-1)}, p.at(name + ".weight"), p.at(name + ".bias"));
}

at::Tensor apply_attention(const at::Tensor& x, const Named& p, const std::string& name,
                           std::int64_t heads, bool causal) {
  const std::int64_t batch = x.size(0), time = x.size(1), dim = x.size(2);
  const at::Tensor qkv = at::linear(x, p.at(name + "in_proj_weight"), p.at(name + "in_proj_bias"))
                             .view({batch, time, 3, heads, dim / heads})
                             .permute({2, 0, 3, 1, 4});
  const at::Tensor y = peer_attention(qkv[0], qkv[1], qkv[2], causal);
  return apply_linear(y.transpose(1, 2).reshape({batch, time, dim}), p, name + "out_proj");
}

at::Tensor apply_block(const at::Tensor& x, const Named& p, const std::string& name,
                       std::int64_t heads, bool causal, const char* gelu_form) {
  const at::Tensor h =
      x + apply_attention(apply_norm(x, p, name + "norm1"), p, name + "self_attn.", heads, causal);
  const at::Tensor hidden = apply_linear(apply_norm(h, p, name + "norm2"), p, name + "linear1");
  return h + apply_linear(at::gelu(hidden, gelu_form), p, name + "linear2");
}

// --- both sides of a training step ---

// A gradient that is 0 but for rounding (the keys' bias has one) must not become a step of ±lr: so
// eps is far above rounding, on both sides.
constexpr double lr = 1e-3, decay = 1e-2, eps = 1e-6;

/// `ours` and `theirs` compute a loss; the parameters after two steps are compared. The model lives
/// as long as the sides do.
template <class Model, class Ours, class Theirs>
Sides training(const std::shared_ptr<Model>& model, const std::shared_ptr<Named>& parameters,
               Ours ours, Theirs theirs) {
  auto adam = std::make_shared<AdamW>(model->parameters(),
                                      AdamWOptions{.lr = lr, .eps = eps, .weight_decay = decay});
  auto peer_adam = std::make_shared<PeerAdam>(
      values(*parameters),
      PeerAdamOptions{.lr = lr, .eps = eps, .weight_decay = decay, .decoupled = true});
  const auto step = [=] {
    adam->zero_grad();
    backward(ours());
    adam->step();
  };
  const auto peer_step = [=] {
    peer_adam->zero_grad();
    theirs().backward();
    peer_adam->step();
  };
  return {step, peer_step, [=] {
            for (int i = 0; i < 2; ++i) {
              step();
              peer_step();
            }
            return difference(*model, *parameters);
          }};
}

struct Size {
  std::int64_t batch, time, dim, heads;
  bool causal;
  std::string name() const {
    return "B" + std::to_string(batch) + " T" + std::to_string(time) + " D" + std::to_string(dim) +
           (causal ? " causal" : " full");
  }
  double tokens() const { return double(batch * time); }
  double square() const { return 4.0 * tokens() * double(time * dim); }
  /// Of forward and backward, with so many dim × dim matrices, as counted and as needed.
  double counted(double matrices) const {
    return 6 * matrices * double(dim * dim) * tokens() + 3 * square();
  }
  double needed(double matrices) const {
    return counted(matrices) + (causal ? 3.5 / 2 - 3 : 0.5) * square();
  }
  Tensor draw(std::uint64_t seed) const {
    Generator rng(seed);
    return normal({batch, time, dim}, rng);
  }
};

Sides attention_layer(const Size& size) {
  Generator rng(1);
  const auto layer = std::make_shared<MultiHeadAttention>(
      MultiHeadAttentionOptions{.dim = size.dim, .heads = size.heads, .causal = size.causal}, rng);
  const Named p = to_peer(*layer);
  const Tensor x = size.draw(2), c = size.draw(3);
  const at::Tensor peer_x = to_peer(x).requires_grad_(true), peer_c = to_peer(c);
  Tensor input = x;
  input.set_requires_grad();
  // The gradients of all parameters are computed; that of the input is compared.
  std::vector<Tensor> wanted = {input};
  for (const Tensor& each : layer->parameters()) wanted.push_back(each);
  std::vector<at::Tensor> peer_wanted = {peer_x};
  for (const at::Tensor& each : values(p)) peer_wanted.push_back(each);
  return sides([=] { return grad({(*layer)(input)}, wanted, {.cotangents = {c}})[0]; },
               [=] {
                 const at::Tensor y = apply_attention(peer_x, p, "", size.heads, size.causal);
                 return torch::autograd::grad({y}, peer_wanted, {peer_c})[0];
               });
}

Sides block(const Size& size) {
  Generator rng(1);
  const auto model = std::make_shared<TransformerEncoderLayer>(
      TransformerEncoderLayerOptions{
          .dim = size.dim, .heads = size.heads, .dropout = 0, .attention = {.causal = size.causal}},
      rng);
  const auto p = std::make_shared<Named>(to_peer(*model));
  const Tensor x = size.draw(2), y = size.draw(3);
  return training(
      model, p, [=] { return mse_loss((*model)(x), y); },
      [=, peer_x = to_peer(x), peer_y = to_peer(y)] {
        return at::mse_loss(apply_block(peer_x, *p, "", size.heads, size.causal, "none"), peer_y);
      });
}

// 4 layers of 128 channels and 4 heads on 32 texts of 64 characters, 65 of them.
constexpr std::int64_t letters = 65, depth = 4;
constexpr Size text{32, 64, 128, 4, true};

Sides gpt() {
  Generator rng(1);
  LanguageModelOptions options = gpt2(letters, depth, text.dim, text.heads, text.time);
  options.layer.dropout = 0;
  const auto model = std::make_shared<LanguageModel>(options, rng);
  const auto p = std::make_shared<Named>(to_peer(*model));
  const Tensor x = randint({text.batch, text.time}, rng, 0, letters);
  const Tensor y = randint({text.batch, text.time}, rng, 0, letters);
  const auto loss = [=, peer_x = to_peer(x), peer_y = to_peer(y)] {
    at::Tensor h = at::embedding(p->at("embedding.weight"), peer_x) + p->at("positions.weight");
    for (std::int64_t i = 0; i < depth; ++i)
      h = apply_block(h, *p, "body.layers." + std::to_string(i) + ".", text.heads, true, "tanh");
    const at::Tensor logits = at::linear(apply_norm(h, *p, "body.norm"), p->at("embedding.weight"));
    return at::cross_entropy_loss(logits.view({-1, letters}), peer_y.view(-1));
  };
  return training(
      model, p, [=] { return cross_entropy((*model)(x), y); }, loss);
}

}  // namespace

std::vector<Row> transformer_rows() {
  std::vector<Row> rows;
  const auto add = [&](const std::string& name, const Size& size, double matrices,
                       std::array<double, 2> goal, Sides (*make)(const Size&)) {
    rows.push_back({.name = name + " " + size.name(),
                    .unit = Unit::gflops,
                    .amount = size.counted(matrices),
                    .goal = goal,
                    .ceiling = Ceiling::fma,
                    .needed = size.needed(matrices),
                    .tolerance = 1e-3,
                    .make = [=] { return make(size); }});
  };
  add("mha layer f+b", {8, 256, 512, 8, false}, 4, {200, 0}, attention_layer);
  add("mha layer f+b", {4, 1024, 512, 8, true}, 4, {230, 0}, attention_layer);
  add("block step", {8, 256, 512, 8, false}, 12, {210, 400}, block);
  add("block step", {4, 1024, 512, 8, true}, 12, {225, 440}, block);
  add("block step", {4, 1024, 512, 8, false}, 12, {}, block);
  add("block step", {32, 64, 128, 4, false}, 12, {165, 280}, block);
  rows.push_back(
      {.name = "GPT step 4 x B32 T64 D128",
       .goal = {64, 35},
       .ceiling = Ceiling::fma,
       .needed = depth * text.needed(12) + 6.0 * letters * double(text.dim) * text.tokens(),
       .tolerance = 1e-3,
       .make = gpt});
  return rows;
}

}  // namespace ladon::bench
