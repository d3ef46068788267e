#include "ladon/examples/word_for_word/judgement.h"

#include <algorithm>

#include "ladon/core/extra/text/bleu.h"
#include "ladon/examples/common/text.h"

namespace ladon::example {

Table judged(const std::string& of, const std::vector<Translations>& all,
             const ParallelText& test) {
  const auto& [sources, references, blank] = test;
  Table table(
      of, {{"BLEU", join("of 100, on ", sources.size(), " pairs; tokens of 13a, in their own case"),
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

std::string shown(const std::vector<Translations>& all, const ParallelText& test) {
  constexpr std::size_t count = 3, broad = 13;  // broad: length of "word for word"
  std::string text;
  const auto line = [&](std::string what, const std::string& said) {
    what.resize(std::max(broad, what.size()), ' ');
    text += what + "  " + said + '\n';
  };
  for (std::size_t i = 0; i < std::min(count, test.sources.size()); ++i) {
    text += '\n';
    line("source", test.sources[i]);
    line("reference", test.targets[i]);
    for (const Translations& t : all) line(t.method, t.texts[i]);
  }
  return text;
}

}  // namespace ladon::example
