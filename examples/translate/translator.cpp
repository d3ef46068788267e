#include "ladon/examples/translate/translator.h"

#include <algorithm>
#include <numeric>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/error.h"
#include "ladon/examples/common/interrupt.h"
#include "ladon/optim/training/average.h"
#include "ladon/optim/training/training_run.h"

namespace ladon::example {
namespace {

TranslationModelOptions options_of(std::int64_t vocabulary, std::int64_t layers, std::int64_t heads,
                                   std::int64_t dim, double dropout) {
  return {.vocabulary = vocabulary,
          .body = {.layer = {.dim = dim, .heads = heads, .dropout = dropout},
                   .encoder_layers = layers,
                   .decoder_layers = layers}};
}

/// For each token the number of the word that it is in, and the words.
std::vector<std::string> words_of(const Tokens& tokens, const TokenSequence& text,
                                  std::vector<std::int64_t>& word) {
  std::vector<std::string> words;
  for (const std::int64_t token : text) {
    if (words.empty() || tokens.begins_word(token)) words.emplace_back();
    words.back() += tokens.decode({token});
    word.push_back(std::ssize(words) - 1);
  }
  return words;
}

/// [words, tokens]: 1 where the token is in the word.
Tensor membership(const std::vector<std::int64_t>& word, std::size_t words) {
  return transpose(one_hot(from_vector(word, {std::ssize(word)}), static_cast<std::int64_t>(words)),
                   0, 1);
}

}  // namespace

Translator new_translator(const Settings& s, Tokens tokens) {
  Generator rng(s.common.seed);
  const std::int64_t vocabulary = tokens.tokenizer().size();
  return {std::move(tokens),
          TranslationModel(options_of(vocabulary, s.layers, s.heads, s.dim, s.dropout), rng)};
}

Translator saved_translator(const std::filesystem::path& run) {
  Settings s;
  const Tensor sizes = TrainingRun::saved(run, "sizes").at("tensor");
  LADON_CHECK(sizes.dtype() == i64 && sizes.shape() == Shape({3}), "translate", run.string(),
              ": was not saved by this program");
  const StateDict averaged = TrainingRun::saved(run, "average");
  s.layers = at(sizes, {0}).item<std::int64_t>();
  s.heads = at(sizes, {1}).item<std::int64_t>();
  s.dim = at(sizes, {2}).item<std::int64_t>();
  // What the file claims is no more than what it holds.
  const auto table = averaged.find("parameter.embedding.weight");
  LADON_CHECK(table != averaged.end() && table->second.rank() == 2 &&
                  table->second.size(1) == s.dim && s.layers <= std::ssize(averaged),
              "translate", run.string(), ": is of ", s.layers, " layers of width ", s.dim,
              ", and has not the weights of these");
  Translator translator = new_translator(s, Tokens(TrainingRun::saved(run, "tokenizer")));
  WeightAverage average(translator.model);
  average.load_state_dict(averaged);
  average.copy_to(translator.model);
  translator.model.eval();
  return translator;
}

std::vector<std::string> translate(const Translator& translator,
                                   const std::vector<std::string>& sources, std::int64_t beams,
                                   double penalty) {
  constexpr std::int64_t at_once = 50;
  const auto& [tokens, model] = translator;
  const PairTokens ends = tokens.ends();
  const std::vector<TokenSequence> all = tokens.encode(sources);
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].size() < all[b].size(); });
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
                  .beams = beams,
                  .length_penalty = penalty},
                 unused, {}, model.remember(batch.tokens, batch.mask));
    for (const Generated& text : written) targets[*first++] = tokens.decode(text.tokens);
  }
  return targets;
}

Attention attention_of(const Translator& translator, const std::string& source,
                       const std::string& target) {
  const auto& [tokens, model] = translator;
  const NoGrad no_grad;
  const TokenSequence from = tokens.encode(source), to = tokens.encode(target);
  const PairBatch pair = pad_pairs({from}, {to}, tokens.ends());
  const Tensor last = model.forward_with_weights(pair.source, pair.target_in, {}).weights.back();
  // Row i is of the token that comes after the i-th, the last one of the end.
  const Tensor rows = slice(mean(select(last, 0, 0), 0), 0, {.stop = std::ssize(to)});
  Attention seen;
  std::vector<std::int64_t> source_word, target_word;
  seen.source = words_of(tokens, from, source_word);
  seen.target = words_of(tokens, to, target_word);
  const Tensor by_source = membership(source_word, seen.source.size());
  const Tensor by_target = membership(target_word, seen.target.size());
  seen.weights =
      matmul(matmul(by_target, rows), transpose(by_source, 0, 1)) / sum(by_target, 1, keep_dims);
  return seen;
}

}  // namespace ladon::example
