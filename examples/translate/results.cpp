#include "ladon/examples/translate/results.h"

#include <algorithm>
#include <chrono>

#include "ladon/core/text/bleu.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/translate/lexicon.h"

namespace ladon::example {
namespace {

/// Share of texts that are the reference, word for word.
double exact(const std::vector<std::string>& texts, const std::vector<std::string>& references) {
  double equal = 0;
  for (std::size_t i = 0; i < texts.size(); ++i)
    equal += as_judged(texts[i]) == as_judged(references[i]);
  return equal / static_cast<double>(texts.size());
}

}  // namespace

std::vector<Translations> translate_test(const Settings& s, const Corpus& corpus,
                                         const Translator& translator) {
  std::vector<Translations> all;
  const auto add = [&](const std::string& method, const auto& texts) {
    const auto start = std::chrono::steady_clock::now();
    all.push_back({method, texts(), 0});
    all.back().seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  add("word for word", [&] {
    const Lexicon lexicon(corpus.train);
    std::vector<std::string> texts;
    for (const std::string& source : corpus.test.sources)
      texts.push_back(lexicon.translate(source));
    return texts;
  });
  const auto by = [&](std::int64_t beams) {
    return [&, beams] { return translate(translator, corpus.test.sources, beams, s.penalty); };
  };
  add("greedy", by(0));
  if (s.beams > 0) add(join(s.beams, " beams"), by(s.beams));
  return all;
}

Table table_of(const std::vector<Look>& looks) {
  Table table("step", {{.name = "train",
                        .meaning = "loss on pairs that are trained on, nats a token",
                        .better = Better::lower},
                       {.name = "validation",
                        .meaning = "on others, without dropout as those",
                        .better = Better::lower},
                       {.name = "BLEU",
                        .meaning = "of 100, on the first 200 validation pairs, greedily",
                        .better = Better::higher},
                       {.name = "seconds",
                        .meaning = "for the steps since the last look, without the look"}});
  for (const Look& look : looks)
    table.add({.method = std::to_string(look.step),
               .figures = {{look.train}, {look.validation}, {look.bleu}, {look.seconds}}});
  return table;
}

Table table_of(const std::vector<Translations>& all, const Corpus& corpus) {
  Table table("test", {{.name = "BLEU",
                        .meaning = join("of 100, on ", corpus.test.sources.size(),
                                        " pairs; tokens of 13a, in their own case"),
                        .better = Better::higher},
                       {.name = "words",
                        .meaning = "share of words that stand in the reference",
                        .better = Better::higher},
                       {.name = "fours",
                        .meaning = "share of runs of four words that do, so in their order",
                        .better = Better::higher},
                       {.name = "exact",
                        .meaning = "share of sentences that are the reference",
                        .better = Better::higher},
                       {.name = "length", .meaning = "words, over those of the references"},
                       {.name = "seconds", .meaning = "for all"}});
  for (const Translations& t : all) {
    const metrics::Bleu bleu = metrics::bleu(t.texts, corpus.test.targets);
    table.add({.method = t.method,
               .figures = {{bleu.score},
                           {bleu.precisions[0]},
                           {bleu.precisions[3]},
                           {exact(t.texts, corpus.test.targets)},
                           {static_cast<double>(bleu.hypothesis_length) /
                            static_cast<double>(bleu.reference_length)},
                           {t.seconds}}});
  }
  return table;
}

std::string shown(const std::vector<Translations>& all, const Corpus& corpus, std::size_t count) {
  std::size_t broad = 9;
  for (const Translations& t : all) broad = std::max(broad, t.method.size());
  std::string text;
  const auto line = [&](const std::string& what, const std::string& said) {
    text += what + std::string(broad + 2 - what.size(), ' ') + said + '\n';
  };
  for (std::size_t i = 0; i < std::min(count, corpus.test.sources.size()); ++i) {
    text += '\n';
    line("source", corpus.test.sources[i]);
    line("reference", corpus.test.targets[i]);
    for (const Translations& t : all) line(t.method, t.texts[i]);
  }
  return text;
}

}  // namespace ladon::example
