#pragma once
// Language models that were trained elsewhere, from folders in Hugging Face's format: config.json
// with model.safetensors, or with an index and its shards.
//
//   const LanguageModel model = load_language_model(folder);
//   const BytePairTokenizer tokenizer = BytePairTokenizer::load(folder + "/tokenizer.json");

#include <string>
#include <string_view>
#include <vector>

#include "ladon/layers/extra/sequence/language_model.h"

namespace ladon {

/// Configuration of a language model: the content of a config.json.
struct LanguageModelConfig {
  LanguageModelOptions options;
  std::int64_t max_length = 0;         ///< Longest text, in tokens, that the model was trained for.
  std::vector<std::int64_t> end = {};  ///< Tokens that end a text (GenerateOptions::stop).
};

/// Reads the configuration of a model of type "llama" or "gpt2" from a file of at most 1 MB;
/// missing keys have Hugging Face's defaults. Keys that do not change what the model computes are
/// ignored. Throws Error, naming the path and the key, for a text that is not JSON, a value that is
/// missing, of a wrong kind or out of range, another type of model, and for features that are not
/// supported: rotary positions scaled other than linearly, activations other than silu (Llama) and
/// gelu_new (GPT-2), biases of Llama's maps, and GPT-2's other scalings of attention.
/// parse_language_model_config() takes the text, and its name for Errors.
LanguageModelConfig read_language_model_config(const std::string& path);
LanguageModelConfig parse_language_model_config(std::string_view text, const std::string& name);

/// A model of this architecture with the weights in `state`, by their names (from_names), in
/// evaluation mode. Throws Error if the model needs more weights than `state` has, before memory is
/// allocated, and whenever from_names() does.
LanguageModel make_language_model(const LanguageModelConfig& config, const StateDict& state);

/// The model in a folder. During loading the tensors of the files are in memory too. Throws Error
/// whenever the two functions above or load_safetensors() do.
LanguageModel load_language_model(const std::string& folder);

}  // namespace ladon
