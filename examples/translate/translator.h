#pragma once
// A model with its tokens: sentences in, sentences out.

#include <filesystem>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/examples/translate/corpus.h"
#include "ladon/layers/sequence/translation_model.h"

namespace ladon::example {

struct Translator {
  Tokens tokens;
  TranslationModel model;
};

/// With weights drawn from the seed.
Translator new_translator(const Settings& s, Tokens tokens);
/// The averaged model of a saved run, whatever the settings say of its size.
Translator saved_translator(const std::filesystem::path& run);

/// Translations of these texts, by beam search, or greedily with 0 beams; at most twice as long as
/// the source, and ten tokens. The model is to be in evaluation mode.
std::vector<std::string> translate(const Translator& translator,
                                   const std::vector<std::string>& sources, std::int64_t beams,
                                   double penalty);

/// Where the decoder looks as it writes a translation that it is told.
struct Attention {
  std::vector<std::string> source, target;  ///< Words.
  /// [target, source], rows that sum to 1: of the last layer, the mean over heads and over the
  /// tokens of a target word, the sum over those of a source word.
  Tensor weights;
};
Attention attention_of(const Translator& translator, const std::string& source,
                       const std::string& target);

}  // namespace ladon::example
