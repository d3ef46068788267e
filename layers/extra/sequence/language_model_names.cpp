// Hugging Face's names for the weights of GPT-2 and of Llama.

#include <algorithm>
#include <initializer_list>

#include "ladon/autograd/ops/compare.h"
#include "ladon/autograd/ops/shape.h"
#include "ladon/core/error.h"
#include "ladon/layers/extra/sequence/language_model.h"
#include "ladon/layers/extra/state/foreign_names.h"

namespace ladon {
namespace {

using Change = std::function<Tensor(const Tensor&)>;

Tensor turned(const Tensor& x) { return transpose(x); }

/// Builds a list of foreign names for those tensors that the model has.
class Names {
 public:
  explicit Names(const LanguageModel& model) : own_(model.state_dict()) {}
  std::vector<ForeignTensor> list;

  void add(const std::string& own, const std::string& foreign, const Change& out = {},
           const Change& in = {}) {
    if (own_.contains(own)) list.push_back({own, foreign, out, in});
  }
  /// Adds tensors that the file stores as one tensor, concatenated along `axis`.
  void add_parts(const std::string& prefix, std::initializer_list<const char*> own,
                 const std::string& foreign, int axis, const Change& out, const Change& in) {
    if (!own_.contains(prefix + *own.begin())) return;
    int part = 0;
    for (const char* name : own)
      list.push_back({prefix + name, foreign, out, in, axis, part++, static_cast<int>(own.size())});
  }
  /// Adds a norm or a linear map, whose weight is transposed in the file if `turn`, and has the
  /// same layout otherwise.
  void add_affine(const std::string& own, const std::string& foreign, bool turn = false) {
    const Change change = turn ? Change(turned) : Change();
    add(own + ".weight", foreign + ".weight", change, change);
    add(own + ".bias", foreign + ".bias");
  }

 private:
  StateDict own_;
};

/// GPT-2 stores the weights of linear maps as [in, out].
std::vector<ForeignTensor> gpt2_names(const LanguageModel& model, const std::string& prefix) {
  Names names(model);
  names.add("embedding.weight", prefix + "wte.weight");
  names.add("positions.weight", prefix + "wpe.weight");
  names.add_affine("body.final_norm", prefix + "ln_f");
  for (std::size_t i = 0; i < model.body.layers.size(); ++i) {
    const std::string own = detail::join("body.layers.", i, "."),
                      foreign = detail::join(prefix, "h.", i, ".");
    const MultiHeadAttention* attention = model.body.layers[i].attention.kind();
    const Change back = heads_apart(attention ? attention->heads() : 1);
    names.add_affine(own + "attention_norm", foreign + "ln_1");
    names.add_affine(own + "feedforward_norm", foreign + "ln_2");
    names.add_parts(
        own + "attention.", {"query", "key", "value"}, foreign + "attn.c_attn.weight", 1,
        [](const Tensor& x) { return transpose(heads_joined(x)); },
        [back](const Tensor& x) { return back(transpose(x)); });
    names.add_parts(own + "attention.", {"query_bias", "key_bias", "value_bias"},
                    foreign + "attn.c_attn.bias", 0, heads_joined, back);
    names.add(own + "attention.output", foreign + "attn.c_proj.weight", heads_joined, back);
    names.add(own + "attention.output_bias", foreign + "attn.c_proj.bias");
    names.add_affine(own + "expand", foreign + "mlp.c_fc", true);
    names.add_affine(own + "contract", foreign + "mlp.c_proj", true);
  }
  return names.list;
}

std::vector<ForeignTensor> llama_names(const LanguageModel& model) {
  Names names(model);
  names.add("embedding.weight", "model.embed_tokens.weight");
  names.add_affine("body.final_norm", "model.norm");
  names.add_affine("head", "lm_head");
  for (std::size_t i = 0; i < model.body.layers.size(); ++i) {
    const MultiHeadAttention* attention = model.body.layers[i].attention.kind();
    const std::string own = detail::join("body.layers.", i, "."),
                      foreign = detail::join("model.layers.", i, ".");
    const auto project = [&](const char* name, const char* elsewhere, std::int64_t heads) {
      const std::string to = foreign + "self_attn." + elsewhere;
      names.add(own + "attention." + name, to + ".weight", heads_joined, heads_apart(heads));
      names.add(own + "attention." + name + "_bias", to + ".bias", heads_joined,
                heads_apart(heads));
    };
    if (attention) {  // a layer that replaced attention has no names in Llama
      project("query", "q_proj", attention->heads());
      project("key", "k_proj", attention->kv_heads());
      project("value", "v_proj", attention->kv_heads());
      names.add(
          own + "attention.output", foreign + "self_attn.o_proj.weight",
          [](const Tensor& x) { return transpose(heads_joined(x)); },
          [back = heads_apart(attention->heads())](const Tensor& x) { return back(transpose(x)); });
      names.add(own + "attention.output_bias", foreign + "self_attn.o_proj.bias");
    }
    names.add_affine(own + "attention_norm", foreign + "input_layernorm");
    names.add_affine(own + "feedforward_norm", foreign + "post_attention_layernorm");
    names.add_affine(own + "gate", foreign + "mlp.gate_proj");
    names.add_affine(own + "expand", foreign + "mlp.up_proj");
    names.add_affine(own + "contract", foreign + "mlp.down_proj");
  }
  return names.list;
}

/// Throws Error for a hook, such as RotaryPositions, in a model with the names of GPT-2: the hook
/// has no tensors, and so would be lost without notice.
void check_no_hook(const char* operation, const LanguageModel& model) {
  for (const TransformerEncoderLayer& layer : model.body.layers)
    if (const MultiHeadAttention* attention = layer.attention.kind())
      LADON_CHECK(!attention->hook, operation, "the model's attention has the hook ",
                  attention->hook->describe(),
                  ", but GPT-2, whose names these are, has trained positions alone; make the model "
                  "without the hook, or save its state_dict()");
}

bool ends_with_any(const std::string& name, std::initializer_list<const char*> ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](const char* end) { return name.ends_with(end); });
}

}  // namespace

void from_names(LanguageModel& model, const StateDict& state) {
  const bool llama = state.contains("model.embed_tokens.weight");
  const std::string prefix = state.contains("transformer.wte.weight") ? "transformer." : "";
  const std::string embedding = llama ? "model.embed_tokens.weight" : prefix + "wte.weight";
  LADON_CHECK(
      state.contains(embedding), "from_names",
      "the state must hold `wte.weight` (GPT-2) or `model.embed_tokens.weight` (Llama), but ",
      state.empty() ? "is empty"
                    : detail::join("has neither among its ", state.size(), " names, of which `",
                                   state.begin()->first, "` is the first"));
  const auto head = state.find("lm_head.weight");
  LADON_CHECK(
      model.head || head == state.end() || all_equal(head->second, state.at(embedding)),
      "from_names",
      "the state's `lm_head.weight` differs from its embedding, but this model uses one tensor "
      "for both; make the model with .tied = false");
  // Skips the head if it repeats the embedding, and masks and frequencies that old files contain.
  const auto passed_over = [&](const std::string& name) {
    return (!model.head && name == "lm_head.weight") ||
           ends_with_any(name, {".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq"});
  };
  if (!llama) check_no_hook("from_names", model);
  from_foreign(model, llama ? llama_names(model) : gpt2_names(model, prefix), state, passed_over);
}

StateDict to_names(const LanguageModel& model) {
  const auto list = model.positions ? gpt2_names(model, "transformer.") : llama_names(model);
  if (model.positions) check_no_hook("to_names", model);
  const StateDict own = model.state_dict();
  for (const auto& entry : own) {
    const auto named = [&entry](const ForeignTensor& t) { return t.own == entry.first; };
    LADON_CHECK(std::any_of(list.begin(), list.end(), named), "to_names", "`", entry.first,
                "` has no name in ", model.positions ? "GPT-2" : "Llama");
  }
  return to_foreign(model, list);
}

}  // namespace ladon
