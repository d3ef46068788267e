#pragma once
// Texts as sequences of tokens, and the loss of a model that predicts the next token.

#include <string>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"
#include "ladon/layers/extra/sequence/language_model.h"

namespace ladon::example {

struct Text {
  std::string name, content;
};
/// The text of a file, or, if the path is empty, of this library's headers and sources,
/// concatenated in the order of their names. Throws Error if the file cannot be read, or the
/// sources are missing.
Text text_or_own(const std::string& path);

/// The first nine tenths of the tokens of a text, for training, and the last tenth, for validation:
/// i64 [n] each.
struct Split {
  Tensor train, validation;
};
/// Splits a text. Throws Error if it has fewer than 20 · context tokens; `what` names the tokens in
/// the message.
Split split(const std::vector<std::int64_t>& tokens, std::int64_t context, const char* what);

/// Inputs x of a model, and for each token of x the token that follows it: i64 [batch, context]
/// each.
struct Window {
  Tensor x, y;
};
/// A batch of windows of a text, at random positions.
Window random_windows(const Tensor& text, std::int64_t batch, std::int64_t context, Generator& rng);
/// Windows number `first` to `first` + `batch` − 1 of a text that is divided into windows without
/// gaps; fewer at the end of the text.
Window windows_from(const Tensor& text, std::int64_t first, std::int64_t batch,
                    std::int64_t context);
/// Number of windows into which a text is divided, without gaps.
std::int64_t window_count(const Tensor& text, std::int64_t context);

/// Mean cross-entropy over a text, in nats per token; each token is predicted from at most
/// `context` tokens before it.
double loss_on(const LanguageModel& model, const Tensor& text, std::int64_t context);

}  // namespace ladon::example
