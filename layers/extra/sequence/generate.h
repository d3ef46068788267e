#pragma once
// Text generation, token by token, from a model of the next token.

#include <exception>
#include <functional>
#include <optional>
#include <vector>

#include "ladon/layers/attention/attention_cache.h"

namespace ladon {

/// Model of the next token: logits of the token after each of `tokens` (i64 [batch, T]), given the
/// tokens in the cache, [batch, T, vocabulary]; or only after the last token of each row,
/// [batch, 1, vocabulary]. Appends `tokens` to the cache. mask: bool [batch, T], false = padding,
/// on the right; may be undefined.
using NextToken =
    std::function<Tensor(const Tensor& tokens, DecodingCache& cache, const Tensor& mask)>;

struct GenerateOptions {
  std::int64_t length = 100;  ///< Maximum number of tokens to generate.
  double temperature = 1;     ///< Logits are divided by it; 0 takes the likeliest token (greedy).
  std::int64_t top_k = 0;     ///< If > 0, draws among the top_k likeliest tokens (Fan et al. 2018).
  /// Draws among the fewest likeliest tokens whose probabilities sum to at least top_p (Holtzman et
  /// al. 2020).
  double top_p = 1;
  std::vector<std::int64_t> stop = {};  ///< Tokens that end a text, as its last token.
  /// If > 0, beam search with this many beams, by the sum of log-probabilities divided by lengthᵖ,
  /// p = length_penalty (Wu et al. 2016 without their constants). Nothing is drawn, and options for
  /// drawing must have their defaults.
  std::int64_t beams = 0;
  double length_penalty = 1;
  /// If false, processes the whole text again for each token. This is slower and gives bitwise the
  /// same result; it serves to check a model's cache.
  bool cached = true;
  /// Tokens with less than min_p times the probability of the likeliest one are not drawn; applied
  /// before top_k and top_p (Nguyen et al. 2024).
  double min_p = 0;
  /// If > 1, logits of tokens that are in the text or its prompt are divided by it if they are
  /// positive, and multiplied by it if not (Keskar et al. 2019, "CTRL").
  double repetition_penalty = 1;
  /// Called with each token that is generated in row `row`, to show a text while it grows. If the
  /// function returns false, the text of that row ends.
  std::function<bool(std::int64_t row, std::int64_t token)> on_token = {};
};

struct Generated {
  std::vector<std::int64_t> tokens;  ///< Without the prompt, with the stop token if there is one.
  /// Σ ln p of these tokens under the model, without temperature or penalty.
  double log_probability = 0;
  /// The exception that ended a text of a ContinuousBatch; null if none did. generate() throws
  /// instead.
  std::exception_ptr error = {};
};

/// Generates a text for each row of `prompt` (i64 [batch, T], T > 0; prompts of unequal length are
/// padded on the right, with the mask of NextToken). `start` is the initial cache: for a decoder it
/// holds the memory. Runs under NoGrad and RowwiseProducts: for attention with softmax weights, a
/// text depends neither on the other rows of the batch nor on whether there is a cache. With other
/// weights logits may differ by rounding, which may change a token. Row b draws from its own split
/// of rng, which advances by one block (Generator::reserve; not with beams, which draw nothing).
/// Throws Error for an empty function, options out of range, logits of a wrong shape, and logits
/// that are NaN.
std::vector<Generated> generate(const NextToken& next, const Tensor& prompt,
                                const GenerateOptions& options, Generator& rng,
                                const Tensor& mask = {}, const DecodingCache& start = {});

/// Draws a token from logits [vocabulary], by temperature, top_k, top_p and min_p of the options.
/// Throws Error for `beams` and `repetition_penalty`, which need a text.
std::int64_t draw_token(const Tensor& logits, const GenerateOptions& options, Generator& rng);

}  // namespace ladon
