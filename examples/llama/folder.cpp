#include "ladon/examples/llama/folder.h"

#include <nlohmann/json.hpp>

#include "ladon/core/io/file.h"
#include "ladon/core/io/tensors/safetensors.h"
#include "ladon/layers/extra/attention/attention_variants.h"

namespace ladon::example {
namespace {

nlohmann::ordered_json config_of(const LanguageModel& model, const BytePairTokenizer& tokenizer,
                                 std::int64_t context) {
  const TransformerEncoderLayer& layer = model.body.layers.at(0);
  const auto& positions = dynamic_cast<const RotaryPositions&>(*layer.attention->hook);
  const auto& norm = dynamic_cast<const RmsNorm&>(*layer.attention_norm);
  return {{"architectures", {"LlamaForCausalLM"}},
          {"model_type", "llama"},
          {"vocab_size", model.embedding.weight.size(0)},
          {"hidden_size", model.embedding.weight.size(1)},
          {"num_hidden_layers", model.body.layers.size()},
          {"num_attention_heads", layer.attention->heads()},
          {"num_key_value_heads", layer.attention->kv_heads()},
          {"head_dim", layer.attention->head_dim()},
          {"intermediate_size", layer.feedforward.expand->weight.size(0)},
          {"hidden_act", "silu"},
          {"rms_norm_eps", norm.eps},
          {"rope_theta", positions.options.base},
          {"max_position_embeddings", context},
          {"tie_word_embeddings", !model.head},
          {"attention_bias", false},
          {"mlp_bias", false},
          {"eos_token_id", tokenizer.special()},
          {"torch_dtype", "float32"}};
}

}  // namespace

void write_folder(const std::filesystem::path& folder, const LanguageModel& model,
                  const BytePairTokenizer& tokenizer, std::int64_t context) {
  std::filesystem::create_directories(folder);
  save_safetensors(folder / "model.safetensors", to_names(model), {{"format", "pt"}});
  write_atomically(folder / "config.json", config_of(model, tokenizer, context).dump(2) + "\n");
  tokenizer.save(folder / "tokenizer.json");
}

std::optional<BytePairTokenizer> read_tokenizer(const std::filesystem::path& folder) {
  const auto tokenizer = folder / "tokenizer.json", vocabulary = folder / "vocab.json",
             merges = folder / "merges.txt";
  if (std::filesystem::exists(tokenizer)) return BytePairTokenizer::load(tokenizer);
  if (std::filesystem::exists(vocabulary)) return BytePairTokenizer::load(vocabulary, merges);
  return {};
}

}  // namespace ladon::example
