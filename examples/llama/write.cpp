#include "ladon/examples/llama/write.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>

#include "ladon/examples/common/text.h"
#include "ladon/examples/llama/folder.h"

namespace ladon::example {
namespace {

using Tokens = std::vector<std::int64_t>;

/// Converts texts to tokens and back: by the folder's tokenizer or, with --ids, as token numbers.
class Speech {
 public:
  Speech(const std::string& folder, bool ids) {
    if (ids) return;
    tokenizer_ = read_tokenizer(folder);
    LADON_CHECK(
        tokenizer_.has_value(), "llama", folder,
        " must have a tokenizer.json, or vocab.json and merges.txt, but has none; with --ids the "
        "prompt is a list of token numbers");
  }

  Tokens encode(const std::string& text) const {
    if (tokenizer_) return tokenizer_->encode(text, SpecialTokens::as_tokens);
    Tokens tokens;
    std::istringstream numbers(text);
    for (std::int64_t token = 0; numbers >> token;) tokens.push_back(token);
    LADON_CHECK(numbers.eof(), "llama",
                "with --ids the prompt must be a list of token numbers, but is '", text,
                "'; leave --ids out to pass a text");
    return tokens;
  }
  std::string decode(const Tokens& tokens) const {
    if (tokenizer_) return tokenizer_->decode(tokens);
    std::string text;
    for (const std::int64_t token : tokens) text += join(" ", token);
    return text;
  }

 private:
  std::optional<BytePairTokenizer> tokenizer_;
};

struct Timed {
  Tokens tokens;
  double seconds;
};

}  // namespace

Written write_on(const Settings& s, const std::string& folder, const LanguageModel& model) {
  const Speech speech(folder, s.ids);
  const LanguageModelConfig config =
      read_language_model_config((std::filesystem::path(folder) / "config.json").string());
  const Tokens prompt = speech.encode(s.prompt);
  const auto count = static_cast<std::int64_t>(prompt.size());
  LADON_CHECK(count > 0, "llama",
              "the prompt must have at least one token, but is empty; give one by --prompt");
  LADON_CHECK(count + s.length <= config.max_length, "llama", "the prompt has ", count,
              " tokens, and --length is ", s.length,
              "; lower --length: together they must not exceed the model's context of ",
              config.max_length);
  const auto write = [&](std::int64_t length, bool cached) -> Timed {
    if (length == 0) return {};
    Generator rng = Generator(s.common.seed).split(7);
    const auto start = std::chrono::steady_clock::now();
    const auto texts = generate(next_token(model), from_vector(prompt, {1, count}),
                                {.length = length,
                                 .temperature = s.temperature,
                                 .top_k = s.top_k,
                                 .top_p = s.top_p,
                                 .stop = config.end,
                                 .cached = cached},
                                rng);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    return {texts[0].tokens, spent.count()};
  };
  const Timed cached = write(s.length, true), plain = write(std::min(s.length, s.again), false);
  return {.tokens = cached.tokens,
          .text = s.prompt + speech.decode(cached.tokens),
          .again = std::ssize(plain.tokens),
          .seconds = cached.seconds,
          .seconds_uncached = plain.seconds,
          .same = std::equal(plain.tokens.begin(), plain.tokens.end(), cached.tokens.begin())};
}

}  // namespace ladon::example
