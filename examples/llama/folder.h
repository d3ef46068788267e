#pragma once
// A model in the file format of Llama models.

#include <filesystem>
#include <optional>

#include "ladon/core/extra/text/byte_pair.h"
#include "ladon/layers/extra/sequence/language_model.h"

namespace ladon::example {

/// Writes config.json, model.safetensors with Llama's names, and tokenizer.json into a folder,
/// which it creates. The model must be made with options of llama(…); `context` is the length of
/// the texts that it was trained on.
void write_folder(const std::filesystem::path& folder, const LanguageModel& model,
                  const BytePairTokenizer& tokenizer, std::int64_t context);

/// Tokenizer of a folder: tokenizer.json, or vocab.json and merges.txt; nothing if the folder has
/// neither.
std::optional<BytePairTokenizer> read_tokenizer(const std::filesystem::path& folder);

}  // namespace ladon::example
