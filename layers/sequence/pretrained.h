#pragma once
// Language models that were trained elsewhere, as the folders of Hugging Face hold them:
// config.json beside model.safetensors, or beside an index and its shards.
//
//   const LanguageModel model = load_language_model(folder);
//   const BytePairTokenizer tokenizer = BytePairTokenizer::load(folder + "/tokenizer.json");

#include <string>
#include <string_view>
#include <vector>

#include "ladon/layers/sequence/language_model.h"

namespace ladon {

/// Configuration of a language model: the content of a config.json.
struct LanguageModelConfig {
  LanguageModelOptions options;
  std::int64_t max_length = 0;         ///< Tokens of a text that the model was trained to see.
  std::vector<std::int64_t> end = {};  ///< Tokens after which a text ends (GenerateOptions::stop).
};

/// Reads the configuration of a model of type "llama" or "gpt2", of at most 1 MB; what it leaves
/// out is as in Hugging Face's. Keys that change nothing of what the model computes are passed
/// over. Throws Error, naming the path and the key, for a text that is not JSON, a value that is
/// missing, of a wrong kind or out of range, another type of model, and for what is not read:
/// rotary positions
/// scaled otherwise than linearly, other activations than
/// silu (Llama) and gelu_new (GPT-2), biases of Llama's maps, and GPT-2's other scalings of
/// attention. `parse_…` takes the text and its name.
LanguageModelConfig read_language_model_config(const std::string& path);
LanguageModelConfig parse_language_model_config(std::string_view text, const std::string& name);

/// A model of that form with these weights, by their names (from_names); in evaluation mode. Throws
/// Error if the form needs more numbers than `state` has, before memory is taken for it, and as
/// from_names does.
LanguageModel make_language_model(const LanguageModelConfig& config, const StateDict& state);

/// The model of a folder; for a moment its files' tensors stand beside it in memory. Throws Error
/// as the two above and load_safetensors() do.
LanguageModel load_language_model(const std::string& folder);

}  // namespace ladon
