#pragma once
// Lists of tokens as padded tensors, and pairs of them for models that read one sequence and write
// another.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/core/extra/data/loader.h"
#include "ladon/core/tensor.h"

namespace ladon {

using TokenSequence = std::vector<std::int64_t>;

/// B sequences as rows, padded to the longest of them, T tokens.
struct PaddedSequences {
  Tensor tokens;  ///< i64 [B, T]
  Tensor mask;    ///< bool [B, T], true at tokens, false at padding
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

/// B pairs for an encoder–decoder: the decoder reads `target_in` and learns `target_out`.
/// A target has tokens t1 … tn, with n different in each row:
struct PairBatch {
  Tensor source;       ///< i64 [B, S]
  Tensor source_mask;  ///< bool [B, S], true at tokens
  Tensor target_in;    ///< i64 [B, T]: bos t1 … tn, then padding
  Tensor target_out;   ///< i64 [B, T]: t1 … tn eos, then padding
  Tensor target_mask;  ///< bool [B, T], true at the first n + 1
};

/// Special tokens: begin and end of a target, padding. bos and eos are required.
struct PairTokens {
  std::int64_t bos = -1, eos = -1, pad = 0;
};

/// Adds no special tokens to sources. Throws Error unless there are as many targets as sources,
/// every source has a token, and bos, eos and pad are not negative.
PairBatch pad_pairs(const std::vector<TokenSequence>& sources,
                    const std::vector<TokenSequence>& targets, const PairTokens& tokens);

/// Batches of pairs; `by_length` compares the sums of both lengths. Throws Error as pad_pairs and
/// BatchPlan do.
Loader<PairBatch> pair_loader(std::vector<TokenSequence> sources,
                              std::vector<TokenSequence> targets, const PairTokens& tokens,
                              const LoaderOptions& options, Generator& rng);

/// B windows of one long text, for a model that predicts the next token at each token.
struct WindowBatch {
  Tensor inputs;   ///< i64 [B, T]: tokens s, s + 1, …, s + T − 1 of the text
  Tensor targets;  ///< i64 [B, T]: tokens s + 1, …, s + T
};

/// Batches of the windows of `length` tokens that begin at 0, stride, 2·stride, … and are followed
/// by a token. With stride = length none overlap; with 1 a window begins at every token. Throws
/// Error if length or stride is below 1, if there is no window, and as BatchPlan does.
Loader<WindowBatch> window_loader(TokenSequence tokens, std::int64_t length, std::int64_t stride,
                                  const LoaderOptions& options, Generator& rng);

}  // namespace ladon
