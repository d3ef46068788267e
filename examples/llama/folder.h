#pragma once
// A model in the files in which Llamas come.

#include <filesystem>
#include <optional>

#include "ladon/core/text/byte_pair.h"
#include "ladon/layers/sequence/language_model.h"

namespace ladon::example {

/// Writes config.json, model.safetensors under Llama's names, and tokenizer.json into a folder,
/// which is made. The model is of the form that llama(…) makes; `context` is what it was trained to
/// see.
void write_folder(const std::filesystem::path& folder, const LanguageModel& model,
                  const BytePairTokenizer& tokenizer, std::int64_t context);

/// The tokenizer of a folder: tokenizer.json, or vocab.json and merges.txt; nothing where there is
/// none.
std::optional<BytePairTokenizer> read_tokenizer(const std::filesystem::path& folder);

}  // namespace ladon::example
