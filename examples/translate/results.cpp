#include "ladon/examples/translate/results.h"

#include <algorithm>
#include <chrono>

#include "ladon/core/text/bleu.h"
#include "ladon/examples/common/text.h"
#include "ladon/examples/translate/lexicon.h"

namespace ladon::example {

std::vector<Translations> translate_test(const Settings& s, const Corpus& corpus,
                                         const Translator& translator) {
  std::vector<Translations> all;
  const auto add = [&](const std::string& method, const auto& texts) {
    const auto start = std::chrono::steady_clock::now();
    all.push_back({method, texts(), 0});
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    all.back().seconds = spent.count();
  };
  const std::vector<std::string>& sources = corpus.test.sources;
  add("word for word", [&] { return word_for_word(corpus.train, sources); });
  add("greedy", [&] { return translate(translator, sources, 0); });
  if (s.beams > 0)
    add(join(s.beams, " beams"), [&] { return translate(translator, sources, s.beams); });
  return all;
}

Table table_of(const Course& course) {
  Table table("step",
              {{"train", "loss on pairs that are trained on, nats a token", Better::lower},
               {"validation", "on others, without dropout as those", Better::lower},
               {"BLEU", "of 100, on the first 200 validation pairs, greedily", Better::higher},
               {"seconds", "for the steps since the last look, without the look"}});
  for (const auto& look : rows_of(course.looks))
    table.add({join(look[Course::steps]),
               {{look[Course::train]},
                {look[Course::validation]},
                {look[Course::bleu]},
                {look[Course::seconds]}}});
  return table;
}

Table table_of(const std::vector<Translations>& all, const Corpus& corpus) {
  const auto& [sources, references, blank] = corpus.test;
  Table table(
      "test",
      {{"BLEU", join("of 100, on ", sources.size(), " pairs; tokens of 13a, in their own case"),
        Better::higher},
       {"words", "share of words that stand in the reference", Better::higher},
       {"fours", "share of runs of four words that do, so in their order", Better::higher},
       {"exact", "share of sentences that are the reference", Better::higher},
       {"length", "words, over those of the references"},
       {"seconds", "for all"}});
  for (const auto& [method, texts, seconds] : all) {
    const metrics::Bleu bleu = metrics::bleu(texts, references);
    double exact = 0;
    for (std::size_t i = 0; i < texts.size(); ++i)
      exact += metrics::tokenize_13a(texts[i]) == metrics::tokenize_13a(references[i]);
    table.add({method,
               {{bleu.score},
                {bleu.precisions[0]},
                {bleu.precisions[3]},
                {exact / static_cast<double>(texts.size())},
                {static_cast<double>(bleu.hypothesis_length) /
                 static_cast<double>(bleu.reference_length)},
                {seconds}}});
  }
  return table;
}

std::string shown(const std::vector<Translations>& all, const Corpus& corpus) {
  constexpr std::size_t count = 3, broad = 13;  // "word for word"
  std::string text;
  const auto line = [&](std::string what, const std::string& said) {
    what.resize(std::max(broad, what.size()), ' ');
    text += what + "  " + said + '\n';
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
