#include "ladon/layers/extra/sequence/pretrained.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "ladon/core/error.h"
#include "ladon/core/extra/io/json.h"
#include "ladon/core/io/file.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/core/io/utf8.h"
#include "ladon/layers/extra/attention/attention_variants.h"

namespace ladon {
namespace {

using nlohmann::json;

constexpr const char* operation = "read_language_model_config";
constexpr std::uint64_t largest_config = 1'000'000;

/// The values of one JSON object, each checked for its type. null counts as missing.
class Fields {
 public:
  Fields(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    LADON_CHECK(object.is_object(), operation, where_, ": needs an object, got ", shown(object));
  }

  std::int64_t count(const char* key, std::optional<std::int64_t> otherwise = {}) const {
    if (const json* x = given(key, otherwise.has_value())) return whole(key, *x, 1);
    return *otherwise;
  }
  /// Token indices: the value is a number or a list of numbers; none if the key is missing.
  std::vector<std::int64_t> tokens(const char* key) const {
    const json& x = json_at(object_, key);
    if (x.is_null()) return {};
    std::vector<std::int64_t> all;
    for (const json& token : x.is_array() ? x : json::array({x}))
      all.push_back(whole(key, token, 0));
    return all;
  }
  double positive(const char* key, std::optional<double> otherwise = {}) const {
    const json* x = given(key, otherwise.has_value());
    if (!x) return *otherwise;
    const double value = x->is_number() ? x->get<double>() : 0;
    LADON_CHECK(value > 0, operation, where_, ": ", key, " must be a positive number, got ",
                shown(*x));
    return value;
  }
  bool flag(const char* key, bool otherwise) const {
    const json* x = given(key, true);
    if (!x) return otherwise;
    LADON_CHECK(x->is_boolean(), operation, where_, ": ", key, " must be true or false, got ",
                shown(*x));
    return x->get<bool>();
  }
  /// Throws Error, naming what is supported, unless the value is missing or one of `allowed`.
  void only(const char* key, std::initializer_list<json> allowed) const {
    const json& x = json_at(object_, key);
    const bool ok = x.is_null() || std::find(allowed.begin(), allowed.end(), x) != allowed.end();
    LADON_CHECK(ok, operation, where_, ": ", key, " is ", shown(x), ", and only ",
                allowed.size() == 1 ? shown(*allowed.begin()) : shown(json(allowed)),
                " is supported");
  }
  bool is(const char* key, const char* value) const { return json_at(object_, key) == value; }
  void either(const char* key, const char* other) const {
    LADON_CHECK(!json_at(object_, key).is_null() || !json_at(object_, other).is_null(), operation,
                where_, ": needs ", key, ", or ", other, ", its former name");
  }
  std::string word(const char* key) const {
    const json* x = given(key, false);
    LADON_CHECK(x->is_string(), operation, where_, ": ", key, " must be a string, got ", shown(*x));
    return x->get<std::string>();
  }
  /// An object inside this one; nullopt if it is missing.
  std::optional<Fields> inside(const char* key) const {
    const json& x = json_at(object_, key);
    if (x.is_null()) return {};
    return Fields(x, where_ + ": " + key);
  }

 private:
  static std::string shown(const json& x) { return shortened(x.dump()); }
  const json* given(const char* key, bool optional) const {
    const json& x = json_at(object_, key);
    LADON_CHECK(optional || !x.is_null(), operation, where_, ": needs ", key);
    return x.is_null() ? nullptr : &x;
  }
  std::int64_t whole(const char* key, const json& x, std::int64_t least) const {
    const bool ok = x.is_number_unsigned() && x.get<std::uint64_t>() < std::uint64_t{1} << 31 &&
                    x.get<std::int64_t>() >= least;
    LADON_CHECK(ok, operation, where_, ": ", key, " must be a whole number from ", least,
                " to 2^31 − 1, got ", shown(x));
    return x.get<std::int64_t>();
  }

  const json& object_;
  std::string where_;
};

/// Options of rotary positions, from the configuration itself or from an object inside it.
RotaryOptions rotary(const Fields& f) {
  RotaryOptions options{.base = f.positive("rope_theta", 10000)};
  for (const char* key : {"rope_scaling", "rope_parameters"})
    if (const std::optional<Fields> rope = f.inside(key)) {
      rope->either("rope_type", "type");
      rope->only("rope_type", {"default", "linear"});
      rope->only("type", {"default", "linear"});
      options.base = rope->positive("rope_theta", options.base);
      if (rope->is("rope_type", "linear") || rope->is("type", "linear"))
        options.scale = rope->positive("factor");
    }
  f.only("partial_rotary_factor", {1});
  f.only("rope_interleaved", {false});
  return options;
}

LanguageModelConfig llama_config(const Fields& f) {
  f.only("hidden_act", {"silu"});
  for (const char* bias : {"attention_bias", "mlp_bias"}) f.only(bias, {false});
  const std::int64_t heads = f.count("num_attention_heads");
  LanguageModelOptions options =
      llama(f.count("vocab_size"), f.count("num_hidden_layers"), f.count("hidden_size"), heads,
            f.count("num_key_value_heads", heads), f.count("intermediate_size"));
  options.layer.norm_eps = f.positive("rms_norm_eps", 1e-6);
  options.layer.attention.hook = RotaryPositions(rotary(f));
  options.layer.attention.head_dim = f.count("head_dim", 0);
  options.tied = f.flag("tie_word_embeddings", false);
  return {options, f.count("max_position_embeddings", 2048), f.tokens("eos_token_id")};
}

LanguageModelConfig gpt2_config(const Fields& f) {
  f.only("activation_function", {"gelu_new", "gelu_pytorch_tanh"});
  f.only("scale_attn_weights", {true});
  for (const char* other : {"scale_attn_by_inverse_layer_idx", "add_cross_attention"})
    f.only(other, {false});
  const std::int64_t length = f.count("n_positions", 1024);
  LanguageModelOptions options =
      gpt2(f.count("vocab_size"), f.count("n_layer"), f.count("n_embd"), f.count("n_head"), length);
  options.layer.hidden = f.count("n_inner", 0);
  options.layer.norm_eps = f.positive("layer_norm_epsilon", 1e-5);
  options.tied = f.flag("tie_word_embeddings", true);
  return {options, length, f.tokens("eos_token_id")};
}

/// Number of weights of a model with these options, without those of norms and biases.
double weights_of(const LanguageModelOptions& o) {
  const TransformerEncoderLayerOptions& l = o.layer;
  const auto real = [](std::int64_t x) { return static_cast<double>(x); };
  const double dim = real(l.dim), heads = real(l.heads),
               kv_heads = l.attention.kv_heads > 0 ? real(l.attention.kv_heads) : heads,
               width = l.attention.head_dim > 0 ? real(l.attention.head_dim) : dim / heads,
               hidden = l.hidden > 0 ? real(l.hidden) : 4 * dim;
  const double layer = dim * width * 2 * (heads + kv_heads) + (l.gated ? 3 : 2) * dim * hidden;
  return real(o.layers) * layer + dim * real(o.max_length) +
         (o.tied ? 1 : 2) * dim * real(o.vocabulary);
}

}  // namespace

LanguageModelConfig parse_language_model_config(std::string_view text, const std::string& name) {
  const json all = parse_json(operation, name, text);
  const Fields fields(all, name);
  const std::string type = fields.word("model_type");
  LADON_CHECK(type == "llama" || type == "gpt2", operation, name, ": model_type is '",
              shortened(type), "', and only llama and gpt2 are supported");
  return type == "llama" ? llama_config(fields) : gpt2_config(fields);
}

LanguageModelConfig read_language_model_config(const std::string& path) {
  return parse_language_model_config(read_file(path, largest_config), path);
}

LanguageModel make_language_model(const LanguageModelConfig& config, const StateDict& state) {
  const double needed = weights_of(config.options);
  double held = 0;
  for (const auto& [name, x] : state) held += static_cast<double>(x.count());
  LADON_CHECK(needed <= held, "make_language_model", "the configuration needs at least ", needed,
              " weights, but the checkpoint has ", held, "; is a file or a shard missing?");
  Generator rng(0);
  LanguageModel model(config.options, rng);
  from_names(model, state);
  model.eval();
  return model;
}

LanguageModel load_language_model(const std::string& folder) {
  const LanguageModelConfig config =
      read_language_model_config((std::filesystem::path(folder) / "config.json").string());
  return make_language_model(config, load_safetensors(folder));
}

}  // namespace ladon
