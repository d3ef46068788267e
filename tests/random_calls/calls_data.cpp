// Random calls of data loaders, tokenizers, and scores of translations.

#include "ladon/core/extra/data/prefetch.h"
#include "ladon/core/extra/data/sequences.h"
#include "ladon/core/extra/text/bleu.h"
#include "ladon/core/extra/text/byte_pair.h"
#include "ladon/core/extra/text/characters.h"
#include "ladon/core/extra/text/vocabulary.h"
#include "table.h"

namespace ladon::test {
namespace {

std::string text(Draw& d) {
  std::string bytes;
  for (std::int64_t n = d.below(12); n > 0; --n)
    bytes += d.chance(0.9) ? "ab '.,-\n1<"[d.below(10)] : static_cast<char>(d.below(256));
  return bytes;
}

std::vector<std::string> texts(Draw& d) {
  std::vector<std::string> list(d.below(5));
  for (std::string& one : list) one = text(d);
  return list;
}

TokenSequence sequence(Draw& d) {
  TokenSequence tokens(d.below(5));
  for (std::int64_t& token : tokens) token = d.chance(0.95) ? d.below(6) : d.integer();
  return tokens;
}

std::vector<TokenSequence> sequences(Draw& d, std::int64_t n) {
  std::vector<TokenSequence> list(d.chance(0.9) ? n : d.below(5));
  for (TokenSequence& one : list) one = sequence(d);
  return list;
}

LoaderOptions options(Draw& d) {
  return {.batch_size = d.around(1, 4),
          .shuffle = d.flag(),
          .drop_last = d.chance(0.3),
          .by_length = d.chance(0.2)};
}

template <class Source>
auto some_batch(Draw& d, Source source) {
  if (d.chance(0.5)) source.seek({d.around(0, 5), d.chance(0.8) ? 0 : d.integer()});
  source.next();
  return source.next();
}

void add_loaders(CallTable& table) {
  table.add("tensor_loader", [](Draw& d) {
    const Tensors tensors{d.tensor(), d.twin()};
    Generator rng(d.seed());
    const auto loader = tensor_loader(tensors, options(d), rng);
    return d.chance(0.5) ? some_batch(d, loader) : some_batch(d, prefetch(loader));
  });
  table.add("pair_loader", [](Draw& d) {
    const std::int64_t n = 1 + d.below(5);
    const PairTokens tokens{d.around(0, 5), d.around(0, 5), d.around(0, 1)};
    const auto sources = sequences(d, n), targets = sequences(d, n);
    Generator rng(d.seed());
    const PairBatch batch = some_batch(d, pair_loader(sources, targets, tokens, options(d), rng));
    return Tensors{batch.source, batch.source_mask, batch.target_out};
  });
  table.add("window_loader", [](Draw& d) {
    const TokenSequence tokens = sequence(d);
    const std::int64_t length = d.around(1, 3), stride = d.around(1, 3);
    Generator rng(d.seed());
    const auto batch = some_batch(d, window_loader(tokens, length, stride, options(d), rng));
    return Tensors{batch.inputs, batch.targets};
  });
  table.add("pad_pairs", [](Draw& d) {
    const std::int64_t n = d.below(4);
    const auto sources = sequences(d, n), targets = sequences(d, n);
    return pad_pairs(sources, targets, {d.around(0, 5), d.around(0, 5), d.integer()}).target_in;
  });
  table.add("pad_sequences", [](Draw& d) {
    const auto list = sequences(d, d.below(4));
    return pad_sequences(list, d.integer()).tokens;
  });
  table.add("random_batches", [](Draw& d) {
    Generator rng(d.seed());
    const std::int64_t n = d.around(0, 9), size = d.around(1, 4);
    if (d.flag()) return ordered_batches(n, size).size();
    return random_batches(n, size, rng, d.chance(0.5) ? sequence(d) : TokenSequence()).size();
  });
}

void add_tokenizers(CallTable& table) {
  table.add("BytePairTokenizer", [](Draw& d) {
    const auto tokenizer = BytePairTokenizer::train(
        texts(d), {.size = d.around(256, 270),
                   .min_count = d.around(1, 3),
                   .special = d.chance(0.2) ? texts(d) : std::vector<std::string>{"<a"}});
    const std::string bytes = text(d);
    const auto tokens =
        tokenizer.encode(bytes, d.flag() ? SpecialTokens::as_tokens : SpecialTokens::as_text);
    detail::require(tokenizer.decode(tokens) == bytes, "a text comes back");
    return tokenizer.decode(sequence(d)).size();
  });
  table.add("BytePairTokenizer::load_state_dict", [](Draw& d) {
    auto tokenizer = BytePairTokenizer::train(texts(d), {.size = 260});
    StateDict state = tokenizer.state_dict();
    if (d.flag()) state[d.flag() ? "merges" : "lengths"] = d.indices({d.below(4), 2}, 300);
    tokenizer.load_state_dict(state);
    return tokenizer.decode(sequence(d)).size();
  });
  table.add("CharacterVocabulary", [](Draw& d) {
    const CharacterVocabulary vocabulary(text(d));
    return vocabulary.encode(text(d)).size() + vocabulary.decode(sequence(d)).size();
  });
  table.add("Vocabulary::decode", [](Draw& d) {
    const auto vocabulary =
        Vocabulary::from_texts(texts(d), {d.around(1, 2), d.around(0, 8), d.flag()});
    return vocabulary.decode(sequence(d)).size() + encode_all(vocabulary, texts(d)).size();
  });
  table.add("bleu", [](Draw& d) {
    const auto hypotheses = texts(d);
    std::vector<std::vector<std::string>> references(
        d.chance(0.9) ? hypotheses.size() : static_cast<std::size_t>(d.below(3)));
    for (auto& list : references) list = texts(d);
    return metrics::bleu(hypotheses, references).score;
  });
}

}  // namespace

void add_data_calls(CallTable& table) {
  add_loaders(table);
  add_tokenizers(table);
}

}  // namespace ladon::test
