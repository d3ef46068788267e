#pragma once
// A model with its tokens: sentences in, sentences out.

#include <filesystem>
#include <string>
#include <vector>

#include "ladon/core/data/sequences.h"
#include "ladon/core/text/byte_pair.h"
#include "ladon/examples/translate/corpus.h"
#include "ladon/layers/sequence/translation_model.h"

namespace ladon::example {

struct Translator {
  /// Byte pairs of both languages together. Every word begins with a blank, the first one too, so
  /// that it has the same tokens anywhere.
  BytePairTokenizer tokens;
  TranslationModel model;

  PairTokens ends() const;
  std::vector<TokenSequence> encode(const std::vector<std::string>& texts) const;
  /// Without what stands at the ends.
  std::string decode(TokenSequence text) const;
};

/// With weights drawn from the seed, and tokens learned from the pairs, or those of --resume.
Translator new_translator(const Settings& s, const ParallelText& pairs);
/// The averaged model of a saved run, whatever the settings say of its size.
Translator saved_translator(const std::filesystem::path& run);

/// Translations of these texts, by beam search, or greedily with 0 beams; at most twice as long as
/// the source, and ten tokens. The model is to be in evaluation mode.
std::vector<std::string> translate(const Translator& translator,
                                   const std::vector<std::string>& sources, std::int64_t beams);

/// Attention of the decoder while it writes a given translation.
struct Attention {
  std::vector<std::string> source, target;  ///< Words.
  /// [target, source], rows that sum to 1: of the last layer, the mean over heads and over the
  /// tokens of a target word, the sum over those of a source word.
  Tensor weights;
};
Attention attention_of(const Translator& translator, const std::string& source,
                       const std::string& target);

}  // namespace ladon::example
