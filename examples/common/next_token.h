#pragma once
// Texts as rows of tokens, and how well a model predicts the next one.

#include <string>
#include <vector>

#include "ladon/core/random.h"
#include "ladon/core/tensor.h"
#include "ladon/layers/extra/sequence/language_model.h"

namespace ladon::example {

struct Text {
  std::string name, content;
};
/// The text of a file; without a path, this library's headers and sources in the order of their
/// names. Throws Error if the text cannot be read, or the sources are missing.
Text text_or_own(const std::string& path);

/// The first nine tenths of a text for training, the rest for validation: i64 [n] each.
struct Split {
  Tensor train, validation;
};
/// Throws Error for fewer tokens than 20 contexts; `what` names the tokens in the message.
Split split(const std::vector<std::int64_t>& tokens, std::int64_t context, const char* what);

/// Inputs of a model and the tokens that follow them: i64 [batch, context] each.
struct Window {
  Tensor x, y;
};
/// Windows that start at random positions.
Window random_windows(const Tensor& text, std::int64_t batch, std::int64_t context, Generator& rng);
/// Window number `first` and the `batch` − 1 after it, without gaps; fewer at the end of the text.
Window windows_from(const Tensor& text, std::int64_t first, std::int64_t batch,
                    std::int64_t context);
/// Number of windows.
std::int64_t window_count(const Tensor& text, std::int64_t context);

/// Mean loss over a text, in nats per token; each token is predicted from at most `context` others.
double loss_on(const LanguageModel& model, const Tensor& text, std::int64_t context);

}  // namespace ladon::example
