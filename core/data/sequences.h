#pragma once
// Lists of tokens as padded tensors, and pairs of them for models that read one and write the
// other.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/core/data/loader.h"
#include "ladon/core/tensor.h"

namespace ladon {

using TokenSequence = std::vector<std::int64_t>;

/// B sequences as rows, padded to the longest of them, T tokens.
struct PaddedSequences {
  Tensor tokens;  ///< i64 [B, T]
  Tensor mask;    ///< bool [B, T], true where a token stands
};

PaddedSequences pad_sequences(const std::vector<TokenSequence>& sequences, std::int64_t pad = 0);

/// Tokens of each text, by a Vocabulary, a CharacterVocabulary or a BytePairTokenizer.
template <class Tokenizer>
std::vector<TokenSequence> encode_all(const Tokenizer& tokenizer,
                                      const std::vector<std::string>& texts) {
  std::vector<TokenSequence> sequences;
  for (const std::string& text : texts) sequences.push_back(tokenizer.encode(text));
  return sequences;
}

/// B pairs for an encoder–decoder, whose decoder sees `target_in` and is to say `target_out`. The
/// targets' tokens are t1 … tn, n differing by row:
struct PairBatch {
  Tensor source;       ///< i64 [B, S]
  Tensor source_mask;  ///< bool [B, S], true where a token stands
  Tensor target_in;    ///< i64 [B, T]: bos t1 … tn, then padding
  Tensor target_out;   ///< i64 [B, T]: t1 … tn eos, then padding
  Tensor target_mask;  ///< bool [B, T], true at the first n + 1
};

/// Special tokens: begin and end of a target, padding. bos and eos are required.
struct PairTokens {
  std::int64_t bos = -1, eos = -1, pad = 0;
};

/// Sources stay as they are. Throws Error unless there are as many targets, every source has a
/// token, and bos, eos and pad are not negative.
PairBatch pad_pairs(const std::vector<TokenSequence>& sources,
                    const std::vector<TokenSequence>& targets, const PairTokens& tokens);

/// Batches of pairs; with `by_length` of similar sums of both lengths. Throws Error as pad_pairs
/// and BatchPlan do.
Loader<PairBatch> pair_loader(std::vector<TokenSequence> sources,
                              std::vector<TokenSequence> targets, const PairTokens& tokens,
                              const LoaderOptions& options, Generator& rng);

/// B windows of one long text, for a model that says at each token which is next.
struct WindowBatch {
  Tensor inputs;   ///< i64 [B, T]: tokens s, s + 1, …, s + T − 1 of the text
  Tensor targets;  ///< i64 [B, T]: those one later
};

/// Batches of the windows of `length` tokens that begin at 0, stride, 2·stride, … and have a token
/// after them. With stride = length none overlap; with 1 all places are begun at. Throws Error if
/// length or stride is below 1, if there is no window, and as BatchPlan does.
Loader<WindowBatch> window_loader(TokenSequence tokens, std::int64_t length, std::int64_t stride,
                                  const LoaderOptions& options, Generator& rng);

}  // namespace ladon
