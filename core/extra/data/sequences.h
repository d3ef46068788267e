#pragma once
// Lists of tokens as padded tensors, and pairs of lists for models that read one sequence and write
// another sequence.

#include <cstdint>
#include <string>
#include <vector>

#include "ladon/core/extra/data/loader.h"
#include "ladon/core/tensor.h"

namespace ladon {

using TokenSequence = std::vector<std::int64_t>;

/// B sequences as rows, padded to the T tokens of the longest sequence.
struct PaddedSequences {
  Tensor tokens;  ///< i64 [B, T]
  Tensor mask;    ///< bool [B, T], true at tokens, false at padding
};

PaddedSequences pad_sequences(const std::vector<TokenSequence>& sequences, std::int64_t pad = 0);

/// Encodes each text with a Vocabulary, a CharacterVocabulary or a BytePairTokenizer.
template <class Tokenizer>
std::vector<TokenSequence> encode_all(const Tokenizer& tokenizer,
                                      const std::vector<std::string>& texts) {
  std::vector<TokenSequence> sequences;
  for (const std::string& text : texts) sequences.push_back(tokenizer.encode(text));
  return sequences;
}

/// B pairs for an encoder–decoder: the decoder reads `target_in` and learns to predict
/// `target_out`. The tokens of a target are t1 … tn below; n differs between rows.
struct PairBatch {
  Tensor source;       ///< i64 [B, S]
  Tensor source_mask;  ///< bool [B, S], true at tokens
  Tensor target_in;    ///< i64 [B, T]: bos t1 … tn, then padding
  Tensor target_out;   ///< i64 [B, T]: t1 … tn eos, then padding
  Tensor target_mask;  ///< bool [B, T], true at the first n + 1 positions
};

/// Special tokens: beginning (bos) and end (eos) of a target, and padding. bos and eos must be set.
struct PairTokens {
  std::int64_t bos = -1, eos = -1, pad = 0;
};

/// Pads pairs to a batch; no special tokens are added to sources. Throws Error unless there are as
/// many targets as sources, every source has a token, and bos, eos and pad are not negative.
PairBatch pad_pairs(const std::vector<TokenSequence>& sources,
                    const std::vector<TokenSequence>& targets, const PairTokens& tokens);

/// Loader of batches of pairs. For LoaderOptions::by_length, the length of a pair is the sum of the
/// lengths of source and target. Throws Error whenever pad_pairs or BatchPlan throws it.
Loader<PairBatch> pair_loader(std::vector<TokenSequence> sources,
                              std::vector<TokenSequence> targets, const PairTokens& tokens,
                              const LoaderOptions& options, Generator& rng);

/// B windows of one long text, for a model that predicts the next token at each token.
struct WindowBatch {
  Tensor inputs;   ///< i64 [B, T]: tokens s, s + 1, …, s + T − 1 of the text
  Tensor targets;  ///< i64 [B, T]: tokens s + 1, …, s + T
};

/// Loader of batches of windows: T = `length` tokens that begin at 0, stride, 2·stride, … and are
/// followed by at least one token. With stride = length, windows do not overlap; with stride 1, a
/// window begins at every token. Throws Error if length or stride is below 1, if there is no
/// window, and whenever BatchPlan throws it.
Loader<WindowBatch> window_loader(TokenSequence tokens, std::int64_t length, std::int64_t stride,
                                  const LoaderOptions& options, Generator& rng);

}  // namespace ladon
