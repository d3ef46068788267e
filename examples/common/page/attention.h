#pragma once
// Pages that show where the heads of a trained model look in texts of its run: the maps are in the
// page, the model is not.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ladon/core/tensor.h"
#include "ladon/examples/common/page/page.h"
#include "ladon/layers/sequence/language_model.h"

namespace ladon::example {

/// Attention of a layer in a text.
struct LayerMaps {
  std::string name;                        ///< Of the layer: "encoder 1".
  std::vector<std::string> queries, keys;  ///< Tokens that look, and that are looked at.
  Tensor weights;                          ///< [heads, queries, keys], rows that sum to 1.
  std::string predicts = {};  ///< Of query i: "this" token, the "next" one, or nothing.
};

/// A text that a model saw.
struct SeenText {
  std::string text;
  std::vector<LayerMaps> layers;
  nlohmann::ordered_json predicted;  ///< next_tokens() of its queries.
};

/// A matrix of numbers from 0 to 1 in thousandths, which a shade does not tell apart: three digits
/// where JSON would have ten. Zeros at the end of a row, all that causal maps do not see, are left
/// out. The script thousandths() reads it.
nlohmann::ordered_json thousandths(const Tensor& matrix);

/// A token as it stands in a text.
using TokenText = std::function<std::string(std::int64_t)>;

/// A token that is to be read: blanks and ends of lines are marked, bytes that are no UTF-8 too.
std::string visible(const std::string& token);

/// Probabilities of the token at each place: of the likeliest few, and of the one that stands
/// there. logits: [places, vocabulary].
nlohmann::ordered_json next_tokens(const Tensor& logits, const std::vector<std::int64_t>& right,
                                   const TokenText& shown);

/// Pieces of `length` tokens from a text i64 [n], from beginnings of lines where it has lines, as a
/// model of the next token in evaluation mode sees them.
std::vector<SeenText> seen_texts(const LanguageModel& model, const Tensor& text,
                                 std::int64_t length, const TokenText& token_text);

/// Text, layer, head and token to turn. All texts have the same layers. `predict` is as in page.js;
/// `heads` are names of a layer's heads, 1, 2, … where there are none.
Page attention_page(const std::string& title, const std::string& about,
                    const nlohmann::ordered_json& predict, const std::vector<SeenText>& texts,
                    const std::vector<std::string>& heads = {});

}  // namespace ladon::example
