#pragma once
// Pages that show where the heads of a trained model attend in a few texts. A page contains the
// attention maps, not the model.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/layers/extra/sequence/language_model.h"

namespace ladon::example {

/// Attention of one layer in one text.
struct LayerMaps {
  std::string name;                        ///< Name of the layer: "encoder 1".
  std::vector<std::string> queries, keys;  ///< Tokens of the queries and of the keys.
  Tensor weights;                          ///< [heads, queries, keys]; each row sums to 1.
  std::string predicts = {};               ///< The token that the model predicts at a query: "this"
                                           ///< token, the "next", or "" if it predicts none.
};

/// A text, and the model's attention in it.
struct SeenText {
  std::string text;
  std::vector<LayerMaps> layers;
  nlohmann::ordered_json predicted;  ///< next_tokens() at the text's queries.
};

/// A matrix of numbers from 0 to 1 as whole thousandths. They take less space in JSON than the
/// numbers, and are finer than the shades of the drawing. Zeros at the end of a row (the masked
/// part of a causal map) are omitted. The function thousandths() of page.js decodes them.
nlohmann::ordered_json thousandths(const Tensor& matrix);

/// Function that returns the text of the token with this number.
using TokenText = std::function<std::string(std::int64_t)>;

/// A token made visible: blanks, ends of lines and bytes that are not UTF-8 are marked.
std::string visible(const std::string& token);

/// At each position the probabilities of the five likeliest tokens, and of the correct token, given
/// in `right`. logits: [positions, vocabulary].
nlohmann::ordered_json next_tokens(const Tensor& logits, const std::vector<std::int64_t>& right,
                                   const TokenText& shown);

/// Ten pieces of at most `length` tokens from a text i64 [n], starting at the beginnings of lines
/// if it has lines, with the maps of a language model in evaluation mode.
std::vector<SeenText> seen_texts(const LanguageModel& model, const Tensor& text,
                                 std::int64_t length, const TokenText& token_text);

/// Page that shows attention maps, on which the reader chooses text, layer, head and token. All
/// texts must have the same layers. `predict` is the question that the reader answers before the
/// page shows the result, as described in page.js; `heads` are names of the heads of a layer, by
/// default 1, 2, …
Page attention_page(const std::string& title, const std::string& about,
                    const nlohmann::ordered_json& predict, const std::vector<SeenText>& texts,
                    const std::vector<std::string>& heads = {});

}  // namespace ladon::example
