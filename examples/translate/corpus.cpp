#include "ladon/examples/translate/corpus.h"

#include <algorithm>
#include <filesystem>

#include "ladon/core/error.h"
#include "ladon/core/text/bleu.h"
#include "ladon/examples/translate/grammar.h"

namespace ladon::example {
namespace {

constexpr const char *pad = "<pad>", *bos = "<bos>", *eos = "<eos>";

/// Takes the last pairs away.
ParallelText cut_off(ParallelText& pairs, std::int64_t count) {
  ParallelText last;
  const auto cut = [count](std::vector<std::string>& from, std::vector<std::string>& to) {
    to.assign(std::make_move_iterator(from.end() - count), std::make_move_iterator(from.end()));
    from.resize(from.size() - static_cast<std::size_t>(count));
  };
  cut(pairs.sources, last.sources);
  cut(pairs.targets, last.targets);
  return last;
}

Corpus generated(const Settings& s) {
  constexpr std::int64_t validation = 200, test = 500;
  Generator rng = Generator(s.common.seed).split(1);
  Corpus corpus{"a grammar", grammar_pairs(s.pairs + validation + test, rng), {}, {}};
  corpus.test = cut_off(corpus.train, test);
  corpus.validation = cut_off(corpus.train, validation);
  return corpus;
}

}  // namespace

Corpus read_corpus(const Settings& s) {
  if (s.source.empty()) return generated(s);
  Corpus corpus{std::filesystem::path(s.source).filename().string(),
                read_parallel(s.source, s.target),
                {},
                {}};
  const auto held_out = [&](const std::vector<std::string>& files) {
    if (!files.empty()) return read_parallel(files[0], files[1]);
    return cut_off(corpus.train,
                   std::min<std::int64_t>(1000, std::ssize(corpus.train.sources) / 20));
  };
  corpus.test = held_out(s.test);
  corpus.validation = held_out(s.validation);
  LADON_CHECK(corpus.train.sources.size() >= 20 && !corpus.validation.sources.empty(), "translate",
              s.source, " leaves ", corpus.train.sources.size(), " pairs to train on, and ",
              corpus.validation.sources.size(), " for validation; give at least 40 lines");
  return corpus;
}

Tokens::Tokens(const ParallelText& pairs, std::int64_t size)
    : tokenizer_([&] {
        std::vector<std::string> texts;
        for (const auto* side : {&pairs.sources, &pairs.targets})
          for (const std::string& text : *side) texts.push_back(" " + text);
        return BytePairTokenizer::train(texts, {.size = size, .special = {pad, bos, eos}});
      }()) {}

Tokens::Tokens(const StateDict& state)
    : tokenizer_(BytePairTokenizer::train({}, {.size = 256, .special = {}})) {
  tokenizer_.load_state_dict(state);
  ends();
}

PairTokens Tokens::ends() const {
  return {.bos = tokenizer_.at(bos), .eos = tokenizer_.at(eos), .pad = tokenizer_.at(pad)};
}

std::vector<TokenSequence> Tokens::encode(const std::vector<std::string>& texts) const {
  std::vector<TokenSequence> all;
  for (const std::string& text : texts) all.push_back(encode(text));
  return all;
}

std::string Tokens::decode(const TokenSequence& tokens) const {
  TokenSequence inner;
  const auto& special = tokenizer_.special();
  for (const std::int64_t token : tokens)
    if (std::find(special.begin(), special.end(), token) == special.end()) inner.push_back(token);
  const std::string text = tokenizer_.decode(inner);
  return text.starts_with(' ') ? text.substr(1) : text;
}

bool Tokens::begins_word(std::int64_t token) const {
  return tokenizer_.tokens()[static_cast<std::size_t>(token)].starts_with(' ');
}

std::string as_judged(const std::string& text) {
  std::string words;
  for (const std::string& word : metrics::tokenize_13a(text))
    words += (words.empty() ? "" : " ") + word;
  return words;
}

}  // namespace ladon::example
