// Model folders in the formats of other libraries. (language_model_test.cpp tests that the names of
// parameters have the same meaning as there.)

#include "ladon/layers/extra/sequence/pretrained.h"

#include <gtest/gtest.h>

#include <fstream>

#include "ladon/autograd/graph.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/layers/extra/attention/attention_variants.h"
#include "ladon/tests/core/io/damaged.h"
#include "ladon/tests/core/kernels/layouts.h"

namespace ladon::pretrained_test {
namespace {

using layout::same_bits;
using test::expect_error;

const std::string llama_json = R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "vocab_size": 11, "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 4,
  "num_key_value_heads": 2, "head_dim": 6, "intermediate_size": 10, "hidden_act": "silu",
  "rms_norm_eps": 0.001, "rope_theta": 500.0, "rope_scaling": null, "attention_bias": false,
  "mlp_bias": false, "max_position_embeddings": 64, "tie_word_embeddings": true,
  "eos_token_id": [3, 4], "bos_token_id": 1, "torch_dtype": "float32"})";

LanguageModelOptions llama_options() {
  LanguageModelOptions options = llama(11, 2, 12, 4, 2, 10, 500, 1e-3);
  options.layer.attention.head_dim = 6;
  options.tied = true;
  return options;
}

const std::string gpt2_json = R"({"model_type": "gpt2", "vocab_size": 11, "n_positions": 20,
  "n_embd": 12, "n_layer": 2, "n_head": 3, "n_inner": 20, "activation_function": "gelu_new",
  "layer_norm_epsilon": 0.001, "eos_token_id": 10})";

LanguageModelOptions gpt2_options() {
  LanguageModelOptions options = gpt2(11, 2, 12, 3, 20);
  options.layer.hidden = 20;
  options.layer.norm_eps = 1e-3;
  return options;
}

LanguageModel drawn(const LanguageModelOptions& options) {
  Generator rng(1);
  LanguageModel model(options, rng);
  StateDict state = model.state_dict();
  for (auto& [name, x] : state) x = normal(x.shape(), rng, 0, 0.5);
  model.load_state_dict(state);
  model.eval();
  return model;
}

/// `text` with one part in place of another.
std::string with(std::string text, const std::string& part, const std::string& other) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, text.npos) << part;
  return text.replace(at, part.size(), other);
}

void put(const test::TemporaryFolder& folder, const std::string& config, const StateDict& state) {
  std::ofstream(folder / "config.json") << config;
  save_safetensors(folder / "model.safetensors", state);
}

void expect_same_model(const LanguageModel& loaded, const LanguageModel& model) {
  const NoGrad no_grad;
  Generator rng(2);
  const Tensor tokens = randint({2, 15}, rng, 0, 11);
  EXPECT_TRUE(same_bits(loaded(tokens), model(tokens)));
  EXPECT_FALSE(loaded.training());
}

TEST(Pretrained, LoadsFolders) {
  const std::vector<std::pair<LanguageModelOptions, std::string>> all = {
      {llama_options(), llama_json},
      {gpt2_options(), gpt2_json},
      {[] {
         LanguageModelOptions untied = llama_options();
         untied.tied = false;
         return untied;
       }(),
       with(llama_json, "true", "false")}};
  for (const auto& [options, json] : all) {
    const test::TemporaryFolder folder;
    const LanguageModel model = drawn(options);
    put(folder, json, to_names(model));
    expect_same_model(load_language_model(folder / ""), model);
  }
}

TEST(Pretrained, LoadsShards) {
  const test::TemporaryFolder folder;
  const LanguageModel model = drawn(llama_options());
  std::ofstream(folder / "config.json") << llama_json;
  std::string index;
  StateDict parts[2];
  for (const auto& [name, x] : to_names(model)) {
    const std::size_t part = index.size() % 2;
    parts[part][name] = x;
    index += (index.empty() ? "" : ", ") + ("\"" + name + "\": \"" + std::to_string(part) + "\"");
  }
  for (int part = 0; part < 2; ++part) save_safetensors(folder / std::to_string(part), parts[part]);
  std::ofstream(folder / "model.safetensors.index.json") << "{\"weight_map\": {" << index << "}}";
  expect_same_model(load_language_model(folder / ""), model);
}

TEST(Pretrained, ReadsWhatElseAConfigurationSays) {
  const auto config = parse_language_model_config(llama_json, "C");
  EXPECT_EQ(config.max_length, 64);
  EXPECT_EQ(config.end, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(parse_language_model_config(gpt2_json, "C").end, std::vector<std::int64_t>{10});
  // As newer versions write it, and what may be left out.
  const auto newer = parse_language_model_config(
      with(with(with(llama_json, R"("rope_theta": 500.0, "rope_scaling": null)",
                     R"("rope_parameters": {"rope_type": "default", "rope_theta": 500})"),
                R"("num_key_value_heads": 2, "head_dim": 6,)", ""),
           R"("max_position_embeddings": 64,)", ""),
      "C");
  EXPECT_EQ(newer.options.layer.attention.kv_heads, 4);
  EXPECT_EQ(newer.options.layer.attention.head_dim, 0);
  EXPECT_EQ(newer.max_length, 2048);
  Generator rng(1);
  const auto linear =
      parse_language_model_config(with(llama_json, R"("rope_scaling": null)",
                                       R"("rope_scaling": {"type": "linear", "factor": 4})"),
                                  "C");
  const LanguageModel stretched(linear.options, rng);
  const auto& hook =
      dynamic_cast<const RotaryPositions&>(*stretched.body.layers[0].attention->hook);
  EXPECT_EQ(hook.options.scale, 4);
  EXPECT_EQ(hook.options.base, 500);
  const LanguageModel one(newer.options, rng), other(llama(11, 2, 12, 4, 4, 10, 500), rng);
  EXPECT_EQ(one.body.layers[0].attention->hook->describe(),
            other.body.layers[0].attention->hook->describe());
}

TEST(Pretrained, RefusesWhatItWouldComputeWrongly) {
  const auto refuse = [](const std::string& json, const char* fragment) {
    expect_error([&] { parse_language_model_config(json, "C"); }, fragment);
  };
  const auto llama_with = [](const std::string& part, const std::string& other) {
    return with(llama_json, part, other);
  };
  refuse(llama_with("\"silu\"", "\"gelu\""), R"(C: hidden_act is "gelu", and only "silu" is)");
  refuse(llama_with("\"attention_bias\": false", "\"attention_bias\": true"),
         "C: attention_bias is true, and only false is supported");
  refuse(llama_with("\"mlp_bias\": false", "\"mlp_bias\": true"), "C: mlp_bias is true");
  refuse(llama_with("\"rope_scaling\": null", R"("rope_scaling": {"type": "linear"})"),
         "C: rope_scaling: needs factor");
  refuse(llama_with("\"rope_scaling\": null", R"("rope_scaling": {"type": "dynamic"})"),
         R"(C: rope_scaling: type is "dynamic", and only ["default","linear"] is supported)");
  refuse(llama_with("\"rope_scaling\": null", R"("rope_scaling": {"rope_type": "llama3"})"),
         R"(C: rope_scaling: rope_type is "llama3")");
  for (const char* untyped : {R"({"factor": 8.0})", R"({"rope_type": null})", "{}"})
    refuse(llama_with("\"rope_scaling\": null", std::string("\"rope_scaling\": ") + untyped),
           "C: rope_scaling: needs rope_type, or type, its former name");
  refuse(llama_with("\"vocab_size\": 11", R"("vocab_size": 11, "vocab_size": 12)"),
         "C: has the key 'vocab_size' twice in one object");
  refuse(llama_with("\"rope_scaling\": null", R"("rope_scaling": 2)"), "needs an object, got 2");
  refuse(llama_with("\"rope_scaling\": null", R"("partial_rotary_factor": 0.5)"), "is 0.5");
  refuse(llama_with("\"llama\"", "\"mamba\""), "C: model_type is 'mamba', and only llama and gpt2");
  refuse(with(gpt2_json, "gelu_new", "relu"), "activation_function is \"relu\"");
  refuse(with(gpt2_json, "\"n_inner\": 20", "\"scale_attn_by_inverse_layer_idx\": true"),
         "scale_attn_by_inverse_layer_idx is true");
}

TEST(Pretrained, NamesWhatIsWrongInAConfiguration) {
  const auto refuse = [](const std::string& json, const char* fragment) {
    expect_error([&] { parse_language_model_config(json, "C"); }, fragment);
  };
  refuse("", "C: is not JSON");
  refuse("[]", "C: needs an object, got []");
  refuse("{}", "C: needs model_type");
  refuse(R"({"model_type": 7})", "C: model_type must be a string, got 7");
  refuse(std::string(100'000, '['), "nests deeper than 16 levels");
  refuse(with(llama_json, "\"vocab_size\": 11,", ""), "C: needs vocab_size");
  refuse(with(llama_json, "\"vocab_size\": 11", "\"vocab_size\": null"), "C: needs vocab_size");
  for (const std::string wrong : {"0", "-1", "1.5", "2147483648", "\"11\"", "[11]", "1e9", "true"})
    refuse(with(llama_json, "\"vocab_size\": 11", "\"vocab_size\": " + wrong),
           "C: vocab_size must be a whole number from 1 to 2^31 − 1, got ");
  refuse(with(llama_json, "500.0", "0"), "C: rope_theta must be a positive number, got 0");
  refuse(with(llama_json, "0.001", "\"small\""), "rms_norm_eps must be a positive number");
  refuse(with(llama_json, "0.001", "1e999"), "C: is not JSON");
  refuse(with(llama_json, "true", "1"), "C: tie_word_embeddings must be true or false, got 1");
  refuse(with(llama_json, "[3, 4]", "[3, -4]"), "eos_token_id must be a whole number from 0");
}

// A file of a kilobyte may say that its model is of any size: that costs nothing.
TEST(Pretrained, AModelThatTheFileDoesNotHoldIsNotMade) {
  const test::TemporaryFolder folder;
  const StateDict state = to_names(drawn(llama_options()));
  const auto refuse = [&](const std::string& part, const std::string& other, const char* fragment) {
    put(folder, with(llama_json, part, other), state);
    expect_error([&] { load_language_model(folder / ""); }, fragment);
  };
  for (const std::string key :
       {"\"vocab_size\": 1", "\"hidden_size\": 1", "\"head_dim\": ", "\"num_hidden_layers\": ",
        "\"intermediate_size\": 1", "\"num_attention_heads\": "})
    refuse(key, key + "20000000", "the configuration needs at least ");
  // Names of its possible contents are compared one by one.
  refuse("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1", "`model.layers.1.");
  refuse("\"vocab_size\": 11", "\"vocab_size\": 10", "`model.embed_tokens.weight` has shape [11");
  refuse("\"num_key_value_heads\": 2", "\"num_key_value_heads\": 1", "k_proj.weight` has shape");
  refuse("\"num_attention_heads\": 4", "\"num_attention_heads\": 3", "heads");
  refuse("\"tie_word_embeddings\": true", "\"untied\": null", "at least 2712 weights");
  std::filesystem::remove(folder / "config.json");
  expect_error([&] { load_language_model(folder / ""); }, "config.json: cannot open");
}

TEST(Pretrained, MutatedConfigurationsAreReadOrRefused) {
  const test::TemporaryFolder folder;
  for (const auto& [options, json] :
       {std::pair(llama_options(), llama_json), std::pair(gpt2_options(), gpt2_json)}) {
    const StateDict state = to_names(drawn(options));
    const int refused = test::refused_mutations(json, 300, 7, [&](const std::string& path) {
      make_language_model(read_language_model_config(path), state);
    });
    EXPECT_GT(refused, 100);
    EXPECT_LT(refused, 300);
  }
}

TEST(Pretrained, NamesOnlyWhatHasANameThere) {
  LanguageModelOptions options = llama_options();
  Generator rng(1);
  options.layer.attention.hook = RelativeBias({.heads = 4}, rng);
  expect_error([&] { to_names(LanguageModel(options, rng)); }, "has no name in Llama");
}

}  // namespace
}  // namespace ladon::pretrained_test
