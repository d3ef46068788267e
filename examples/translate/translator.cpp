#include <algorithm>
#include <numeric>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/examples/translate/study.h"
#include "ladon/optim/extra/training/average.h"
#include "ladon/optim/extra/training/training_run.h"

namespace ladon::example {
namespace {

constexpr const char *pad = "<pad>", *bos = "<bos>", *eos = "<eos>";

BytePairTokenizer learned_tokens(const ParallelText& pairs, std::int64_t size) {
  std::vector<std::string> texts;
  for (const auto* side : {&pairs.sources, &pairs.targets})
    for (const std::string& text : *side) texts.push_back(" " + text);
  return BytePairTokenizer::train(texts, {.size = size, .special = {pad, bos, eos}});
}

BytePairTokenizer saved_tokens(const std::filesystem::path& run) {
  BytePairTokenizer tokens = BytePairTokenizer::train({}, {.size = 256, .special = {}});
  tokens.load_state_dict(TrainingRun::saved(run, "tokenizer"));
  return tokens;
}

/// Words of a text, and the tokens of each: [words, tokens], 1 where the token is part of the word.
struct Words {
  std::vector<std::string> words;
  Tensor tokens;
};
Words words_of(const Translator& t, const TokenSequence& text) {
  std::vector<std::string> words;
  std::vector<std::int64_t> word;  // index of each token's word
  for (const std::int64_t token : text) {
    const bool begins = t.tokens.tokens()[token].starts_with(' ');
    if (words.empty() || begins) words.emplace_back();
    words.back() += t.decode({token});
    word.push_back(std::ssize(words) - 1);
  }
  return {words, transpose(one_hot(from_vector(word, {std::ssize(word)}), std::ssize(words)))};
}

}  // namespace

PairTokens Translator::ends() const {
  return {.bos = tokens.at(bos), .eos = tokens.at(eos), .pad = tokens.at(pad)};
}

std::vector<TokenSequence> Translator::encode(const std::vector<std::string>& texts) const {
  std::vector<TokenSequence> all;
  for (const std::string& text : texts) all.push_back(tokens.encode(" " + text));
  return all;
}

std::string Translator::decode(TokenSequence text) const {
  std::erase_if(text, [&](std::int64_t token) {
    return std::ranges::find(tokens.special(), token) != tokens.special().end();
  });
  const std::string words = tokens.decode(text);
  return words.starts_with(' ') ? words.substr(1) : words;
}

Translator new_translator(const Settings& s, const ParallelText& pairs) {
  BytePairTokenizer tokens =
      s.resume.empty() ? learned_tokens(pairs, s.tokens) : saved_tokens(s.resume);
  const TranslationModelOptions options{
      .vocabulary = tokens.size(),
      .body = {.layer = {.dim = s.dim, .heads = s.heads, .dropout = s.dropout},
               .encoder_layers = s.layers,
               .decoder_layers = s.layers}};
  Generator rng(s.common.seed);
  return {std::move(tokens), TranslationModel(options, rng)};
}

Translator saved_translator(const std::filesystem::path& run) {
  const Tensor sizes = TrainingRun::saved(run, "sizes").at("tensor");
  LADON_CHECK(sizes.dtype() == i64 && sizes.shape() == Shape({3}), "translate", run.string(),
              " must be a run that translate saved, but has no entry `sizes` of three integers");
  Settings s;
  s.layers = at(sizes, {0}).item<std::int64_t>();
  s.heads = at(sizes, {1}).item<std::int64_t>();
  s.dim = at(sizes, {2}).item<std::int64_t>();
  s.resume = run;
  Translator translator = new_translator(s, {});
  WeightAverage average(translator.model);
  average.load_state_dict(TrainingRun::saved(run, "average"));
  average.copy_to(translator.model);
  translator.model.eval();
  return translator;
}

std::vector<std::string> translate(const Translator& translator,
                                   const std::vector<std::string>& sources, std::int64_t beams) {
  constexpr std::int64_t at_once = 50;
  const TranslationModel& model = translator.model;
  const PairTokens ends = translator.ends();
  const std::vector<TokenSequence> all = translator.encode(sources);
  std::vector<std::size_t> order(all.size());  // by length, to reduce padding
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return all[i].size(); });
  std::vector<std::string> targets(all.size());
  Generator unused(0);
  for (auto first = order.begin(); first != order.end();) {
    stop_if_interrupted();
    const auto end = first + std::min<std::int64_t>(at_once, order.end() - first);
    std::vector<TokenSequence> some;
    for (auto i = first; i != end; ++i) some.push_back(all[*i]);
    const PaddedSequences batch = pad_sequences(some, ends.pad);
    const auto written =
        generate(next_token(model), full({end - first, 1}, static_cast<double>(ends.bos), i64),
                 {.length = 2 * batch.tokens.size(1) + 10,
                  .temperature = beams > 0 ? 1.0 : 0.0,
                  .stop = {ends.eos},
                  .beams = beams},
                 unused, {}, model.remember(batch.tokens, batch.mask));
    for (const Generated& text : written) targets[*first++] = translator.decode(text.tokens);
  }
  return targets;
}

Attention attention_of(const Translator& translator, const std::string& source,
                       const std::string& target) {
  const NoGrad no_grad;
  const auto from = translator.encode({source}), to = translator.encode({target});
  const PairBatch pair = pad_pairs(from, to, translator.ends());
  const Tensor last =
      translator.model.forward_with_weights(pair.source, pair.target_in, {}).weights.back();
  // Row i is the attention with which target token i is written. The last row, with which the end
  // token is written, is left out.
  const Tensor rows = slice(mean(select(last, 0, 0), 0), 0, {.stop = std::ssize(to[0])});
  const Words sources = words_of(translator, from[0]), targets = words_of(translator, to[0]);
  return {sources.words, targets.words,
          matmul(matmul(targets.tokens, rows), transpose(sources.tokens)) /
              sum(targets.tokens, 1, keep_dims)};
}

}  // namespace ladon::example
