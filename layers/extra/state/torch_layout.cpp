#include "ladon/layers/extra/state/torch_layout.h"

#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/containers.h"
#include "ladon/layers/extra/images/conv.h"
#include "ladon/layers/extra/images/conv_transpose.h"
#include "ladon/layers/transformer/transformer.h"

namespace ladon {
namespace {

void check_torch_form(const MultiHeadAttention& layer) {
  const std::int64_t dim = layer.query.size(2);
  const auto refuse = [&layer](bool has, const char* what) {
    LADON_CHECK(!has, "torch layout", "exists only for plain attention, but this layer has ", what,
                ": ", layer.describe());
  };
  refuse(layer.form.weighting != Weighting::softmax, "weights other than softmax");
  refuse(layer.form.scaling != AttentionScaling::sqrt,
         "logits not divided by the root of the width");
  refuse(layer.form.tied, "queries and keys that share weights");
  refuse(layer.positions.has_value(), "positional encodings");
  refuse(static_cast<bool>(layer.hook), "a hook");
  refuse(layer.kv_heads() != layer.heads(), "heads that share keys and values");
  refuse(layer.window != 0, "a window");
  refuse(layer.parameterization() != Parameterization::standard, "NTK parameterization");
  refuse(layer.query_bias.defined() != layer.output_bias.defined(),
         "biases of queries or of the output, but not both");
  LADON_CHECK(layer.key.size(2) == dim && layer.value.size(2) == dim &&
                  layer.output.size(2) == dim && layer.value_head_dim() == layer.head_dim() &&
                  layer.heads() * layer.head_dim() == dim,
              "torch layout",
              "needs queries, keys, values and output of one width dim = heads·head_dim, but their "
              "weights are ",
              layer.query.shape(), ", ", layer.key.shape(), ", ", layer.value.shape(), " and ",
              layer.output.shape());
}

using Names = std::initializer_list<std::pair<const char*, const char*>>;

ForeignTensor renamed(const std::string& name, Names names) {
  for (const auto& [own, foreign] : names)
    if (name == own) return {.foreign = foreign};
  return {.foreign = name};
}

/// channels_first(): [a, taps.., b] → [a, b, taps..]. channels_last() is its inverse.
Tensor channels_first(const Tensor& w) {
  return w.rank() == 3 ? permute(w, {0, 2, 1}) : permute(w, {0, 3, 1, 2});
}
Tensor channels_last(const Tensor& w) {
  return w.rank() == 3 ? permute(w, {0, 2, 1}) : permute(w, {0, 2, 3, 1});
}

ForeignTensor weight_of(const Conv& conv) {
  const auto out = [taps = detail::sizes_of(conv.windows)](const Tensor& w) {
    Shape shape{w.size(0)};
    for (int i = 0; i < taps.rank(); ++i) shape.append(taps[i]);
    shape.append(w.size(1) / taps.count());
    return channels_first(reshape(w, shape));
  };
  const auto in = [](const Tensor& w) { return flatten(channels_last(w), 1, -1); };
  return {.foreign = "weight", .out = out, .in = in};
}

/// Name and layout in PyTorch of the member `name` of the module `parent`.
ForeignTensor form_of(const Module& parent, const std::string& name) {
  if (const auto* own = dynamic_cast<const TorchForm*>(&parent)) return own->torch_form(name);
  if (dynamic_cast<const TransformerEncoderLayer*>(&parent))
    return renamed(name, {{"attention", "self_attn"},
                          {"attention_norm", "norm1"},
                          {"feedforward_norm", "norm2"},
                          {"expand", "linear1"},
                          {"contract", "linear2"}});
  if (dynamic_cast<const TransformerDecoderLayer*>(&parent))
    return renamed(name, {{"attention", "self_attn"},
                          {"cross_attention", "multihead_attn"},
                          {"attention_norm", "norm1"},
                          {"cross_attention_norm", "norm2"},
                          {"feedforward_norm", "norm3"},
                          {"expand", "linear1"},
                          {"contract", "linear2"}});
  if (dynamic_cast<const TransformerEncoder*>(&parent) ||
      dynamic_cast<const TransformerDecoder*>(&parent))
    return renamed(name, {{"final_norm", "norm"}});
  if (dynamic_cast<const Sequential*>(&parent))
    return {.foreign = name.substr(std::string("layers.").size())};
  if (const auto* conv = dynamic_cast<const Conv*>(&parent); conv && name == "weight")
    return weight_of(*conv);
  if (dynamic_cast<const ConvTranspose*>(&parent) && name == "weight")
    return {.foreign = name, .out = channels_first, .in = channels_last};
  return {.foreign = name};
}

/// Lists the tensors of a model with their names in Ladon and in PyTorch.
class TorchNames final : public Visitor {
 public:
  std::vector<ForeignTensor> list;

  void run(Module& root) { visit(root); }
  void buffer(std::string_view name, Tensor& x) override { parameter(name, x); }

 protected:
  void parameter(std::string_view name, Tensor& x) override {
    if (!x.defined()) return;
    ForeignTensor entry = form_of(*parent_, std::string(name));
    entry.own = own_ + std::string(name);
    entry.foreign = foreign_ + entry.foreign;
    list.push_back(std::move(entry));
  }

  void module(std::string_view name, Module& m) override {
    const std::string own = own_, foreign = foreign_;
    const Module* parent = parent_;
    own_ += std::string(name) + ".";
    foreign_ += form_of(*parent, std::string(name)).foreign + ".";
    visit(m);
    own_ = own;
    foreign_ = foreign;
    parent_ = parent;
  }

 private:
  void visit(Module& m) {
    parent_ = &m;
    if (const auto* attention = dynamic_cast<const MultiHeadAttention*>(&m)) return add(*attention);
    if (const auto* layer = dynamic_cast<const TransformerEncoderLayer*>(&m))
      check(layer->feedforward);
    if (const auto* layer = dynamic_cast<const TransformerDecoderLayer*>(&m))
      check(layer->feedforward);
    m.visit(*this);
  }

  static void check(const FeedForward& block) {
    LADON_CHECK(!block.gate, "torch layout",
                "PyTorch has no feed-forward block with a gate; make the layers with gated = "
                "false");
  }

  void add(const MultiHeadAttention& layer) {
    check_torch_form(layer);
    const auto by_heads = heads_apart(layer.heads());
    const auto stack = [&](const char* foreign, std::initializer_list<const char*> own) {
      int part = 0;
      for (const char* name : own)
        list.push_back({own_ + name, foreign_ + foreign, heads_joined, by_heads, 0, part++, 3});
    };
    stack("in_proj_weight", {"query", "key", "value"});
    list.push_back({own_ + "output", foreign_ + "out_proj.weight",
                    [](const Tensor& x) { return transpose(heads_joined(x)); },  // torch: [out, in]
                    [=](const Tensor& x) { return by_heads(transpose(x)); }});
    if (!layer.output_bias.defined()) return;
    stack("in_proj_bias", {"query_bias", "key_bias", "value_bias"});
    list.push_back({own_ + "output_bias", foreign_ + "out_proj.bias"});
  }

  std::string own_, foreign_;
  const Module* parent_ = nullptr;
};

std::vector<ForeignTensor> torch_names(const Module& model) {
  TorchNames names;
  names.run(const_cast<Module&>(model));  // TorchNames only reads members
  return names.list;
}

}  // namespace

StateDict to_torch(const Module& model) { return to_foreign(model, torch_names(model)); }

void from_torch(Module& model, const StateDict& state) {
  from_foreign(model, torch_names(model), state);
}

}  // namespace ladon
