#include <algorithm>

#include "ladon/autograd/graph.h"
#include "ladon/autograd/ops.h"
#include "ladon/core/extra/data/sequences.h"
#include "ladon/examples/common/page/attention.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/translate/study.h"

namespace ladon::example {
namespace {

constexpr std::size_t most_texts = 40, most_tokens = 16;

/// Attention of each encoder layer [heads, S, S]. The encoder's input is captured by a hook on the
/// embedding's dropout, since remember() embeds only the source.
std::vector<Tensor> encoder_maps(Translator& translator, const Tensor& source) {
  Tensor embedded;
  HookHandle watch = translator.model.dropout.register_forward_hook([&embedded](const Tensor& y) {
    embedded = y;
    return Tensor();
  });
  translator.model.remember(source);
  watch.remove();
  return translator.model.body.encoder.forward_with_weights(embedded, {}).weights;
}

SeenText seen(Translator& translator, const std::string& source, const std::string& target) {
  const NoGrad no_grad;
  const auto from = translator.encode({source}), to = translator.encode({target});
  const PairBatch pair = pad_pairs(from, to, translator.ends());
  const auto shown = [&](std::int64_t token) {
    const std::string& text = translator.tokens.tokens()[token];
    return visible(text.starts_with(' ') ? text.substr(1) : text);  // most tokens begin a word
  };
  const auto words = [&](const Tensor& tokens) {
    std::vector<std::string> all;
    for (const std::int64_t token : tokens.to_vector<std::int64_t>()) all.push_back(shown(token));
    return all;
  };
  const std::vector<std::string> read = words(pair.source), written = words(pair.target_out);
  SeenText text{source, {}, {}};
  const auto writing = translator.model.forward_with_weights(pair.source, pair.target_in, {});
  for (std::size_t i = 0; i < writing.weights.size(); ++i)
    text.layers.push_back(
        {join("decoder ", i + 1), written, read, select(writing.weights[i], 0, 0), "this"});
  const std::vector<Tensor> reading = encoder_maps(translator, pair.source);
  for (std::size_t i = 0; i < reading.size(); ++i)
    text.layers.push_back({join("encoder ", i + 1), read, read, select(reading[i], 0, 0)});
  text.predicted =
      next_tokens(select(writing.output, 0, 0), pair.target_out.to_vector<std::int64_t>(), shown);
  return text;
}

}  // namespace

Page page(Translator& translator, const Corpus& corpus) {
  std::vector<SeenText> texts;
  const auto& [sources, targets, blank] = corpus.test;
  for (std::size_t i = 0; i < sources.size() && texts.size() < most_texts; ++i)
    if (translator.encode({sources[i]})[0].size() <= most_tokens &&
        translator.encode({targets[i]})[0].size() <= most_tokens)
      texts.push_back(seen(translator, sources[i], targets[i]));
  LADON_CHECK(!texts.empty(), "translate", "--page needs a test pair with at most ", most_tokens,
              " tokens in source and in target, but all pairs are longer");
  // The page's question is about verbs that German puts last, as in the translation of an English
  // perfect: sentences with "has" come first.
  const auto others = std::stable_partition(texts.begin(), texts.end(), [](const SeenText& seen) {
    return seen.text.find(" has ") != std::string::npos;
  });
  const bool perfect = others != texts.begin();
  return attention_page(
      "To write a word, the decoder looks at the word that it translates",
      join("A small Transformer of this run writes translations that it never saw in training. "
           "Choose one of ",
           texts.size(),
           " sentences (or type words of it), a layer and a head. Rows of the map are tokens that "
           "look: in the encoder those of the source, in the decoder those about to be written."),
      {{"question",
        "A verb stands last in the translation and in the middle of the source. Where do the decoder's "
        "heads look when they write it?"},
       {"answers",
        {"at the last word of the source: the same place",
         "at the source's verb, wherever it stands", "at all words alike"}},
       {"right", 1},
       {"because",
        join(
            "The dark cells of some decoder heads follow the words, not the diagonal; other heads "
            "look elsewhere: one head is not the model.",
            perfect
                ? " The first sentences have a verb with “has”, which German puts last: choose its "
                  "token."
                : "")}},
      texts);
}

}  // namespace ladon::example
