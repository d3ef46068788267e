#pragma once
// Sentences with their translations, and their tokens.

#include <string>
#include <vector>

#include "ladon/core/data/sequences.h"
#include "ladon/core/text/byte_pair.h"
#include "ladon/core/text/text.h"
#include "ladon/examples/translate/settings.h"

namespace ladon::example {

struct Corpus {
  std::string name;
  ParallelText train, validation, test;
};

/// The settings' files, or pairs of the grammar, of which those for validation (200) and test (500)
/// are not trained on. Files for one of these that are not given are the last twentieth of what is
/// left of the training's, at most 1,000 lines. Throws Error for files that cannot be read, are not
/// as long as each other, or hold fewer than 20 pairs to train on.
Corpus read_corpus(const Settings& s);

/// Byte pairs of both languages together. Every word begins with a blank, the first one too, so
/// that it has the same tokens anywhere.
class Tokens {
 public:
  /// Learned from the training pairs. `size` must be at least 259: the bytes, and three ends.
  Tokens(const ParallelText& pairs, std::int64_t size);
  /// Those of a saved run. Throws Error if they have not the three ends.
  explicit Tokens(const StateDict& state);

  const BytePairTokenizer& tokenizer() const { return tokenizer_; }
  PairTokens ends() const;
  TokenSequence encode(const std::string& text) const { return tokenizer_.encode(" " + text); }
  std::vector<TokenSequence> encode(const std::vector<std::string>& texts) const;
  /// Without what stands at the ends.
  std::string decode(const TokenSequence& tokens) const;
  /// Whether a word begins with this token.
  bool begins_word(std::int64_t token) const;

 private:
  BytePairTokenizer tokenizer_;
};

/// Texts as BLEU sees them: words and punctuation (metrics::tokenize_13a), with a blank between.
std::string as_judged(const std::string& text);

}  // namespace ladon::example
